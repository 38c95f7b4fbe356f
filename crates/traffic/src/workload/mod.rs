//! Workloads that define all their messages: sources, destinations, times and sizes.
//!
//! Some workloads list their messages before the run, for one seed, and do not react to the fabric.
//! Others are programs of ranks, whose messages wait for each other.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod broadcast;
mod collective;
mod expert_parallel;
mod kv_transfer;
pub mod programs;
mod reduce_scatter;
mod san;
mod skeleton;

pub use all_gather::{AllGather, AllGatherAlgorithm};
pub use all_reduce::{AllReduce, AllReduceAlgorithm};
pub use all_to_all::{AllToAll, AllToAllAlgorithm};
pub use broadcast::{Broadcast, BroadcastAlgorithm};
pub use expert_parallel::{ExpertParallel, Merge, TokenType};
pub use kv_transfer::{KvTransfer, TransferMode, Transfers};
pub use reduce_scatter::{ReduceScatter, ReduceScatterAlgorithm};
pub use san::San;
pub use skeleton::{Amg, Amr, BigFft, FillBoundary, Grid, MiniFe, MultiGrid, Skeleton};

use netloom_catalog::{Kind, kind};
use netloom_packet::Arrival;
use netloom_units::NicId;

use crate::{NicSet, Setting};
use programs::Placed;

/// Maximum of messages in a list, to limit memory.
const MOST_MESSAGES: usize = 20_000_000;

/// A workload that defines all its messages.
#[warn(missing_docs)]
pub trait Generator: Send + Sync {
    /// Returns the bytes of the largest message, the same for every seed.
    fn largest(&self, setting: &Setting<'_>) -> u32;

    /// Returns its messages, or why there are none. They depend on the setting alone.
    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String>;

    /// Returns the sets of NICs that it names.
    fn sets(&self) -> Vec<NicSet>;

    /// Returns whether it generates programs.
    fn is_program(&self) -> bool {
        false
    }
}

/// The messages of a workload.
pub enum Generated {
    /// All messages with their sources; those of one source and instant are in their final order.
    Messages(Vec<(NicId, Arrival)>),
    /// Programs, whose messages wait for each other.
    Programs(Placed),
    /// Transfers without end, for as long as the class and the run last.
    Transfers(Transfers),
}

/// All workloads.
pub const WORKLOADS: &[Kind<dyn Generator>] = &[
    kind!(San, dyn Generator),
    kind!(BigFft, dyn Generator),
    kind!(FillBoundary, dyn Generator),
    kind!(MultiGrid, dyn Generator),
    kind!(Amg, dyn Generator),
    kind!(Amr, dyn Generator),
    kind!(MiniFe, dyn Generator),
    kind!(AllReduce, dyn Generator),
    kind!(AllGather, dyn Generator),
    kind!(ReduceScatter, dyn Generator),
    kind!(AllToAll, dyn Generator),
    kind!(Broadcast, dyn Generator),
    kind!(ExpertParallel, dyn Generator),
    kind!(KvTransfer, dyn Generator),
];
