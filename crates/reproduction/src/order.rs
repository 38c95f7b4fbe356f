//! Compares two values seed by seed, in the same way for every paper.
//!
//! The same seed creates the same messages for every switch and arbiter, so differences are far
//! more certain than the values themselves. An order holds only if the whole 95 % interval of the
//! difference confirms it. `<` and `<=` differ only in zero, which belongs to the latter. An order
//! is not confirmed by failing to show its opposite.

use std::ops::{BitAnd, BitOr};

use crate::Measured;

pub(crate) const TOO_FEW: &str = "an order takes at least two seeds";

/// Whether a statement is confirmed; for several statements, the lowest value counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shown {
    /// The means contradict it, or a band is missed.
    No,
    /// The means confirm it, but their interval over seeds includes the opposite.
    Unsure,
    /// It is confirmed.
    Yes,
}

impl Shown {
    /// Returns the lowest value.
    pub(crate) fn all(each: impl IntoIterator<Item = Shown>) -> Shown {
        each.into_iter().fold(Shown::Yes, BitAnd::bitand)
    }
}

impl From<bool> for Shown {
    fn from(is_so: bool) -> Shown {
        if is_so { Shown::Yes } else { Shown::No }
    }
}

impl BitAnd for Shown {
    type Output = Shown;

    fn bitand(self, other: Shown) -> Shown {
        self.min(other)
    }
}

impl BitOr for Shown {
    type Output = Shown;

    fn bitor(self, other: Shown) -> Shown {
        self.max(other)
    }
}

impl Measured {
    /// Whether the whole interval is above a bound.
    pub(crate) fn exceeds(self, bound: f64) -> Shown {
        match self.ends().0 > bound {
            false if self.mean > bound => Shown::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether the whole interval is at least a bound.
    pub(crate) fn reaches(self, bound: f64) -> Shown {
        match self.ends().0 >= bound {
            false if self.mean >= bound => Shown::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether the whole interval is below a bound.
    pub(crate) fn stays_below(self, bound: f64) -> Shown {
        match self.ends().1 < bound {
            false if self.mean < bound => Shown::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether it is above `factor` times another value, without overlap of the intervals.
    pub(crate) fn is_above(self, factor: f64, other: Measured) -> Shown {
        match self.ends().0 > factor * other.ends().1 {
            false if self.mean > factor * other.mean => Shown::Unsure,
            is_so => is_so.into(),
        }
    }
}

/// Returns the 95 % interval of `one - factor * other` over seeds.
pub(crate) fn difference(one: &[f64], factor: f64, other: &[f64]) -> Option<Measured> {
    let each: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - factor * b).collect();
    Measured::over(&each)
}

/// Whether `one` is above `factor` times the other: the whole interval is above zero.
pub(crate) fn is_above(one: &[f64], factor: f64, other: &[f64]) -> Shown {
    difference(one, factor, other).map_or(Shown::No, |difference| difference.exceeds(0.0))
}

/// Whether `one` is at least the other: no part of the interval is below zero.
pub(crate) fn is_at_least(one: &[f64], other: &[f64]) -> Shown {
    difference(one, 1.0, other).map_or(Shown::No, |difference| difference.reaches(0.0))
}

/// Whether each element of a list is above the next.
pub(crate) fn descends(list: &[&[f64]]) -> Shown {
    let pairs = list.windows(2);
    Shown::all(pairs.map(|pair| is_above(pair[0], 1.0, pair[1])))
}

/// Returns the mean over seeds.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_seed_by_seed() {
        // Different from seed to seed, but always above.
        let tens = [10.0, 20.0, 30.0];
        assert_eq!(is_above(&[11.0, 21.0, 31.0], 1.0, &tens), Shown::Yes);
        // Above on average, but not for every seed; then not even on average.
        assert_eq!(is_above(&[11.0, 19.0, 31.0], 1.0, &tens), Shown::Unsure);
        assert_eq!(is_above(&[11.0, 21.0, 31.0], 2.0, &tens), Shown::No);
        let [high, middle, low] = [[9.0, 9.1], [8.0, 8.0], [1.0, 1.1]];
        assert_eq!(descends(&[&high, &middle, &low]), Shown::Yes);
        assert_eq!(descends(&[&high, &low, &middle]), Shown::No);
    }

    #[test]
    fn at_least_and_above_differ_in_zero_alone() {
        let [ten, other] = [[10.0, 20.0, 30.0], [11.0, 19.0, 31.0]];
        // Neither is confirmed to be larger, so neither is at least the other.
        assert_eq!(is_at_least(&ten, &other), Shown::No);
        assert_eq!(is_at_least(&other, &ten), Shown::Unsure);
        assert_eq!(is_at_least(&ten, &ten), Shown::Yes);
        assert_eq!(is_above(&ten, 1.0, &ten), Shown::No);
        let above = ten.map(|value| value + 1.0);
        assert_eq!(is_at_least(&above, &ten), Shown::Yes);
        assert_eq!(is_above(&above, 1.0, &ten), Shown::Yes);
    }

    #[test]
    fn an_order_needs_intervals_apart() {
        let of = |mean, half_width| Measured {
            mean,
            half_width: Some(half_width),
        };
        assert_eq!(of(10.0, 1.0).is_above(1.0, of(7.0, 1.9)), Shown::Yes);
        assert_eq!(of(10.0, 1.0).is_above(1.0, of(7.0, 2.1)), Shown::Unsure);
        assert_eq!(of(10.0, 1.0).is_above(2.0, of(5.0, 0.1)), Shown::No);
        assert_eq!(of(10.5, 0.1).is_above(2.0, of(5.0, 0.1)), Shown::Yes);
    }

    #[test]
    fn of_several_the_least_counts() {
        let (yes, unsure, no) = (Shown::Yes, Shown::Unsure, Shown::No);
        assert_eq!((yes & unsure, unsure & no), (unsure, no));
        assert_eq!((yes | unsure, unsure | no), (yes, unsure));
        assert_eq!(Shown::all([yes, unsure, yes]), unsure);
        assert_eq!(Shown::all([]), yes);
    }
}
