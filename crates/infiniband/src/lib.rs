//! Real InfiniBand subnets: what their tools write, what their subnet manager does, and what is wrong with it.
//!
//! ```text
//! ibnetdiscover, opensm-subnet.lst ─► Subnet       nodes, ports, cables
//! LFTs, SL2VL, vlarb, portinfo     ─► Programmed   what the subnet manager wrote into them
//! Subnet and Programmed            ─► routes       where packets go, who never gets any, and what can deadlock
//! Subnet                           ─► suspects     cables that are missing or slow, hosts with one name
//! opensm.conf, qos-policy.conf     ─► opensm       what it will write, and what it will not
//! Subnet ─► emulate ◄─ a real OpenSM ─► Programmed what it did write
//! ```
//!
//! Nothing here knows the simulator.

pub mod codes;
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
pub use subnet::{Cable, Device, Node, NodeKind, Port, Subnet};
