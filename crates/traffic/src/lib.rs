//! Traffic: destinations, times and sizes of messages. It does not depend on switches.
//!
//! A traffic [`Class`] combines a [`Pattern`] (destinations), an [`ArrivalProcess`] (times) and
//! [`Sizes`], with a service level, a load and a set of sources. Alternatively, a file
//! ([`FlowList`]) or a workload ([`Generator`]) lists its messages. A workload can also be
//! [`programs`] of ranks, whose messages wait for each other. A class builds a
//! [`netloom_packet::Source`], from which the NICs take one message after another. The participants
//! of a class are a [`NicSet`], which may name [`Groups`] of the file.
//!
//! ```text
//!   (seed, NIC, class, message number)
//!                 │ one Philox draw: 4 words
//!        ┌────────┼─────────────┐
//!     words 0,1  word 2       word 3
//!        ▼        ▼             ▼
//!      Gaps   Destinations    Sizes   ──►  Arrival { cycle, destination, bytes }
//! ```
//!
//! A message depends only on its identity, not on earlier draws, ticks, routing or arbiters. Two
//! runs with the same seed see the same traffic, and can be compared pair by pair. Time is that of
//! the NIC: one cycle is one flit of the NIC's link. The load of a class is the fraction of that
//! link that each of its sources fills, in flits on the wire, headers included.

mod arrival;
mod cdf;
mod class;
mod composed;
mod connections;
mod context;
mod flow_list;
mod groups;
mod kinds;
mod nic_set;
mod pattern;
mod ranks;
mod reading;
mod size;
mod workload;

pub use arrival::{
    ARRIVALS, ArrivalProcess, Bernoulli, Bursts, Constant, FRACTION_BITS, Gaps, Pace, Per,
    Periodic, Phase, Poisson, Slot,
};
pub use cdf::{Builtin, Cdf, SizeTable};
pub use class::{Class, Law, MANAGEMENT, Script, Setting, Workload};
pub use connections::{Connections, Flow, FlowSetting, MOST_FLOWS};
pub use context::{Context, Window};
pub use flow_list::{FlowList, Mistake};
pub use groups::{BadGroup, GroupMembers, Groups, Members, NO_GROUPS};
pub use kinds::TrafficKinds;
pub use nic_set::{NicSet, Part, Term};
pub use pattern::{
    BitComplement, BitReversal, Destinations, Drawn, HotSources, HotSpot, Idle, Incast, Neighbour,
    PATTERNS, Pairs, Pattern, Permutation, RandomPartner, Shuffle, Tornado, Transpose, Uniform,
};
pub use ranks::Ranks;
pub use size::{Fixed, Mix, SIZES, Sizes, UniformSizes};
pub use workload::{
    AllGather, AllGatherAlgorithm, AllReduce, AllReduceAlgorithm, AllToAll, AllToAllAlgorithm, Amg,
    Amr, BigFft, Broadcast, BroadcastAlgorithm, ExpertParallel, FillBoundary, Generated, Generator,
    Grid, KvTransfer, Merge, MiniFe, MultiGrid, ReduceScatter, ReduceScatterAlgorithm, San,
    Skeleton, TokenType, TransferMode, Transfers, WORKLOADS, programs,
};
