//! All-reduce: every rank ends with the sum of the data of all ranks.
//!
//! Gradients of data-parallel training use this operation.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::collective::{Collective, Outline, check, collective};
use super::programs::{Builder, Rank, all_reduce, halving_doubling_all_reduce, ring_all_reduce};
use crate::NicSet;

choice! {
    /// The algorithm that computes the sum.
    pub enum AllReduceAlgorithm {
        /// Chunks travel around a ring, one per rank: once to be added, and once to be distributed.
        Ring = "ring",
        /// Partners at distance 1, 2, 4, … exchange all their data: few steps, many bytes.
        RecursiveDoubling = "recursive-doubling",
        /// Partners exchange halves, quarters, …, and then the sums: few steps, few bytes.
        HalvingDoubling = "halving-doubling",
    }
}

impl AllReduceAlgorithm {
    /// Returns the time of one all-reduce without other traffic (the α-β model).
    ///
    /// `bytes` is the data of each rank, `latency` (α) is the time of a message without bytes from
    /// rank to rank, and `rate` (1/β) is that of the NICs. One rank takes no time.
    ///
    /// - A ring of p ranks takes 2 (p − 1) steps of `latency + chunk / rate`. The largest chunk,
    ///   `bytes / p` rounded up, is sent in every step.
    /// - Recursive doubling takes lg p steps of `latency + bytes / rate`.
    /// - Halving and doubling takes 2 lg p steps, which send 2 (p − 1) / p of the bytes.
    ///
    /// With p not a power of two, the last two begin and end with one more step for all bytes, and
    /// the time is an upper bound.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(self, n_ranks: u32, bytes: Bytes, latency: Time, rate: Rate) -> Time {
        if n_ranks < 2 {
            return Time::ZERO;
        }
        let step = |bytes: u64| latency + rate.time_for(Bytes(bytes));
        let n_steps = n_ranks.ilog2();
        let folding = match n_ranks.is_power_of_two() {
            true => Time::ZERO,
            false => step(bytes.0) * 2,
        };
        match self {
            AllReduceAlgorithm::Ring => {
                step(bytes.0.div_ceil(u64::from(n_ranks))) * (2 * u64::from(n_ranks - 1))
            }
            AllReduceAlgorithm::RecursiveDoubling => folding + step(bytes.0) * u64::from(n_steps),
            AllReduceAlgorithm::HalvingDoubling => {
                let steps = (1..=n_steps).map(|at| step(bytes.0.div_ceil(1 << at)) * 2);
                steps.fold(folding, |sum, step| sum + step)
            }
        }
    }
}

params! {
    /// In a round all ranks sum their data: with `ring`, every rank sends chunks to the next rank
    /// and waits for those of the previous one, 2 (p − 1) of each with p ranks.
    #[derive(Clone, Debug)]
    pub struct AllReduce {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Algorithm of the all-reduce.
        pub algorithm: AllReduceAlgorithm = AllReduceAlgorithm::Ring,
        /// Data of each rank, divided into one chunk per rank; chunks differ by at most one byte.
        pub bytes: Bytes = Bytes(4 << 20),
        /// Number of rounds.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        check(it, section);
    }
}

impl Described for AllReduce {
    const NAME: &'static str = "all-reduce";
    const SUMMARY: &'static str =
        "An all-reduce: all NICs sum their data, over a ring or with partners.";
    const PAPER: Option<&'static str> = Some(
        "P. Patarasuk, X. Yuan, \"Bandwidth optimal all-reduce algorithms for clusters of \
         workstations\", JPDC 69, 2009; R. Thakur, R. Rabenseifner, W. Gropp, \"Optimization of \
         collective communication operations in MPICH\", IJHPCA 19, 2005",
    );
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"";
}

impl Collective for AllReduce {
    const WORDS: &'static str = "an all-reduce";

    fn nics(&self) -> &NicSet {
        &self.nics
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn outline(&self, n: u64) -> Outline {
        // Of the ranks that exchange, and of those that first hand over their data.
        let doubling = 1 << n.ilog2();
        let (n_steps, n_folded) = (u64::from(n.ilog2()), n - doubling);
        let (words, n_messages, n_chunks, largest) = match self.algorithm {
            AllReduceAlgorithm::Ring => ("a ring", 2 * n * (n - 1), n, 1),
            AllReduceAlgorithm::RecursiveDoubling => (
                "a recursive doubling",
                doubling * n_steps + 2 * n_folded,
                1,
                1,
            ),
            AllReduceAlgorithm::HalvingDoubling => (
                "a halving and doubling",
                2 * doubling * n_steps + 2 * n_folded,
                doubling,
                if n_folded > 0 { doubling } else { doubling / 2 },
            ),
        };
        Outline {
            words,
            n_messages,
            n_chunks,
            largest,
            needs_power_of_two: false,
            bus_factor: [2 * (n - 1), n],
        }
    }

    fn add(&self, builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
        match self.algorithm {
            AllReduceAlgorithm::Ring => ring_all_reduce(builder, ranks, chunks),
            AllReduceAlgorithm::RecursiveDoubling => all_reduce(builder, ranks, chunks[0]),
            AllReduceAlgorithm::HalvingDoubling => {
                halving_doubling_all_reduce(builder, ranks, chunks);
            }
        }
    }
}

collective!(AllReduce);

#[cfg(test)]
mod tests {
    use netloom_units::Ratio;

    use super::super::collective::{chunks, largest};
    use super::*;

    fn all_reduce(algorithm: AllReduceAlgorithm, bytes: u64) -> AllReduce {
        AllReduce {
            nics: NicSet::All,
            algorithm,
            bytes: Bytes(bytes),
            rounds: 1,
        }
    }

    #[test]
    fn chunks_add_up_and_differ_by_a_byte() {
        assert_eq!(chunks(Bytes(12), 4), [3; 4]);
        assert_eq!(chunks(Bytes(14), 4), [4, 4, 3, 3]);
        assert_eq!(chunks(Bytes(3), 3), [1; 3]);
        assert_eq!(chunks(Bytes(2 * u64::from(u32::MAX)), 2), [u32::MAX; 2]);
    }

    #[test]
    fn the_largest_message_depends_on_the_algorithm() {
        use AllReduceAlgorithm::*;
        let largest = |algorithm, bytes, n| largest(&all_reduce(algorithm, bytes), n).unwrap();
        assert_eq!(largest(Ring, 14, 4), 4);
        assert_eq!(largest(RecursiveDoubling, 14, 4), 14);
        // Chunks of 4, 4, 3 and 3 bytes: the first two.
        assert_eq!(largest(HalvingDoubling, 14, 4), 8);
        // The fifth rank hands over everything.
        assert_eq!(largest(HalvingDoubling, 14, 5), 14);
    }

    #[test]
    fn chunks_that_are_no_messages_are_refused() {
        let ring = |bytes, n| largest(&all_reduce(AllReduceAlgorithm::Ring, bytes), n);
        let problem = |bytes, n| ring(bytes, n).unwrap_err();
        assert_eq!(
            problem(64, 1),
            "an all-reduce needs at least two ranks; add `nics`"
        );
        assert_eq!(
            problem(3, 4),
            "3 B in 4 chunks is less than a byte per chunk; use more `bytes` or fewer `nics`"
        );
        assert_eq!(
            problem(8 << 30, 2),
            "8 GiB in a ring of 2 ranks makes messages of 4 GiB or more; use fewer `bytes`"
        );
        // 2 × 3163 × 3162 messages per round are too many for memory; those of the 3080 hosts of
        // paper 002 are not.
        assert!(problem(1 << 30, 3163).starts_with("a ring of 3163 ranks has 20002812 messages"));
        assert!(ring(1 << 30, 3080).is_ok());
        let doubling = all_reduce(AllReduceAlgorithm::RecursiveDoubling, 4 << 30);
        assert!(
            largest(&doubling, 8)
                .unwrap_err()
                .ends_with("use fewer `bytes`")
        );
    }

    #[test]
    fn the_ideal_time_of_a_ring_is_that_of_its_steps() {
        let (latency, rate) = (Time::from_nanos(5_000), Rate(400_000_000_000));
        let ring = |n, bytes| AllReduceAlgorithm::Ring.alpha_beta(n, Bytes(bytes), latency, rate);
        let picos = |n| Time::from_picos(Ratio::whole(n));
        // 14 steps of 5 us and 131,072 B in 2.62144 us.
        assert_eq!(ring(8, 1 << 20), picos(14 * (5_000_000 + 2_621_440)));
        assert_eq!(ring(8, 1 << 20).as_nanos(), 106_700.16);
        // 128 MiB take 2,684.35456 us.
        assert_eq!(ring(8, 1 << 30), picos(14 * (5_000_000 + 2_684_354_560)));
        // 126 steps of 5 us and 16 KiB in 0.32768 us.
        assert_eq!(ring(64, 1 << 20), picos(126 * (5_000_000 + 327_680)));
        // 10 B in chunks of 4, 3 and 3: the one of 4 takes 80 ps in each of 4 steps.
        assert_eq!(ring(3, 10), picos(4 * (5_000_000 + 80)));
        assert_eq!(ring(2, 100), picos(2 * (5_000_000 + 1_000)));
        assert_eq!(ring(1, 100), Time::ZERO);
    }

    #[test]
    fn ideal_times_of_all_algorithms() {
        use AllReduceAlgorithm::*;
        let micros = |algorithm: AllReduceAlgorithm, n, bytes: u64| {
            let (latency, rate) = (Time::from_nanos(5_000), Rate(400_000_000_000));
            algorithm
                .alpha_beta(n, Bytes(bytes), latency, rate)
                .as_nanos()
                / 1e3
        };
        let near = |time: f64, digits: f64, expected: f64| {
            assert_eq!(
                (time / digits).round(),
                (expected / digits).round(),
                "{time}"
            );
        };
        for (n, bytes, digits, expected) in [
            (8, 1 << 20, 0.01, [106.70, 77.91, 66.70]),
            (8, 1 << 30, 1.0, [37_651.0, 64_440.0, 37_611.0]),
            (64, 1 << 20, 0.1, [671.3, 155.8, 101.3]),
        ] {
            for (algorithm, expected) in [Ring, RecursiveDoubling, HalvingDoubling]
                .into_iter()
                .zip(expected)
            {
                near(micros(algorithm, n, bytes), digits, expected);
            }
        }
        // 5 ranks: two steps of 4 ranks, and two for the fifth.
        near(micros(RecursiveDoubling, 5, 50_000), 0.01, 24.0);
        assert_eq!(micros(HalvingDoubling, 1, 1), 0.0);
    }
}
