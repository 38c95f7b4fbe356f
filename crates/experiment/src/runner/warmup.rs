//! Finds the start of the measured part of a run.

use netloom_metrics::{Warmup, mser5};

use super::recording::Recording;

/// Epochs that MSER-5 averages. They are averaged here, weighted by messages.
const BATCH: usize = 5;

/// The part to drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// The first epoch to keep, at a block boundary.
    pub(super) epochs: usize,
    /// Whether it was given or found by MSER-5. Otherwise the first half is dropped.
    pub(super) is_found: bool,
}

/// Returns the cut of a recorded run.
pub(super) fn cut(recording: &Recording, given: Option<usize>) -> Cut {
    let n = recording.n_epochs();
    let wanted = match given {
        // A run that ended during its warm-up keeps all of it.
        Some(given) if given >= n => {
            return Cut {
                epochs: 0,
                is_found: false,
            };
        }
        Some(given) => Some(given),
        None => found(recording),
    };
    match wanted.map(|epoch| recording.boundary(epoch)) {
        Some(epochs) if epochs < n => Cut {
            epochs,
            is_found: true,
        },
        _ => {
            let half = recording.boundary(n / 2);
            Cut {
                epochs: if half < n { half } else { 0 },
                is_found: false,
            }
        }
    }
}

/// Returns the later of the cuts for message latency and for delivered flits.
fn found(recording: &Recording) -> Option<usize> {
    let n = recording.n_whole_epochs();
    let flits: Vec<f64> = (0..n)
        .map(|e| recording.sum(e).delivered_flits as f64)
        .collect();
    match (mser5(&latencies(recording, n)), mser5(&flits)) {
        (Warmup::After(a), Warmup::After(b)) => Some(a.max(b)),
        _ => None,
    }
}

/// Returns the mean message latency for each epoch. Every epoch has the mean of all messages of its
/// batch of five, so that MSER-5, which averages the five, uses a mean weighted by messages. A
/// batch without messages repeats the previous one.
fn latencies(recording: &Recording, n: usize) -> Vec<f64> {
    let epochs: Vec<usize> = (0..n).collect();
    let mut mean = 0.0;
    let mut observations = Vec::with_capacity(n);
    for batch in epochs.chunks(BATCH) {
        let sums = batch.iter().map(|&epoch| recording.sum(epoch));
        let (ticks, messages) = sums.fold((0.0, 0u64), |(t, m), s| {
            (t + s.latency as f64, m + s.messages)
        });
        if messages > 0 {
            mean = ticks / messages as f64;
        }
        observations.extend(batch.iter().map(|_| mean));
    }
    observations
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Tick;

    /// A run whose epochs deliver ten messages each, with the latency of `latency(epoch)`.
    fn recorded(n: usize, given: Option<usize>, latency: impl Fn(usize) -> u64) -> Recording {
        let mut recording = Recording::new(1, 100, Tick(n as u64 * 100), given);
        for epoch in 0..n {
            recording.add_epoch(|rows| {
                rows[0].delivered_messages = 10;
                rows[0].delivered_flits = 320;
                (0..10).for_each(|_| rows[0].message_latency.record(latency(epoch)));
            });
        }
        recording
    }

    /// Noise without a library: the fractional part of multiples of the golden ratio.
    fn noise(epoch: usize) -> u64 {
        (epoch as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59
    }

    #[test]
    fn a_start_that_differs_is_dropped_up_to_a_block() {
        let recording = recorded(400, None, |e| {
            1000 + noise(e) + if e < 40 { 500 } else { 0 }
        });
        let cut = cut(&recording, None);
        assert!(cut.is_found && (40..=60).contains(&cut.epochs), "{cut:?}");
    }

    #[test]
    fn growing_latency_never_settles_and_drops_half() {
        let recording = recorded(400, None, |e| 1000 + 10 * e as u64);
        let cut = cut(&recording, None);
        assert!(
            !cut.is_found && (200..=210).contains(&cut.epochs),
            "{cut:?}"
        );
    }

    #[test]
    fn a_given_warmup_is_taken_unless_the_run_ended_before() {
        let recording = recorded(100, Some(30), |_| 7);
        assert_eq!(
            cut(&recording, Some(30)),
            Cut {
                epochs: 30,
                is_found: true
            }
        );
        let recording = recorded(20, Some(30), |_| 7);
        assert_eq!(
            cut(&recording, Some(30)),
            Cut {
                epochs: 0,
                is_found: false
            }
        );
    }

    #[test]
    fn too_few_epochs_decide_nothing() {
        assert_eq!(
            cut(&recorded(1, None, |_| 7), None),
            Cut {
                epochs: 0,
                is_found: false
            }
        );
        assert!(!cut(&recorded(30, None, |_| 7), None).is_found);
        assert_eq!(cut(&Recording::new(1, 1, Tick(9), None), None).epochs, 0);
    }
}
