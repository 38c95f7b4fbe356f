//! Reads back what a manager has programmed into the emulated nodes.

use crate::{
    ForwardingTable, Guid, Lid, NodeKind, PortLanes, PortName, Programmed, Subnet, VlArbitration,
};

use super::device::Device;
use super::fabric::Fabric;
use super::port_tables::{entries_of, lanes_of};
use super::profile::{Lanes, Mtu};
use super::{node_info, port_info};

/// Returns all readable data: lanes of ports with a cable and of port 0 of switches, tables of
/// ports with a cable and of enhanced ports 0, and all forwarding tables. Tables that no manager
/// wrote have their initial values.
pub(super) fn programmed(fabric: &Fabric) -> Programmed {
    let mut programmed = Programmed::default();
    for device in &fabric.devices {
        let node = Guid(node_info::NODE_GUID.get(&device.node_info));
        if let Some(switch) = &device.switch {
            let mut table = ForwardingTable::default();
            for lid in 0..switch.linear.len() as u16 {
                if let Some(output) = switch.output(lid) {
                    table.set(Lid(lid), Some(output));
                }
            }
            programmed.forwarding.insert(node, table);
        }
        for port in ports(device) {
            let name = PortName { node, port };
            programmed.lanes.insert(name, lanes(device, port));
            if has_tables(device, port) {
                let arbitration = arbitration(device, port);
                programmed.arbitration.insert(name, arbitration);
                for (input, bytes) in sl_to_vl(device, port) {
                    programmed.sl_to_vl.insert((name, input), lanes_of(bytes));
                }
            }
        }
    }
    programmed
}

/// Returns the subnet with the current addresses of its ports.
pub(super) fn addressed(fabric: &Fabric, subnet: &Subnet) -> Subnet {
    let mut subnet = subnet.clone();
    for (node, device) in subnet.nodes.iter_mut().zip(&fabric.devices) {
        for (number, (port, agent)) in node.ports.iter_mut().zip(&device.ports).enumerate() {
            if device.is_addressed(number as u8) {
                let lid = port_info::LID.get(&agent.info) as u16;
                port.lid = (lid != 0).then_some(Lid(lid));
                port.lmc = port_info::LMC.get(&agent.info) as u8;
            }
        }
    }
    subnet
}

/// Returns port 0 of a switch, and every port with a cable.
fn ports(device: &Device) -> impl Iterator<Item = u8> {
    let numbered = (0..).zip(&device.ports);
    let is_own = |number: u8| device.switch.is_some() && number == 0;
    numbered
        .filter(move |(number, port)| port.peer.is_some() || is_own(*number))
        .map(|(number, _)| number)
}

/// Returns whether a port has tables. A base port 0 has none.
fn has_tables(device: &Device, port: u8) -> bool {
    let enhanced = NodeKind::Switch {
        enhanced_port_0: true,
    };
    port != 0 || device.kind == enhanced
}

fn lanes(device: &Device, port: u8) -> PortLanes {
    let info = &device.ports[usize::from(port)].info;
    let count = |code: u64| Lanes::from_code(code as u8).map(Lanes::count);
    let byte = |field: super::field::Field| field.get(info) as u8;
    let mtu = Mtu::from_code(byte(port_info::NEIGHBOR_MTU));
    PortLanes {
        cap: count(port_info::VL_CAP.get(info)),
        operational: count(port_info::OPERATIONAL_VLS.get(info)),
        high_limit: Some(byte(port_info::VL_HIGH_LIMIT)),
        low_cap: Some(byte(port_info::VL_ARBITRATION_LOW_CAP)),
        high_cap: Some(byte(port_info::VL_ARBITRATION_HIGH_CAP)),
        neighbor_mtu: mtu.map(Mtu::bytes),
    }
}

fn arbitration(device: &Device, port: u8) -> VlArbitration {
    let agent = &device.ports[usize::from(port)];
    let low_cap = port_info::VL_ARBITRATION_LOW_CAP.get(&agent.info) as u8;
    let high_cap = port_info::VL_ARBITRATION_HIGH_CAP.get(&agent.info) as u8;
    VlArbitration {
        low_cap,
        high_cap,
        low: entries_of(&agent.low, low_cap),
        high: entries_of(&agent.high, high_cap),
    }
}

/// Returns the tables of an output by input. Nodes other than switches have one, for input 0.
fn sl_to_vl(device: &Device, output: u8) -> impl Iterator<Item = (u8, &[u8; 8])> {
    let n_ports = device.ports.len();
    let tables = match device.switch {
        Some(_) => &device.sl_to_vl[usize::from(output) * n_ports..][..n_ports],
        None => &device.sl_to_vl[usize::from(output)..][..1],
    };
    (0..).zip(tables)
}
