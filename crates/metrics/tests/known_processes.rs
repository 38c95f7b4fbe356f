//! Warm-up and intervals on processes with known parameters.
//!
//! A first-order autoregressive process models queue lengths: each value keeps a fraction of the
//! one before. Its mean is known, so the tests count how often the interval contains it.

use netloom_metrics::{Warmup, batch_means, mser5, over_seeds};

/// SplitMix64, so that every run of these tests sees the same numbers.
struct Generator(u64);

impl Generator {
    /// Returns a uniform value between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a nearly normal value with mean 0 and variance 1: twelve uniform values minus their
    /// mean.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Returns `n` values around `mean`, each keeping the fraction `memory` of the one before.
    fn autoregressive(&mut self, n: usize, mean: f64, memory: f64) -> Vec<f64> {
        let mut deviation = self.normal() / (1.0 - memory * memory).sqrt();
        (0..n)
            .map(|_| {
                deviation = memory * deviation + self.normal();
                mean + deviation
            })
            .collect()
    }
}

/// Returns the fraction of 2000 trials that succeed. Its standard deviation at 0.95 is 0.005.
fn share_of_trials(mut trial: impl FnMut(&mut Generator) -> bool) -> f64 {
    let mut generator = Generator(1);
    (0..2000).filter(|_| trial(&mut generator)).count() as f64 / 2000.0
}

#[test]
fn ninety_five_percent_of_batch_means_intervals_contain_the_mean() {
    let covered = share_of_trials(|generator| {
        let values = generator.autoregressive(1000, 100.0, 0.5);
        let epochs: Vec<_> = values.into_iter().map(|value| (value, 1.0)).collect();
        let interval = batch_means(&epochs).unwrap();
        interval.low() <= 100.0 && 100.0 <= interval.high()
    });
    assert!((0.93..=0.965).contains(&covered), "covered {covered}");
}

#[test]
fn weights_that_vary_keep_the_coverage() {
    // An epoch delivers between 10 and 50 packets, more of them when their latency is high: the
    // mean over packets is then not the mean over epochs. With weight 30 + 20 u and latency 100 +
    // 10 u + e, u uniform in -1..1, it is 100 + 10 * 20 * E(u^2) / 30 = 100 + 200 / 90.
    let truth = 100.0 + 200.0 / 90.0;
    let covered = share_of_trials(|generator| {
        let noise = generator.autoregressive(1000, 0.0, 0.5);
        let epochs: Vec<_> = noise
            .into_iter()
            .map(|noise| {
                let u = 2.0 * generator.uniform() - 1.0;
                let weight = 30.0 + 20.0 * u;
                ((100.0 + 10.0 * u + noise) * weight, weight)
            })
            .collect();
        let interval = batch_means(&epochs).unwrap();
        interval.low() <= truth && truth <= interval.high()
    });
    assert!((0.93..=0.965).contains(&covered), "covered {covered}");
}

#[test]
fn ninety_five_percent_of_seed_intervals_contain_the_mean() {
    let covered = share_of_trials(|generator| {
        let means: Vec<f64> = (0..5).map(|_| 100.0 + generator.normal()).collect();
        let interval = over_seeds(&means).unwrap();
        interval.low() <= 100.0 && 100.0 <= interval.high()
    });
    assert!((0.935..=0.965).contains(&covered), "covered {covered}");
}

#[test]
fn batches_shorter_than_the_memory_are_called_correlated() {
    // A value is forgotten after about 1 / (1 - memory) steps: 2 and 1000. A batch is 50 steps.
    let called = |memory| {
        share_of_trials(|generator| {
            let values = generator.autoregressive(1000, 100.0, memory);
            let epochs: Vec<_> = values.into_iter().map(|value| (value, 1.0)).collect();
            batch_means(&epochs).unwrap().is_correlated()
        })
    };
    let (short, long) = (called(0.5), called(0.999));
    assert!(
        short < 0.06,
        "independent batches called correlated: {short}"
    );
    assert!(long > 0.95, "correlated batches called so: {long}");
}

#[test]
fn mser5_finds_the_end_of_a_known_transient() {
    // 200 values come down from 60 above the level in a straight line; noise of variance 4/3. The
    // last 20 of them are less than 6 above it and may be taken for noise, and a few more may be
    // dropped.
    for seed in 0..100 {
        let mut values = Generator(seed).autoregressive(2000, 100.0, 0.5);
        for (i, value) in values.iter_mut().take(200).enumerate() {
            *value += 60.0 * (1.0 - i as f64 / 200.0);
        }
        let Warmup::After(dropped) = mser5(&values) else {
            panic!("seed {seed}: not settled")
        };
        assert!(
            (160..=400).contains(&dropped),
            "seed {seed}: dropped {dropped}"
        );
        let rest = &values[dropped..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        assert!((mean - 100.0).abs() < 0.25, "seed {seed}: mean {mean}");
    }
}

#[test]
fn mser5_does_not_settle_on_queues_that_grow() {
    for seed in 0..100 {
        let mut values = Generator(seed).autoregressive(1000, 100.0, 0.5);
        values
            .iter_mut()
            .enumerate()
            .for_each(|(i, value)| *value += 0.1 * i as f64);
        assert_eq!(mser5(&values), Warmup::NotSettled, "seed {seed}");
    }
}

#[test]
fn mser5_leaves_most_of_a_steady_series() {
    let settled = (0..200)
        .filter(|&seed| {
            let values = Generator(seed).autoregressive(1000, 100.0, 0.5);
            matches!(mser5(&values), Warmup::After(dropped) if dropped <= 250)
        })
        .count();
    assert!(settled >= 180, "{settled} of 200");
}
