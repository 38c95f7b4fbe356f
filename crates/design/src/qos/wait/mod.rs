//! Computes the longest wait of a class at one output: from its packet at the head of the queue,
//! with all credits held, to the first flit of that packet.
//!
//! Every other class may always have something to send, in packets of any size up to its largest.
//! The bound is the number of bytes that the link sends meanwhile:
//!
//! ```text
//! one packet of the class in flight       the waiting packet was queued after it
//! + what the table grants to others between two entries of the class
//! + what the other table of an InfiniBand port gets in between
//! + one management packet (VL15), which precedes all tables
//! ```
//!
//! If a packet of another class is in flight when the head appears, the tables granted it, so the
//! second or third line includes it. The bound applies to one output. Along a path, waits add up
//! only if credits are guaranteed at every hop, which tables alone do not do.

mod bxi;
mod dtable;
mod ib;

use netloom_arbitration::N_SLS;
use netloom_units::{Bytes, Rate, Time};

pub use bxi::bxi_wait;
pub use dtable::{dtable_gap, dtable_wait};
pub use ib::{IbTables, ib_wait};

/// The assumption of every bound in this module, printed with the bounds.
pub const ASSUMPTION: &str = "one queue per class at each output, with credits held for the whole \
    packet at its head. All other classes may always send, and at most one management packet is \
    sent meanwhile. Tables do not guarantee credits downstream, so there is no bound along a path";

/// The largest packets on a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketSizes {
    /// The largest packet of each class (service level or lane, as in the table); 0 sends nothing.
    pub largest: [Bytes; N_SLS],
    /// The smallest packet of each class; 0 if any size up to the largest is possible.
    pub smallest: [Bytes; N_SLS],
    /// The largest management packet; 0 without VL15.
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

    /// Returns the largest packet in units of `unit` bytes, rounded up.
    fn units(&self, class: usize, unit: Bytes) -> u64 {
        Bytes(self.of(class)).in_flits(unit)
    }

    /// Returns the maximum of bytes that a class sends per unit it is charged: a packet shorter
    /// than a unit is charged a whole unit.
    fn bytes_per_unit(&self, class: usize, unit: Bytes) -> u64 {
        self.of(class).min(unit.0)
    }
}

/// The longest wait of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// At most the time that the link needs for this bound.
    AtMost(Bound),
    /// There is no bound, for this reason.
    Unbounded(String),
}

impl Wait {
    /// Returns what the link sends meanwhile, if there is a bound.
    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            Wait::AtMost(bound) => Some(bound.total()),
            Wait::Unbounded(_) => None,
        }
    }
}

/// The maximum that the link sends while a class waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The packet of the class itself that is in flight.
    pub own: Bytes,
    /// Bytes of other entries in the table of the class.
    pub table: Bytes,
    /// Bytes of the other table of an InfiniBand port; 0 for other kinds.
    pub other_table: Bytes,
    pub management: Bytes,
}

impl Bound {
    /// Returns the sum of all parts.
    pub fn total(&self) -> Bytes {
        Bytes(self.own.0 + self.table.0 + self.other_table.0 + self.management.0)
    }

    /// Returns the time that the link needs for the bound.
    pub fn time(&self, rate: Rate) -> Time {
        rate.time_for(self.total())
    }
}

#[cfg(test)]
mod tests;
