//! Exponential gaps.

use netloom_catalog::{Described, params};
use netloom_packet::Cursor;
use netloom_random::{Draw, exponential};
use netloom_units::NicId;

use super::{ArrivalProcess, CYCLE, FRACTION_BITS, Gaps};
use crate::Context;

params! {
    /// Messages are independent of each other: gaps are exponential, and not whole cycles.
    #[derive(Clone, Debug)]
    pub struct Poisson {}
}

impl Described for Poisson {
    const NAME: &'static str = "poisson";
    const SUMMARY: &'static str = "Exponential gaps: messages are independent of each other.";
    const EXAMPLE: &'static str = "";
}

impl ArrivalProcess for Poisson {
    fn prepare(&self, mean_gap_cycles: f64, _context: &Context<'_>) -> Box<dyn Gaps> {
        Box::new(Exponential {
            mean_gap: mean_gap_cycles * CYCLE,
        })
    }
}

struct Exponential {
    /// In fractions of a cycle.
    mean_gap: f64,
}

impl Gaps for Exponential {
    #[inline]
    fn next(&self, _nic: NicId, cursor: &mut Cursor, draw: Draw) -> u64 {
        let gap = (exponential(draw.unit(0)) * self.mean_gap + 0.5) as u64;
        cursor.time = cursor.time.saturating_add(gap);
        cursor.time >> FRACTION_BITS
    }
}

#[cfg(test)]
mod tests {
    use netloom_random::{Purpose, Stream};

    use super::*;

    #[test]
    fn gaps_are_exponential() {
        let gaps = Exponential {
            mean_gap: 2.5 * CYCLE,
        };
        let stream = Stream::new(1, Purpose::Arrival);
        let mut cursor = Cursor::default();
        let n = 100_000;
        let mut longer = [0.0; 3];
        for number in 0..n {
            let before = cursor.time;
            gaps.next(NicId(0), &mut cursor, stream.draw([0, 0, number, 0]));
            let gap = (cursor.time - before) as f64 / CYCLE;
            for (k, longer) in longer.iter_mut().enumerate() {
                *longer += f64::from(u8::from(gap > 2.5 * (k + 1) as f64));
            }
        }
        // The probability of a gap longer than k means is exp(-k); its deviation here is below
        // 0.0015.
        for (k, longer) in longer.into_iter().enumerate() {
            let share = longer / f64::from(n);
            assert!((share - (-(k as f64 + 1.0)).exp()).abs() < 0.006, "{share}");
        }
        let mean = (cursor.time >> FRACTION_BITS) as f64 / f64::from(n);
        assert!((mean - 2.5).abs() < 0.035, "{mean}");
    }
}
