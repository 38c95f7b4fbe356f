//! All emulated nodes, the cables between them, and the routing of packets.
//!
//! Packets take no time. Management packets pass all links that are up, whatever their logical
//! state. A packet by address follows the programmed forwarding tables, so a wrong table loses it,
//! as in real hardware.

use crate::{NodeKind, Subnet};

use super::device::{At, Device, LinkOrder};
use super::port_info::{self, physical, state};
use super::profile::Profiles;
use super::switch_info;

/// Number of switches after which a packet counts as looping.
const MAX_HOPS: usize = 64;

/// The emulated nodes of a subnet.
#[derive(Clone, Debug)]
pub(super) struct Fabric {
    /// In the order of the subnet.
    pub(super) devices: Vec<Device>,
}

impl Fabric {
    /// Creates unconfigured nodes. Returns a message if the subnet or a profile is invalid.
    pub(super) fn new(subnet: &Subnet, profiles: &Profiles) -> Result<Fabric, String> {
        check(subnet, profiles)?;
        let device = |node: &crate::Node| Device::new(node, profiles.of(node.guid, node.kind));
        Ok(Fabric {
            devices: subnet.nodes.iter().map(device).collect(),
        })
    }

    /// Returns the device of a port.
    pub(super) fn device(&self, at: At) -> &Device {
        &self.devices[at.device as usize]
    }

    /// Returns the other end of the cable at a port, if its link is up.
    fn across(&self, at: At) -> Option<At> {
        let port = self.device(at).ports.get(usize::from(at.port))?;
        let is_up = port_info::STATE.get(&port.info) != state::DOWN;
        port.peer.filter(|_| is_up)
    }

    /// Returns the port where a packet from `from` to an address arrives.
    pub(super) fn by_lid(&self, from: At, lid: u16) -> Option<At> {
        let mut at = from;
        for hop in 0..MAX_HOPS {
            let device = self.device(at);
            let output = match &device.switch {
                Some(switch) => switch.output(lid)?,
                None if device.owns(at.port, lid) => return Some(at),
                // A node other than a switch only sends packets of its own.
                None if hop == 0 => at.port,
                None => return None,
            };
            if device.switch.is_some() && output == 0 {
                return device.owns(0, lid).then_some(at);
            }
            at = self.across(At { port: output, ..at })?;
        }
        None
    }

    /// Returns the port where a packet from `from` arrives after a list of output ports, one per
    /// hop. Entry 0 is unused. Writes the arrival ports to `return_path`.
    pub(super) fn by_path(&self, from: At, path: &[u8], return_path: &mut [u8]) -> Option<At> {
        let mut at = from;
        return_path.fill(0);
        for (hop, output) in path.iter().enumerate() {
            if hop > 0 {
                let output = match self.device(at).switch {
                    Some(_) => *output,
                    None if hop == 1 => at.port,
                    None => return None,
                };
                at = self.across(At { port: output, ..at })?;
            }
            return_path[hop] = at.port;
        }
        Some(at)
    }

    /// Executes the link command of the last Set at a device.
    pub(super) fn settle(&mut self, device: u32) {
        let Some((port, order)) = self.devices[device as usize].link_order.take() else {
            return;
        };
        let here = At { device, port };
        self.port(here).is_disabled = order == LinkOrder::Disable;
        let Some(there) = self.port(here).peer else {
            return;
        };
        let is_up = !self.port(here).is_disabled && !self.port(there).is_disabled;
        for end in [here, there] {
            let port = self.port(end);
            let (state, physical) = match (is_up, port.is_disabled) {
                (true, _) => (state::INITIALIZE, physical::LINK_UP),
                (false, false) => (state::DOWN, physical::POLLING),
                (false, true) => (state::DOWN, physical::DISABLED),
            };
            port_info::STATE.set(&mut port.info, state);
            port_info::PHYSICAL_STATE.set(&mut port.info, physical);
            if let Some(switch) = &mut self.devices[end.device as usize].switch {
                switch_info::STATE_CHANGE.set(&mut switch.info, 1);
            }
        }
    }

    fn port(&mut self, at: At) -> &mut super::device::PortAgent {
        &mut self.devices[at.device as usize].ports[usize::from(at.port)]
    }

    /// Returns the default port of a client: the first channel adapter with a cable.
    pub(super) fn first_port(&self) -> Option<At> {
        let adapters = || self.places(|device| device.kind == NodeKind::ChannelAdapter);
        let with_cable = adapters().find(|at| self.across(*at).is_some());
        with_cable.or_else(|| self.places(|_| true).next())
    }

    /// Returns the port of a named node. The name is a description, or a GUID in the form `0x` and
    /// digits or in the form of ibnetdiscover (`H-0002c90300000001`).
    pub(super) fn port_of_name(&self, name: &[u8]) -> Option<At> {
        let text = std::str::from_utf8(name).ok();
        let digits = |text: &'_ str| -> Option<String> {
            let marks = ["0x", "S-", "H-", "R-"];
            let digits = marks.iter().find_map(|mark| text.strip_prefix(mark));
            digits.map(str::to_owned)
        };
        let guid = text
            .and_then(digits)
            .and_then(|digits| u64::from_str_radix(&digits, 16).ok());
        let is_it = |device: &Device| {
            let end = device.description.iter().position(|b| *b == 0);
            let described = &device.description[..end.unwrap_or(64)];
            let node_guid = super::node_info::NODE_GUID.get(&device.node_info);
            // The library keeps 31 bytes of a name.
            let is_cut = name.len() >= 31 && described.starts_with(name);
            described == name || is_cut || guid == Some(node_guid)
        };
        self.places(is_it).next()
    }

    /// Returns a port with an address for each selected device: port 0 of a switch. On other nodes,
    /// it is the first port with a cable, or else the first port.
    fn places(&self, of: impl Fn(&Device) -> bool) -> impl Iterator<Item = At> {
        let numbered = (0..).zip(&self.devices);
        numbered
            .filter(move |(_, device)| of(device))
            .filter_map(|(index, device)| {
                let port = match device.switch {
                    Some(_) => 0,
                    None => {
                        let cabled = device.ports.iter().position(|port| port.peer.is_some());
                        cabled.unwrap_or(1) as u8
                    }
                };
                let at = At {
                    device: index,
                    port,
                };
                (usize::from(port) < device.ports.len()).then_some(at)
            })
    }
}

/// Checks that a subnet and its profiles can be emulated. Returns a message otherwise.
fn check(subnet: &Subnet, profiles: &Profiles) -> Result<(), String> {
    for (index, node) in subnet.nodes.iter().enumerate() {
        let name = format!("node {} \"{}\"", node.guid, node.description);
        if node.ports.is_empty() || node.ports.len() > 255 {
            let n_ports = node.ports.len();
            return Err(format!(
                "{name}: expected 1 to 255 ports including port 0, found {n_ports}"
            ));
        }
        let profile = profiles.of(node.guid, node.kind);
        if profile.lanes_at_start > profile.lanes {
            return Err(format!("{name} uses more lanes at start than it has"));
        }
        if profile.high_cap.max(profile.low_cap) > 64 {
            return Err(format!(
                "{name}: expected at most 64 arbitration entries per table"
            ));
        }
        for (number, port) in node.ports.iter().enumerate() {
            let Some(cable) = port.cable else { continue };
            let there = subnet.nodes.get(cable.node.index());
            let there = there.and_then(|node| node.ports.get(usize::from(cable.port)));
            let back = there.and_then(|port| port.cable);
            let is_back = back
                .is_some_and(|back| back.node.index() == index && usize::from(back.port) == number);
            if !is_back || number == 0 || cable.port == 0 {
                return Err(format!(
                    "the cable at port {number} of {name} is not listed at its other end"
                ));
            }
        }
        if port_beyond_lids(node) {
            return Err(format!(
                "{name} has an address that is not a unicast address"
            ));
        }
    }
    Ok(())
}

fn port_beyond_lids(node: &crate::Node) -> bool {
    let beyond = |port: &crate::SubnetPort| {
        let is_unicast = port.lid.is_none_or(crate::Lid::is_unicast);
        !is_unicast || port.lmc > 7
    };
    node.ports.iter().any(beyond)
}

#[cfg(test)]
mod tests {
    use super::super::forwarding::NO_OUTPUT;
    use super::super::nonsense::fabric;
    use super::*;

    /// Hosts are devices 0 to 3, two at each of switches 4 and 5. The address of device n is n + 1.
    fn at(device: u32, port: u8) -> At {
        At { device, port }
    }

    #[test]
    fn packets_by_address_follow_the_tables() {
        let mut fabric = fabric();
        let host = at(0, 1);
        assert_eq!(fabric.by_lid(host, 1), Some(host), "its own address");
        assert_eq!(fabric.by_lid(host, 4), Some(at(3, 1)));
        assert_eq!(
            fabric.by_lid(host, 6),
            Some(at(5, 3)),
            "a switch, and the arrival port"
        );
        assert_eq!(fabric.by_lid(host, 7), None, "above the top");
        let set = |fabric: &mut Fabric, device: usize, output: u8| {
            let switch = fabric.devices[device].switch.as_mut();
            switch.expect("a switch").linear[4] = output;
        };
        set(&mut fabric, 4, NO_OUTPUT);
        assert_eq!(fabric.by_lid(host, 4), None, "no way");
        set(&mut fabric, 4, 2);
        assert_eq!(
            fabric.by_lid(host, 4),
            None,
            "the wrong host does not take it"
        );
        set(&mut fabric, 4, 3);
        set(&mut fabric, 5, 3);
        assert_eq!(fabric.by_lid(host, 4), None, "a loop");
    }

    #[test]
    fn directed_packets_follow_their_list_and_note_where_they_came_in() {
        let fabric = fabric();
        let mut back = [0xff; 64];
        let arrived = fabric.by_path(at(0, 1), &[0, 1, 4, 2], &mut back);
        assert_eq!(arrived, Some(at(3, 1)));
        assert_eq!(back[..5], [1, 1, 4, 1, 0]);
        let own = fabric.by_path(at(0, 1), &[0], &mut back);
        assert_eq!(own, Some(at(0, 1)));
        assert_eq!(
            fabric.by_path(at(0, 1), &[0, 1, 9], &mut back),
            None,
            "no such port"
        );
        assert_eq!(
            fabric.by_path(at(0, 1), &[0, 1, 2, 1], &mut back),
            None,
            "through a host"
        );
    }

    #[test]
    fn a_link_is_off_at_both_ends_until_both_let_it_up() {
        let mut fabric = fabric();
        let states = |fabric: &Fabric| {
            let state = |device: usize, port: usize| {
                port_info::STATE.get(&fabric.devices[device].ports[port].info)
            };
            (state(4, 3), state(5, 3))
        };
        let mut order = |device: u32, order: LinkOrder| {
            fabric.devices[device as usize].link_order = Some((3, order));
            fabric.settle(device);
            (states(&fabric), fabric.by_lid(at(0, 1), 3))
        };
        let down = (state::DOWN, state::DOWN);
        assert_eq!(order(4, LinkOrder::Disable), (down, None));
        assert_eq!(order(5, LinkOrder::Train), (down, None));
        let up = (state::INITIALIZE, state::INITIALIZE);
        assert_eq!(order(4, LinkOrder::Train), (up, Some(at(2, 1))));
    }
}
