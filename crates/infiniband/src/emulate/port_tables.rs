//! Tables of a port: partition keys, SL-to-VL, and arbitration.

use netloom_arbitration::Entry;
use netloom_units::Vl;

use crate::SlToVl;

use super::agent::Asked;
use super::device::Device;
use super::mad::{Attribute64, Status};
use super::port_info;

/// Number of partition keys of a port.
pub(super) const N_PARTITION_KEYS: usize = 64;

/// The partition keys of a port.
pub(super) type PartitionKeys = [u8; 2 * N_PARTITION_KEYS];

/// The initial keys of a port: full membership in the default partition.
pub(super) const DEFAULT_KEYS: PartitionKeys = {
    let mut keys = [0; 2 * N_PARTITION_KEYS];
    keys[0] = 0xff;
    keys[1] = 0xff;
    keys
};

/// An arbitration table: lane and weight of 64 entries, of which a port uses as many as its
/// capacity.
pub(super) type ArbitrationBytes = [u8; 128];

/// Lanes of the 16 service levels, four bits each.
pub(super) type LaneBytes = [u8; 8];

/// Returns the initial SL-to-VL table: service level modulo lanes. The standard does not define it.
pub(super) fn initial_lanes(n_lanes: u8) -> LaneBytes {
    let lane = |sl: u8| sl % n_lanes;
    std::array::from_fn(|byte| lane(2 * byte as u8) << 4 | lane(2 * byte as u8 + 1))
}

/// Converts an SL-to-VL table.
pub(super) fn lanes_of(bytes: &LaneBytes) -> SlToVl {
    let nibble = |sl: usize| bytes[sl / 2] >> (4 * (1 - sl % 2)) & 0xf;
    SlToVl(std::array::from_fn(|sl| Vl(nibble(sl))))
}

/// Converts the first `cap` entries of an arbitration table.
pub(super) fn entries_of(bytes: &ArbitrationBytes, cap: u8) -> Vec<Entry> {
    let pairs = bytes.chunks_exact(2).take(usize::from(cap));
    let entry = |pair: &[u8]| Entry {
        vl: Vl(pair[0] & 0xf),
        weight: pair[1],
    };
    pairs.map(entry).collect()
}

/// Handles P_KeyTable: 32 keys of a port. The high half of the modifier is the port of a switch.
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

/// Handles SLtoVLMappingTable. For a switch, the third byte of the modifier is the input and the
/// fourth the output. Other nodes have one table per port and no modifier.
pub(super) fn sl_to_vl(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let [above, above_too, input, output] = asked.modifier.to_be_bytes();
    let n_ports = device.ports.len();
    let at = match device.switch {
        None => usize::from(asked.arrival),
        Some(_) => {
            // The higher bits are for tables of all inputs at once, which SwitchInfo does not
            // offer.
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

/// The four arbitration blocks: number, whether high table, whether second half.
const BLOCKS: [(u32, bool, bool); 4] = [
    (1, false, false),
    (2, false, true),
    (3, true, false),
    (4, true, true),
];

/// Size of a block in bytes: 32 entries of two.
const BLOCK_BYTES: usize = 64;

/// Handles VLArbitrationTable. The high half of the modifier is the block, the low half the port of
/// a switch. Entries beyond the capacity of a port are dropped.
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
    fn a_port_maps_levels_modulo_its_lanes_until_set() {
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
