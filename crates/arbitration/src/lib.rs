//! Arbiters: decide which queue of an output sends next.
//!
//! A file describes a [`Policy`] (a kind of [`KINDS`] with its parameters). It builds one
//! [`Arbiter`] per output. Whenever the output is free, the arbiter gets the heads of its queues
//! ([`View`]) and proposes one ([`Grant`]). Its registers change only when that packet is sent:
//!
//! ```text
//! file ── Policy ── build ── Arbiter ─┬─ choose(&self, &View) -> Option<Grant>  changes nothing
//!           │                         └─ commit(&mut self, Grant)               the packet is sent
//!           └─ faults: problems on a port with these lanes and packets
//! ```
//!
//! This crate has no time, links or switches, so the planner and the exporters use the same tables
//! ([`VlArbitrationTable`], [`DeficitTable`], [`QuantumTable`]) as the simulator.
//!
//! | kind | classes | shares |
//! |---|---|---|
//! | `round-robin` | queues | equal in packets |
//! | `oldest-first` | queues | by age |
//! | `strict-priority` | lanes | none guaranteed |
//! | `ib-two-table` | lanes | by weight, rounded up to packets |
//! | `dtable` | service levels | by weight, exact in credits of 64 bytes |
//! | `bxi-table` | service levels | by weight, less what packets do not fill |
//! | `bxi-deficit` | service levels | by weight, exact in flits |
//! | `weighted-round-robin` | either | by weight in packets, or in bytes rounded up to packets |
//! | `deficit-round-robin` | lanes | by quantum, exact in bytes |
//! | `scfq`, `wfq` | service levels | by weight, exact in bytes |
//!
//! [`Monitored`] wraps any policy and measures the longest waits of classes.
//!
//! Every kind sends management (VL15) first, outside its tables and limits and without a change of
//! its registers, as in InfiniBand.

mod arbiter;
mod bxi;
mod deficit_round_robin;
mod dtable;
mod fair_queueing;
mod head;
mod ib_two_table;
mod oldest_first;
mod policy;
mod quantum_walk;
mod round_robin;
mod service_levels;
mod strict_priority;
mod tables;
mod wait_monitor;
mod weighted_round_robin;

use netloom_catalog::{Kind, kind};

pub use arbiter::{Arbiter, Grant, take_word};
pub use bxi::{BxiDeficit, BxiTable};
pub use deficit_round_robin::DeficitRoundRobin;
pub use dtable::DTable;
pub use fair_queueing::{Scfq, Wfq};
pub use head::{Head, MANAGEMENT_VL, N_QUEUES, View};
pub use ib_two_table::{IbTwoTable, TwoTable};
pub use oldest_first::OldestFirst;
pub use policy::{Fault, Policy, PortContext, Speaks};
pub use round_robin::RoundRobin;
pub use strict_priority::{StrictPriority, VlOrder};
pub use tables::{
    DeficitTable, Entry, LIMIT_UNIT, MAX_DEFICIT_ENTRIES, MAX_ENTRIES, MAX_IB_DEFICIT_ENTRIES,
    MAX_QUANTUM, MAX_QUANTUM_ENTRIES, MAX_VIRTUAL_ENTRIES, N_SLS, NO_LIMIT, QuantumTable, SlEntry,
    TableError, VlArbitrationTable, WEIGHT_UNIT, weight_units,
};
pub use wait_monitor::{LongestWait, Monitored, WaitMonitor, WaitRecord, WaitsBy};
pub use weighted_round_robin::{TurnsOf, WeightUnit, WeightedRoundRobin};

/// All arbiters, in the order of the reference.
pub const KINDS: &[Kind<dyn Policy>] = &[
    kind!(RoundRobin, dyn Policy),
    kind!(OldestFirst, dyn Policy),
    kind!(StrictPriority, dyn Policy),
    kind!(IbTwoTable, dyn Policy),
    kind!(DTable, dyn Policy),
    kind!(BxiTable, dyn Policy),
    kind!(BxiDeficit, dyn Policy),
    kind!(WeightedRoundRobin, dyn Policy),
    kind!(DeficitRoundRobin, dyn Policy),
    kind!(Scfq, dyn Policy),
    kind!(Wfq, dyn Policy),
];
