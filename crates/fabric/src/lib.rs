//! The machines: endpoints around switches of one kind, as one model of the event kernel.
//!
//! A packet's way beside a switch with buffers at both sides, and the file that holds each step (the ways through
//! other kinds of switch are in `switch/crossbar/mod.rs` and `switch/tiled/mod.rs`):
//!
//! ```text
//!  workload, program ─► flow ─► NIC queue ─► arbiter ─► link ─► input buffer ─► routing ─► allocation ─► crossbar
//!  endpoint/source.rs   flows.rs            send.rs            switch/crossbar/input.rs   allocate.rs, islip.rs
//!
//!   ─► output buffer ─► arbiter ─► link ─► … ─► NIC ─► answer
//!      transfer.rs      output.rs           endpoint/receive.rs, answers.rs
//! ```
//!
//! What endpoints, links and routing do, they do beside every switch: [`EndpointPlan`] says what they do beyond sending
//! and receiving, [`FlowControl`] how a sender knows of room, `netloom_routing` which way a packet takes. A kind of
//! switch is what `switch/mod.rs` asks of it.
//!
//! The cost is per packet, not per flit. A packet that has started is served at a known rate until its tail, so every
//! time that follows from a decision is arithmetic, and room in buffers is counted exactly to the flit by ramps.
//! Flit-by-flit, cycle-driven twins in `tests/` deliver every packet at the same tick.
//!
//! What this model leaves out: loss, but for the faults of tiled switches (a lossless fabric never drops, and management
//! on VL15, which InfiniBand may drop, has credits); memory banks and the bookkeeping of stashes.

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
pub use endpoint::connections::{ConnectionPlan, DelayFrom};
pub use endpoint::control::{
    CONGESTION_CONTROLS, CongestionControl, Control, Cuts, Echo, EcnWindow, FlowState, Link,
    MarkBase, Marking, Uncontrolled, Window,
};
pub use lane_rows::{ChannelRow, DROPPED, LaneRow, LaneRows, PassedRows, SAME_CHANNELS};
pub use link::ramp::Pace;
pub use link::room::Sizes;
/// Several processes that are one run.
pub use netloom_engine::{Ranks, SharedRanks, ThreadRank};
pub use plan::tiles::{
    Faults, PortBuffers, Priority, Retransmission, RowSpace, StashSelect, StashUse, TileStages,
    Tiled,
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
    LARGEST_RADIX, MOST_QUEUES, MOST_RECORDS, Options, Simulation, Waiting, build, build_over, rows,
};
pub use trace::{Followed, MOST_FOLLOWED, Stage, Step, Watch};
