//! Which of two is larger, seed by seed, and what there is of a series.
//!
//! The same seed deals the same roles and creates the same messages for every switch, so differences between switches
//! are more certain than what is compared.

use super::machines::{DRAGONFLY, Machine};
use crate::{Finding, Measured, Outcome, Results};

const TOO_FEW: &str = "an order takes at least two seeds";

/// The outcomes of a series; none if one is lacking.
pub(super) fn whole<'a>(results: &'a Results, series: &str) -> Result<Vec<&'a Outcome>, String> {
    let is_lacking = results.lacking.iter().any(|(own, _)| *own == series);
    let own = |outcome: &&Outcome| outcome.run.series == series;
    let outcomes: Vec<&Outcome> = results.outcomes.iter().filter(own).collect();
    if is_lacking || outcomes.is_empty() {
        return Err(format!("no results of {series}"));
    }
    Ok(outcomes)
}

/// The 95 % interval of `one - factor * other` over seeds.
pub(super) fn difference(one: &[f64], factor: f64, other: &[f64]) -> Option<Measured> {
    let each: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - factor * b).collect();
    Measured::over(&each)
}

/// Whether one is above a factor of the other with the whole interval; a single seed has none.
pub(super) fn is_above(one: &[f64], factor: f64, other: &[f64]) -> bool {
    difference(one, factor, other).is_some_and(|difference| difference.ends().0 > 0.0)
}

/// The mean over seeds.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A finding about an order, not judged if there are too few seeds for one.
pub(super) fn ordered(n_seeds: usize, holds: bool, words: impl Into<String>) -> Finding {
    match n_seeds {
        0 | 1 => Finding::not_run(format!("{}; {TOO_FEW}", words.into())),
        _ => Finding::checked(holds, words),
    }
}

/// The same of runs that the paper's machine has with one seed, and is judged by it: the largest ones.
pub(super) fn ordered_large(
    machine: &Machine,
    n_seeds: usize,
    holds: bool,
    words: impl Into<String>,
) -> Finding {
    let is_large = machine.n_nics == DRAGONFLY.n_nics;
    let enough = if is_large { n_seeds.max(2) } else { n_seeds };
    ordered(enough, holds, words)
}

/// A finding, or why there is none.
pub(super) fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_seed_by_seed() {
        assert!(is_above(&[11.0, 21.0, 31.0], 1.0, &[10.0, 20.0, 30.0]));
        assert!(!is_above(&[11.0, 19.0, 31.0], 1.0, &[10.0, 20.0, 30.0]));
        assert!(!is_above(&[11.0, 21.0, 31.0], 2.0, &[10.0, 20.0, 30.0]));
    }

    #[test]
    fn one_seed_orders_nothing() {
        assert_eq!(ordered(1, true, "x").verdict, crate::Verdict::NotRun);
        assert_eq!(ordered(2, true, "x").verdict, crate::Verdict::Holds);
        assert_eq!(ordered(2, false, "x").verdict, crate::Verdict::Misses);
    }
}
