//! Writes plans and routes as files for OpenSM and its simulator.

mod conf;
mod guids;
mod ibsim_net;
mod policy;
mod torus;

pub use conf::{ExportError, opensm_conf};
pub use guids::guid_list;
pub use ibsim_net::ibsim_net;
pub use policy::{PathEnd, PolicyGroup, qos_policy};
pub use torus::{TorusDimension, TorusSeed, torus_2qos_conf};
