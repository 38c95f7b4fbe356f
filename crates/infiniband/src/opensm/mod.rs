//! OpenSM's rules: what it reads in its files, what it really programs, and what is wrong with them.
//!
//! ```text
//! opensm.conf ─► Conf ─► effective ─► programming ─► Program   what a port will hold
//!                  │                       │
//! qos-policy.conf ─┴► lint ◄───────────────┘                   what the file says and a port will not hold
//! Tables ─► export ─► opensm.conf, qos-policy.conf, routes     what a plan becomes
//! Tables, Programmed ─► verify                                 whether the plan is in the ports
//! ```
//!
//! The rules are those of OpenSM 3.3.23. Each was seen in its behaviour: the tests compare them with a real
//! OpenSM that configures a simulated fabric.

pub mod codes;
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
