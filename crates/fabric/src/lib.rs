//! The simulated machines: endpoints around switches of one kind, as a model for the event kernel.
//!
//! The path of a packet through a switch with buffers at both sides, and the file of each step
//! (`switch/crossbar/mod.rs` and `switch/tiled/mod.rs` show other kinds of switch):
//!
//! ```text
//!  workload, program ─► flow ─► NIC queue ─► arbiter ─► link
//!  endpoint/source.rs   flows.rs            send.rs
//!
//!   ─► input buffer ─► routing ─► allocation ─► crossbar ─► output buffer ─► arbiter ─► link
//!      switch/crossbar/input.rs   allocate.rs, islip.rs     transfer.rs      output.rs
//!
//!   ─► … ─► NIC ─► answer
//!           endpoint/receive.rs, answers.rs
//! ```
//!
//! Endpoints, links and routing are common to all kinds of switch. [`EndpointPlan`] sets what
//! endpoints do beyond sending and receiving, [`FlowControl`] how a sender learns about free buffer
//! space, and `netloom_routing` the path of a packet. A kind of switch implements the trait in
//! `switch/mod.rs`.
//!
//! The cost is per packet, not per flit. A packet that has started proceeds at a known rate, so all
//! times that follow from a decision are computed, and buffer space is counted exactly to the flit
//! by ramps. Flit-by-flit, cycle-driven reference implementations in `tests/` deliver every packet
//! at the same tick.
//!
//! The model omits loss, except for the faults of tiled switches: a lossless fabric never drops,
//! and management traffic on VL15, which InfiniBand may drop, has credits. It also omits memory
//! banks and the bookkeeping of stashes.
//!
//! This crate may depend on the engine, the routing and the crates below them, but not on
//! experiment files. Start with [`FabricPlan`], then [`build`] and [`Simulation`].

mod arbiter_state;
mod channels;
mod endpoint;
mod fabric;
mod lane_rows;
mod link;
mod parcel;
mod plan;
mod port_arbiter;
mod queue_scheme;
mod recorder;
mod rows;
mod shared;
mod sharing;
mod simulation;
mod slab;
mod switch;
mod trace;
mod validation;

pub use channels::{Channels, PathChannels};
pub use endpoint::connections::ConnectionPlan;
pub use endpoint::control::{
    CONGESTION_CONTROLS, CongestionControl, Control, Cuts, Echo, EcnWindow, FlowState, Link,
    Uncontrolled, Window,
};
pub use lane_rows::{ChannelRow, DROPPED, LaneRow, LaneRows, PassedRows, SAME_CHANNELS};
pub use link::ramp::Pace;
pub use link::room::Sizes;
/// Processes that form one run.
pub use netloom_engine::{Ranks, SharedRanks, ThreadRank};
pub use plan::tiles::{
    Faults, PortBuffers, Priority, Retransmission, RowSpace, StashUse, TileStages, Tiled,
};
pub use plan::{
    Allocation, Architecture, CentralStart, ClassPlan, CrossbarPlan, CrossbarStart, EndpointPlan,
    FabricPlan, FlowControl, Hierarchy, InputPorts, LinkTiming, NicQueues, Pipeline, QueueScheme,
    ReceiveOrder, SwitchPlan, Thresholds,
};
pub use queue_scheme::QueueMap;
pub use recorder::{Counters, PortUse, Protocol, Row};
pub use sharing::{Share, Sharing};
pub use simulation::{
    LARGEST_RADIX, MOST_QUEUES, MOST_RECORDS, Options, Simulation, Waiting, build, build_over,
    instances, rows,
};
pub use trace::{Followed, MOST_FOLLOWED, Stage, Step, Watch};
