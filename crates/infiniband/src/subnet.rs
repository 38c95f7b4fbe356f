//! A subnet as discovered: nodes, their ports, and the cables between them.

use crate::{Guid, Lid, NodeId, Speed, Width};

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A switch. An enhanced port 0 has lanes and tables like any other port.
    Switch {
        /// Whether port 0 is enhanced.
        enhanced_port_0: bool,
    },
    /// A channel adapter: the network card of a host.
    ChannelAdapter,
    /// A router to another subnet.
    Router,
}

impl NodeKind {
    /// Returns whether the node forwards packets within the subnet.
    pub fn is_switch(self) -> bool {
        matches!(self, NodeKind::Switch { .. })
    }
}

/// One node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    pub kind: NodeKind,
    /// The permanent number of the node.
    pub guid: Guid,
    /// The GUID of the chassis that contains it, if known.
    pub system_guid: Option<Guid>,
    /// Vendor and device, if known.
    pub device: Option<Device>,
    /// The name that its owner chose. Several nodes may share a description.
    pub description: String,
    /// Ports by number. Port 0 is the management port of a switch; other nodes leave it unused.
    pub ports: Vec<SubnetPort>,
}

impl Node {
    /// Returns whether the node is not a host but the part of a switch that reduces data in the
    /// network (SHARP). Listings show it as a channel adapter at the last port of its switch.
    pub fn is_aggregation_node(&self) -> bool {
        self.kind == NodeKind::ChannelAdapter && self.description.contains("Aggregation Node")
    }

    /// Returns whether the node is a channel adapter of a host.
    pub fn is_host(&self) -> bool {
        self.kind == NodeKind::ChannelAdapter && !self.is_aggregation_node()
    }
}

/// The vendor and type of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    pub vendor: u32,
    /// The device number, assigned by the vendor.
    pub device: u32,
}

/// One port of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SubnetPort {
    /// The permanent number of the port. Ports of a switch share the GUID of port 0 and have
    /// `None`.
    pub guid: Option<Guid>,
    /// The address of a channel adapter's port, or of port 0 of a switch.
    pub lid: Option<Lid>,
    /// The port has `2^lmc` addresses, starting at `lid`.
    pub lmc: u8,
    /// The cable and its other end.
    pub cable: Option<Cable>,
}

impl SubnetPort {
    /// Returns all addresses of the port.
    pub fn lids(&self) -> impl Iterator<Item = Lid> + use<> {
        let first = self.lid.map_or(1, |lid| lid.0);
        let n = self.lid.map_or(0, |_| 1u16 << self.lmc.min(7));
        (0..n).filter_map(move |offset| first.checked_add(offset).map(Lid))
    }
}

/// A cable, seen from one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    /// The node at the other end.
    pub node: NodeId,
    /// The port at the other end.
    pub port: u8,
    /// The number of physical lanes; `None` if the file has `??`.
    pub width: Option<Width>,
    /// The speed of each lane.
    pub speed: Option<Speed>,
}

/// A subnet. Cables are symmetric: the port at the other end has the same cable.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Subnet {
    /// All nodes, in the order of the file.
    pub nodes: Vec<Node>,
}
