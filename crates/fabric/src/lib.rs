//! The machines: switches, NICs and links as one model of the event kernel.
//!
//! A packet's way through a switch with buffers at both sides, and the file that holds each step (the ways
//! through other kinds of switch are in `switch/mod.rs`, what differs between kinds in `shape.rs`):
//!
//! ```text
//!  workload ─► NIC queue ─► arbiter ─► link ─► input buffer ─► routing ─► allocation ─► crossbar
//!              nic/send.rs            wire.rs  switch/input.rs            switch/allocate.rs, islip.rs
//!
//!   ─► output buffer ─► arbiter ─► link ─► … ─► NIC
//!      switch/transfer.rs  switch/output.rs     nic/receive.rs
//! ```
//!
//! The cost is per packet, not per flit. A packet that has started is served at a known rate until its
//! tail, so every time that follows from a decision is arithmetic ([`wire`](self)), and room in buffers is
//! counted exactly to the flit by ramps. A flit-by-flit, cycle-driven twin of this model in `tests/`
//! delivers every packet at the same tick.
//!
//! Flow control is one of three at a sender (`flow.rs`): credits per lane, credits per queue of the next
//! switch, or PAUSE per lane.
//!
//! Plans of all machines are described here; tiled switches, with acknowledging endpoints, congestion control,
//! adaptive routing and faults, are simulated by the crate `netloom-tiled` behind the same [`Simulation`].
//!
//! What this model leaves out: those four, and so every loss (a lossless fabric never drops). Management traffic
//! (VL15) has its own lane and priority and no special packets.

mod channels;
mod endpoint;
mod fabric;
mod link;
mod parcel;
mod plan;
mod queue_scheme;
mod recorder;
mod rows;
mod shared;
mod simulation;
mod slab;
mod switch;
mod trace;

pub use channels::Channels;
pub use endpoint::connections::{ConnectionPlan, DelayFrom};
pub use endpoint::control::{
    CONGESTION_CONTROLS, CongestionControl, Control, Cuts, Echo, EcnWindow, FlowState, Link,
    MarkBase, Marking, Uncontrolled, Window,
};
pub use link::ramp::Pace;
pub use link::room::Sizes;
pub use plan::tiles::{Faults, PortBuffers, RowSpace, StashUse, TileStages, Tiled};
pub use plan::{
    Allocation, Architecture, ClassPlan, EndpointPlan, FabricPlan, FlowControl, Hierarchy,
    LinkTiming, NicQueues, Pipeline, QueueScheme, SwitchPlan, Thresholds,
};
pub use queue_scheme::QueueMap;
pub use recorder::{Counters, PortUse, Protocol, Row};
pub use simulation::{LARGEST_RADIX, MOST_QUEUES, Options, Simulation, Waiting, build, rows};
pub use trace::{Followed, MOST_FOLLOWED, Stage, Step, Watch};
