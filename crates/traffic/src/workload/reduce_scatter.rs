//! Reduce-scatter: every rank ends with the sum of one chunk.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::collective::{Collective, Outline, THAKUR, check, collective};
use super::programs::{Builder, Rank, halving_reduce_scatter, ring_reduce_scatter};
use crate::{AllGatherAlgorithm, NicSet};

choice! {
    /// The algorithm of a reduce-scatter.
    pub enum ReduceScatterAlgorithm {
        /// Chunks travel around a ring, and every rank adds its own.
        Ring = "ring",
        /// Partners at distance p/2, p/4, …, 1 exchange what the other one keeps; for a power of
        /// two of ranks.
        RecursiveHalving = "recursive-halving",
    }
}

impl ReduceScatterAlgorithm {
    /// Returns the time of one reduce-scatter without other traffic (the α-β model), which is that
    /// of an all-gather in the opposite direction.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(self, n_ranks: u32, bytes: Bytes, latency: Time, rate: Rate) -> Time {
        let reversed = match self {
            ReduceScatterAlgorithm::Ring => AllGatherAlgorithm::Ring,
            ReduceScatterAlgorithm::RecursiveHalving => AllGatherAlgorithm::RecursiveDoubling,
        };
        reversed.alpha_beta(n_ranks, bytes, latency, rate)
    }
}

params! {
    /// In a round the data of all ranks are added, and every rank ends with one chunk of the sum.
    #[derive(Clone, Debug)]
    pub struct ReduceScatter {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Algorithm of the reduce-scatter.
        pub algorithm: ReduceScatterAlgorithm = ReduceScatterAlgorithm::Ring,
        /// Data of each rank, divided into one chunk per rank; chunks differ by at most one byte.
        pub bytes: Bytes = Bytes(4 << 20),
        /// Number of rounds.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        check(it, section);
    }
}

impl Described for ReduceScatter {
    const NAME: &'static str = "reduce-scatter";
    const SUMMARY: &'static str =
        "A reduce-scatter: each NIC ends with one chunk of the sum over all NICs.";
    const PAPER: Option<&'static str> = Some(THAKUR);
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"";
}

impl Collective for ReduceScatter {
    const WORDS: &'static str = "a reduce-scatter";

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
        let is_ring = self.algorithm == ReduceScatterAlgorithm::Ring;
        Outline {
            words: if is_ring {
                "a ring"
            } else {
                "a recursive halving"
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
            ReduceScatterAlgorithm::Ring => ring_reduce_scatter(builder, ranks, chunks),
            ReduceScatterAlgorithm::RecursiveHalving => {
                halving_reduce_scatter(builder, ranks, chunks);
            }
        }
    }
}

collective!(ReduceScatter);
