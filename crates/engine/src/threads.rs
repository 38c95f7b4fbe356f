//! Windows on several threads: a free thread takes the next partition.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use netloom_units::Tick;

use crate::Model;
use crate::barrier::Barrier;
use crate::mailbox::{Mail, Mailboxes, Parity};
use crate::partition::Partition;
use crate::transport::Transport;
use crate::windows::{Exchange, Run, Window};

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

impl<M: Model, T: Transport> Run<M, T> {
    /// Runs every tick before `end` on this and `n_threads - 1` other threads, or as many as the
    /// system starts. The number of threads does not affect results.
    pub(crate) fn together(&mut self, end: Tick, n_threads: usize) {
        let earliest = self.earliest();
        let start = self.exchange.first(earliest);
        let (partitions, mailboxes) = (&self.partitions, &self.mailboxes);
        let (lookahead, exchange) = (self.lookahead, Mutex::new(&mut self.exchange));
        // Set once the number of started threads is known.
        let crew = OnceLock::new();
        std::thread::scope(|scope| {
            let crew: &OnceLock<Crew<'_, M, T>> = &crew;
            let starts = |_: &usize| {
                let thread = std::thread::Builder::new();
                let started = thread.spawn_scoped(scope, || crew.wait().work(start, end));
                started.is_ok()
            };
            let others = (1..n_threads).take_while(starts).count();
            let crew = crew.get_or_init(|| Crew {
                partitions,
                mailboxes,
                lookahead,
                exchange,
                barrier: Barrier::new(1 + others),
                taken: [AtomicUsize::new(0), AtomicUsize::new(0)],
            });
            crew.work(start, end);
        });
        self.empty_mailboxes();
    }
}

impl<M: Model, T: Transport> Crew<'_, M, T> {
    /// Does the work of one thread.
    fn work(&self, mut start: Tick, end: Tick) {
        let _membership = Membership(&self.barrier);
        let mut parity = Parity::default();
        let mut mail = Mail::default();
        while start < end {
            let window = Window::new(start, self.lookahead, end);
            let mut earliest = Tick::NEVER;
            while let Some(local) = self.take_partition(parity) {
                let mut partition = self.partitions[local].lock().expect(UNPOISONED);
                let last = parity.other();
                (self.mailboxes).deliver(last, local, &mut partition, &mut mail);
                partition.run(window);
                let next = partition.hand_over(|to, sent| {
                    self.mailboxes.post(parity, to, sent);
                });
                earliest = earliest.min(next);
            }
            self.taken[parity.other().index()].store(0, Ordering::Relaxed);
            start = self.barrier.wait(earliest, |earliest| {
                let mut exchange = self.exchange.lock().expect(UNPOISONED);
                exchange.finish(self.mailboxes, parity, earliest)
            });
            parity = parity.other();
        }
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
