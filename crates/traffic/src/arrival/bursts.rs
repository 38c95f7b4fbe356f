//! Several messages at once.

use netloom_catalog::{Described, params};
use netloom_packet::Cursor;
use netloom_random::{Draw, exponential};
use netloom_units::NicId;

use super::{ArrivalProcess, CYCLE, FRACTION_BITS, Gaps};
use crate::Context;

params! {
    /// Several messages at the same instant for one destination, with exponential gaps between
    /// bursts.
    #[derive(Clone, Debug)]
    pub struct Bursts {
        /// Messages per burst.
        pub messages: u32 = 4,
    }
    check |it, section| {
        if it.messages == 0 {
            let place = section.place_of("messages");
            section.notes.error("E0603", place, "a burst needs at least one message");
        }
    }
}

impl Described for Bursts {
    const NAME: &'static str = "bursts";
    const SUMMARY: &'static str =
        "Several messages at once for one destination, exponential gaps between.";
    const EXAMPLE: &'static str = "messages = 4";
}

impl ArrivalProcess for Bursts {
    fn prepare(&self, mean_gap_cycles: f64, _context: &Context<'_>) -> Box<dyn Gaps> {
        Box::new(ExponentialBursts {
            messages: self.messages,
            mean_gap: mean_gap_cycles * f64::from(self.messages) * CYCLE,
        })
    }
}

struct ExponentialBursts {
    messages: u32,
    /// Between bursts, in fractions of a cycle.
    mean_gap: f64,
}

impl Gaps for ExponentialBursts {
    fn next(&self, _nic: NicId, cursor: &mut Cursor, draw: Draw) -> u64 {
        if cursor.number.is_multiple_of(self.messages) {
            let gap = (exponential(draw.unit(0)) * self.mean_gap + 0.5) as u64;
            cursor.time = cursor.time.saturating_add(gap);
        }
        cursor.time >> FRACTION_BITS
    }

    fn messages_at_once(&self) -> u32 {
        self.messages
    }
}
