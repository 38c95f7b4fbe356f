//! Messages between partitions, from the window of their sending to the next one.
//!
//! Each partition has two mailboxes, one for windows of either parity. While one receives the
//! messages of a window, those of the previous window are read from the other. Messages of other
//! processes are bytes, in which each mailbox has some ranges.

use std::ops::Range;
use std::sync::{Mutex, RwLock};

use crate::encoded;
use crate::partition::Partition;
use crate::transport::MessageOf;
use crate::{Model, Placement};

/// Nothing that can panic runs while a mailbox is locked, and a panic in the exchange ends the run
/// on all threads.
const UNPOISONED: &str = "no thread works on after a panic";

/// Messages of one window for one partition.
pub(crate) struct Mail<M: Model> {
    messages: Vec<MessageOf<M>>,
    /// Messages of other processes: their rank, and the range in its bytes.
    blocks: Vec<(usize, Range<usize>)>,
}

impl<M: Model> Default for Mail<M> {
    fn default() -> Self {
        Mail {
            messages: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

/// Messages of one window from one partition to another one.
pub(crate) enum Sent<'a, M: Model> {
    /// To a partition of this process. The list is left empty.
    Here(&'a mut Vec<MessageOf<M>>),
    /// To a partition of another process: an encoded block.
    Leaving(&'a [u8]),
}

/// The two mailboxes of one partition, on separate cache lines.
#[repr(align(128))]
struct Pair<T>([Mutex<T>; 2]);

impl<T: Default> Default for Pair<T> {
    fn default() -> Self {
        Pair(std::array::from_fn(|_| Mutex::new(T::default())))
    }
}

/// The mailboxes of all partitions of this process, and bytes to and from other processes.
pub(crate) struct Mailboxes<M: Model> {
    placement: Placement,
    boxes: Vec<Pair<Mail<M>>>,
    /// The process of every partition.
    rank_of: Vec<usize>,
    /// Blocks for each process; empty if there is only one.
    leaving: Vec<Mutex<Vec<u8>>>,
    /// Blocks of each process, of windows of either parity.
    arrived: [RwLock<Vec<Vec<u8>>>; 2],
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
    /// Creates empty mailboxes; `rank_of` is the process of every partition.
    pub(crate) fn new(placement: Placement, rank_of: Vec<usize>) -> Self {
        let boxes = placement.here.clone().map(|_| Pair::default()).collect();
        let n_ranks = match rank_of.iter().max() {
            Some(&last) if last > 0 => last + 1,
            _ => 0,
        };
        Mailboxes {
            placement,
            boxes,
            rank_of,
            leaving: (0..n_ranks).map(|_| Mutex::default()).collect(),
            arrived: std::array::from_fn(|_| RwLock::new(vec![Vec::new(); n_ranks])),
        }
    }

    /// Moves the messages for a partition of any process into its mailbox.
    pub(crate) fn post(&self, parity: Parity, partition: u16, sent: Sent<'_, M>) {
        let partition = usize::from(partition);
        match sent {
            Sent::Here(messages) => {
                let place = &self.boxes[partition - self.placement.here.start].0[parity.index()];
                let mut mail = place.lock().expect(UNPOISONED);
                mail.messages.append(messages);
            }
            Sent::Leaving(block) => {
                let place = &self.leaving[self.rank_of[partition]];
                place.lock().expect(UNPOISONED).extend_from_slice(block);
            }
        }
    }

    /// Does the same as [`post`](Self::post) on a single thread, without locking.
    pub(crate) fn post_alone(&mut self, parity: Parity, partition: u16, sent: Sent<'_, M>) {
        let partition = usize::from(partition);
        match sent {
            Sent::Here(messages) => {
                let local = partition - self.placement.here.start;
                let place = self.boxes[local].0[parity.index()].get_mut();
                place.expect(UNPOISONED).messages.append(messages);
            }
            Sent::Leaving(block) => {
                let place = self.leaving[self.rank_of[partition]].get_mut();
                place.expect(UNPOISONED).extend_from_slice(block);
            }
        }
    }

    /// Delivers the messages of a window to a partition of this process. `mail` is empty before and
    /// after.
    pub(crate) fn deliver(
        &self,
        parity: Parity,
        local: usize,
        partition: &mut Partition<M>,
        mail: &mut Mail<M>,
    ) {
        debug_assert!(mail.messages.is_empty() && mail.blocks.is_empty());
        let place = &self.boxes[local].0[parity.index()];
        std::mem::swap(&mut *place.lock().expect(UNPOISONED), mail);
        partition.receive(&mut mail.messages);
        if !mail.blocks.is_empty() {
            let arrived = self.arrived[parity.index()].read().expect(UNPOISONED);
            for (rank, range) in mail.blocks.drain(..) {
                partition.receive_block(&arrived[rank][range]);
            }
        }
    }

    /// Does the same as [`deliver`](Self::deliver) on a single thread, without locking.
    pub(crate) fn deliver_alone(
        &mut self,
        parity: Parity,
        local: usize,
        partition: &mut Partition<M>,
    ) {
        let place = self.boxes[local].0[parity.index()].get_mut();
        let mail = place.expect(UNPOISONED);
        partition.receive(&mut mail.messages);
        let arrived = self.arrived[parity.index()].get_mut().expect(UNPOISONED);
        for (rank, range) in mail.blocks.drain(..) {
            partition.receive_block(&arrived[rank][range]);
        }
    }

    /// Ends a window on behalf of this process: `exchange` sends the blocks of each process and
    /// replaces those that have arrived from it. `to` is reused for its capacity.
    pub(crate) fn exchange<T>(
        &self,
        parity: Parity,
        to: &mut Vec<Vec<u8>>,
        exchange: impl FnOnce(&mut [Vec<u8>], &mut [Vec<u8>]) -> T,
    ) -> T {
        to.resize_with(self.leaving.len(), Vec::new);
        for (leaving, bytes) in self.leaving.iter().zip(to.iter_mut()) {
            std::mem::swap(&mut *leaving.lock().expect(UNPOISONED), bytes);
        }
        let mut arrived = self.arrived[parity.index()].write().expect(UNPOISONED);
        let result = exchange(to, &mut arrived);
        for (rank, bytes) in arrived.iter().enumerate() {
            let read = encoded::blocks(bytes, |partition, range| {
                let local = self.placement.local(usize::from(partition));
                let local = local.expect("a block for a partition of this process");
                let place = &self.boxes[local].0[parity.index()];
                place.lock().expect(UNPOISONED).blocks.push((rank, range));
            });
            read.expect("ranks of one version");
        }
        result
    }
}
