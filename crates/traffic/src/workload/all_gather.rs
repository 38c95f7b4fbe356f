//! All-gather: every rank ends with the chunks of all ranks.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::collective::{Collective, Outline, THAKUR, check, collective};
use super::programs::{Builder, Rank, doubling_all_gather, ring_all_gather};
use crate::NicSet;

choice! {
    /// The algorithm of an all-gather.
    pub enum AllGatherAlgorithm {
        /// Chunks travel around a ring.
        Ring = "ring",
        /// Partners at distance 1, 2, 4, … exchange what they have; for a power of two of ranks.
        RecursiveDoubling = "recursive-doubling",
    }
}

impl AllGatherAlgorithm {
    /// Returns the time of one all-gather without other traffic (the α-β model): p − 1 steps with a
    /// chunk each, or lg p steps, which send (p − 1) / p of the bytes. The arguments are those of
    /// [`AllReduceAlgorithm::alpha_beta`](crate::AllReduceAlgorithm::alpha_beta).
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(self, n_ranks: u32, bytes: Bytes, latency: Time, rate: Rate) -> Time {
        let n = u64::from(n_ranks.max(1));
        let chunk = bytes.0.div_ceil(n);
        let step = |chunks: u64| latency + rate.time_for(Bytes(chunks * chunk));
        match self {
            AllGatherAlgorithm::Ring => step(1) * (n - 1),
            AllGatherAlgorithm::RecursiveDoubling => {
                (0..n.ilog2()).fold(Time::ZERO, |sum, at| sum + step(1 << at))
            }
        }
    }
}

params! {
    /// In a round every rank sends its chunk to all others, over a ring or with partners.
    #[derive(Clone, Debug)]
    pub struct AllGather {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Algorithm of the all-gather.
        pub algorithm: AllGatherAlgorithm = AllGatherAlgorithm::Ring,
        /// Data that each rank has at the end: a chunk of each rank. Chunks differ by at most one
        /// byte.
        pub bytes: Bytes = Bytes(4 << 20),
        /// Number of rounds.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        check(it, section);
    }
}

impl Described for AllGather {
    const NAME: &'static str = "all-gather";
    const SUMMARY: &'static str = "An all-gather: all NICs end with the chunks of all NICs.";
    const PAPER: Option<&'static str> = Some(THAKUR);
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"";
}

impl Collective for AllGather {
    const WORDS: &'static str = "an all-gather";

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
        let is_ring = self.algorithm == AllGatherAlgorithm::Ring;
        Outline {
            words: if is_ring {
                "a ring"
            } else {
                "a recursive doubling"
            },
            n_messages: n * if is_ring { n - 1 } else { u64::from(n.ilog2()) },
            n_chunks: n,
            largest: if is_ring { 1 } else { n / 2 },
            needs_power_of_two: !is_ring,
            bus_factor: [n - 1, n],
        }
    }

    fn add(&self, builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
        match self.algorithm {
            AllGatherAlgorithm::Ring => ring_all_gather(builder, ranks, chunks),
            AllGatherAlgorithm::RecursiveDoubling => doubling_all_gather(builder, ranks, chunks),
        }
    }
}

collective!(AllGather);
