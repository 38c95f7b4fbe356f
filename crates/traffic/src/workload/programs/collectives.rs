//! Collective operations of MPI as messages between ranks.

use super::{Builder, Rank};

/// Adds an all-reduce by recursive doubling: every rank ends with the sum of all data.
///
/// ```text
///   5 ranks:   0 ─► 1          fold in: of the first 2 × (5 − 4) ranks, the even ones send data
///              1 ◄─► 2, 3 ◄─► 4     then partners at distance 1, 2, 4, … of the others exchange
///              1 ◄─► 3, 2 ◄─► 4
///              0 ◄─ 1          and the even ones receive the sum
/// ```
///
/// If the number of ranks is not a power of two, some send their data first, as in Thakur,
/// Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005.
pub fn all_reduce(builder: &mut Builder, ranks: &[Rank], bytes: u32) {
    folded(builder, ranks, bytes, |builder, ranks| {
        let mut distance = 1;
        while distance < ranks.len() {
            for (place, &rank) in ranks.iter().enumerate() {
                let partner = ranks[place ^ distance];
                builder.send(rank, partner, bytes);
                builder.receive(rank, partner);
            }
            distance *= 2;
        }
    });
}

/// Adds an operation of a power of two of the ranks. Some ranks may first send all their data to
/// another one, and receive the result of that one at the end.
pub(super) fn folded(
    builder: &mut Builder,
    ranks: &[Rank],
    bytes: u32,
    operation: impl FnOnce(&mut Builder, &[Rank]),
) {
    let n = ranks.len();
    if n < 2 {
        return;
    }
    let doubling = 1 << n.ilog2();
    let folded = n - doubling;
    // Of the folded pairs, the odd rank continues.
    let continuing: Vec<Rank> = (0..doubling)
        .map(|place| match place < folded {
            true => ranks[2 * place + 1],
            false => ranks[place + folded],
        })
        .collect();
    for pair in ranks[..2 * folded].chunks_exact(2) {
        builder.send(pair[0], pair[1], bytes);
        builder.receive(pair[1], pair[0]);
    }
    operation(builder, &continuing);
    for pair in ranks[..2 * folded].chunks_exact(2) {
        builder.send(pair[1], pair[0], bytes);
        builder.receive(pair[0], pair[1]);
    }
}

/// Adds an all-reduce over a ring: every rank ends with the sum of all data. Chunks, one per rank,
/// travel around the ring.
///
/// ```text
///   3 ranks, chunks a b c     step   rank 0    rank 1    rank 2
///                              0     a ─► 1    b ─► 2    c ─► 0     what arrives is added …
///                              1     c ─► 1    a ─► 2    b ─► 0     … rank 2 has the sum of a
///                              2     b ─► 1    c ─► 2    a ─► 0     what arrives is the sum
///                              3     a ─► 1    b ─► 2    c ─► 0
/// ```
///
/// With p ranks, p − 1 steps scatter the sums (reduce-scatter) and p − 1 more distribute them
/// (all-gather). In both halves, rank r sends in step s the chunk (r − s) mod p, which it received
/// in the step before. So each rank sends 2 (p − 1) / p of its data, the minimum possible
/// (Patarasuk and Yuan, 2009).
///
/// # Panics
/// If the numbers of chunks and ranks differ.
pub fn ring_all_reduce(builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
    let n = ranks.len();
    assert_eq!(chunks.len(), n, "a chunk for each rank");
    let n_steps = 2 * n.saturating_sub(1);
    for (own, &rank) in ranks.iter().enumerate() {
        let (next, previous) = (ranks[(own + 1) % n], ranks[(own + n - 1) % n]);
        for step in 0..n_steps {
            builder.send(rank, next, chunks[(own + 2 * n - step) % n]);
            builder.receive(rank, previous);
        }
    }
}

/// Adds an all-to-all: every rank sends data to every other. All messages are posted at once, and
/// each rank begins with the next one, so destinations differ.
pub fn all_to_all(builder: &mut Builder, ranks: &[Rank], bytes: u32) {
    let n = ranks.len();
    for (own, &rank) in ranks.iter().enumerate() {
        for distance in 1..n {
            builder.send(rank, ranks[(own + distance) % n], bytes);
        }
        for distance in 1..n {
            builder.receive(rank, ranks[(own + n - distance) % n]);
        }
    }
}

/// Adds a barrier: no rank continues before all have arrived. In round k every rank notifies the
/// one at distance 2^k (dissemination, Hensgen, Finkel and Manber, 1988). A message has one byte.
pub fn barrier(builder: &mut Builder, ranks: &[Rank]) {
    let n = ranks.len();
    let mut distance = 1;
    while distance < n {
        for (own, &rank) in ranks.iter().enumerate() {
            builder.send(rank, ranks[(own + distance) % n], 1);
            builder.receive(rank, ranks[(own + n - distance) % n]);
        }
        distance *= 2;
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

    fn words(programs: &Programs, rank: u32) -> String {
        let word = |step| match step {
            Step::Send { to, bytes } => format!("{bytes}>{}", to.0),
            Step::Receive { from, message } => format!("<{}.{message}", from.0),
        };
        let words: Vec<String> = programs.steps(Rank(rank)).map(word).collect();
        words.join(" ")
    }

    /// Returns what every rank knows at its end: whose contribution it has, and how often. A
    /// message carries everything that its sender knows when it is sent. Received data is added
    /// (or, if `replaces`, taken instead).
    fn contributions(
        programs: &Programs,
        replaces: impl Fn(Rank, u32) -> bool,
    ) -> Vec<BTreeMap<Rank, u32>> {
        let n = programs.n_ranks();
        let mut known: Vec<BTreeMap<Rank, u32>> = (0..n)
            .map(|rank| BTreeMap::from([(Rank(rank), 1)]))
            .collect();
        let mut sent: BTreeMap<(Rank, u32), BTreeMap<Rank, u32>> = BTreeMap::new();
        let mut numbers = vec![0; n as usize];
        let mut at = vec![0; n as usize];
        let mut is_going = true;
        while is_going {
            is_going = false;
            for rank in ranks(n) {
                let own = rank.index();
                match programs.step(rank, at[own]) {
                    None => continue,
                    Some(Step::Send { .. }) => {
                        sent.insert((rank, numbers[own]), known[own].clone());
                        numbers[own] += 1;
                    }
                    Some(Step::Receive { from, message }) => {
                        let Some(more) = sent.get(&(from, message)) else {
                            continue;
                        };
                        if replaces(rank, at[own]) {
                            known[own].clear();
                        }
                        for (rank, n) in more {
                            *known[own].entry(*rank).or_insert(0) += n;
                        }
                    }
                }
                at[own] += 1;
                is_going = true;
            }
        }
        known
    }

    #[test]
    fn all_reduce_of_five_is_what_the_drawing_says() {
        let programs = built(5, |builder, ranks| all_reduce(builder, ranks, 8));
        assert_eq!(words(&programs, 0), "8>1 <1.2");
        assert_eq!(words(&programs, 1), "<0.0 8>2 <2.0 8>3 <3.1 8>0");
        assert_eq!(words(&programs, 2), "8>1 <1.0 8>4 <4.1");
        assert_eq!(words(&programs, 3), "8>4 <4.0 8>1 <1.1");
        assert_eq!(words(&programs, 4), "8>3 <3.0 8>2 <2.1");
        let played = play(&programs, |_| 1).unwrap();
        // Rank 1 has folded in rank 0 by 1, when the first messages of the others arrive as well.
        assert_eq!(played.end, 3, "two exchanges, one of them after folding in");
    }

    #[test]
    fn all_to_all_of_three_begins_with_the_one_behind() {
        let programs = built(3, |builder, ranks| all_to_all(builder, ranks, 64));
        assert_eq!(words(&programs, 0), "64>1 64>2 <2.0 <1.1");
        assert_eq!(words(&programs, 1), "64>2 64>0 <0.0 <2.1");
        assert_eq!(words(&programs, 2), "64>0 64>1 <1.0 <0.1");
        assert_eq!(play(&programs, |_| 1).unwrap().end, 1, "all at once");
    }

    #[test]
    fn a_ring_of_three_is_what_the_drawing_says() {
        // Chunks a, b, c of 1, 2, 3 bytes.
        let programs = built(3, |builder, ranks| {
            ring_all_reduce(builder, ranks, &[1, 2, 3]);
        });
        assert_eq!(words(&programs, 0), "1>1 <2.0 3>1 <2.1 2>1 <2.2 1>1 <2.3");
        assert_eq!(words(&programs, 1), "2>2 <0.0 1>2 <0.1 3>2 <0.2 2>2 <0.3");
        assert_eq!(words(&programs, 2), "3>0 <1.0 2>0 <1.1 1>0 <1.2 3>0 <1.3");
    }

    #[test]
    fn a_ring_of_two_exchanges_twice_and_one_rank_has_nothing_to_do() {
        let two = built(2, |builder, ranks| ring_all_reduce(builder, ranks, &[5, 4]));
        assert_eq!(words(&two, 0), "5>1 <1.0 4>1 <1.1");
        assert_eq!(words(&two, 1), "4>0 <0.0 5>0 <0.1");
        let one = built(1, |builder, ranks| ring_all_reduce(builder, ranks, &[9]));
        assert_eq!((one.n_messages(), words(&one, 0).as_str()), (0, ""));
    }

    /// Returns whose contributions to each chunk a rank has at its end, and how often. A message
    /// carries one chunk, known by its bytes. What arrives in the first `n - 1` steps is added, and
    /// what arrives later is taken instead.
    fn ring_sums(n: u32, chunks: &[u32]) -> Vec<Vec<BTreeMap<Rank, u32>>> {
        let programs = built(n, |builder, ranks| ring_all_reduce(builder, ranks, chunks));
        let mut sums: Vec<Vec<_>> = ranks(n)
            .iter()
            .map(|rank| vec![BTreeMap::from([(*rank, 1)]); n as usize])
            .collect();
        // All ranks do a step at once.
        for step in 0..2 * (n - 1) {
            let sent: Vec<_> = ranks(n)
                .into_iter()
                .map(|rank| match programs.step(rank, 2 * step) {
                    Some(Step::Send { to, bytes }) => {
                        let chunk = chunks.iter().position(|own| *own == bytes).unwrap();
                        (to, chunk, sums[rank.index()][chunk].clone())
                    }
                    other => panic!("{other:?}"),
                })
                .collect();
            for (to, chunk, sum) in sent {
                let own = &mut sums[to.index()][chunk];
                match step < n - 1 {
                    true => sum
                        .into_iter()
                        .for_each(|(rank, times)| *own.entry(rank).or_insert(0) += times),
                    false => *own = sum,
                }
            }
        }
        sums
    }

    proptest! {
        #[test]
        fn a_ring_adds_every_rank_exactly_once_to_every_chunk(n in 2u32..20) {
            let chunks: Vec<u32> = (1..=n).collect();
            for chunk in ring_sums(n, &chunks).iter().flatten() {
                prop_assert_eq!(chunk.len(), n as usize);
                prop_assert!(chunk.values().all(|times| *times == 1));
            }
        }

        #[test]
        fn a_ring_ends_after_the_steps_of_its_largest_chunk(
            n in 1u32..40,
            bytes in 1u32..10_000,
            rounds in 1u32..4,
        ) {
            let chunks: Vec<u32> = (0..n).map(|place| bytes / n + u32::from(place < bytes % n)).collect();
            prop_assert_eq!(chunks.iter().sum::<u32>(), bytes);
            let mut builder = Builder::new(n);
            ring_all_reduce(&mut builder, &ranks(n), &chunks);
            let programs = builder.repeat(rounds).unwrap();
            let n_steps = 2 * (n - 1) * rounds;
            prop_assert_eq!(programs.n_messages(), u64::from(n * n_steps));
            // Every chunk makes all steps of a round, each from another rank to the next.
            prop_assert_eq!(programs.sum(u64::from), u64::from(2 * (n - 1) * rounds * bytes));
            for rank in ranks(n) {
                let sends = programs.steps(rank).filter_map(|step| match step {
                    Step::Send { to, bytes } => Some((to, bytes)),
                    Step::Receive { .. } => None,
                });
                let sends: Vec<(Rank, u32)> = sends.collect();
                prop_assert_eq!(sends.len() as u32, n_steps);
                prop_assert!(sends.iter().all(|(to, _)| to.0 == (rank.0 + 1) % n));
                // All chunks twice, except those that it would send in the two skipped steps.
                let chunk = |distance: u32| chunks[((rank.0 + distance) % n) as usize];
                let sum: u32 = sends.iter().map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(sum, if n > 1 { (2 * bytes - chunk(1) - chunk(2)) * rounds } else { 0 });
            }
            let played = play(&programs, |sent| 100 + u64::from(sent.bytes));
            let played = played.map_err(|deadlock| TestCaseError::fail(deadlock.to_string()))?;
            // One round takes as long as its largest chunk; the next begins where that one has not
            // passed yet.
            let all = |chunk: u32| u64::from(n_steps) * u64::from(100 + chunk);
            prop_assert!((all(bytes / n)..=all(bytes.div_ceil(n))).contains(&played.end));
            if rounds == 1 || bytes % n == 0 {
                prop_assert_eq!(played.end, all(bytes.div_ceil(n)));
            }
        }

        #[test]
        fn all_reduce_adds_every_rank_exactly_once(n in 1u32..140) {
            let programs = built(n, |builder, ranks| all_reduce(builder, ranks, 8));
            let folded = n - (1 << n.ilog2());
            // A rank that has sent its data receives the whole sum, including its own part.
            let replaces = |rank: Rank, step| rank.0 < 2 * folded && rank.0.is_multiple_of(2) && step == 1;
            for known in contributions(&programs, replaces) {
                prop_assert_eq!(known.len(), n as usize);
                prop_assert!(known.values().all(|times| *times == 1));
            }
            // Positions p and q of the continuing ranks are as many exchanges apart as they differ
            // in bits; opposite ones differ in all. One has folded in before, and both if more than
            // half have: then one returns later.
            let more = u32::from(folded > 0) + u32::from(2 * folded > 1 << n.ilog2());
            prop_assert_eq!(play(&programs, |_| 1).unwrap().end, u64::from(n.ilog2() + more));
        }

        #[test]
        fn no_rank_passes_a_barrier_before_all_have_come(n in 1u32..70) {
            let programs = built(n, barrier);
            for known in contributions(&programs, |_, _| false) {
                prop_assert_eq!(known.len(), n as usize);
            }
        }

        #[test]
        fn all_to_all_brings_everyone_something_of_everyone(n in 1u32..40, groups in 1u32..4) {
            let mut builder = Builder::new(n * groups);
            let all = ranks(n * groups);
            for group in all.chunks(n as usize) {
                all_to_all(&mut builder, group, 1);
            }
            let programs = builder.repeat(1).unwrap();
            for rank in all {
                let from: BTreeSet<Rank> = programs.steps(rank).filter_map(|step| match step {
                    Step::Receive { from, .. } => Some(from),
                    Step::Send { .. } => None,
                }).collect();
                prop_assert_eq!(from.len(), n as usize - 1);
                prop_assert!(from.iter().all(|from| from.0 / n == rank.0 / n && *from != rank));
            }
        }
    }
}
