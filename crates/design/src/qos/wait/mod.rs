//! The longest wait of a class at one output: from its packet at the head of the queue with all credits
//! held, to the first flit of it (decision 17).
//!
//! Every other class may always have something to send, in packets of any size up to its largest. The bound
//! is a number of bytes that the link sends meanwhile:
//!
//! ```text
//! one packet of the own class in flight   the head became the head behind it
//! + what the table grants to others between two entries of the class
//! + what the other table of an InfiniBand port gets in between
//! + one management packet (VL15), which goes before all tables
//! ```
//!
//! A foreign packet in flight when the head appears was granted by the tables, so it is in the second or
//! third line already. The bound is of one output. Along a path waits add up only as long as credits are
//! guaranteed at every hop, which tables alone do not give.

mod bxi;
mod dtable;
mod ib;

use netloom_arbitration::N_SLS;
use netloom_units::{Bytes, Rate, Time};

pub use bxi::bxi_wait;
pub use dtable::{dtable_gap, dtable_wait};
pub use ib::{IbTables, ib_wait};

/// What every bound here takes for granted, to be printed with it.
pub const ASSUMPTION: &str = "per output, one queue per class: the head is present and keeps the credits \
    for its whole packet; all other classes may always send; at most one management packet meanwhile; no \
    bound along a path, for the tables guarantee no credits downstream";

/// The largest packets on a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketSizes {
    /// The largest packet of each class (service level or lane, as the table speaks); 0 sends nothing.
    pub largest: [Bytes; N_SLS],
    /// The smallest packet of each class; 0 if any may come up to the largest.
    pub smallest: [Bytes; N_SLS],
    /// The largest management packet; 0 where there is no VL15.
    pub management: Bytes,
}

impl PacketSizes {
    fn of(&self, class: usize) -> u64 {
        self.largest.get(class).map_or(0, |bytes| bytes.0)
    }

    /// Returns the smallest packet in units, rounded up; a packet costs at least one unit.
    fn least_units(&self, class: usize, unit: Bytes) -> u64 {
        let smallest = self.smallest.get(class).map_or(0, |bytes| bytes.0);
        Bytes(smallest.min(self.of(class))).in_flits(unit).max(1)
    }

    /// The largest packet in units of so many bytes, rounded up.
    fn units(&self, class: usize, unit: Bytes) -> u64 {
        Bytes(self.of(class)).in_flits(unit)
    }

    /// The most bytes that a class sends per unit it is charged: a packet shorter than a unit is charged all of
    /// it.
    fn bytes_per_unit(&self, class: usize, unit: Bytes) -> u64 {
        self.of(class).min(unit.0)
    }
}

/// The longest wait of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Not longer than the link needs for this.
    AtMost(Bound),
    /// There is no bound, because of this.
    Unbounded(String),
}

impl Wait {
    /// What the link sends meanwhile, if there is a bound.
    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            Wait::AtMost(bound) => Some(bound.total()),
            Wait::Unbounded(_) => None,
        }
    }
}

/// What the link sends at most while a class waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The packet of the class itself that is in flight.
    pub own: Bytes,
    /// What other entries of the table of the class send.
    pub table: Bytes,
    /// What the other table of an InfiniBand port sends; 0 for all others.
    pub other_table: Bytes,
    /// The management packet.
    pub management: Bytes,
}

impl Bound {
    /// All of it.
    pub fn total(&self) -> Bytes {
        Bytes(self.own.0 + self.table.0 + self.other_table.0 + self.management.0)
    }

    /// How long the link needs for it.
    pub fn time(&self, rate: Rate) -> Time {
        rate.time_for(self.total())
    }
}

#[cfg(test)]
mod tests;
