//! Unicast and multicast forwarding tables of a switch.

use std::collections::BTreeMap;

use super::agent::Asked;
use super::device::Device;
use super::mad::{Attribute64, Status};
use super::switch_info::{self, N_LINEAR, N_MULTICAST};

/// The entry for an address without an output.
pub(super) const NO_OUTPUT: u8 = 0xff;

/// Addresses in one block.
const LINEAR_BLOCK: usize = 64;
/// Multicast groups in one block; each has the 16 ports of a position.
const MULTICAST_BLOCK: usize = 32;

/// The state of a switch, except for its ports.
#[derive(Clone, Debug)]
pub(super) struct SwitchTables {
    /// SwitchInfo.
    pub(super) info: Attribute64,
    /// The output of each address, up to the last written block; other addresses have no output.
    pub(super) linear: Vec<u8>,
    /// Written blocks of the multicast table, by modifier. Packets do not use them.
    pub(super) multicast: BTreeMap<u32, Attribute64>,
}

impl SwitchTables {
    /// Creates an unconfigured switch.
    pub(super) fn new(has_enhanced_port_0: bool) -> SwitchTables {
        SwitchTables {
            info: switch_info::initial(has_enhanced_port_0),
            linear: Vec::new(),
            multicast: BTreeMap::new(),
        }
    }

    /// Returns the output of an address; `None` above LinearFDBTop.
    pub(super) fn output(&self, lid: u16) -> Option<u8> {
        if u64::from(lid) > switch_info::LINEAR_TOP.get(&self.info) {
            return None;
        }
        let entry = self.linear.get(usize::from(lid)).copied();
        entry.filter(|port| *port != NO_OUTPUT)
    }
}

/// Handles LinearForwardingTable: the outputs of 64 addresses.
pub(super) fn linear(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let Some(switch) = &mut device.switch else {
        return Status::BadAttribute;
    };
    let start = (asked.modifier as usize).saturating_mul(LINEAR_BLOCK);
    if start >= N_LINEAR {
        return Status::BadValue;
    }
    let end = start + LINEAR_BLOCK;
    if asked.is_set {
        if switch.linear.len() < end {
            switch.linear.resize(end, NO_OUTPUT);
        }
        switch.linear[start..end].copy_from_slice(data);
    } else {
        match switch.linear.get(start..end) {
            Some(held) => data.copy_from_slice(held),
            None => data.fill(NO_OUTPUT),
        }
    }
    Status::Good
}

/// Handles MulticastForwardingTable: 16 ports of 32 groups, with the port position in the highest
/// four bits of the modifier.
pub(super) fn multicast(device: &mut Device, asked: &Asked, data: &mut Attribute64) -> Status {
    let n_ports = device.ports.len();
    let Some(switch) = &mut device.switch else {
        return Status::BadAttribute;
    };
    let block = (asked.modifier & 0x01ff) as usize;
    let position = (asked.modifier >> 28) as usize;
    let is_reserved = asked.modifier & 0x0fff_fe00 != 0;
    if is_reserved || block >= N_MULTICAST / MULTICAST_BLOCK || position * 16 >= n_ports {
        return Status::BadValue;
    }
    if asked.is_set {
        switch.multicast.insert(asked.modifier, *data);
    } else {
        *data = switch
            .multicast
            .get(&asked.modifier)
            .copied()
            .unwrap_or([0; 64]);
    }
    Status::Good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_above_the_top_have_no_output() {
        let mut switch = SwitchTables::new(false);
        switch.linear = vec![NO_OUTPUT, 3, 0, 5];
        switch_info::LINEAR_TOP.set(&mut switch.info, 2);
        let outputs = [0, 1, 2, 3, 4].map(|lid| switch.output(lid));
        assert_eq!(outputs, [None, Some(3), Some(0), None, None]);
    }
}
