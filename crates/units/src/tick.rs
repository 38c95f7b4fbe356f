//! Simulated time in ticks.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use netloom_encoding::Encoded;

/// A point in simulated time, in ticks since the start of the run.
///
/// Durations are plain `u64` counts of ticks. A `Tick` plus a duration is a `Tick`, and the
/// difference of two `Tick`s is a duration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Encoded)]
#[repr(transparent)]
pub struct Tick(pub u64);

impl Tick {
    pub const ZERO: Tick = Tick(0);
    /// Later than every event.
    pub const NEVER: Tick = Tick(u64::MAX);

    /// Returns the ticks since `earlier`, or zero if `earlier` is later than this.
    #[inline]
    pub fn saturating_since(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Tick {
    type Output = Tick;
    #[inline]
    fn add(self, ticks: u64) -> Tick {
        Tick(self.0 + ticks)
    }
}

impl AddAssign<u64> for Tick {
    #[inline]
    fn add_assign(&mut self, ticks: u64) {
        self.0 += ticks;
    }
}

impl Sub<Tick> for Tick {
    type Output = u64;
    #[inline]
    fn sub(self, earlier: Tick) -> u64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

/// A clock with edges at `phase + n * period`, the times at which a component decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Ticks between two edges; never zero.
    pub period: u64,
    /// The first edge.
    pub phase: u64,
}

impl Clock {
    /// Creates a clock with an edge at tick zero.
    ///
    /// # Panics
    /// If the period is zero.
    pub fn new(period: u64) -> Self {
        assert!(period > 0, "a clock with period zero");
        Clock { period, phase: 0 }
    }

    /// Returns the first edge at or after `t`.
    #[inline]
    pub fn edge_at_or_after(self, t: Tick) -> Tick {
        if self.period == 1 {
            return t;
        }
        if t.0 <= self.phase {
            return Tick(self.phase);
        }
        Tick(self.phase + (t.0 - self.phase).div_ceil(self.period) * self.period)
    }

    /// Returns the last edge at or before `t`, or the very first edge if there is none.
    #[inline]
    pub fn edge_at_or_before(self, t: Tick) -> Tick {
        if self.period == 1 {
            return t;
        }
        if t.0 <= self.phase {
            return Tick(self.phase);
        }
        Tick(self.phase + (t.0 - self.phase) / self.period * self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edges_bracket_the_time(period in 1u64..1000, phase in 0u64..1000, t in 0u64..1_000_000) {
            let clock = Clock { period, phase };
            let after = clock.edge_at_or_after(Tick(t)).0;
            prop_assert!(after >= t && (period == 1 || (after - phase).is_multiple_of(period)));
            prop_assert!(after == phase || after - t < period);
            if t >= phase {
                let before = clock.edge_at_or_before(Tick(t)).0;
                prop_assert!(before <= t && t - before < period);
            }
        }
    }
}
