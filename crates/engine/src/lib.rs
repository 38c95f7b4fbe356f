//! The discrete-event kernel: time, queues, partitions, threads and processes. It knows no network.
//!
//! A [`Model`] consists of plain arrays of components. In every tick with events, the kernel first
//! applies all of them (phase A: updates that commute). Then it lets each marked component decide
//! once from its own state (phase B: effects on others come at least one tick later). So the result
//! depends on the *set* of events in a tick and never on their order. There are no tie-breaking
//! keys and no sorting, and the result is the same for any number of partitions, threads and
//! processes.
//!
//! ```text
//! Engine ── Partition ─┬─ Model            apply, decide, receive
//!    │                 └─ Outbox ── Wheel  at, send, mark
//!    ├─ windows / threads   [T, T + lookahead), skipping idle time
//!    └─ Transport           other processes (Local has none; OverRanks: MPI, or threads in tests)
//! ```
//!
//! This crate may depend only on the units and the encoding. Start with [`Model`], then
//! [`Outbox`], and `partition.rs` for the loop over the ticks.

mod barrier;
mod encoded;
mod engine;
mod mailbox;
mod model;
mod outbox;
mod partition;
mod queue;
mod ranks;
mod scramble;
mod threads;
mod threads_as_ranks;
mod transport;
mod watchdog;
mod windows;

pub use engine::Engine;
pub use model::Model;
pub use outbox::Outbox;
pub use partition::LATEST;
pub use queue::{EventQueue, Heap, Wheel};
pub use ranks::{OverRanks, Ranks, SharedRanks, placement};
pub use threads_as_ranks::ThreadRank;
pub use transport::{Local, Placement, Transport};
pub use watchdog::find_cycle;
