//! The barrier where the threads of a run meet at the end of a window and agree on a minimum.
//!
//! Waiting spins briefly, then parks. A window takes microseconds, so a wake-up through the
//! operating system would cost more than the wait, but waiting must not occupy a core that another
//! process needs.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use netloom_units::Tick;

/// Spins before parking: about ten microseconds.
const SPINS: u32 = 1000;

/// A barrier for a fixed number of threads that computes the minimum of their values.
pub(crate) struct Barrier {
    n_threads: usize,
    /// Zero if there are more threads than cores, since spinning threads would then delay working
    /// ones.
    spins: u32,
    arrived: AtomicUsize,
    /// The minimum of the values of this round so far.
    least: AtomicU64,
    /// The result of the last round. It is not overwritten before all threads have read it, because
    /// the next round needs all of them.
    agreed: AtomicU64,
    /// Rounds completed.
    round: AtomicU64,
    /// Whether a thread has panicked and will never arrive.
    is_broken: AtomicBool,
    /// Number of parked threads; they are woken only if there are any.
    parked: Mutex<usize>,
    wake: Condvar,
}

impl Barrier {
    pub(crate) fn new(n_threads: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Barrier {
            n_threads,
            spins: if n_threads > cores { 0 } else { SPINS },
            arrived: AtomicUsize::new(0),
            least: AtomicU64::new(Tick::NEVER.0),
            agreed: AtomicU64::new(Tick::NEVER.0),
            round: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
            parked: Mutex::new(0),
            wake: Condvar::new(),
        }
    }

    /// Waits for all threads and returns `complete(minimum)`, which the last thread to arrive
    /// computes while the others wait.
    ///
    /// # Panics
    /// If another thread panicked, because it will never arrive.
    pub(crate) fn wait(&self, value: Tick, complete: impl FnOnce(Tick) -> Tick) -> Tick {
        // The round cannot end before this thread arrives, so the number read here is this round's.
        let round = self.round.load(Ordering::Acquire);
        self.least.fetch_min(value.0, Ordering::AcqRel);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n_threads {
            let agreed = complete(Tick(self.least.swap(Tick::NEVER.0, Ordering::AcqRel)));
            self.agreed.store(agreed.0, Ordering::Release);
            self.arrived.store(0, Ordering::Release);
            // Under the lock, so that no thread parks between its last check and the wake-up.
            let parked = self.lock();
            self.round.store(round + 1, Ordering::Release);
            if *parked > 0 {
                self.wake.notify_all();
            }
            return agreed;
        }
        self.await_end_of(round);
        assert!(
            !self.is_broken.load(Ordering::Acquire),
            "another thread of this run panicked"
        );
        Tick(self.agreed.load(Ordering::Acquire))
    }

    /// Tells all other threads that this one will never arrive.
    pub(crate) fn break_up(&self) {
        let _parked = self.lock();
        self.is_broken.store(true, Ordering::Release);
        self.wake.notify_all();
    }

    fn has_ended(&self, round: u64) -> bool {
        self.round.load(Ordering::Acquire) != round || self.is_broken.load(Ordering::Acquire)
    }

    fn await_end_of(&self, round: u64) {
        for _ in 0..self.spins {
            if self.has_ended(round) {
                return;
            }
            std::hint::spin_loop();
        }
        let mut parked = self.lock();
        *parked += 1;
        while !self.has_ended(round) {
            parked = self
                .wake
                .wait(parked)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *parked -= 1;
    }

    /// The count is right even after a panic, because none can happen while it is being changed.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every thread brings its own value in every round. All must leave with the same minimum, and
    /// no thread may start a round before all have ended the previous one.
    fn rounds(n_threads: usize, n_rounds: u64) {
        let barrier = Barrier::new(n_threads);
        let begun = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..n_threads as u64 {
                let (barrier, begun) = (&barrier, &begun);
                scope.spawn(move || {
                    for round in 0..n_rounds {
                        begun.fetch_add(1, Ordering::Relaxed);
                        let turn = (thread + round) % n_threads as u64;
                        let agreed = barrier.wait(Tick(10 * round + turn), |least| least + 5);
                        assert_eq!(agreed, Tick(10 * round + 5));
                        let begun = begun.load(Ordering::Relaxed);
                        let all = n_threads as u64;
                        assert!(begun >= (round + 1) * all && begun < (round + 2) * all);
                    }
                });
            }
        });
    }

    #[test]
    fn all_leave_each_round_with_the_least() {
        rounds(1, 1000);
        rounds(2, 20_000);
        rounds(3, 5_000);
        rounds(7, 2_000);
    }

    #[test]
    fn who_waits_for_a_panicked_thread_panics() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait(Tick(1), |least| least));
            barrier.break_up();
            assert!(waiting.join().is_err());
        });
    }
}
