//! Traffic: who talks to whom, when, and how much. It knows no switch.
//!
//! A traffic [`Class`] is a [`Pattern`] (to whom) times an [`ArrivalProcess`] (when) times [`Sizes`] (how
//! much), with a service level, a load and a set of sources; or it is a list of messages from a file
//! ([`FlowList`]) or from a workload that says everything about them ([`Generator`]); a workload can also be
//! [`programs`] of ranks, whose messages wait for each other. Building a class gives a
//! [`netloom_packet::Source`], which the NICs ask for one message after another. Who takes part in a class is a
//! [`NicSet`], which may name [`Groups`] of the file.
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
//! A message depends on its name only, never on what was drawn before, on ticks, on routing or on an
//! arbiter: two runs with the same seed see the same traffic, and can be compared pair by pair. Time here
//! is the NIC's own: one cycle is one flit of the NIC's link. The load of a class is the fraction of that
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
    AllReduce, AllReduceAlgorithm, Amg, Amr, BigFft, FillBoundary, Generated, Generator, Grid,
    MiniFe, MultiGrid, San, Skeleton, WORKLOADS, programs,
};
