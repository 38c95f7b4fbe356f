//! Computes InfiniBand arbitration tables with admission control.
//!
//! This is the method of F. J. Alfaro, J. L. Sánchez and J. Duato, "A strategy to compute the
//! InfiniBand arbitration tables", DIAB-01-02-20, 2001 (paper 004). A connection receives slots of
//! a fixed frame at every output on its path, or at none.
//!
//! ```text
//! connections.csv ── csv ──┐                        slots: bandwidth → slots of 64 bytes, service level
//!                          ├─► admission ─► table ─► VlArbitrationTable (high, low) of every port
//! random draws ─ establish ┘       │          └ entries: which index gets which slots
//!                                waits: connections with deadlines keep within them
//! ```
//!
//! All weights refer to the same frame of 16,320 slots of their link, so a new connection never
//! changes the entries of others. Connections with deadlines (DBTS), which the paper postpones, are
//! in the high table.

pub mod admission;
mod classes;
pub mod csv;
mod entries;
pub mod establish;
mod outcome;
pub mod slots;
pub mod table;
pub mod waits;

pub use netloom_topology::Egress;

pub use admission::{Connection, ConnectionId, Mode, Network, PortReport, Refusal, Settings};
pub use classes::{ConnectionClass, classify_by};
pub use entries::Placement;
pub use establish::{Established, Establishment, establish, establish_of};
pub use outcome::Outcome;
pub use slots::{Slots, classify, slots_for};
pub use table::{BEST_EFFORT_SL, CHALLENGED_SL, Class, Lanes, Limit, PortTable, Tables};
pub use waits::{Late, Packets};
