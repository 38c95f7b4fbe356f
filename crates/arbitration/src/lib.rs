//! Which queue of an output sends next.
//!
//! A file describes a [`Policy`] (a kind of [`KINDS`] with its parameters). It builds one [`Arbiter`] per
//! output. Whenever the output is free, the arbiter sees the heads of its queues ([`View`]) and proposes
//! one ([`Grant`]); only when that packet is really sent do its registers change:
//!
//! ```text
//! file ── Policy ── build ── Arbiter ─┬─ choose(&self, &View) -> Option<Grant>   looks, changes nothing
//!           │                         └─ commit(&mut self, Grant)                the packet is sent
//!           └─ faults: what cannot work on a port with these lanes and packets
//! ```
//!
//! Nothing here knows time, links or switches, so the planner and the exporters use the same tables
//! ([`VlArbitrationTable`]) as the simulator.
//!
//! Every kind sends management (VL15) first, outside its tables and limits and without touching its
//! registers, as InfiniBand does.

mod arbiter;
mod head;
mod ib_two_table;
mod oldest_first;
mod policy;
mod round_robin;
mod strict_priority;
mod tables;

use netloom_catalog::{Kind, kind};

pub use arbiter::{Arbiter, Grant};
pub use head::{Head, MANAGEMENT_VL, N_QUEUES, View};
pub use ib_two_table::{IbTwoTable, TwoTable};
pub use oldest_first::OldestFirst;
pub use policy::{Fault, Policy, PortContext, Speaks};
pub use round_robin::RoundRobin;
pub use strict_priority::{StrictPriority, VlOrder};
pub use tables::{
    Entry, LIMIT_UNIT, MAX_ENTRIES, NO_LIMIT, TableError, VlArbitrationTable, WEIGHT_UNIT,
    weight_units,
};

/// All arbiters, in the order of the manual.
pub const KINDS: &[Kind<dyn Policy>] = &[
    kind!(RoundRobin, dyn Policy),
    kind!(OldestFirst, dyn Policy),
    kind!(StrictPriority, dyn Policy),
    kind!(IbTwoTable, dyn Policy),
];
