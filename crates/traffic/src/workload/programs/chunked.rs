//! Collective operations that divide the data of a rank into chunks.

use std::ops::Range;

use super::collectives::folded;
use super::{Builder, Rank};

/// Adds a reduce-scatter over a ring: rank r ends with the sum of chunk r. In p − 1 steps every
/// rank sends a chunk to the next one, and adds the chunk that it receives.
///
/// # Panics
/// If the numbers of chunks and ranks differ.
pub fn ring_reduce_scatter(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n = ranks.len();
    assert_eq!(chunks.len(), n, "a chunk for each rank");
    around(builder, ranks, |own, step| {
        chunks[(own + 2 * n - 1 - step) % n]
    });
}

/// Adds an all-gather over a ring: chunk r is that of rank r, and all ranks end with all chunks. In
/// p − 1 steps every rank sends the chunk that it received last to the next rank.
///
/// # Panics
/// If the numbers of chunks and ranks differ.
pub fn ring_all_gather(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n = ranks.len();
    assert_eq!(chunks.len(), n, "a chunk for each rank");
    around(builder, ranks, |own, step| chunks[(own + n - step) % n]);
}

/// Adds p − 1 steps around a ring. `bytes` returns the message of a place in a step.
fn around(builder: &mut Builder, ranks: &[Rank], bytes: impl Fn(usize, usize) -> u32) {
    let n = ranks.len();
    for (own, &rank) in ranks.iter().enumerate() {
        let (next, previous) = (ranks[(own + 1) % n], ranks[(own + n - 1) % n]);
        for step in 0..n - 1 {
            builder.send(rank, next, bytes(own, step));
            builder.receive(rank, previous);
        }
    }
}

/// Adds an all-gather by recursive doubling: partners at distance 1, 2, 4, … exchange all chunks
/// that they have.
///
/// # Panics
/// If the number of ranks is not a power of two, or differs from that of the chunks.
pub fn doubling_all_gather(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n = ranks.len();
    let chunks = Chunks::new(chunks, n);
    for distance in distances(n) {
        for own in 0..n {
            let bytes = chunks.block(own, distance);
            exchange(builder, ranks, own, distance, bytes);
        }
    }
}

/// Adds a reduce-scatter by recursive halving: partners at distance p/2, p/4, …, 1 exchange the
/// half that the other one keeps. Rank r ends with the sum of chunk r.
///
/// # Panics
/// If the number of ranks is not a power of two, or differs from that of the chunks.
pub fn halving_reduce_scatter(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n = ranks.len();
    let chunks = Chunks::new(chunks, n);
    for distance in distances(n).rev() {
        for own in 0..n {
            let bytes = chunks.block(own ^ distance, distance);
            exchange(builder, ranks, own, distance, bytes);
        }
    }
}

/// Adds an all-reduce by recursive halving and doubling (Rabenseifner).
///
/// ```text
///   4 ranks, chunks a b c d:   0 ─ cd ─► 1   0 ◄─ ab ─ 1     distance 1: half of the data
///                              0 ─ b ─► 2    0 ◄─ a ─ 2      distance 2: a quarter
///                              0 ─ a ─► 2    0 ◄─ b ─ 2      and back: sums
///                              0 ─ ab ─► 1   0 ◄─ cd ─ 1
/// ```
///
/// Each rank sends 2 (p − 1) / p of its data, as in a ring, in 2 lg p steps. If the number of ranks
/// is not a power of two, some ranks first hand over all their data and receive the sum at the end,
/// as in recursive doubling (Thakur, Rabenseifner and Gropp, 2005).
///
/// # Panics
/// If the number of chunks is not the largest power of two up to the number of ranks.
pub fn halving_doubling_all_reduce(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n_chunks = chunks.len();
    let chunks = Chunks::new(chunks, 1 << ranks.len().max(1).ilog2());
    let whole = chunks.bytes(0..n_chunks);
    folded(builder, ranks, whole, |builder, ranks| {
        // The chunks that a rank keeps after the first `steps` steps of halving.
        let remaining = |own: usize, steps: u32| {
            let (mut low, mut size) = (0, n_chunks);
            for step in 0..steps {
                size /= 2;
                low += (own >> step & 1) * size;
            }
            low..low + size
        };
        let n_steps = n_chunks.ilog2();
        let all = || 0..ranks.len();
        for step in 0..n_steps {
            for own in all() {
                let distance = 1 << step;
                let bytes = chunks.bytes(remaining(own ^ distance, step + 1));
                exchange(builder, ranks, own, distance, bytes);
            }
        }
        for step in (0..n_steps).rev() {
            for own in all() {
                let bytes = chunks.bytes(remaining(own, step + 1));
                exchange(builder, ranks, own, 1 << step, bytes);
            }
        }
    });
}

/// Adds an all-to-all where the message to a rank has the bytes of that rank's chunk. Ranks of one
/// host have consecutive numbers and exchange nothing.
///
/// All messages are posted at once, or, if `in_pairs`, each waits for the message of the step
/// before.
///
/// # Panics
/// If the numbers of chunks and ranks differ, or there are no ranks per host.
pub fn all_to_all_chunks(
    builder: &mut Builder,
    ranks: &[Rank],
    chunks: &[u32],
    per_host: usize,
    in_pairs: bool,
) {
    let n = ranks.len();
    assert_eq!(chunks.len(), n, "a chunk for each rank");
    for (own, &rank) in ranks.iter().enumerate() {
        let is_remote = |other: &usize| other / per_host != own / per_host;
        let to = |distance: usize| Some((own + distance) % n).filter(is_remote);
        let from = |distance: usize| Some((own + n - distance) % n).filter(is_remote);
        let send = |builder: &mut Builder, distance: usize| {
            if let Some(to) = to(distance) {
                builder.send(rank, ranks[to], chunks[to]);
            }
        };
        let receive = |builder: &mut Builder, distance: usize| {
            if let Some(from) = from(distance) {
                builder.receive(rank, ranks[from]);
            }
        };
        for distance in 1..n {
            send(builder, distance);
            if in_pairs {
                receive(builder, distance);
            }
        }
        if !in_pairs {
            (1..n).for_each(|distance| receive(builder, distance));
        }
    }
}

/// Adds a broadcast over a binomial tree: the root sends to the rank at the largest power of two,
/// and every rank that has the data sends on at half the distance.
pub fn binomial_broadcast(builder: &mut Builder, ranks: &[Rank], root: usize, bytes: u32) {
    let n = ranks.len();
    let rank = |place: usize| ranks[(root + place) % n];
    for place in 0..n {
        // The distance to the sender is the lowest bit that is set.
        let lowest = match place {
            0 => n.next_power_of_two(),
            place => 1 << place.trailing_zeros(),
        };
        if place > 0 {
            builder.receive(rank(place), rank(place - lowest));
        }
        let mut distance = lowest / 2;
        while distance > 0 {
            if place + distance < n {
                builder.send(rank(place), rank(place + distance), bytes);
            }
            distance /= 2;
        }
    }
}

/// Adds a broadcast along a chain: every rank sends each piece on as soon as it has received it.
pub fn chain_broadcast(builder: &mut Builder, ranks: &[Rank], root: usize, pieces: &[u32]) {
    let n = ranks.len();
    let rank = |place: usize| ranks[(root + place) % n];
    for place in 0..n {
        for &bytes in pieces {
            if place > 0 {
                builder.receive(rank(place), rank(place - 1));
            }
            if place + 1 < n {
                builder.send(rank(place), rank(place + 1), bytes);
            }
        }
    }
}

/// Returns 1, 2, 4, … below a power of two.
fn distances(n: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..n.ilog2()).map(|step| 1 << step)
}

/// Adds a message to the partner at a distance, and waits for that of the partner.
fn exchange(builder: &mut Builder, ranks: &[Rank], own: usize, distance: usize, bytes: u32) {
    let (rank, partner) = (ranks[own], ranks[own ^ distance]);
    builder.send(rank, partner, bytes);
    builder.receive(rank, partner);
}

/// Chunks of data by their ends.
struct Chunks {
    /// Bytes before each chunk, and of all.
    starts: Vec<u64>,
}

impl Chunks {
    /// # Panics
    /// If `n` is not a power of two, or not the number of chunks.
    fn new(chunks: &[u32], n: usize) -> Chunks {
        assert!(n.is_power_of_two(), "{n} is a power of two");
        assert_eq!(chunks.len(), n, "a chunk for each rank");
        let mut starts = vec![0];
        for &chunk in chunks {
            starts.push(starts[starts.len() - 1] + u64::from(chunk));
        }
        Chunks { starts }
    }

    /// Returns the bytes of some chunks together.
    ///
    /// # Panics
    /// For 4 GiB or more.
    fn bytes(&self, chunks: Range<usize>) -> u32 {
        let bytes = self.starts[chunks.end] - self.starts[chunks.start];
        u32::try_from(bytes).expect("a message has less than 4 GiB")
    }

    /// Returns the bytes of the aligned block of `size` chunks that contains a chunk.
    fn block(&self, chunk: usize, size: usize) -> u32 {
        let start = chunk & !(size - 1);
        self.bytes(start..start + size)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::super::{Programs, Step, play};
    use super::*;

    fn ranks(n: u32) -> Vec<Rank> {
        (0..n).map(Rank).collect()
    }

    fn built(n: u32, write: impl Fn(&mut Builder, &[Rank])) -> Programs {
        let mut builder = Builder::new(n);
        write(&mut builder, &ranks(n));
        builder.repeat(1).unwrap()
    }

    fn sent(programs: &Programs, rank: u32) -> Vec<u32> {
        let bytes = |step| match step {
            Step::Send { bytes, .. } => Some(bytes),
            Step::Receive { .. } => None,
        };
        programs.steps(Rank(rank)).filter_map(bytes).collect()
    }

    /// What a rank knows: whose contribution to each chunk it has, and how often.
    type Known = Vec<BTreeMap<u32, u32>>;

    /// Returns what every rank knows at its end, from what it knows at the start. Chunk c has 2^c
    /// bytes, so the bytes of a message tell its chunks. What arrives is added for the first
    /// `added` messages of a rank, and taken instead for the others.
    fn ends(programs: &Programs, mut known: Vec<Known>, added: u32) -> Vec<Known> {
        let n = programs.n_ranks() as usize;
        let (mut at, mut received) = (vec![0; n], vec![0; n]);
        let mut messages: Vec<Vec<(u32, Known)>> = vec![vec![]; n];
        let mut is_going = true;
        while is_going {
            is_going = false;
            for rank in ranks(n as u32) {
                let own = rank.index();
                while let Some(step) = programs.step(rank, at[own]) {
                    match step {
                        Step::Send { bytes, .. } => {
                            messages[own].push((bytes, known[own].clone()));
                        }
                        Step::Receive { from, message } => {
                            let messages = &messages[from.index()];
                            let Some((chunks, data)) = messages.get(message as usize) else {
                                break;
                            };
                            for (chunk, data) in data.iter().enumerate() {
                                if chunks >> chunk & 1 == 0 {
                                    continue;
                                }
                                let own = &mut known[own][chunk];
                                match received[rank.index()] < added {
                                    true => data.iter().for_each(|(rank, times)| {
                                        *own.entry(*rank).or_insert(0) += times;
                                    }),
                                    false => own.clone_from(data),
                                }
                            }
                            received[own] += 1;
                        }
                    }
                    at[own] += 1;
                    is_going = true;
                }
            }
        }
        assert!(
            ranks(n as u32)
                .iter()
                .all(|rank| programs.step(*rank, at[rank.index()]).is_none())
        );
        known
    }

    /// Every rank has its own data of all chunks.
    fn own_data(n: u32) -> Vec<Known> {
        (0..n)
            .map(|rank| vec![BTreeMap::from([(rank, 1)]); n as usize])
            .collect()
    }

    /// Every rank has its own chunk only.
    fn own_chunks(n: u32) -> Vec<Known> {
        let known = |rank: u32| {
            let chunk = |chunk: u32| match chunk == rank {
                true => BTreeMap::from([(rank, 1)]),
                false => BTreeMap::new(),
            };
            (0..n).map(chunk).collect()
        };
        (0..n).map(known).collect()
    }

    fn powers(n: u32) -> Vec<u32> {
        (0..n).map(|chunk| 1 << chunk).collect()
    }

    fn is_sum(data: &BTreeMap<u32, u32>, n: u32) -> bool {
        data.len() == n as usize && data.values().all(|times| *times == 1)
    }

    #[test]
    fn a_reduce_scatter_leaves_the_sum_of_its_chunk_with_every_rank() {
        for n in 1..17 {
            let ring = built(n, |builder, ranks| {
                ring_reduce_scatter(builder, ranks, &powers(n));
            });
            let mut all = vec![ring];
            if n.is_power_of_two() {
                all.push(built(n, |builder, ranks| {
                    halving_reduce_scatter(builder, ranks, &powers(n));
                }));
            }
            for programs in all {
                let known = ends(&programs, own_data(n), u32::MAX);
                for (rank, known) in known.iter().enumerate() {
                    assert!(is_sum(&known[rank], n), "{n}: {rank}: {known:?}");
                }
            }
        }
    }

    #[test]
    fn an_all_gather_brings_all_chunks_to_every_rank() {
        for n in 1..17 {
            let ring = built(n, |builder, ranks| {
                ring_all_gather(builder, ranks, &powers(n));
            });
            let mut all = vec![ring];
            if n.is_power_of_two() {
                all.push(built(n, |builder, ranks| {
                    doubling_all_gather(builder, ranks, &powers(n));
                }));
            }
            for programs in all {
                for known in ends(&programs, own_chunks(n), 0) {
                    for (chunk, data) in (0..).zip(known) {
                        assert_eq!(data, BTreeMap::from([(chunk, 1)]), "{n}");
                    }
                }
            }
        }
    }

    #[test]
    fn halving_and_doubling_leaves_the_sum_with_every_rank() {
        for n in [1, 2, 4, 8, 16] {
            let programs = built(n, |builder, ranks| {
                halving_doubling_all_reduce(builder, ranks, &powers(n));
            });
            for known in ends(&programs, own_data(n), n.ilog2()) {
                assert!(known.iter().all(|data| is_sum(data, n)), "{n}: {known:?}");
            }
        }
        // The drawing.
        let four = built(4, |builder, ranks| {
            halving_doubling_all_reduce(builder, ranks, &[1, 2, 4, 8]);
        });
        assert_eq!(sent(&four, 0), [12, 2, 1, 3]);
        assert_eq!(sent(&four, 1), [3, 8, 4, 12]);
        assert_eq!(sent(&four, 2), [12, 1, 2, 3]);
    }

    #[test]
    fn ranks_of_one_host_exchange_nothing() {
        let programs = built(8, |builder, ranks| {
            all_to_all_chunks(builder, ranks, &[5; 8], 4, false);
        });
        for rank in ranks(8) {
            let mut others = BTreeSet::new();
            for step in programs.steps(rank) {
                let (Step::Send { to: other, .. } | Step::Receive { from: other, .. }) = step;
                assert_ne!(other.0 / 4, rank.0 / 4);
                others.insert(other);
            }
            assert_eq!(others.len(), 4);
        }
    }

    proptest! {
        #[test]
        fn halving_and_doubling_sends_the_minimum(n in 2u32..70, bytes in 64u32..10_000) {
            let n_chunks = 1 << n.ilog2();
            let chunks: Vec<u32> = (0..n_chunks)
                .map(|place| bytes / n_chunks + u32::from(place < bytes % n_chunks))
                .collect();
            let programs = built(n, |builder, ranks| {
                halving_doubling_all_reduce(builder, ranks, &chunks);
            });
            let folded = u64::from(n - n_chunks);
            let minimum = 2 * u64::from(n_chunks - 1) * u64::from(bytes);
            prop_assert_eq!(programs.sum(u64::from), minimum + 2 * folded * u64::from(bytes));
            prop_assert!(play(&programs, |sent| u64::from(sent.bytes)).is_ok());
        }

        #[test]
        fn a_broadcast_reaches_every_rank_once(
            n in 1u32..70,
            root in 0u32..70,
            pieces in 1usize..5,
        ) {
            let root = root % n;
            let tree = built(n, |builder, ranks| {
                binomial_broadcast(builder, ranks, root as usize, 7);
            });
            prop_assert_eq!(tree.n_messages(), u64::from(n - 1));
            let steps = n.next_power_of_two().ilog2();
            let end = play(&tree, |_| 1).unwrap().end;
            prop_assert!(end <= u64::from(steps), "{} of {}", end, steps);
            if n.is_power_of_two() {
                prop_assert_eq!(end, u64::from(steps));
            }
            let chain = built(n, |builder, ranks| {
                chain_broadcast(builder, ranks, root as usize, &vec![7; pieces]);
            });
            prop_assert_eq!(chain.n_messages(), u64::from(n - 1) * pieces as u64);
            prop_assert_eq!(play(&chain, |_| 1).unwrap().end, u64::from(n - 1));
            for programs in [tree, chain] {
                let receives = |rank: Rank| {
                    let steps = programs.steps(rank);
                    steps.filter(|step| matches!(step, Step::Receive { .. })).count()
                };
                prop_assert_eq!(receives(Rank(root)), 0);
                for rank in ranks(n).into_iter().filter(|rank| rank.0 != root) {
                    prop_assert!(receives(rank) > 0);
                }
            }
        }

        #[test]
        fn pairs_of_an_all_to_all_wait_for_each_other(n in 1u32..40) {
            for (in_pairs, end) in [(false, n.min(2) - 1), (true, n - 1)] {
                let programs = built(n, |builder, ranks| {
                    let chunks = vec![3; n as usize];
                    all_to_all_chunks(builder, ranks, &chunks, 1, in_pairs);
                });
                prop_assert_eq!(programs.n_messages(), u64::from(n * (n - 1)));
                prop_assert_eq!(play(&programs, |_| 1).unwrap().end, u64::from(end));
            }
        }
    }
}
