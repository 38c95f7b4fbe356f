//! Workloads that say everything about their messages: who, to whom, when and how much.
//!
//! They list their messages before the run, for one seed. They do not react to the fabric.

mod san;

pub use san::San;

use netloom_catalog::{Kind, kind};
use netloom_packet::Arrival;
use netloom_units::NicId;

use crate::Setting;

/// A workload that lists its messages.
pub trait Generator: Send + Sync {
    /// Bytes of the largest message.
    fn largest(&self) -> u32;

    /// All messages with their sources, or why there are none. They depend on the setting alone, and those of
    /// one source and instant are in their final order.
    fn messages(&self, setting: &Setting<'_>) -> Result<Vec<(NicId, Arrival)>, String>;
}

/// All workloads.
pub const WORKLOADS: &[Kind<dyn Generator>] = &[kind!(San, dyn Generator)];
