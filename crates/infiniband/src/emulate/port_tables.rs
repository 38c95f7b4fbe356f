//! Tables of a port: partition keys, lanes of service levels, arbitration.

use netloom_arbitration::Entry;
use netloom_units::Vl;

use crate::SlToVl;

use super::agent::Asked;
use super::device::Device;
use super::mad::{Attribute64, Status};
use super::port_info;

/// Partition keys of a port.
pub(super) const N_PARTITION_KEYS: usize = 64;

/// The keys of a port, as it holds them.
pub(super) type PartitionKeys = [u8; 2 * N_PARTITION_KEYS];

/// The key of the default partition, full member: all that a port has at start.
pub(super) const DEFAULT_KEYS: PartitionKeys = {
    let mut keys = [0; 2 * N_PARTITION_KEYS];
    keys[0] = 0xff;
    keys[1] = 0xff;
    keys
};

/// One arbitration table: lane and weight of 64 entries, of which a port uses as many as it has room for.
pub(super) type ArbitrationBytes = [u8; 128];

/// Lanes of the 16 service levels, four bits each.
pub(super) type LaneBytes = [u8; 8];

/// What a port maps before a manager came: service level modulo lanes. The standard leaves it open.
pub(super) fn initial_lanes(n_lanes: u8) -> LaneBytes {
    let lane = |sl: u8| sl % n_lanes;
    std::array::from_fn(|byte| lane(2 * byte as u8) << 4 | lane(2 * byte as u8 + 1))
}

/// The lanes in the words of this crate.
pub(super) fn lanes_of(bytes: &LaneBytes) -> SlToVl {
    let nibble = |sl: usize| bytes[sl / 2] >> (4 * (1 - sl % 2)) & 0xf;
    SlToVl(std::array::from_fn(|sl| Vl(nibble(sl))))
}

/// The first `cap` entries in the words of this crate.
pub(super) fn entries_of(bytes: &ArbitrationBytes, cap: u8) -> Vec<Entry> {
    let pairs = bytes.chunks_exact(2).take(usize::from(cap));
    let entry = |pair: &[u8]| Entry {
        vl: Vl(pair[0] & 0xf),
        weight: pair[1],
    };
    pairs.map(entry).collect()
}

/// P_KeyTable: 32 keys of a port; the port of a switch is in the high half of the modifier.
pub(super) fn partition_keys(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(number) = device.port_of_modifier(asked, asked.modifier >> 16) else {
        return Status::BadValue;
    };
    let block = (asked.modifier & 0xffff) as usize;
    let keys = &mut device.ports[usize::from(number)].partition_keys;
    let Some(held) = keys.chunks_exact_mut(64).nth(block) else {
        return Status::BadValue;
    };
    if asked.is_set {
        held.copy_from_slice(data);
    }
    data.copy_from_slice(held);
    Status::Good
}

/// SLtoVLMappingTable: the input of a switch is in the second byte of the modifier, its output in the last. Other nodes
/// have one per port and no modifier.
pub(super) fn sl_to_vl(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let [above, above_too, input, output] = asked.modifier.to_be_bytes();
    let n_ports = device.ports.len();
    let at = match device.switch {
        None => usize::from(asked.arrival),
        Some(_) => {
            // The bits above are for tables of all inputs at once, which SwitchInfo does not offer.
            let is_port = |number: u8| usize::from(number) < n_ports;
            if above != 0 || above_too != 0 || !is_port(input) || !is_port(output) {
                return Status::BadValue;
            }
            usize::from(output) * n_ports + usize::from(input)
        }
    };
    let held = &mut device.sl_to_vl[at];
    if asked.is_set {
        held.copy_from_slice(&data[..8]);
    }
    data.fill(0);
    data[..8].copy_from_slice(held);
    Status::Good
}

/// The four blocks of arbitration: whether of the high table, and whether its second half.
const BLOCKS: [(u32, bool, bool); 4] = [
    (1, false, false),
    (2, false, true),
    (3, true, false),
    (4, true, true),
];

/// Bytes of a block: 32 entries of two.
const BLOCK_BYTES: usize = 64;

/// VLArbitrationTable: the block is in the high half of the modifier, the port of a switch in the low one. Entries that a
/// port has no room for are not kept.
pub(super) fn arbitration(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(number) = device.port_of_modifier(asked, asked.modifier & 0xffff) else {
        return Status::BadValue;
    };
    let block = BLOCKS.iter().find(|(n, _, _)| *n == asked.modifier >> 16);
    let Some(&(_, is_high, is_second)) = block else {
        return Status::BadValue;
    };
    let port = &mut device.ports[usize::from(number)];
    let (cap, table) = match is_high {
        true => (port_info::VL_ARBITRATION_HIGH_CAP, &mut port.high),
        false => (port_info::VL_ARBITRATION_LOW_CAP, &mut port.low),
    };
    let cap_bytes = 2 * cap.get(&port.info) as usize;
    let start = if is_second { BLOCK_BYTES } else { 0 };
    if is_second && cap_bytes <= BLOCK_BYTES {
        return Status::BadValue;
    }
    let end = cap_bytes.clamp(start, start + BLOCK_BYTES);
    let room = end - start;
    if asked.is_set {
        for (held, byte) in table[start..end].iter_mut().zip(data.iter().enumerate()) {
            // The high half of a lane's byte is reserved.
            *held = if byte.0 % 2 == 0 {
                byte.1 & 0x0f
            } else {
                *byte.1
            };
        }
    }
    data[..room].copy_from_slice(&table[start..end]);
    data[room..].fill(0);
    Status::Good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_four_bits_each_the_first_level_in_the_high_half() {
        let bytes = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        assert_eq!(lanes_of(&bytes).0, std::array::from_fn(|sl| Vl(sl as u8)));
    }

    #[test]
    fn a_port_maps_levels_modulo_its_lanes_until_told() {
        assert_eq!(initial_lanes(1), [0; 8]);
        assert_eq!(initial_lanes(8)[..4], [0x01, 0x23, 0x45, 0x67]);
        assert_eq!(initial_lanes(15)[7], 0xe0);
    }

    #[test]
    fn entries_are_lane_and_weight() {
        let mut bytes = [0; 128];
        bytes[..4].copy_from_slice(&[0x07, 192, 0x0e, 255]);
        let entries = entries_of(&bytes, 2);
        let pairs: Vec<(Vl, u8)> = entries.iter().map(|e| (e.vl, e.weight)).collect();
        assert_eq!(pairs, [(Vl(7), 192), (Vl(14), 255)]);
        assert_eq!(entries_of(&bytes, 64).len(), 64);
    }
}
