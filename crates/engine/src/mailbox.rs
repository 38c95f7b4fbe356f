//! Messages between partitions, from the window of their sending to the next one.
//!
//! Each partition has two mailboxes, one for windows of either parity. While one receives the
//! messages of a window, those of the previous window are read from the other.

use std::sync::Mutex;

use crate::transport::MessageOf;
use crate::{Model, Placement};

/// Nothing that can panic runs while a mailbox is locked, so its lock is never poisoned.
const UNPOISONED: &str = "no panic while a mailbox is locked";

/// The two mailboxes of one partition, on separate cache lines.
#[repr(align(128))]
struct Pair<T>([Mutex<Vec<T>>; 2]);

impl<T> Default for Pair<T> {
    fn default() -> Self {
        Pair([const { Mutex::new(Vec::new()) }; 2])
    }
}

/// The mailboxes of all partitions of this process, and one for messages to other processes.
pub(crate) struct Mailboxes<M: Model> {
    placement: Placement,
    boxes: Vec<Pair<MessageOf<M>>>,
    leaving: Mutex<Vec<MessageOf<M>>>,
}

/// Which mailbox of a pair a window writes: the number of the window, modulo two.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parity(bool);

impl Parity {
    /// Returns the parity of the previous and the next window.
    pub(crate) fn other(self) -> Self {
        Parity(!self.0)
    }

    /// Returns an index into a pair.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl<M: Model> Mailboxes<M> {
    pub(crate) fn new(placement: Placement) -> Self {
        let boxes = placement.here.clone().map(|_| Pair::default()).collect();
        Mailboxes {
            placement,
            boxes,
            leaving: Mutex::new(Vec::new()),
        }
    }

    /// Moves the messages for a partition (of any process) into its mailbox; leaves the list empty.
    pub(crate) fn post(&self, parity: Parity, partition: u16, messages: &mut Vec<MessageOf<M>>) {
        let place = match self.placement.local(usize::from(partition)) {
            Some(local) => &self.boxes[local].0[parity.index()],
            None => &self.leaving,
        };
        place.lock().expect(UNPOISONED).append(messages);
    }

    /// Does the same as [`post`](Self::post) on a single thread, without locking.
    pub(crate) fn post_alone(
        &mut self,
        parity: Parity,
        partition: u16,
        messages: &mut Vec<MessageOf<M>>,
    ) {
        let place = match self.placement.local(usize::from(partition)) {
            Some(local) => &mut self.boxes[local].0[parity.index()],
            None => &mut self.leaving,
        };
        place.get_mut().expect(UNPOISONED).append(messages);
    }

    /// Swaps the mailbox of a partition of this process with an empty list.
    pub(crate) fn collect(&self, parity: Parity, local: usize, into: &mut Vec<MessageOf<M>>) {
        debug_assert!(into.is_empty());
        std::mem::swap(
            &mut *self.boxes[local].0[parity.index()]
                .lock()
                .expect(UNPOISONED),
            into,
        );
    }

    /// Returns the mailbox of a partition of this process on a single thread, without locking.
    pub(crate) fn of(&mut self, parity: Parity, local: usize) -> &mut Vec<MessageOf<M>> {
        self.boxes[local].0[parity.index()]
            .get_mut()
            .expect(UNPOISONED)
    }

    /// Moves messages from other processes into the mailboxes here; leaves the list empty.
    pub(crate) fn deliver(&self, parity: Parity, arrived: &mut Vec<MessageOf<M>>) {
        for message in arrived.drain(..) {
            let local = self.placement.local(usize::from(message.partition));
            let local =
                local.expect("a message from another process is for a partition of this one");
            self.boxes[local].0[parity.index()]
                .lock()
                .expect(UNPOISONED)
                .push(message);
        }
    }

    /// Swaps the messages to other processes with an empty list.
    pub(crate) fn collect_leaving(&self, into: &mut Vec<MessageOf<M>>) {
        debug_assert!(into.is_empty());
        std::mem::swap(&mut *self.leaving.lock().expect(UNPOISONED), into);
    }
}
