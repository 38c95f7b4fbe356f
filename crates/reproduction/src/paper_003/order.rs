//! Which of two is larger, seed by seed: the same seed sees the same messages under every arbiter, so differences
//! between arbiters are far more certain than what is compared.

use crate::{Finding, Measured};

pub(super) const TOO_FEW: &str = "an order takes at least two seeds";

/// Whether one is above a factor of the other, with the 95 % interval of the difference above zero.
pub(super) fn is_above(one: &[f64], factor: f64, other: &[f64]) -> bool {
    let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - factor * b).collect();
    Measured::over(&differences).is_some_and(|difference| difference.ends().0 > 0.0)
}

/// Whether a list descends, each above the next.
pub(super) fn descends(list: &[&[f64]]) -> bool {
    list.windows(2).all(|pair| is_above(pair[0], 1.0, pair[1]))
}

/// The mean over seeds.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A finding with numbers, not yet judged if there are too few seeds for an order.
pub(super) fn ordered(n_seeds: usize, holds: bool, words: impl Into<String>) -> Finding {
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
    fn one_seed_orders_nothing() {
        assert_eq!(ordered(1, true, "x").verdict, crate::Verdict::NotRun);
        assert_eq!(ordered(2, true, "x").verdict, crate::Verdict::Holds);
        assert_eq!(ordered(2, false, "x").verdict, crate::Verdict::Misses);
    }
}
