//! Verdicts: whether the numbers of a run can be used. Every such word is defined here.
//!
//! ```text
//!  epochs of a class ──► Measured::verdict ──► of_run: the run (its worst class)
//!                                                 └────► of_seeds: the point (the median of its seeds)
//! ```
//!
//! All verdicts come from this module, so those of a class, a run and a point cannot contradict
//! each other. A run is as bad as its worst class, and a point is never better than one of its
//! classes.
//!
//! Saturation is growth: the number of flits that wait in the sources keeps increasing. A deficit
//! in delivery is weaker evidence, since messages in transit at the end of a short run also cause
//! one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::confidence::{batch_means, batch_means_of};
use crate::{Interval, student_t_975, student_t_beyond};

/// Growth and drift below this fraction are ignored.
const SMALL: f64 = 0.02;

/// Significance level: effects that arise by chance in fewer cases than this are accepted as real.
const CHANCE: f64 = 0.01;

/// A source may have this many messages in sending without a queue, and this many latencies must
/// fit into the measured time. If messages are counted on arrival, a shorter time favours the fast
/// ones.
const FEW: f64 = 5.0;

/// Batches of a third of the measured time: few and long, hence nearly independent.
const BATCHES_OF_A_THIRD: usize = 10;

/// The quality of the numbers of a run. Later variants are worse.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was offered and nothing delivered. It does not affect the verdict of a run.
    Idle,
    /// Steady and as precise as requested, or all work done.
    #[default]
    Ok,
    /// Steady, but the end of the warm-up was not found or the interval is wider than requested.
    NotConverged,
    /// The last third of the measured time differs from the one before it.
    NotStationary,
    /// The measured time is too short to tell whether queues grow.
    TooShort,
    /// The offered load exceeds the capacity, so queues in the sources grow. This is a result, but
    /// latencies mean nothing.
    Saturated,
    /// A job or list had messages left at the end of the run, so its completion time is unknown.
    Unfinished,
}

impl Verdict {
    /// All verdicts, in order.
    pub const ALL: [Verdict; 7] = [
        Verdict::Idle,
        Verdict::Ok,
        Verdict::NotConverged,
        Verdict::NotStationary,
        Verdict::TooShort,
        Verdict::Saturated,
        Verdict::Unfinished,
    ];

    /// Returns the verdicts that lead to a warning, the worst first.
    pub fn warnings() -> impl Iterator<Item = Verdict> {
        let is_warning = |verdict: &Verdict| !matches!(verdict, Verdict::Idle | Verdict::Ok);
        Verdict::ALL.into_iter().rev().filter(is_warning)
    }

    /// Returns the word in files.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Idle => "idle",
            Verdict::Ok => "ok",
            Verdict::NotConverged => "not-converged",
            Verdict::NotStationary => "not-stationary",
            Verdict::TooShort => "too-short",
            Verdict::Saturated => "saturated",
            Verdict::Unfinished => "unfinished",
        }
    }

    /// Returns the phrase for tables.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Idle => "idle",
            Verdict::Ok => "ok",
            Verdict::NotConverged => "not converged",
            Verdict::NotStationary => "not stationary",
            Verdict::TooShort => "too short to tell",
            Verdict::Saturated => "saturated",
            Verdict::Unfinished => "unfinished",
        }
    }

    /// Returns an explanation for the reader of the results.
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Idle => "nothing was sent or received in the measured time",
            Verdict::Ok => "steady and as precise as requested, or all work done",
            Verdict::NotConverged => "no steady state, or less precise than requested; run longer",
            Verdict::NotStationary => "loads or latencies still drift; run longer",
            Verdict::TooShort => "too short to detect growing queues; run longer",
            Verdict::Saturated => "latencies grow with the length of the run",
            Verdict::Unfinished => "some messages of a job or list were not delivered; run longer",
        }
    }

    /// Returns the verdict for a word in a file.
    pub fn of_word(word: &str) -> Option<Verdict> {
        Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.word() == word)
    }

    /// Whether the run was long enough for its result; saturation is a result.
    pub fn is_result(self) -> bool {
        matches!(self, Verdict::Idle | Verdict::Ok | Verdict::Saturated)
    }

    /// Combines the verdicts of several classes: the worst one. Idle ones are ignored.
    pub fn of_classes(classes: impl IntoIterator<Item = Verdict>) -> Verdict {
        classes.into_iter().max().unwrap_or(Verdict::Idle)
    }

    /// Returns the verdict of a run from those of its classes: the worst one. A run without any
    /// traffic is too short.
    pub fn of_run(classes: impl IntoIterator<Item = Verdict>) -> Verdict {
        match Verdict::of_classes(classes) {
            Verdict::Idle => Verdict::TooShort,
            verdict => verdict,
        }
    }

    /// Returns the verdict of a point from those of its seeds: their median, and the worse of two
    /// in the middle. So a point is saturated if at least half of its seeds are. One unfinished
    /// seed makes it unfinished, since the median of completion times is then unknown. Without
    /// seeds it is `Ok`.
    pub fn of_seeds(seeds: impl IntoIterator<Item = Verdict>) -> Verdict {
        let mut seeds: Vec<Verdict> = seeds.into_iter().collect();
        seeds.sort_unstable();
        match seeds.last() {
            Some(Verdict::Unfinished) => Verdict::Unfinished,
            _ => seeds.get(seeds.len() / 2).copied().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Counts of one epoch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Epoch {
    /// Length of the epoch.
    pub ticks: f64,
    /// Flits that sources created.
    pub offered: f64,
    /// Flits that left them.
    pub injected: f64,
    /// Flits that arrived.
    pub delivered: f64,
    /// Messages that arrived.
    pub messages: f64,
    /// Sum of their latencies, in ticks.
    pub latency: f64,
}

/// The measurements of a class after the warm-up, and the requested precision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured<'a> {
    pub epochs: &'a [Epoch],
    /// Time that a source needs to send a message, in ticks.
    pub sending: f64,
    /// Whether the end of the warm-up is known.
    pub is_warm: bool,
    /// Requested half width of the interval of mean latency, as a fraction of the mean.
    pub asked: f64,
    /// For a job or a list of messages: whether all messages were delivered. No steady state is
    /// required of it.
    pub has_ended: Option<bool>,
}

impl Measured<'_> {
    /// Returns the mean latency of messages with its interval.
    pub fn latency(&self) -> Option<Interval> {
        let epochs: Vec<_> = self
            .epochs
            .iter()
            .map(|e| (e.latency, e.messages))
            .collect();
        batch_means(&epochs)
    }

    /// Returns the verdict on these measurements.
    pub fn verdict(&self) -> Verdict {
        let sum = |of: fn(&Epoch) -> f64| self.epochs.iter().map(of).sum::<f64>();
        let (ticks, offered) = (sum(|e| e.ticks), sum(|e| e.offered));
        if self.has_ended == Some(false) {
            return Verdict::Unfinished;
        }
        if offered == 0.0 && sum(|e| e.delivered) == 0.0 {
            return Verdict::Idle;
        }
        if self.has_ended == Some(true) {
            return Verdict::Ok;
        }
        let growing: Vec<_> = self
            .epochs
            .iter()
            .map(|e| (e.offered - e.injected, e.ticks))
            .collect();
        let Some(growth) = batch_means(&growing) else {
            return Verdict::TooShort;
        };
        if growth.mean * ticks > SMALL * offered {
            // Flits offered while a few messages are sent.
            let being_sent = FEW * self.sending * offered / ticks;
            let is_queue = growth.mean * ticks > being_sent;
            return match is_queue && by_chance(growth.mean, &[growth]) < CHANCE {
                true => Verdict::Saturated,
                false => Verdict::TooShort,
            };
        }
        let messages = sum(|e| e.messages);
        if messages > 0.0 && ticks < FEW * sum(|e| e.latency) / messages {
            return Verdict::TooShort;
        }
        let drifts = |of: fn(&Epoch) -> (f64, f64)| {
            let epochs: Vec<_> = self.epochs.iter().map(of).collect();
            drifts(&epochs)
        };
        if drifts(|e| (e.delivered, e.ticks)) || drifts(|e| (e.latency, e.messages)) {
            return Verdict::NotStationary;
        }
        let is_narrow = |interval: Interval| interval.widened() <= self.asked * interval.mean.abs();
        match self.is_warm && self.latency().is_some_and(is_narrow) {
            true => Verdict::Ok,
            false => Verdict::NotConverged,
        }
    }
}

/// Whether the last third of a window differs from the middle one, with totals and weights as in
/// [`batch_means`]. Two metrics are tested, so each may be wrong half as often.
fn drifts(epochs: &[(f64, f64)]) -> bool {
    let (one, two) = (epochs.len() / 3, 2 * epochs.len() / 3);
    let third = |epochs: &[(f64, f64)]| batch_means_of(epochs, BATCHES_OF_A_THIRD);
    let (Some(middle), Some(last)) = (third(&epochs[one..two]), third(&epochs[two..])) else {
        return false;
    };
    let drift = last.mean - middle.mean;
    drift.abs() > SMALL * middle.mean.abs() && by_chance(drift, &[middle, last]) < CHANCE / 2.0
}

/// Returns how often chance alone causes a difference this large between means, or of one mean from
/// zero.
fn by_chance(difference: f64, means: &[Interval]) -> f64 {
    let variance = |mean: &Interval| {
        let error = mean.widened() / student_t_975(mean.batches - 1);
        error * error
    };
    let error = means.iter().map(variance).sum::<f64>().sqrt();
    let freedom = means.iter().map(|mean| mean.batches - 1).sum();
    student_t_beyond(difference / error, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise from a linear congruential generator, uniform with mean zero and variance one.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 12f64.sqrt()
        }
    }

    /// Sources offer about 1000 flits of 10 in an epoch of 1000 ticks and keep everything beyond
    /// `taken(epoch)`. The latency is `latency(epoch)` for every message.
    fn epochs(
        n: usize,
        seed: u64,
        taken: impl Fn(usize) -> f64,
        latency: impl Fn(usize) -> f64,
    ) -> Vec<Epoch> {
        let mut noise = Noise(seed);
        let mut waiting = 0.0;
        let epoch = |at: usize| {
            let offered = (1000.0 + 30.0 * noise.next()).round();
            waiting += offered;
            let injected = taken(at).min(waiting);
            waiting -= injected;
            let messages = (injected / 10.0).round();
            Epoch {
                ticks: 1000.0,
                offered,
                injected,
                delivered: injected,
                messages,
                latency: messages * latency(at) * (1.0 + 0.02 * noise.next()),
            }
        };
        (0..n).map(epoch).collect()
    }

    fn measured(epochs: &[Epoch]) -> Measured<'_> {
        Measured {
            epochs,
            sending: 10.0,
            is_warm: true,
            asked: 0.05,
            has_ended: None,
        }
    }

    fn verdict(epochs: &[Epoch]) -> Verdict {
        measured(epochs).verdict()
    }

    #[test]
    fn a_steady_run_is_ok_and_nothing_is_idle() {
        assert_eq!(verdict(&epochs(150, 1, |_| 1e9, |_| 50.0)), Verdict::Ok);
        assert_eq!(verdict(&[]), Verdict::Idle);
        assert_eq!(verdict(&[Epoch::default(); 9]), Verdict::Idle);
    }

    #[test]
    fn work_that_ends_is_judged_by_its_end() {
        // A job in a single epoch of a long run, and one whose latencies rise all the time.
        let mut short = vec![Epoch::default(); 50];
        short[0] = Epoch {
            ticks: 1000.0,
            offered: 100.0,
            injected: 100.0,
            delivered: 100.0,
            messages: 4.0,
            latency: 4000.0,
        };
        let rising = epochs(150, 1, |_| 1e9, |at| 50.0 + at as f64);
        for epochs in [short, rising] {
            assert_ne!(verdict(&epochs), Verdict::Ok);
            let ended = |has_ended| {
                let measured = Measured {
                    has_ended,
                    is_warm: false,
                    ..measured(&epochs)
                };
                measured.verdict()
            };
            assert_eq!(ended(Some(true)), Verdict::Ok);
            assert_eq!(ended(Some(false)), Verdict::Unfinished);
        }
        let nothing = |has_ended| {
            let measured = Measured {
                has_ended,
                ..measured(&[])
            };
            measured.verdict()
        };
        assert_eq!(nothing(Some(true)), Verdict::Idle);
        assert_eq!(nothing(Some(false)), Verdict::Unfinished);
    }

    #[test]
    fn a_queue_that_grows_is_saturation() {
        for taken in [100.0, 700.0, 950.0] {
            assert_eq!(
                verdict(&epochs(150, 1, |_| taken, |at| at as f64)),
                Verdict::Saturated,
                "{taken} of 1000"
            );
        }
        // One per cent more than the capacity: growth, but below the threshold, while latencies
        // rise.
        assert_eq!(
            verdict(&epochs(150, 1, |_| 990.0, |at| 50.0 + at as f64)),
            Verdict::NotStationary
        );
    }

    #[test]
    fn messages_under_way_are_no_saturation() {
        // Everything leaves at once and a tenth of it is still in transit at the end.
        let mut steady = epochs(20, 1, |_| 1e9, |_| 50.0);
        steady.iter_mut().for_each(|epoch| epoch.delivered *= 0.9);
        assert_eq!(verdict(&steady), Verdict::Ok);
        // Sources fill by the same few flits in each of twenty epochs: a queue of short messages,
        // or the messages in sending if each takes a whole epoch.
        let filling = epochs(20, 1, |_| 930.0, |_| 50.0);
        let with = |sending| {
            let measured = Measured {
                sending,
                ..measured(&filling)
            };
            measured.verdict()
        };
        assert_eq!(
            (with(10.0), with(1000.0)),
            (Verdict::Saturated, Verdict::TooShort)
        );
    }

    #[test]
    fn few_epochs_or_long_latencies_are_too_short() {
        assert_eq!(verdict(&epochs(4, 1, |_| 1e9, |_| 50.0)), Verdict::TooShort);
        assert_eq!(verdict(&epochs(40, 1, |_| 1e9, |_| 9e3)), Verdict::TooShort);
        // A deficit from a single epoch is not reliable evidence of growth.
        let mut bursty = epochs(40, 1, |_| 1e9, |_| 50.0);
        bursty[39].offered += 4000.0;
        assert_eq!(verdict(&bursty), Verdict::TooShort);
    }

    #[test]
    fn a_drift_of_load_or_latency_is_not_stationary() {
        let rising = |part: f64| epochs(150, 1, |_| 1e9, move |at| 50.0 * (1.0 + part * at as f64));
        assert_eq!(verdict(&rising(0.002)), Verdict::NotStationary);
        // The thirds differ by fifty epochs: 1 %.
        assert_eq!(verdict(&rising(0.0002)), Verdict::Ok);
        let mut falling = epochs(150, 1, |_| 1e9, |_| 50.0);
        falling[100..].iter_mut().for_each(|e| e.delivered *= 0.95);
        assert_eq!(verdict(&falling), Verdict::NotStationary);
    }

    #[test]
    fn a_wide_interval_or_an_unknown_warmup_is_not_converged() {
        let steady = epochs(150, 1, |_| 1e9, |_| 50.0);
        let asked = |asked, is_warm| {
            let measured = Measured {
                is_warm,
                asked,
                ..measured(&steady)
            };
            measured.verdict()
        };
        assert_eq!(asked(0.05, true), Verdict::Ok);
        assert_eq!(asked(0.0001, true), Verdict::NotConverged);
        assert_eq!(asked(0.05, false), Verdict::NotConverged);
    }

    #[test]
    fn a_steady_run_seldom_looks_as_if_it_drifted() {
        // Latencies like those of a queue: each epoch keeps half of the one before, 10 % around the
        // mean.
        let is_unlucky = |seed: &u64| {
            let mut noise = Noise(*seed * 7919);
            let mut memory = 0.0;
            let mut steady = epochs(150, *seed, |_| 1e9, |_| 50.0);
            for epoch in &mut steady {
                memory = 0.5 * memory + 0.1 * noise.next();
                epoch.latency *= 1.0 + memory;
            }
            verdict(&steady) == Verdict::NotStationary
        };
        let unlucky = (1..=1000).filter(is_unlucky).count();
        assert!(unlucky <= 25, "{unlucky} of 1000");
    }

    #[test]
    fn a_class_speaks_for_its_run_and_the_median_for_a_point() {
        use Verdict::*;
        assert_eq!(Verdict::of_run([Ok, Saturated, TooShort]), Saturated);
        assert_eq!(Verdict::of_run([Ok, NotConverged]), NotConverged);
        assert_eq!(Verdict::of_run([Saturated, Unfinished]), Unfinished);
        assert_eq!(Verdict::of_run([Idle, Ok]), Ok);
        assert_eq!(Verdict::of_run([Idle, Idle]), TooShort);
        assert_eq!(Verdict::of_run([]), TooShort);
        assert_eq!(Verdict::of_classes([Idle, Idle]), Idle);
        for (seeds, point) in [
            (&[][..], Ok),
            (&[Saturated], Saturated),
            (&[Ok, Saturated], Saturated),
            (&[Saturated, Ok, Ok], Ok),
            (&[Saturated, Ok, Saturated], Saturated),
            (&[Ok, Saturated, NotStationary], NotStationary),
            (&[Ok, Saturated, Ok, Saturated], Saturated),
            (&[Ok, Ok, Ok, Unfinished], Unfinished),
            (&[Idle, Idle, Ok], Idle),
        ] {
            assert_eq!(Verdict::of_seeds(seeds.iter().copied()), point, "{seeds:?}");
        }
    }

    #[test]
    fn words_are_read_back() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::of_word(verdict.word()), Some(verdict));
        }
        assert_eq!(Verdict::of_word("fine"), None);
        let warned: Vec<Verdict> = Verdict::warnings().collect();
        assert_eq!((warned.len(), warned[0]), (5, Verdict::Unfinished));
    }
}
