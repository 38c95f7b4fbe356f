//! Fabrics: switches, NICs, and the cables between their ports.
//!
//! A [`Blueprint`] is the description in a file: a kind and its parameters. [`Blueprint::build`]
//! turns it into a [`Topology`]: flat arrays with the other end of the cable of every port. The
//! [`Structure`] keeps what arithmetic routings need to know about regular fabrics.
//!
//! This crate may depend on the catalog, the units and random numbers, but not on routing or
//! simulation. Start with [`Topology`], then `grid.rs` as a simple kind. The kinds are registered
//! in `blueprint.rs`; other crates can add topologies through [`Blueprint`] and [`Builder`].
//!
//! ```
//! use netloom_topology::{Blueprint, FatTree, Peer};
//! use netloom_units::{Port, SwitchId};
//!
//! let tree = FatTree { arity: 2, levels: 3 }.build(1).unwrap();
//! assert_eq!((tree.n_nics(), tree.n_switches(), tree.radix()), (8, 12, 4));
//! // Up port 0 of switch 0 leads to the first switch of the second stage.
//! assert_eq!(tree.peer(SwitchId(0), Port(2)), Peer::Switch(SwitchId(4), Port(0)));
//! ```

mod blueprint;
mod capacity;
mod dragonfly;
mod egress;
pub mod graph;
mod grid;
mod group_links;
mod hypercube;
mod measures;
mod megafly;
mod missing;
mod partitions;
mod pgft;
mod random_regular;
mod single_switch;
mod structure;
mod topology;
mod tree;

pub use blueprint::{Blueprint, KINDS};
pub use capacity::{Capacity, Stage, capacity};
pub use dragonfly::{Dragonfly, Placement};
pub use egress::Egress;
pub use graph::Graph;
pub use grid::{Mesh, Torus};
pub use hypercube::Hypercube;
pub use measures::{Certainty, Measures, measures};
pub use megafly::Megafly;
pub use random_regular::RandomRegular;
pub use single_switch::SingleSwitch;
pub use structure::Structure;
pub use topology::{Builder, Peer, Topology};
pub use tree::{FatTree, ParallelFatTree};

pub use dragonfly::DragonflyShape;
pub use grid::Grid;
pub use group_links::{Arrangement, GroupLink, GroupLinks};
pub use megafly::MegaflyShape;
pub use pgft::Pgft;
