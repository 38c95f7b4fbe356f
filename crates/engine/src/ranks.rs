//! Several processes that form one run.
//!
//! [`Ranks`] is the interface to the communication between processes: MPI, or threads in tests.
//! [`OverRanks`] is the transport of the engine over it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use netloom_encoding::Encoded;
use netloom_units::Tick;

use crate::transport::{Placement, Transport};

/// The communicating processes of one run, numbered from zero.
///
/// All of them call the same operations in the same order. Each operation returns when this process
/// has its result. If a process fails, the others end too, since there is no result without it.
pub trait Ranks: Send {
    /// Returns the number of this process.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn size(&self) -> usize;

    /// Sends `to[r]` to each rank `r` of `with`, and replaces `from[r]` with the bytes that this
    /// rank sent here. All lists of `to` are left empty. `with` is symmetric: two ranks list each
    /// other or neither does.
    fn exchange(&mut self, with: &[usize], to: &mut [Vec<u8>], from: &mut [Vec<u8>]);

    /// Returns the minimum of the numbers of all ranks.
    fn least(&mut self, number: u64) -> u64;

    /// Returns the bytes of every rank, in order of rank.
    fn gather(&mut self, bytes: &[u8]) -> Vec<Vec<u8>>;

    /// Passes the bytes of every rank to `take` on the first rank, in order of rank; the other
    /// ranks get nothing.
    fn collect(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8]));
}

/// The ranks of a run, shared by its transport and by the code that merges its results.
#[derive(Clone)]
pub struct SharedRanks(Arc<Mutex<dyn Ranks>>);

impl SharedRanks {
    pub fn new(ranks: impl Ranks + 'static) -> Self {
        SharedRanks(Arc::new(Mutex::new(ranks)))
    }

    /// Locks the ranks for one operation.
    ///
    /// # Panics
    /// If an operation panicked before.
    pub fn lock(&self) -> MutexGuard<'_, dyn Ranks + 'static> {
        self.0.lock().expect("no operation after one that failed")
    }

    /// Returns the record of every rank, in order of rank.
    ///
    /// # Panics
    /// If another rank sends a different record, because it runs another version.
    pub fn gather<T: Encoded>(&self, mine: &T) -> Vec<T> {
        let all = self.lock().gather(&mine.to_bytes());
        let read = |bytes: Vec<u8>| T::from_bytes(&bytes).expect("ranks of one version");
        all.into_iter().map(read).collect()
    }
}

impl SharedRanks {
    /// Merges the records of all ranks along a binary tree, and returns the result on every rank.
    /// The order of merges must not affect the result.
    ///
    /// # Panics
    /// If another rank sends a different record, because it runs another version.
    pub fn reduce<T: Encoded>(&self, mut record: T, mut merge: impl FnMut(&mut T, &T)) -> T {
        let mut ranks = self.lock();
        let (rank, size) = (ranks.rank(), ranks.size());
        let mut to = vec![Vec::new(); size];
        let mut from = vec![Vec::new(); size];
        let read = |bytes: &[u8]| T::from_bytes(bytes).expect("ranks of one version");
        // A rank receives from `rank + step` until its lowest set bit, where its parent is.
        let mut step = 1;
        while step < size && rank & step == 0 {
            let child = rank + step;
            if child < size {
                ranks.exchange(&[child], &mut to, &mut from);
                merge(&mut record, &read(&from[child]));
            }
            step *= 2;
        }
        if rank > 0 {
            let parent = rank - step;
            record.put(&mut to[parent]);
            ranks.exchange(&[parent], &mut to, &mut from);
            ranks.exchange(&[parent], &mut to, &mut from);
            record = read(&from[parent]);
        }
        // The result takes the same way back.
        while step > 1 {
            step /= 2;
            let child = rank + step;
            if child < size {
                record.put(&mut to[child]);
                ranks.exchange(&[child], &mut to, &mut from);
            }
        }
        record
    }

    /// Returns the lists of all ranks, concatenated, on the first rank, and nothing on the others.
    ///
    /// # Panics
    /// If another rank sends a different record, because it runs another version.
    pub fn collect<T: Encoded>(&self, mine: Vec<T>) -> Vec<T> {
        let bytes = mine.to_bytes();
        drop(mine);
        let mut all = Vec::new();
        self.lock().collect(&bytes, &mut |bytes| {
            let part = Vec::<T>::from_bytes(bytes);
            all.append(&mut part.expect("ranks of one version"));
        });
        all
    }
}

impl std::fmt::Debug for SharedRanks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ranks = self.lock();
        write!(f, "rank {} of {}", ranks.rank(), ranks.size())
    }
}

/// Returns the partitions of a rank: consecutive ones, whose number differs by at most one between
/// ranks.
pub fn placement(rank: usize, size: usize, n_partitions: usize) -> Placement {
    let first = |rank: usize| rank * n_partitions / size;
    Placement {
        here: first(rank)..first(rank + 1),
        total: n_partitions,
    }
}

/// Messages and agreement over ranks.
pub struct OverRanks {
    ranks: SharedRanks,
    placement: Placement,
    /// The rank of every partition.
    rank_of: Vec<usize>,
    /// Ranks that exchange messages with this one.
    neighbours: Vec<usize>,
    /// Whether all ranks are neighbours of each other, so that an exchange reaches every rank.
    are_all_neighbours: bool,
}

impl OverRanks {
    /// Creates the transport of this process in a run of `n_partitions` partitions. `pairs` are the
    /// pairs of partitions that send each other messages; other pairs never do.
    ///
    /// # Panics
    /// If there are fewer partitions than ranks.
    pub fn new(
        ranks: SharedRanks,
        n_partitions: usize,
        pairs: impl IntoIterator<Item = (u16, u16)>,
    ) -> Self {
        let (rank, size) = {
            let ranks = ranks.lock();
            (ranks.rank(), ranks.size())
        };
        assert!(n_partitions >= size, "every rank has a partition");
        let mut rank_of = vec![0; n_partitions];
        for other in 0..size {
            rank_of[placement(other, size, n_partitions).here].fill(other);
        }
        let of = |partition: u16| rank_of[usize::from(partition)];
        let between = pairs.into_iter().map(|(one, other)| (of(one), of(other)));
        let cabled: BTreeSet<(usize, usize)> = between
            .filter(|(one, other)| one != other)
            .flat_map(|(one, other)| [(one, other), (other, one)])
            .collect();
        let own = cabled.range((rank, 0)..(rank + 1, 0));
        OverRanks {
            ranks,
            placement: placement(rank, size, n_partitions),
            rank_of,
            neighbours: own.map(|(_, other)| *other).collect(),
            are_all_neighbours: cabled.len() == size * (size - 1),
        }
    }
}

impl Transport for OverRanks {
    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn ranks(&self) -> Vec<usize> {
        self.rank_of.clone()
    }

    fn earliest(&mut self, next: Tick) -> Tick {
        Tick(self.ranks.lock().least(next.0))
    }

    fn exchange(&mut self, to: &mut [Vec<u8>], from: &mut [Vec<u8>], next: Tick) -> Tick {
        debug_assert!(
            (0..to.len()).all(|rank| to[rank].is_empty() || self.neighbours.contains(&rank)),
            "expected messages to neighbours only"
        );
        // The last bytes for a neighbour are the earliest event here.
        for &other in &self.neighbours {
            next.put(&mut to[other]);
        }
        let mut ranks = self.ranks.lock();
        ranks.exchange(&self.neighbours, to, from);
        let mut least = next;
        for &other in &self.neighbours {
            let bytes = &mut from[other];
            let (messages, mut last) = bytes.split_at(bytes.len().saturating_sub(8));
            least = least.min(Tick::take(&mut last).expect("ranks of one version"));
            let length = messages.len();
            bytes.truncate(length);
        }
        match self.are_all_neighbours {
            true => least,
            false => Tick(ranks.least(next.0)),
        }
    }
}
