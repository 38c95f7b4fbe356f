//! OpenSM's rules: how it reads its files, what it programs, and errors in the files.
//!
//! ```text
//! opensm.conf ─► Conf ─► effective ─► programming ─► Program   what a port will hold
//!                  │                       │
//! qos-policy.conf ─┴► lint ◄───────────────┘                   differences between file and ports
//! Tables ─► export ─► opensm.conf, qos-policy.conf, routes     files for a plan
//! Tables, Programmed ─► verify                                 whether the ports hold the plan
//! ```
//!
//! The rules are those of OpenSM 3.3.23, derived from its behaviour. The tests compare them with a
//! real OpenSM that configures a simulated fabric.

mod conf;
mod effective;
pub mod export;
mod keys;
mod lint;
mod lists;
pub mod policy;
mod programming;
mod strtoul;
mod tables;
pub mod verify;

pub use conf::{Conf, LineTooLong, Setting};
pub use effective::{Effective, Origin};
pub use keys::{QosKey, QosSet, key_name};
pub use lint::{Fabric, Report, Subject, lint};
pub use policy::Policy;
pub use programming::{PortCapabilities, PortKind, Program, Sweep, operational_lanes, program};
pub use tables::{PortTables, Tables};

/// Returns the codes of notes about files of OpenSM.
pub fn codes() -> Vec<netloom_catalog::Code> {
    netloom_catalog::codes(include_str!("codes.md"))
}
