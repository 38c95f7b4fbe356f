//! A subnet as it was found: nodes, their ports, and the cables between them.

use crate::{Guid, Lid, NodeId, Speed, Width};

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A switch. `enhanced_port_0` says that its own port has lanes and tables like any other.
    Switch {
        /// Whether port 0 is an enhanced one.
        enhanced_port_0: bool,
    },
    /// A channel adapter: what hosts have.
    ChannelAdapter,
    /// A router to another subnet.
    Router,
}

impl NodeKind {
    /// Whether it forwards packets within the subnet.
    pub fn is_switch(self) -> bool {
        matches!(self, NodeKind::Switch { .. })
    }
}

/// One node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its number for life.
    pub guid: Guid,
    /// The number of the box it is part of, if the file says.
    pub system_guid: Option<Guid>,
    /// Vendor and device, if the file says.
    pub device: Option<Device>,
    /// What its owner calls it. Several nodes may share a description.
    pub description: String,
    /// Ports by number. Of a switch, 0 is its own management port; other nodes count from 1 and leave 0 unused.
    pub ports: Vec<Port>,
}

impl Node {
    /// Whether it is no host but the part of a switch that adds up what hosts send (SHARP). It is listed as a channel
    /// adapter, and hangs on the last port of its switch.
    pub fn is_aggregation_node(&self) -> bool {
        self.kind == NodeKind::ChannelAdapter && self.description.contains("Aggregation Node")
    }

    /// Whether it is a channel adapter of a host.
    pub fn is_host(&self) -> bool {
        self.kind == NodeKind::ChannelAdapter && !self.is_aggregation_node()
    }
}

/// Who made a node, and what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    /// The vendor's number.
    pub vendor: u32,
    /// The vendor's number of the device.
    pub device: u32,
}

/// One port of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Port {
    /// Its number for life; ports of a switch share that of port 0 and have none.
    pub guid: Option<Guid>,
    /// Its address: of a channel adapter's port, and of port 0 of a switch.
    pub lid: Option<Lid>,
    /// It has `2^lmc` addresses, from `lid` on.
    pub lmc: u8,
    /// What is at the other end of its cable.
    pub cable: Option<Cable>,
}

impl Port {
    /// All its addresses.
    pub fn lids(&self) -> impl Iterator<Item = Lid> + use<> {
        let first = self.lid.map_or(1, |lid| lid.0);
        let n = self.lid.map_or(0, |_| 1u16 << self.lmc.min(7));
        (0..n).filter_map(move |offset| first.checked_add(offset).map(Lid))
    }
}

/// A cable as seen from one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    /// The node at the other end.
    pub node: NodeId,
    /// Its port.
    pub port: u8,
    /// How many lanes of copper or glass it has; unknown if the file has `??`.
    pub width: Option<Width>,
    /// How fast each is.
    pub speed: Option<Speed>,
}

/// A subnet. Cables are symmetric: the cable of the port at the other end leads back.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Subnet {
    /// All nodes, in the order of the file.
    pub nodes: Vec<Node>,
}
