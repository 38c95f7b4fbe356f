//! Settings of communication libraries: what each puts on the wire, checks of environments, and
//! environments from a plan. Also parameters of links and devices by name ([`devices`]).
//!
//! ```text
//! table.toml ─► table ─┬─► explanation of a setting
//!                      │
//!   file ─► reading ───┼─► wire: level or class of each library ─► lint: collisions
//!                      │
//!   plan ─► class ─────┴─► export: lines per process
//! ```
//!
//! The table holds facts with their sources. A row that is not verified never becomes a line of an
//! environment, and a version that was not read is answered by "not known".

pub mod devices;
pub mod explain;
pub mod export;
pub mod lint;
pub mod plan;
pub mod reading;
pub mod table;
pub mod version;
pub mod wire;

pub use plan::{Carried, Class, Classes, Link};
pub use table::{Library, Setting, table};

/// Returns the codes of notes about environments, and about settings that cannot be exported.
pub fn codes() -> Vec<netloom_catalog::Code> {
    netloom_catalog::codes(include_str!("codes.md"))
}
