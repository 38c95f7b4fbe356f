//! Windows on several threads: a free thread takes the next partition.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use netloom_units::Tick;
use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::Model;
use crate::barrier::Barrier;
use crate::mailbox::{Mail, Mailboxes, Parity};
use crate::partition::Partition;
use crate::transport::Transport;
use crate::windows::{Exchange, Run, Window, after};

/// A lock fails only after a panic, and a panic ends the run on all threads.
const UNPOISONED: &str = "no thread works on after a panic";

/// What the threads of a run share.
struct Crew<'a, M: Model, T> {
    partitions: &'a [Mutex<Partition<M>>],
    mailboxes: &'a Mailboxes<M>,
    lookahead: u64,
    /// Used only by the last thread to arrive at the barrier.
    exchange: Mutex<&'a mut Exchange<T>>,
    barrier: Barrier,
    /// Number of partitions of the window taken so far, for windows of either parity: one counts
    /// while the other is reset.
    taken: [AtomicUsize; 2],
}

/// Releases the other threads from the barrier if this one panics.
struct Membership<'a>(&'a Barrier);

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

/// The threads of an engine, which wait between two runs.
pub(crate) struct Threads(ThreadPool);

impl Threads {
    /// Starts this number of threads, or as many as the system allows. Returns `None` if that is
    /// not more than one.
    pub(crate) fn start(n_threads: usize) -> Option<Threads> {
        let start = |n| ThreadPoolBuilder::new().num_threads(n).build().ok();
        (2..=n_threads).rev().find_map(start).map(Threads)
    }
}

impl<M: Model, T: Transport> Run<M, T> {
    /// Runs every tick before `end` on these threads. Their number does not affect results.
    pub(crate) fn together(&mut self, end: Tick, threads: &Threads) {
        if let Some(horizon) = self.horizon(end) {
            let crew = Crew {
                partitions: &self.partitions,
                mailboxes: &self.mailboxes,
                lookahead: self.lookahead,
                exchange: Mutex::new(&mut self.exchange),
                barrier: Barrier::new(threads.0.current_num_threads()),
                taken: [AtomicUsize::new(0), AtomicUsize::new(0)],
            };
            let open = threads.0.broadcast(|_| crew.work(horizon, end));
            // Equal on all threads.
            self.open = open.into_iter().flatten().next();
        }
        self.empty_mailboxes();
    }
}

impl<M: Model, T: Transport> Crew<'_, M, T> {
    /// Does the work of one thread. Returns the horizon of the window in which the run pauses.
    fn work(&self, horizon: Tick, end: Tick) -> Option<Tick> {
        let _membership = Membership(&self.barrier);
        let mut parity = Parity::default();
        let mut mail = Mail::default();
        let mut next = Some(horizon);
        while let Some(horizon) = next {
            let mut earliest = Tick::NEVER;
            while let Some(local) = self.take_partition(parity) {
                let mut partition = self.partitions[local].lock().expect(UNPOISONED);
                let last = parity.other();
                (self.mailboxes).deliver(last, local, &mut partition, &mut mail);
                partition.run(Window::before(end, horizon));
                if horizon <= end {
                    let next = partition.hand_over(|to, sent| {
                        self.mailboxes.post(parity, to, sent);
                    });
                    earliest = earliest.min(next);
                }
            }
            if horizon > end {
                break;
            }
            self.taken[parity.other().index()].store(0, Ordering::Relaxed);
            let start = self.barrier.wait(earliest, |earliest| {
                let mut exchange = self.exchange.lock().expect(UNPOISONED);
                exchange.finish(self.mailboxes, parity, earliest)
            });
            next = (start < end).then(|| after(start, self.lookahead));
            parity = parity.other();
        }
        next
    }

    /// Takes the next free partition of this window. Every second window goes backwards, since the
    /// partitions that ran last are still in the cache.
    fn take_partition(&self, parity: Parity) -> Option<usize> {
        let n = self.partitions.len();
        let taken = self.taken[parity.index()].fetch_add(1, Ordering::Relaxed);
        (taken < n).then(|| {
            if parity.index() == 0 {
                taken
            } else {
                n - 1 - taken
            }
        })
    }
}
