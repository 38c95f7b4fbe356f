//! The edges of the core clock, computed without a division.

use netloom_units::Tick;

/// The core clock of all switches, with an edge at every multiple of its period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    /// Ticks between two edges.
    pub(crate) period: u64,
    /// Quotient of 2^64 - 1 and the period.
    reciprocal: u64,
}

impl Edges {
    pub(crate) fn new(period: u64) -> Self {
        assert!(period > 0, "a clock with period zero");
        Edges {
            period,
            reciprocal: u64::MAX / period,
        }
    }

    /// Returns the first edge at or after a time below 2^63 ticks.
    #[inline]
    pub(crate) fn edge_at_or_after(self, time: Tick) -> Tick {
        let last = time.0 + (self.period - 1);
        // The product falls short by less than 1, so the quotient is exact or 1 too small.
        let product = u128::from(last) * u128::from(self.reciprocal);
        let edge = (product >> 64) as u64 * self.period;
        let is_short = last - edge >= self.period;
        Tick(edge + if is_short { self.period } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use netloom_units::Clock;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn edges_are_those_of_a_clock(period in 1u64..1 << 40, small in 1u64..5000, t in 0u64..1 << 62) {
            for period in [period, small, 1] {
                for t in [t, t % (100 * period), t / period * period, t / period * period + 1] {
                    let expected = Clock::new(period).edge_at_or_after(Tick(t));
                    prop_assert_eq!(Edges::new(period).edge_at_or_after(Tick(t)), expected);
                }
            }
        }
    }
}
