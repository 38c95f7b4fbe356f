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
//! A subnet is also a fabric to simulate: [`TOPOLOGY`] reads it, and [`ROUTING`] follows its
//! forwarding tables. `netloom-experiment` adds both kinds like those of a program.
//!
//! This crate does not depend on the simulator.

mod blueprint;
#[cfg(target_os = "linux")]
pub mod emulate;
mod forwarding_tables;
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

use netloom_catalog::{Kind, kind};
use netloom_routing::Routing;
use netloom_topology::Blueprint;

pub use blueprint::{InfiniBand, as_subnet};
pub use forwarding_tables::ForwardingTables;
pub use ids::{Guid, Lid, NodeId};
pub use index::SubnetIndex;
pub use port_tables::{
    DROPPED, ForwardingTable, PathLevels, PortLanes, PortName, Programmed, SlToVl, VlArbitration,
};
pub use rate::{Speed, Width};
pub use site::Site;
pub use subnet::{Cable, Device, Node, NodeKind, Subnet, SubnetPort};

/// The fabric of a real subnet.
pub const TOPOLOGY: Kind<dyn Blueprint> = kind!(InfiniBand, dyn Blueprint);

/// The forwarding tables of a real subnet.
pub const ROUTING: Kind<dyn Routing> = kind!(ForwardingTables, dyn Routing);

/// Returns the codes of notes about files of real fabrics.
pub fn codes() -> Vec<netloom_catalog::Code> {
    netloom_catalog::codes(include_str!("codes.md"))
}
