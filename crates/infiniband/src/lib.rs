//! Real InfiniBand subnets: the output of their tools, what their subnet manager programs, and
//! faults in both.
//!
//! ```text
//! ibnetdiscover, opensm-subnet.lst ─► Subnet       nodes, ports, cables
//! LFTs, SL2VL, vlarb, portinfo     ─► Programmed   what the subnet manager programmed
//! Subnet and Programmed            ─► routes       paths, unreachable destinations, deadlocks
//! Subnet                           ─► suspects     missing or slow cables, duplicate host names
//! opensm.conf, qos-policy.conf     ─► opensm       what OpenSM will program, and what it will not
//! Subnet ─► emulate ◄─ a real OpenSM ─► Programmed what OpenSM did program
//! ```
//!
//! This crate does not depend on the simulator.

#[cfg(target_os = "linux")]
pub mod emulate;
mod ids;
mod index;
pub mod opensm;
pub mod other_targets;
mod port_tables;
mod rate;
pub mod reading;
pub mod routes;
mod site;
mod subnet;
pub mod suspects;
pub mod writing;

pub use ids::{Guid, Lid, NodeId};
pub use index::SubnetIndex;
pub use port_tables::{
    DROPPED, ForwardingTable, PathLevels, PortLanes, PortName, Programmed, SlToVl, VlArbitration,
};
pub use rate::{Speed, Width};
pub use site::Site;
pub use subnet::{Cable, Device, Node, NodeKind, Subnet, SubnetPort};

/// Returns the codes of notes about files of real fabrics.
pub fn codes() -> Vec<netloom_catalog::Code> {
    netloom_catalog::codes(include_str!("codes.md"))
}
