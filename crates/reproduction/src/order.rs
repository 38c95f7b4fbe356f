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
pub enum Truth {
    /// The means contradict it, or a band is missed.
    No,
    /// The means confirm it, but their interval over seeds includes the opposite.
    Unsure,
    /// It is confirmed.
    Yes,
}

impl Truth {
    /// Returns the lowest value.
    pub(crate) fn all(each: impl IntoIterator<Item = Truth>) -> Truth {
        each.into_iter().fold(Truth::Yes, BitAnd::bitand)
    }
}

impl From<bool> for Truth {
    fn from(is_so: bool) -> Truth {
        if is_so { Truth::Yes } else { Truth::No }
    }
}

impl BitAnd for Truth {
    type Output = Truth;

    fn bitand(self, other: Truth) -> Truth {
        self.min(other)
    }
}

impl BitOr for Truth {
    type Output = Truth;

    fn bitor(self, other: Truth) -> Truth {
        self.max(other)
    }
}

impl Measured {
    /// Whether the whole interval is above a bound.
    pub(crate) fn exceeds(self, bound: f64) -> Truth {
        match self.ends().0 > bound {
            false if self.mean > bound => Truth::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether the whole interval is at least a bound.
    pub(crate) fn reaches(self, bound: f64) -> Truth {
        match self.ends().0 >= bound {
            false if self.mean >= bound => Truth::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether the whole interval is below a bound.
    pub(crate) fn stays_below(self, bound: f64) -> Truth {
        match self.ends().1 < bound {
            false if self.mean < bound => Truth::Unsure,
            is_so => is_so.into(),
        }
    }

    /// Whether it is above `factor` times another value, without overlap of the intervals.
    pub(crate) fn is_above(self, factor: f64, other: Measured) -> Truth {
        match self.ends().0 > factor * other.ends().1 {
            false if self.mean > factor * other.mean => Truth::Unsure,
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
pub(crate) fn is_above(one: &[f64], factor: f64, other: &[f64]) -> Truth {
    difference(one, factor, other).map_or(Truth::No, |difference| difference.exceeds(0.0))
}

/// Whether `one` is at least the other: no part of the interval is below zero.
pub(crate) fn is_at_least(one: &[f64], other: &[f64]) -> Truth {
    difference(one, 1.0, other).map_or(Truth::No, |difference| difference.reaches(0.0))
}

/// Whether each element of a list is above the next.
pub(crate) fn descends(list: &[&[f64]]) -> Truth {
    let pairs = list.windows(2);
    Truth::all(pairs.map(|pair| is_above(pair[0], 1.0, pair[1])))
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
        assert_eq!(is_above(&[11.0, 21.0, 31.0], 1.0, &tens), Truth::Yes);
        // Above on average, but not for every seed; then not even on average.
        assert_eq!(is_above(&[11.0, 19.0, 31.0], 1.0, &tens), Truth::Unsure);
        assert_eq!(is_above(&[11.0, 21.0, 31.0], 2.0, &tens), Truth::No);
        let [high, middle, low] = [[9.0, 9.1], [8.0, 8.0], [1.0, 1.1]];
        assert_eq!(descends(&[&high, &middle, &low]), Truth::Yes);
        assert_eq!(descends(&[&high, &low, &middle]), Truth::No);
    }

    #[test]
    fn at_least_and_above_differ_in_zero_alone() {
        let [ten, other] = [[10.0, 20.0, 30.0], [11.0, 19.0, 31.0]];
        // Neither is confirmed to be larger, so neither is at least the other.
        assert_eq!(is_at_least(&ten, &other), Truth::No);
        assert_eq!(is_at_least(&other, &ten), Truth::Unsure);
        assert_eq!(is_at_least(&ten, &ten), Truth::Yes);
        assert_eq!(is_above(&ten, 1.0, &ten), Truth::No);
        let above = ten.map(|value| value + 1.0);
        assert_eq!(is_at_least(&above, &ten), Truth::Yes);
        assert_eq!(is_above(&above, 1.0, &ten), Truth::Yes);
    }

    #[test]
    fn an_order_needs_intervals_apart() {
        let of = |mean, half_width| Measured {
            mean,
            half_width: Some(half_width),
        };
        assert_eq!(of(10.0, 1.0).is_above(1.0, of(7.0, 1.9)), Truth::Yes);
        assert_eq!(of(10.0, 1.0).is_above(1.0, of(7.0, 2.1)), Truth::Unsure);
        assert_eq!(of(10.0, 1.0).is_above(2.0, of(5.0, 0.1)), Truth::No);
        assert_eq!(of(10.5, 0.1).is_above(2.0, of(5.0, 0.1)), Truth::Yes);
    }

    #[test]
    fn of_several_the_least_counts() {
        let (yes, unsure, no) = (Truth::Yes, Truth::Unsure, Truth::No);
        assert_eq!((yes & unsure, unsure & no), (unsure, no));
        assert_eq!((yes | unsure, unsure | no), (yes, unsure));
        assert_eq!(Truth::all([yes, unsure, yes]), unsure);
        assert_eq!(Truth::all([]), yes);
    }
}
