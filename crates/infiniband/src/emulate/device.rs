//! The state of one emulated node.

use crate::{Node, NodeKind};

use super::agent::Asked;
use super::forwarding::SwitchTables;
use super::link_codes::{SpeedCode, WidthCode};
use super::mad::Attribute64;
use super::port_tables::{ArbitrationBytes, DEFAULT_KEYS, LaneBytes, PartitionKeys, initial_lanes};
use super::profile::Profile;
use super::{extended_port_info, node_info, port_info};

/// A port of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// Index of the device, equal to the index of its node in the subnet.
    pub(super) device: u32,
    pub(super) port: u8,
}

/// The state of a port.
#[derive(Clone, Debug)]
pub(super) struct PortAgent {
    pub(super) info: Attribute64,
    pub(super) extended_info: Attribute64,
    pub(super) guid: u64,
    /// The other end of its cable.
    pub(super) peer: Option<At>,
    /// Whether a manager has disabled its link.
    pub(super) is_disabled: bool,
    pub(super) partition_keys: PartitionKeys,
    pub(super) low: ArbitrationBytes,
    pub(super) high: ArbitrationBytes,
}

/// A command of a manager to a link, in addition to its logical state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LinkOrder {
    /// Take the link down and up again, if both ends allow it.
    Train,
    /// Take the link down and keep it down.
    Disable,
}

/// The state of a node.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) kind: NodeKind,
    pub(super) description: Attribute64,
    pub(super) node_info: Attribute64,
    /// Ports by number; port 0 is unused except on switches.
    pub(super) ports: Vec<PortAgent>,
    /// SL-to-VL tables: of a switch by output and input, of other nodes by port.
    pub(super) sl_to_vl: Vec<LaneBytes>,
    /// Tables of a switch.
    pub(super) switch: Option<SwitchTables>,
    /// The link command of the last Set. The fabric executes it, since a link has two ends.
    pub(super) link_order: Option<(u8, LinkOrder)>,
}

impl Device {
    /// Creates an unconfigured node, with the addresses that its file gives it.
    pub(super) fn new(node: &Node, profile: Profile) -> Device {
        let is_switch = node.kind.is_switch();
        let speeds = || node.ports.iter().filter_map(|p| p.cable?.speed);
        let has_extended_speeds = speeds().any(|s| SpeedCode::of(Some(s)).extended != 0);
        let port = |(number, port): (usize, &crate::SubnetPort)| {
            let is_own_port = is_switch && number == 0;
            let start = port_info::Start {
                number: number as u8,
                is_addressed: !is_switch || is_own_port,
                is_up: port.cable.is_some() || is_own_port,
                lid: port.lid.map_or(0, |lid| lid.0),
                lmc: port.lmc,
                width: WidthCode::of(port.cable.and_then(|c| c.width)),
                speed: SpeedCode::of(port.cable.and_then(|c| c.speed)),
                has_extended_speeds,
                profile,
            };
            let counted = match is_switch {
                true => node.guid.0,
                false => node.guid.0.wrapping_add(number as u64),
            };
            let peer = |cable: crate::Cable| At {
                device: cable.node.0,
                port: cable.port,
            };
            PortAgent {
                info: port_info::initial(&start),
                extended_info: extended_port_info::initial(port.cable.and_then(|c| c.speed)),
                guid: port.guid.map_or(counted, |guid| guid.0),
                peer: port.cable.map(peer),
                is_disabled: false,
                partition_keys: DEFAULT_KEYS,
                low: [0; 128],
                high: [0; 128],
            }
        };
        let n_ports = node.ports.len();
        let n_tables = if is_switch {
            n_ports * n_ports
        } else {
            n_ports
        };
        let enhanced = node.kind
            == NodeKind::Switch {
                enhanced_port_0: true,
            };
        Device {
            kind: node.kind,
            description: description(&node.description),
            node_info: node_info::initial(node),
            ports: node.ports.iter().enumerate().map(port).collect(),
            sl_to_vl: vec![initial_lanes(profile.lanes_at_start.count()); n_tables],
            switch: is_switch.then(|| SwitchTables::new(enhanced)),
            link_order: None,
        }
    }

    /// Returns whether a port has its own address.
    pub(super) fn is_addressed(&self, port: u8) -> bool {
        self.switch.is_none() || port == 0
    }

    /// Returns the GUID of the port by which a packet arrived. All ports of a switch have that of
    /// port 0.
    pub(super) fn port_guid(&self, arrival: u8) -> u64 {
        let number = if self.switch.is_some() { 0 } else { arrival };
        self.ports[usize::from(number)].guid
    }

    /// Returns the port that a modifier names. On nodes other than switches, 0 is the queried port.
    pub(super) fn port_of_modifier(&self, asked: &Asked, number: u32) -> Option<u8> {
        if self.switch.is_none() && number == 0 {
            return Some(asked.arrival);
        }
        let is_port = (number as usize) < self.ports.len();
        is_port.then_some(number as u8)
    }

    /// Returns whether an address belongs to a port.
    pub(super) fn owns(&self, port: u8, lid: u16) -> bool {
        let info = &self.ports[usize::from(port)].info;
        let first = port_info::LID.get(info) as u16;
        let last = u32::from(first) + (1 << port_info::LMC.get(info)) - 1;
        first != 0 && lid >= first && u32::from(lid) <= last
    }
}

/// Encodes a description for NodeDescription: 64 bytes, truncated between characters.
fn description(text: &str) -> Attribute64 {
    let mut bytes = [0; 64];
    let end = text.floor_char_boundary(64);
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_cut_between_characters() {
        assert_eq!(&description("h0")[..3], b"h0\0");
        let long = format!("{}é", "x".repeat(63));
        let cut = description(&long);
        assert_eq!((cut[62], cut[63]), (b'x', 0));
    }
}
