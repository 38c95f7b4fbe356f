//! Conservative windows: how far partitions may run without communication.
//!
//! A message takes effect at least `lookahead` ticks after it is sent. So if `start` is the
//! earliest pending event of all partitions, each of them can run `[start, start + lookahead)`
//! alone. Then they exchange messages, and the earliest pending event, messages included, starts
//! the next window. Idle time of any length is thus skipped.
//!
//! A run that pauses within a window keeps it open: its messages stay in the outboxes, and the next
//! run continues it. So pauses, such as the ends of epochs, do not add exchanges of messages.

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
    /// Creates the part of a window before `end`.
    pub(crate) fn before(end: Tick, horizon: Tick) -> Self {
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
    /// The horizon of a window in which the run paused. Its messages are still in the outboxes.
    pub(crate) open: Option<Tick>,
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

    /// Returns the earliest pending event of this process, including messages. Between two runs all
    /// mailboxes are empty.
    pub(crate) fn earliest(&mut self) -> Tick {
        self.partitions()
            .map(Partition::earliest)
            .min()
            .unwrap_or(Tick::NEVER)
    }

    /// Returns the horizon of the window in which the run paused, or of one that begins with the
    /// earliest pending event of all processes. `None` if there is no event before `end`.
    pub(crate) fn horizon(&mut self, end: Tick) -> Option<Tick> {
        if self.open.is_some() {
            return self.open.take();
        }
        let earliest = self.earliest();
        let start = self.exchange.first(earliest);
        (start < end).then(|| after(start, self.lookahead))
    }

    /// Runs every tick before `end`, one partition after another on this thread.
    pub(crate) fn alone(&mut self, end: Tick) {
        let mut parity = Parity::default();
        let mut next = self.horizon(end);
        while let Some(horizon) = next {
            let mut earliest = Tick::NEVER;
            for (local, partition) in self.partitions.iter_mut().enumerate() {
                let partition = partition.get_mut().expect("no partition outlives a panic");
                self.mailboxes
                    .deliver_alone(parity.other(), local, partition);
                partition.run(Window::before(end, horizon));
                if horizon <= end {
                    let next = partition.hand_over(|to, sent| {
                        self.mailboxes.post_alone(parity, to, sent);
                    });
                    earliest = earliest.min(next);
                }
            }
            if horizon > end {
                self.open = Some(horizon);
                break;
            }
            let start = self.exchange.finish(&self.mailboxes, parity, earliest);
            next = (start < end).then(|| after(start, self.lookahead));
            parity = parity.other();
        }
        self.empty_mailboxes();
    }

    /// Ends the window in which the run paused, so that all pending events are in the queues of
    /// partitions. All processes call this together.
    pub(crate) fn close_window(&mut self) {
        if self.open.take().is_none() {
            return;
        }
        let parity = Parity::default();
        let mut earliest = Tick::NEVER;
        for partition in &mut self.partitions {
            let partition = partition.get_mut().expect("no partition outlives a panic");
            let next = partition.hand_over(|to, sent| self.mailboxes.post_alone(parity, to, sent));
            earliest = earliest.min(next);
        }
        self.exchange.finish(&self.mailboxes, parity, earliest);
        self.empty_mailboxes();
    }

    /// Takes the messages of the last window, so that between two runs none is in a mailbox.
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

/// Returns the horizon of a window that begins at `start`.
pub(crate) fn after(start: Tick, lookahead: u64) -> Tick {
    Tick(start.0.saturating_add(lookahead))
}
