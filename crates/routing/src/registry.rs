//! The concept: a description of a routing that can be compiled for a fabric.

use std::sync::Arc;

use netloom_catalog::{Kind, kind};
use netloom_topology::Topology;

use crate::{
    DModK, Det, DimensionOrder, Forwarding, Minimal, Par, RandomUp, Shortest, Ugal, UpDown, Valiant,
};

/// A description of a routing, as a file gives it.
pub trait Routing: Send + Sync {
    /// Makes it ready for a fabric, or says why it does not fit. Random choices come from the seed.
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String>;
}

/// All kinds of routing.
pub const KINDS: &[Kind<dyn Routing>] = &[
    kind!(Det, dyn Routing),
    kind!(DModK, dyn Routing),
    kind!(RandomUp, dyn Routing),
    kind!(DimensionOrder, dyn Routing),
    kind!(Minimal, dyn Routing),
    kind!(Valiant, dyn Routing),
    kind!(Ugal, dyn Routing),
    kind!(Par, dyn Routing),
    kind!(UpDown, dyn Routing),
    kind!(Shortest, dyn Routing),
];
