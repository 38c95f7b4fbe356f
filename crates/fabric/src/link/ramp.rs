//! Flits that are freed one after another, as one record instead of one event each.

use netloom_encoding::{Encoded, Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_engine::LATEST;
use netloom_units::Tick;

use crate::rows::Rows;

/// The pace of flits: `num / den` of them per `period` ticks.
///
/// Flit `k` (from 0) passes `floor(k * den / num)` periods after the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Ticks per step.
    pub period: u64,
    /// Flits per `den` steps.
    pub num: u32,
    /// Steps per `num` flits.
    pub den: u32,
}

impl Pace {
    /// Returns the pace of one flit per `period` ticks.
    pub(crate) fn one_per(period: u64) -> Self {
        Pace {
            period,
            num: 1,
            den: 1,
        }
    }

    /// Returns how many flits have passed `elapsed` ticks after the first.
    #[inline]
    pub fn passed(self, elapsed: u64) -> u64 {
        let steps = if self.period == 1 {
            elapsed + 1
        } else {
            elapsed / self.period + 1
        };
        if self.num == self.den {
            return steps;
        }
        (steps * u64::from(self.num)).div_ceil(u64::from(self.den))
    }

    /// Returns the ticks from the first flit to flit `k`.
    #[inline]
    pub fn time_of(self, k: u64) -> u64 {
        if self.num == self.den {
            return k * self.period;
        }
        k * u64::from(self.den) / u64::from(self.num) * self.period
    }

    /// Returns the ticks that `flits` flits occupy: whole periods from the first to the end of the
    /// last.
    pub fn occupancy(self, flits: u64) -> u64 {
        (flits * u64::from(self.den)).div_ceil(u64::from(self.num)) * self.period
    }
}

/// The paces at which one buffer may be emptied, by number. The first three are stored inline,
/// since there are rarely more.
#[derive(Clone, Debug)]
pub(crate) struct Paces {
    first: [Pace; 3],
    others: Rows<Pace>,
}

impl Paces {
    /// Missing entries equal the last pace.
    pub(crate) fn new(paces: &[Pace]) -> Self {
        let last = *paces.last().expect("a pace");
        let others = paces.get(3..).unwrap_or_default();
        Paces {
            first: std::array::from_fn(|at| paces.get(at).copied().unwrap_or(last)),
            others: others.to_vec().into(),
        }
    }

    /// Returns the number of paces.
    fn len(&self) -> usize {
        self.first.len() + self.others.len()
    }

    #[inline(always)]
    pub(crate) fn of(&self, number: u8) -> Pace {
        match number {
            0..3 => self.first[usize::from(number)],
            _ => self.others[u32::from(number) - 3],
        }
    }
}

/// `count` units of a class (a lane or a queue) that are freed one after another, the last at
/// `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub(crate) struct Ramp {
    pub(crate) end: Tick,
    /// Zero if there is no ramp.
    pub(crate) count: u16,
    pub(crate) class: u16,
    /// Earlier flits at the same pace. If several pass in one period, this gives the position of
    /// the first.
    pub(crate) phase: u16,
    /// Index of the pace in the buffer's paces.
    pub(crate) pace: u8,
}

const _: () = assert!(size_of::<Ramp>() == 16);

impl Ramp {
    /// Validates that there is no ramp, or one of an existing class and pace that began after the
    /// start of the run.
    pub(crate) fn validate(&self, n_classes: usize, paces: &Paces) -> Validity {
        if self.count == 0 {
            return ensure_equal("release of buffer space", Ramp::default(), *self);
        }
        ensure_below("class of a release", self.class, n_classes as u64)?;
        ensure_below("pace of a release", self.pace, paces.len() as u64)?;
        ensure(
            self.end <= LATEST && self.end.0 >= self.length(paces),
            || {
                let expected = format!("a time after {} ticks", self.length(paces));
                Invalid::new("release of buffer space", expected, self.end.0)
            },
        )
    }

    #[inline]
    pub(crate) fn new(start: Tick, count: u16, class: u16, pace: u8, paces: &Paces) -> Self {
        Ramp::after(start, count, class, pace, 0, paces)
    }

    /// Returns the ramp that follows `phase` earlier flits at the same pace.
    #[inline]
    pub(crate) fn after(
        start: Tick,
        count: u16,
        class: u16,
        pace: u8,
        phase: u16,
        paces: &Paces,
    ) -> Self {
        let mut ramp = Ramp {
            end: start,
            count,
            class,
            phase,
            pace,
        };
        ramp.end = start + ramp.length(paces);
        ramp
    }

    /// Returns the ticks from the first to the last.
    #[inline]
    fn length(&self, paces: &Paces) -> u64 {
        self.time_of(u64::from(self.count) - 1, paces)
    }

    /// Returns the ticks from the first to unit `k`.
    #[inline]
    pub(crate) fn time_of(&self, k: u64, paces: &Paces) -> u64 {
        let pace = self.pace(paces);
        if self.phase == 0 {
            return pace.time_of(k);
        }
        pace.time_of(u64::from(self.phase) + k) - pace.time_of(u64::from(self.phase))
    }

    /// Returns its pace.
    #[inline]
    pub(crate) fn pace(&self, paces: &Paces) -> Pace {
        paces.of(self.pace)
    }

    /// Returns when the first unit is free.
    #[inline]
    pub(crate) fn start(&self, paces: &Paces) -> Tick {
        Tick(self.end.0 - self.length(paces))
    }

    /// Returns how many units are free at a time. Most ramps in use are over.
    #[inline(always)]
    pub(crate) fn passed(&self, now: Tick, paces: &Paces) -> u32 {
        if now >= self.end {
            return u32::from(self.count);
        }
        self.passed_before_the_end(now, paces)
    }

    #[inline(never)]
    fn passed_before_the_end(&self, now: Tick, paces: &Paces) -> u32 {
        let start = self.start(paces);
        if now < start {
            return 0;
        }
        let pace = self.pace(paces);
        if self.phase == 0 {
            return pace.passed(now - start) as u32;
        }
        let before = pace.time_of(u64::from(self.phase));
        pace.passed(now - start + before) as u32 - u32::from(self.phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passed_counts_what_time_of_says(period in 1u64..20, num in 1u32..8, den in 1u32..8, flits in 1u64..70, at in 0u64..2000) {
            let pace = Pace { period, num, den };
            let counted = (0..flits).filter(|&k| pace.time_of(k) <= at).count() as u64;
            prop_assert_eq!(pace.passed(at).min(flits), counted);
            prop_assert!(pace.time_of(flits - 1) < pace.occupancy(flits));
            prop_assert_eq!(pace.occupancy(flits) % period, 0);
        }

        /// A ramp that continues another one is the rest of a longer one.
        #[test]
        fn a_ramp_with_a_phase_is_the_rest_of_a_longer_one(period in 1u64..20, num in 1u32..8, den in 1u32..8, whole in 2u16..70, phase in 1u16..69, at in 0u64..2000) {
            prop_assume!(phase < whole);
            let paces = Paces::new(&[Pace { period, num, den }]);
            let begun = paces.of(0).time_of(u64::from(phase));
            let all = Ramp::new(Tick(100), whole, 0, 0, &paces);
            let rest = Ramp::after(Tick(100 + begun), whole - phase, 0, 0, phase, &paces);
            prop_assert_eq!(all.end, rest.end);
            prop_assert_eq!(rest.start(&paces), Tick(100 + begun));
            let gone = all.passed(Tick(at), &paces).saturating_sub(u32::from(phase));
            prop_assert_eq!(rest.passed(Tick(at), &paces), gone);
        }
    }
}
