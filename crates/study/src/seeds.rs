//! The seeds of a point, and the rule that adds seeds.

use netloom_metrics::{Verdict, over_seeds};
use serde::{Deserialize, Serialize};

/// The seeds of every point.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Seeds {
    /// The first seed; the others are consecutive.
    pub first: u64,
    /// Minimum number of seeds of a point.
    pub repeat: u32,
    /// Seeds are added until the half width of the interval of mean latency is at most this
    /// fraction of the mean.
    pub interval: Option<f64>,
    /// Maximum number of seeds of a point; equal to `repeat` if none are added.
    pub most: u32,
}

/// The outcome of one seed for its point.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeedOutcome {
    /// Mean message latency over all classes, if anything was delivered.
    pub latency_mean_ns: Option<f64>,
    /// The verdict of the run.
    pub verdict: Verdict,
}

/// Returns the verdict of a point.
fn verdict(seeds: &[SeedOutcome]) -> Verdict {
    Verdict::of_seeds(seeds.iter().map(|seed| seed.verdict))
}

/// Whether a point is saturated, by its verdict.
pub(crate) fn is_saturated(seeds: &[SeedOutcome]) -> bool {
    verdict(seeds) == Verdict::Saturated
}

impl Seeds {
    /// Returns seed number `n` of a point, from 0.
    pub fn seed(&self, n: u32) -> u64 {
        self.first + u64::from(n)
    }

    /// Whether a point needs another seed, given the outcomes of its first seeds in any order.
    ///
    /// A saturated point gets no more seeds: its latency is that of a growing queue. The same holds
    /// for a point with an unfinished run, or with a run without latency.
    pub fn needs_another(&self, outcomes: &[SeedOutcome]) -> bool {
        let n = outcomes.len();
        if n < self.repeat as usize {
            return true;
        }
        let Some(interval) = self.interval else {
            return false;
        };
        let is_settled = matches!(verdict(outcomes), Verdict::Saturated | Verdict::Unfinished);
        if n >= self.most as usize || is_settled {
            return false;
        }
        let means: Option<Vec<f64>> = outcomes.iter().map(|seed| seed.latency_mean_ns).collect();
        let Some(mut means) = means else {
            return false;
        };
        // Sorted, so that sums do not depend on the order of completion.
        means.sort_by(f64::total_cmp);
        over_seeds(&means).is_some_and(|over| over.half_width > interval * over.mean.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outcomes(means: &[f64]) -> Vec<SeedOutcome> {
        let outcome = |mean: &f64| SeedOutcome {
            latency_mean_ns: Some(*mean),
            verdict: Verdict::Ok,
        };
        means.iter().map(outcome).collect()
    }

    const SEEDS: Seeds = Seeds {
        first: 7,
        repeat: 2,
        interval: Some(0.1),
        most: 5,
    };

    #[test]
    fn seeds_are_added_until_the_mean_is_known() {
        assert!(SEEDS.needs_another(&[]));
        assert!(SEEDS.needs_another(&outcomes(&[100.0])));
        // Standard error 1, t for one degree of freedom 12.706: beyond a tenth of 101.
        assert!(SEEDS.needs_another(&outcomes(&[100.0, 102.0])));
        // Standard error 0.5: 6.35 is within.
        assert!(!SEEDS.needs_another(&outcomes(&[100.0, 101.0])));
        assert!(!SEEDS.needs_another(&outcomes(&[1.0, 100.0, 1000.0, 1.0, 9.0])));
        assert_eq!(SEEDS.seed(3), 10);
        let plain = Seeds {
            interval: None,
            most: 2,
            ..SEEDS
        };
        assert!(!plain.needs_another(&outcomes(&[1.0, 100.0])));
    }

    #[test]
    fn what_cannot_be_known_better_gets_no_seeds() {
        let mut two = outcomes(&[1.0, 100.0]);
        two[0].verdict = Verdict::Saturated;
        assert!(is_saturated(&two));
        assert!(!SEEDS.needs_another(&two));
        let mut two = outcomes(&[1.0, 100.0]);
        two[0].verdict = Verdict::Unfinished;
        assert!(!is_saturated(&two));
        assert!(!SEEDS.needs_another(&two));
        let mut two = outcomes(&[1.0, 100.0]);
        two[1].latency_mean_ns = None;
        assert!(!SEEDS.needs_another(&two));
        assert!(!is_saturated(&[]));
    }

    proptest! {
        #[test]
        fn the_order_of_seeds_means_nothing_and_the_end_comes(
            means in prop::collection::vec(1.0f64..1e6, 0..8),
            turn in 0usize..8,
        ) {
            let mut turned = means.clone();
            if !turned.is_empty() {
                turned.rotate_left(turn % means.len());
            }
            let needs = SEEDS.needs_another(&outcomes(&means));
            prop_assert_eq!(needs, SEEDS.needs_another(&outcomes(&turned)));
            prop_assert!(!needs || means.len() < 5);
            prop_assert!(needs || means.len() >= 2);
        }
    }
}
