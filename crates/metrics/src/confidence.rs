//! Confidence intervals of means.
//!
//! Latencies of successive packets are not independent, since the packets waited in the same queue.
//! Within a run, the interval is therefore computed from a few long batches, whose means are nearly
//! independent, and the remaining dependence is reported. Runs with different seeds are independent
//! by construction.

use crate::student_t_975;

/// Maximum number of batches. More batches add little to the precision of the variance and make
/// batches shorter, hence more dependent (B. Schmeiser, "Batch size effects in the analysis of
/// simulation output", Operations Research 30(3), 1982: between 10 and 30).
const MOST_BATCHES: usize = 20;

/// With fewer batches, the factor of Student's t dominates the data.
const LEAST_BATCHES: usize = 5;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub mean: f64,
    /// The true mean lies within `mean - half_width` and `mean + half_width` in 95 % of cases.
    pub half_width: f64,
    /// Number of batches, or of seeds.
    pub batches: usize,
    /// Autocorrelation of successive batches. If it is far above zero, the batches are too short
    /// and the interval too narrow. Zero over seeds.
    pub lag1: f64,
}

impl Interval {
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }

    /// Whether successive batches depend on each other so clearly that the interval has not
    /// converged.
    ///
    /// The estimated autocorrelation of `n` independent values has a standard deviation of about
    /// `1/sqrt(n)`. A value above 1.645 of those arises by chance in fewer than one case of twenty.
    pub fn is_correlated(&self) -> bool {
        self.lag1 > 1.645 / (self.batches as f64).sqrt()
    }

    /// Returns the half width, widened if successive batches are correlated as in an autoregressive
    /// process. The variance of its mean is about `(1 + r) / (1 - r)` times that of independent
    /// batches.
    pub fn widened(&self) -> f64 {
        if !self.is_correlated() {
            return self.half_width;
        }
        let r = self.lag1.min(0.99);
        self.half_width * ((1.0 + r) / (1.0 - r)).sqrt()
    }
}

/// Returns the mean of a run as a ratio, with an interval from batch means.
///
/// Each epoch has a total and a weight: summed latency and number of packets, or delivered flits
/// and elapsed time. The mean is the sum of totals over the sum of weights, so it agrees with the
/// mean of the histogram, and busy epochs count for more. Up to 20 batches of consecutive epochs,
/// with nearly equal numbers of epochs, give the interval by the ratio estimator. A batch with
/// total `S_i` and weight `W_i` deviates by `(S_i - mean * W_i) / (average weight)`. If all batches
/// have the same weight, that is the deviation of its mean `S_i / W_i`, as in the textbook method.
///
/// Epochs of weight zero observed nothing and are skipped. `None` if fewer than 5 remain, if a
/// weight is negative, if a value is not finite, or if a total has no weight.
pub fn batch_means(epochs: &[(f64, f64)]) -> Option<Interval> {
    batch_means_of(epochs, MOST_BATCHES)
}

/// Does the same with at most `most` batches.
pub(crate) fn batch_means_of(epochs: &[(f64, f64)], most: usize) -> Option<Interval> {
    let is_sound = |&(total, weight): &(f64, f64)| {
        total.is_finite() && weight.is_finite() && (weight > 0.0 || (weight == 0.0 && total == 0.0))
    };
    if !epochs.iter().all(is_sound) {
        return None;
    }
    let observed: Vec<_> = epochs
        .iter()
        .copied()
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    let n = observed.len().min(most);
    if n < LEAST_BATCHES {
        return None;
    }
    // The ends are rounded, not the length, so that no epoch is lost.
    let end_of = |batch: usize| batch * observed.len() / n;
    let batches: Vec<_> = (0..n)
        .map(|i| summed(&observed[end_of(i)..end_of(i + 1)]))
        .collect();
    let (total, weight) = summed(&batches);
    let mean = total / weight;
    let average_weight = weight / n as f64;
    let deviations: Vec<f64> = batches
        .iter()
        .map(|(total, weight)| (total - mean * weight) / average_weight)
        .collect();
    Some(interval(mean, &deviations, lag1(&deviations, mean)))
}

/// Returns the mean over independent runs, one value per seed, with an interval by Student's t.
///
/// `None` for fewer than two seeds, or if a value is not finite.
pub fn over_seeds(means: &[f64]) -> Option<Interval> {
    if means.len() < 2 || means.iter().any(|mean| !mean.is_finite()) {
        return None;
    }
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let deviations: Vec<f64> = means.iter().map(|value| value - mean).collect();
    Some(interval(mean, &deviations, 0.0))
}

fn summed(epochs: &[(f64, f64)]) -> (f64, f64) {
    epochs
        .iter()
        .fold((0.0, 0.0), |sum, epoch| (sum.0 + epoch.0, sum.1 + epoch.1))
}

fn interval(mean: f64, deviations: &[f64], lag1: f64) -> Interval {
    let n = deviations.len();
    let variance = sum_of_squares(deviations) / (n - 1) as f64;
    let half_width = student_t_975(n - 1) * (variance / n as f64).sqrt();
    Interval {
        mean,
        half_width,
        batches: n,
        lag1,
    }
}

fn sum_of_squares(deviations: &[f64]) -> f64 {
    deviations
        .iter()
        .map(|deviation| deviation * deviation)
        .sum()
}

fn lag1(deviations: &[f64], mean: f64) -> f64 {
    // Deviations of a constant are rounding errors, whose correlation means nothing.
    let rounding = 1e-12 * mean.abs();
    if deviations
        .iter()
        .all(|deviation| deviation.abs() <= rounding)
    {
        return 0.0;
    }
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    products / sum_of_squares(deviations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + b.abs())
    }

    #[test]
    fn five_seeds_by_hand() {
        // Mean 12, squared deviations 4 + 1 + 0 + 1 + 4 = 10, variance 2.5, t = 2.776 with four.
        let i = over_seeds(&[10.0, 11.0, 12.0, 13.0, 14.0]).unwrap();
        assert_eq!((i.mean, i.batches, i.lag1), (12.0, 5, 0.0));
        assert!((i.half_width - 2.776_445 * 0.5f64.sqrt()).abs() < 1e-5);
        assert!(close(i.low() + i.high(), 24.0));
    }

    #[test]
    fn one_seed_has_no_interval() {
        assert_eq!(over_seeds(&[]), None);
        assert_eq!(over_seeds(&[1.0]), None);
        assert_eq!(over_seeds(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn equal_weights_are_plain_batch_means() {
        // Batch means 1 2 3 4 5: mean 3, deviations -2 -1 0 1 2, so the products of neighbours are
        // 2 + 0 + 0 + 2 = 4 and the squares 10.
        let epochs: Vec<_> = (1..=5).map(|i| (7.0 * f64::from(i), 7.0)).collect();
        let i = batch_means(&epochs).unwrap();
        let seeds = over_seeds(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!(close(i.mean, 3.0) && close(i.half_width, seeds.half_width));
        assert!(close(i.lag1, 0.4), "{}", i.lag1);
        assert_eq!(i.batches, 5);
    }

    #[test]
    fn the_mean_is_all_latency_over_all_packets() {
        // 99 packets of 10 in one epoch and one packet of 110 in each of four others.
        let epochs = [
            (990.0, 99.0),
            (110.0, 1.0),
            (110.0, 1.0),
            (110.0, 1.0),
            (110.0, 1.0),
        ];
        assert!(close(batch_means(&epochs).unwrap().mean, 1430.0 / 103.0));
    }

    #[test]
    fn twenty_batches_take_in_all_epochs() {
        let epochs: Vec<_> = (0..47).map(|i| (f64::from(i), 1.0)).collect();
        let i = batch_means(&epochs).unwrap();
        assert_eq!(i.batches, 20);
        assert!(close(i.mean, 23.0));
    }

    #[test]
    fn empty_epochs_are_no_evidence() {
        let mut epochs = vec![(0.0, 0.0); 100];
        epochs[..4].fill((10.0, 2.0));
        assert_eq!(batch_means(&epochs), None, "deliveries in four epochs only");
        epochs[4] = (10.0, 2.0);
        let i = batch_means(&epochs).unwrap();
        assert_eq!((i.mean, i.half_width, i.batches), (5.0, 0.0, 5));
    }

    #[test]
    fn unsound_epochs_have_no_interval() {
        for bad in [
            (1.0, 0.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            let mut epochs = [(1.0, 1.0); 20];
            epochs[7] = bad;
            assert_eq!(batch_means(&epochs), None, "{bad:?}");
        }
    }

    #[test]
    fn a_correlated_interval_is_widened() {
        let plain = Interval {
            mean: 10.0,
            half_width: 1.0,
            batches: 20,
            lag1: 0.2,
        };
        assert_eq!(plain.widened(), 1.0);
        // (1 + 0.6) / (1 - 0.6) = 4, whose root is 2.
        let correlated = Interval { lag1: 0.6, ..plain };
        assert!((correlated.widened() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_drift_is_called_correlated_and_a_constant_is_not() {
        let drift: Vec<_> = (0..200).map(|i| (f64::from(i), 1.0)).collect();
        assert!(batch_means(&drift).unwrap().is_correlated());
        let constant = [(0.1 * 3.0, 3.0); 200];
        assert!(!batch_means(&constant).unwrap().is_correlated());
        let swinging: Vec<_> = (0..20).map(|i| (f64::from(i % 2), 1.0)).collect();
        assert!(!batch_means(&swinging).unwrap().is_correlated());
    }

    proptest! {
        #[test]
        fn scaling_the_values_scales_the_interval(
            epochs in proptest::collection::vec((0.0f64..1e6, 1.0f64..100.0), 5..100),
            factor in 0.5f64..1000.0,
        ) {
            let scaled: Vec<_> = epochs.iter().map(|&(s, w)| (s * factor, w)).collect();
            let (a, b) = (batch_means(&epochs).unwrap(), batch_means(&scaled).unwrap());
            prop_assert!(close(a.mean * factor, b.mean));
            prop_assert!(close(a.half_width * factor, b.half_width));
            prop_assert!(a.half_width >= 0.0 && a.lag1.abs() <= 1.0);
        }

        #[test]
        fn shifting_the_values_shifts_the_interval(
            epochs in proptest::collection::vec((0.0f64..1e6, 1.0f64..100.0), 5..100),
        ) {
            // Every observation of an epoch 10 larger: its total grows by ten times its weight.
            let shifted: Vec<_> = epochs.iter().map(|&(s, w)| (s + 10.0 * w, w)).collect();
            let (a, b) = (batch_means(&epochs).unwrap(), batch_means(&shifted).unwrap());
            prop_assert!(close(a.mean + 10.0, b.mean));
            prop_assert!((a.half_width - b.half_width).abs() <= 1e-6 * (1.0 + a.half_width));
        }
    }
}
