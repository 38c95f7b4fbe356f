//! Finds nodes and ports of a subnet by their numbers and addresses.

use std::collections::HashMap;

use crate::{Guid, Lid, NodeId, PortName, Subnet};

/// Where the nodes and ports of a subnet are.
#[derive(Clone, Debug, Default)]
pub struct SubnetIndex {
    nodes: HashMap<Guid, NodeId>,
    ports: HashMap<Guid, (NodeId, u8)>,
    /// The port of each address, indexed by LID.
    addresses: Vec<Option<(NodeId, u8)>>,
}

impl SubnetIndex {
    /// Builds the index of a subnet. If two ports share a GUID or an address, the first is kept.
    pub fn of(subnet: &Subnet) -> SubnetIndex {
        let mut index = SubnetIndex::default();
        for (at, node) in subnet.nodes.iter().enumerate() {
            let id = NodeId(at as u32);
            index.nodes.entry(node.guid).or_insert(id);
            for (number, port) in node.ports.iter().enumerate() {
                let here = (id, number as u8);
                if let Some(guid) = port.guid {
                    index.ports.entry(guid).or_insert(here);
                }
                for lid in port.lids() {
                    let at = usize::from(lid.0);
                    if at >= index.addresses.len() {
                        index.addresses.resize(at + 1, None);
                    }
                    index.addresses[at].get_or_insert(here);
                }
            }
        }
        index
    }

    /// Returns the node with this GUID.
    pub fn node(&self, guid: Guid) -> Option<NodeId> {
        self.nodes.get(&guid).copied()
    }

    /// Returns the port with this GUID.
    pub fn port(&self, guid: Guid) -> Option<(NodeId, u8)> {
        self.ports.get(&guid).copied()
    }

    /// Returns the port with this address.
    pub fn address(&self, lid: Lid) -> Option<(NodeId, u8)> {
        self.addresses.get(usize::from(lid.0)).copied().flatten()
    }
}

impl Subnet {
    /// Returns the name of a port.
    pub fn port_name(&self, node: NodeId, port: u8) -> PortName {
        PortName {
            node: self.nodes[node.index()].guid,
            port,
        }
    }
}
