//! The difference between B and A over common seeds, and its verdict.
//!
//! Uses the differences of pairs, not the difference of means: both runs of a seed have the same
//! traffic, so most of the variation between seeds cancels. Relative changes are fractions of the
//! mean of A, which counts as exact.

use netloom_metrics::{over_seeds, student_t_975, student_t_beyond};

use super::metric::Metric;
use crate::differ;

/// B against A, over pairs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Difference {
    /// Number of pairs.
    pub(super) seeds: usize,
    pub(super) mean_a: f64,
    pub(super) mean_b: f64,
    /// Mean of B minus A.
    pub(super) mean: f64,
    /// Half width of its 95 % interval by Student's t; `None` for a single pair.
    pub(super) half_width: Option<f64>,
    /// All pairs are equal.
    is_none: bool,
    /// The means differ by less than the resolution of the metric, a bucket of a histogram.
    is_below_resolution: bool,
}

impl Difference {
    /// Returns `None` without pairs.
    pub(super) fn over(metric: Metric, pairs: &[(f64, f64)]) -> Option<Difference> {
        let n = pairs.len() as f64;
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let interval = over_seeds(&differences);
        let mean_a = pairs.iter().map(|(a, _)| a).sum::<f64>() / n;
        let mean_b = pairs.iter().map(|(_, b)| b).sum::<f64>() / n;
        Some(Difference {
            seeds: pairs.len(),
            mean_a,
            mean_b,
            is_below_resolution: !differ(metric.name(), mean_a, mean_b),
            mean: interval.map_or(*differences.first()?, |interval| interval.mean),
            half_width: interval.map(|interval| interval.half_width),
            is_none: differences.iter().all(|difference| *difference == 0.0),
        })
    }

    /// Returns the probability of such a difference by chance, by Student's t over pairs; `None`
    /// without an interval.
    pub(super) fn by_chance(&self) -> Option<f64> {
        let half_width = self.half_width?;
        if self.is_none || self.is_below_resolution {
            return Some(1.0);
        }
        let dof = self.seeds - 1;
        let t = self.mean * student_t_975(dof) / half_width;
        Some(student_t_beyond(t, dof))
    }

    /// Returns whether the whole interval is above zero (1), below (-1), or neither (0).
    pub(super) fn side(&self) -> i8 {
        match self {
            _ if self.low() > 0.0 => 1,
            _ if self.high() < 0.0 => -1,
            _ => 0,
        }
    }

    /// Returns the lower end of the interval, or the difference of a single pair. An insignificant
    /// interval contains zero.
    pub(super) fn low(&self) -> f64 {
        let low = self.mean - self.half_width.unwrap_or(0.0);
        if self.is_below_resolution {
            low.min(0.0)
        } else {
            low
        }
    }

    /// Returns the upper end of the interval.
    pub(super) fn high(&self) -> f64 {
        let high = self.mean + self.half_width.unwrap_or(0.0);
        if self.is_below_resolution {
            high.max(0.0)
        } else {
            high
        }
    }

    /// Returns a difference as a fraction of A; `None` if A is zero.
    pub(super) fn relative(&self, difference: f64) -> Option<f64> {
        (self.mean_a != 0.0).then(|| difference / self.mean_a.abs())
    }

    /// Returns the verdict as a few words, since other columns have the numbers.
    pub(super) fn verdict(&self) -> String {
        if self.is_none {
            return match self.seeds {
                1 => "equal for the only common seed".to_owned(),
                n => format!("equal for all {n} seeds"),
            };
        }
        match self.side() {
            1 => "higher".to_owned(),
            -1 => "lower".to_owned(),
            _ if self.is_below_resolution => {
                "no difference: within one bucket of the histogram".to_owned()
            }
            _ => format!("no significant difference over {} seeds", self.seeds),
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_text::number::percent;

    use super::*;

    fn metric(name: &str) -> Metric {
        name.parse().unwrap()
    }

    fn load() -> Metric {
        metric("delivered_load")
    }

    fn over(pairs: &[(f64, f64)]) -> Option<Difference> {
        Difference::over(load(), pairs)
    }

    fn verdict(pairs: &[(f64, f64)]) -> String {
        over(pairs).unwrap().verdict()
    }

    #[test]
    fn three_pairs_by_hand() {
        // Differences -10, -12, -14: mean -12, squared deviations 4 + 0 + 4, variance 4, standard
        // error sqrt(4/3), t = 4.302653 with two degrees of freedom: half width 4.968276.
        let pairs = [(90.0, 80.0), (100.0, 88.0), (110.0, 96.0)];
        let difference = over(&pairs).unwrap();
        assert_eq!(
            (difference.mean_a, difference.mean_b, difference.mean),
            (100.0, 88.0, -12.0)
        );
        assert!((difference.half_width.unwrap() - 4.968_276).abs() < 1e-5);
        assert!((difference.low() + 16.968_276).abs() < 1e-5);
        assert!((difference.high() + 7.031_724).abs() < 1e-5);
        assert_eq!(verdict(&pairs), "lower");
        let turned = pairs.map(|(a, b)| (b, a));
        assert_eq!(verdict(&turned), "higher");
        // The same differences upwards, as parts of 88.
        let difference = over(&turned).unwrap();
        let part = |number: f64| percent(difference.relative(number).unwrap());
        let parts = [difference.mean, difference.low(), difference.high()].map(part);
        assert_eq!(parts, ["13.6 %", "8.0 %", "19.3 %"]);
    }

    #[test]
    fn chance_is_five_in_a_hundred_where_the_interval_ends_at_zero() {
        // Differences t + 1 and t - 1: mean t, standard error 1.
        let t = student_t_975(1);
        let pairs = [(0.0, t + 1.0), (0.0, t - 1.0)];
        let difference = over(&pairs).unwrap();
        assert!(difference.low().abs() < 1e-9);
        assert!((difference.by_chance().unwrap() - 0.05).abs() < 1e-6);
        assert_eq!(over(&[(1.0, 2.0)]).unwrap().by_chance(), None);
        let by_chance = |pairs: &[(f64, f64)]| over(pairs).unwrap().by_chance();
        assert_eq!(by_chance(&[(1.0, 1.0), (2.0, 2.0)]), Some(1.0));
        assert_eq!(by_chance(&[(1.0, 2.0), (2.0, 3.0)]), Some(0.0));
    }

    #[test]
    fn pairs_show_what_the_means_alone_would_hide() {
        // A varies by hundreds between seeds; B is always one or two higher.
        let pairs = [(100.0, 101.0), (500.0, 502.0), (900.0, 901.5)];
        assert_eq!(verdict(&pairs), "higher");
        let difference = over(&pairs).unwrap();
        assert_eq!(
            difference.relative(difference.mean).map(percent).unwrap(),
            "0.30 %"
        );
    }

    #[test]
    fn an_interval_with_zero_in_it_shows_nothing() {
        // Differences -1, 0, 2.
        let pairs = [(10.0, 9.0), (10.0, 10.0), (10.0, 12.0)];
        assert_eq!(verdict(&pairs), "no significant difference over 3 seeds");
        let turned = pairs.map(|(a, b)| (b, a));
        assert_eq!(verdict(&turned), "no significant difference over 3 seeds");
    }

    #[test]
    fn one_pair_has_a_difference_and_no_interval() {
        let one = over(&[(8.0, 9.0)]).unwrap();
        assert_eq!((one.mean, one.half_width), (1.0, None));
        assert_eq!((one.low(), one.high()), (1.0, 1.0));
        assert_eq!(verdict(&[(8.0, 9.0)]), "higher");
        assert_eq!(verdict(&[(8.0, 8.0)]), "equal for the only common seed");
        assert_eq!(over(&[]), None);
    }

    #[test]
    fn one_bucket_of_a_histogram_is_no_difference() {
        // Three seeds whose percentile moved by the same bucket: without an interval, it would be
        // certain.
        let p99 = metric("latency_p99_ns");
        let moved = |by: f64| [1000.0; 3].map(|a| (a, a * by));
        let one = Difference::over(p99, &moved(1.013)).unwrap();
        assert_eq!((one.side(), one.by_chance()), (0, Some(1.0)));
        assert_eq!(
            one.verdict(),
            "no difference: within one bucket of the histogram"
        );
        let two = Difference::over(p99, &moved(1.026)).unwrap();
        assert_eq!(two.side(), 1);
        // A mean is exact.
        let mean = metric("latency_mean_ns");
        assert_eq!(Difference::over(mean, &moved(1.013)).unwrap().side(), 1);
    }

    #[test]
    fn what_does_not_differ_is_the_same() {
        assert_eq!(verdict(&[(0.1, 0.1), (0.7, 0.7)]), "equal for all 2 seeds");
    }

    #[test]
    fn nothing_is_a_part_of_zero() {
        let pairs = [(0.0, 0.25), (0.0, 0.25)];
        assert_eq!(over(&pairs).unwrap().relative(0.25), None);
        assert_eq!(verdict(&pairs), "higher");
    }
}
