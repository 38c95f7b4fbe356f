//! Conservative windows: how far partitions may run without communication.
//!
//! A message takes effect at least `lookahead` ticks after it is sent. So if `start` is the
//! earliest pending event of all partitions, each of them can run `[start, start + lookahead)`
//! alone. Then they exchange messages, and the earliest pending event, messages included, starts
//! the next window. Idle time of any length is thus skipped.

use std::sync::Mutex;

use netloom_units::Tick;

use crate::Model;
use crate::mailbox::{Mailboxes, Parity};
use crate::partition::Partition;
use crate::transport::Transport;

/// The ticks that all partitions run before they exchange messages again.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// The last tick of the window.
    pub(crate) last: Tick,
    /// Messages sent in the window take effect here or later.
    pub(crate) horizon: Tick,
}

impl Window {
    /// Creates the window that begins with the earliest pending event, limited to ticks before
    /// `end`.
    ///
    /// `start` must be before `end`.
    pub(crate) fn new(start: Tick, lookahead: u64, end: Tick) -> Self {
        let horizon = Tick(start.0.saturating_add(lookahead));
        Window {
            last: Tick(horizon.min(end).0 - 1),
            horizon,
        }
    }
}

/// The state of a run of several partitions.
pub(crate) struct Run<M: Model, T> {
    /// Locked only if several threads work.
    pub(crate) partitions: Vec<Mutex<Partition<M>>>,
    pub(crate) mailboxes: Mailboxes<M>,
    pub(crate) lookahead: u64,
    pub(crate) exchange: Exchange<T>,
}

/// The end of a window: messages to and from other processes, and the agreement on the next start.
pub(crate) struct Exchange<T> {
    transport: T,
    /// Bytes to each process, reused for their capacity.
    to: Vec<Vec<u8>>,
}

impl<T: Transport> Exchange<T> {
    pub(crate) fn new(transport: T) -> Self {
        Exchange {
            transport,
            to: Vec::new(),
        }
    }

    /// Returns the start of the first window.
    pub(crate) fn first(&mut self, earliest: Tick) -> Tick {
        self.transport.earliest(earliest)
    }

    /// Ends a window on behalf of this process and returns the start of the next one.
    pub(crate) fn finish<M: Model>(
        &mut self,
        mail: &Mailboxes<M>,
        parity: Parity,
        earliest: Tick,
    ) -> Tick {
        mail.exchange(parity, &mut self.to, |to, from| {
            self.transport.exchange(to, from, earliest)
        })
    }
}

impl<M: Model, T: Transport> Run<M, T> {
    /// Returns the partitions without locking, with exclusive access to the run.
    pub(crate) fn partitions(&mut self) -> impl Iterator<Item = &mut Partition<M>> {
        self.partitions
            .iter_mut()
            .map(|p| p.get_mut().expect("no partition outlives a panic"))
    }

    /// Returns the earliest pending event of this process. Between two runs all mailboxes are
    /// empty.
    pub(crate) fn earliest(&mut self) -> Tick {
        self.partitions()
            .map(Partition::earliest)
            .min()
            .unwrap_or(Tick::NEVER)
    }

    /// Runs every tick before `end`, one partition after another on this thread.
    pub(crate) fn alone(&mut self, end: Tick) {
        let mut parity = Parity::default();
        let earliest = self.earliest();
        let mut start = self.exchange.first(earliest);
        while start < end {
            let window = Window::new(start, self.lookahead, end);
            let mut earliest = Tick::NEVER;
            for (local, partition) in self.partitions.iter_mut().enumerate() {
                let partition = partition.get_mut().expect("no partition outlives a panic");
                self.mailboxes
                    .deliver_alone(parity.other(), local, partition);
                partition.run(window);
                let next = partition.hand_over(|to, sent| {
                    self.mailboxes.post_alone(parity, to, sent);
                });
                earliest = earliest.min(next);
            }
            start = self.exchange.finish(&self.mailboxes, parity, earliest);
            parity = parity.other();
        }
        self.empty_mailboxes();
    }

    /// Takes the messages of the last window, so that between two runs all pending events are in
    /// the queues of partitions.
    pub(crate) fn empty_mailboxes(&mut self) {
        let parity = Parity::default();
        for (local, partition) in self.partitions.iter_mut().enumerate() {
            let partition = partition.get_mut().expect("no partition outlives a panic");
            self.mailboxes.deliver_alone(parity, local, partition);
            self.mailboxes
                .deliver_alone(parity.other(), local, partition);
        }
    }
}
