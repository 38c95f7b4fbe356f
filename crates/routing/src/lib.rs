//! Routing: the output port and lane of a packet at every switch.
//!
//! A [`Routing`] is the description in a file. [`Routing::compile`] turns it into a [`Forwarding`]
//! for one fabric, which is immutable, shared by all partitions and called once per packet and
//! switch. Trees and grids are routed by arithmetic, other fabrics by tables over destination
//! switches. Random choices are keyed by the packet ([`Occasion`]), never by the order of events.
//!
//! [`deadlock::check`] proves that a forwarding is free of deadlock or returns a cycle; [`paths`]
//! follows packets. Other crates can add routings through [`Route`].
//!
//! This crate may depend on the topology and the crates below it, but not on the simulation. Start
//! with [`Forwarding::route`], then `tree.rs` (arithmetic) or `table.rs` (tables). The kinds are
//! registered in `registry.rs`.
//!
//! ```
//! use std::sync::Arc;
//! use netloom_routing::{DModK, Routing, paths};
//! use netloom_topology::{Blueprint, FatTree};
//! use netloom_units::NicId;
//!
//! let tree = Arc::new(FatTree { arity: 2, levels: 3 }.build(1).unwrap());
//! let forwarding = DModK {}.compile(&tree, 1).unwrap();
//! let path = paths::path(&tree, &forwarding, NicId(0), NicId(6), 0).unwrap();
//! let switches: Vec<u32> = path.iter().map(|step| step.switch.0).collect();
//! assert_eq!(switches, [0, 4, 10, 6, 3]);
//! ```

mod choice;
mod columns;
mod damaged;
pub mod deadlock;
mod divisor;
mod dragonfly;
mod ecmp;
mod entries;
mod exceptions;
mod forwarding;
mod grid;
mod group_plan;
mod in_transit;
mod ladder;
mod linear;
pub mod paths;
mod registry;
mod route;
mod shortest;
mod table;
mod tree;
mod up_down;
mod view;

pub use choice::Choice;
pub use dragonfly::{Intermediate, Knowledge, Minimal, Par, ParUgal, Ugal, Valiant};
pub use ecmp::Ecmp;
pub use forwarding::{Announcements, Facts, Forwarding};
pub use grid::{Deadlock, DimensionOrder, Tie, Trunk};
pub use in_transit::Policy;
pub use linear::{NotLinear, linear_table};
pub use registry::{KINDS, Routing, fitting};
pub use route::{Hop, Lookup, Occasion, Route, WORD_BITS};
pub use shortest::Shortest;
pub use table::{Entry, Paths, TableBuilder};
pub use tree::{DModK, Det, RandomUp};
pub use up_down::UpDown;
pub use view::{EmptyQueues, Occupancy, QueueView};
