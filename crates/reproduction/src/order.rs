//! Which of two is larger, seed by seed, for every paper alike.
//!
//! The same seed creates the same messages for every switch and arbiter, so differences are far more certain than
//! what is compared. An order is shown, never assumed: the whole 95 % interval of the difference lies on its side. `<`
//! and `<=` differ in zero alone, which belongs to the latter; that the opposite cannot be shown proves neither.

use crate::{Finding, Measured};

pub(crate) const TOO_FEW: &str = "an order takes at least two seeds";

/// The 95 % interval of `one - factor * other` over seeds.
pub(crate) fn difference(one: &[f64], factor: f64, other: &[f64]) -> Option<Measured> {
    let each: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - factor * b).collect();
    Measured::over(&each)
}

/// Whether one is above a factor of the other: the whole interval lies above zero.
pub(crate) fn is_above(one: &[f64], factor: f64, other: &[f64]) -> bool {
    difference(one, factor, other).is_some_and(|difference| difference.ends().0 > 0.0)
}

/// Whether one is at least the other: no part of the interval lies below zero.
pub(crate) fn is_at_least(one: &[f64], other: &[f64]) -> bool {
    difference(one, 1.0, other).is_some_and(|difference| difference.ends().0 >= 0.0)
}

/// Whether a list descends, each above the next.
pub(crate) fn descends(list: &[&[f64]]) -> bool {
    list.windows(2).all(|pair| is_above(pair[0], 1.0, pair[1]))
}

/// The mean over seeds.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A finding about an order, not judged if there are too few seeds for one.
pub(crate) fn ordered(n_seeds: usize, holds: bool, words: impl Into<String>) -> Finding {
    match n_seeds {
        0 | 1 => Finding::not_run(format!("{}; {TOO_FEW}", words.into())),
        _ => Finding::checked(holds, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_seed_by_seed() {
        // Far apart from seed to seed, yet always above.
        assert!(is_above(&[11.0, 21.0, 31.0], 1.0, &[10.0, 20.0, 30.0]));
        assert!(!is_above(&[11.0, 19.0, 31.0], 1.0, &[10.0, 20.0, 30.0]));
        assert!(!is_above(&[11.0, 21.0, 31.0], 2.0, &[10.0, 20.0, 30.0]));
        let [high, middle, low] = [[9.0, 9.1], [8.0, 8.0], [1.0, 1.1]];
        assert!(descends(&[&high, &middle, &low]));
        assert!(!descends(&[&high, &low, &middle]));
    }

    #[test]
    fn at_least_and_above_differ_in_zero_alone() {
        let [ten, other] = [[10.0, 20.0, 30.0], [11.0, 19.0, 31.0]];
        // Neither is shown to be larger: neither is at least the other.
        assert!(!is_at_least(&ten, &other) && !is_at_least(&other, &ten));
        assert!(is_at_least(&ten, &ten) && !is_above(&ten, 1.0, &ten));
        let above = ten.map(|value| value + 1.0);
        assert!(is_at_least(&above, &ten) && is_above(&above, 1.0, &ten));
    }

    #[test]
    fn one_seed_orders_nothing() {
        assert_eq!(ordered(1, true, "x").verdict, crate::Verdict::NotRun);
        assert_eq!(ordered(2, true, "x").verdict, crate::Verdict::Holds);
        assert_eq!(ordered(2, false, "x").verdict, crate::Verdict::Misses);
    }
}
