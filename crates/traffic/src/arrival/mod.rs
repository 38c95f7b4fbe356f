//! Arrival processes: the instants at which a NIC creates its messages.
//!
//! Time is that of the NIC, in cycles of one flit of its link. [`Cursor::time`] is fixed point with
//! [`FRACTION_BITS`] fractional bits of a cycle, so rates that are not whole numbers of cycles keep
//! their mean. 48 bits remain for whole cycles, which is sixteen days at 5 ns per cycle.

mod bernoulli;
mod bursts;
mod constant;
mod periodic;
mod poisson;

pub use bernoulli::{Bernoulli, Slot};
pub use bursts::Bursts;
pub use constant::{Constant, Phase};
pub use periodic::{Pace, Per, Periodic};
pub use poisson::Poisson;

use netloom_catalog::{Kind, kind};
use netloom_packet::Cursor;
use netloom_random::Draw;
use netloom_units::NicId;

use crate::Context;

/// Fractional bits of a cycle in [`Cursor::time`].
pub const FRACTION_BITS: u32 = 16;

/// One cycle in [`Cursor::time`].
const CYCLE: f64 = (1u64 << FRACTION_BITS) as f64;

/// A law of arrivals.
#[warn(missing_docs)]
pub trait ArrivalProcess: Send + Sync {
    /// Prepares for a mean gap between two messages of one NIC.
    fn prepare(&self, mean_gap_cycles: f64, context: &Context<'_>) -> Box<dyn Gaps>;

    /// Returns the rate of messages, if the process defines it itself. The mean gap is then
    /// ignored, and the class has no load of its own.
    fn pace(&self) -> Option<Pace> {
        None
    }
}

/// The instants of one class, ready for the run.
pub trait Gaps: Send + Sync {
    /// Advances `cursor.time` to message `cursor.number` and returns its cycle; the number is
    /// unchanged.
    ///
    /// A new cursor is at zero, when the class becomes active. `draw` is the message's own; its
    /// words 0 and 1 are for the gap. `u64::MAX` is never.
    fn next(&self, nic: NicId, cursor: &mut Cursor, draw: Draw) -> u64;

    /// Returns the number of messages at the same instant for the same destination.
    fn messages_at_once(&self) -> u32 {
        1
    }
}

/// All laws of arrivals.
pub const ARRIVALS: &[Kind<dyn ArrivalProcess>] = &[
    kind!(Bernoulli, dyn ArrivalProcess),
    kind!(Poisson, dyn ArrivalProcess),
    kind!(Constant, dyn ArrivalProcess),
    kind!(Bursts, dyn ArrivalProcess),
    kind!(Periodic, dyn ArrivalProcess),
];
