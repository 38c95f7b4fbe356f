//! Outputs onto links.

use std::fmt;

use netloom_units::{NicId, Port, SwitchId};

use crate::Topology;

/// An output onto a link, with an arbiter and its tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Egress {
    /// The output of a NIC.
    Nic(NicId),
    /// An output port of a switch, to another switch or to a NIC.
    Switch(SwitchId, Port),
}

impl Egress {
    /// Returns the name in this fabric: `n3`, or `s1:4` for a port of a switch.
    pub fn name(&self, topology: &Topology) -> String {
        match *self {
            Egress::Nic(nic) => topology.nic_name(nic),
            Egress::Switch(switch, port) => format!("{}:{}", topology.switch_name(switch), port.0),
        }
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Egress::Nic(nic) => write!(f, "{nic}"),
            Egress::Switch(switch, port) => write!(f, "{switch} {port}"),
        }
    }
}
