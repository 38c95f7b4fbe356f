//! All-to-all: every rank has a chunk for every other.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::collective::{Collective, Outline, THAKUR, check, collective, wrong};
use super::programs::{Builder, Rank, all_to_all_chunks};
use crate::NicSet;

choice! {
    /// The order of the messages of an all-to-all.
    pub enum AllToAllAlgorithm {
        /// All messages are posted at once; each rank begins with the next one.
        Direct = "direct",
        /// In step k a rank sends to the rank k places further, and waits for the one k places
        /// before.
        Pairwise = "pairwise",
    }
}

impl AllToAllAlgorithm {
    /// Returns the time of one all-to-all without other traffic (the α-β model): p − 1 chunks of
    /// `bytes / p`, with a latency for each step (pairwise), or for the last one only (direct). The
    /// arguments are those of
    /// [`AllReduceAlgorithm::alpha_beta`](crate::AllReduceAlgorithm::alpha_beta).
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(self, n_ranks: u32, bytes: Bytes, latency: Time, rate: Rate) -> Time {
        if n_ranks < 2 {
            return Time::ZERO;
        }
        let n = u64::from(n_ranks);
        let chunk = rate.time_for(Bytes(bytes.0.div_ceil(n)));
        match self {
            AllToAllAlgorithm::Direct => latency + chunk * (n - 1),
            AllToAllAlgorithm::Pairwise => (latency + chunk) * (n - 1),
        }
    }
}

params! {
    /// In a round every rank sends a chunk of its data to each other rank.
    #[derive(Clone, Debug)]
    pub struct AllToAll {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Order of the messages.
        pub algorithm: AllToAllAlgorithm = AllToAllAlgorithm::Direct,
        /// Data of each rank, divided into one chunk per rank, itself included; chunks differ by at
        /// most one byte. 64 ranks with 64 KiB for each have 4 MiB.
        pub bytes: Bytes = Bytes(4 << 20),
        /// Ranks of a host, with consecutive numbers. They exchange their chunks inside the host,
        /// which takes no time here.
        pub ranks_per_host: u32 = 1,
        /// Number of rounds.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        check(it, section);
        if it.ranks_per_host == 0 {
            let message = "a host with 0 ranks".to_owned();
            wrong(section, "ranks-per-host", message, "use 1 or more");
        }
    }
}

impl Described for AllToAll {
    const NAME: &'static str = "all-to-all";
    const SUMMARY: &'static str = "An all-to-all: every NIC sends a chunk to every other.";
    const PAPER: Option<&'static str> = Some(THAKUR);
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"\nranks-per-host = 4";
}

impl Collective for AllToAll {
    const WORDS: &'static str = "an all-to-all";

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
        Outline {
            words: "an all-to-all",
            n_messages: n * n.saturating_sub(u64::from(self.ranks_per_host)),
            n_chunks: n,
            largest: 1,
            needs_power_of_two: false,
            bus_factor: [n - 1, n],
        }
    }

    fn add(&self, builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
        let per_host = self.ranks_per_host as usize;
        let in_pairs = self.algorithm == AllToAllAlgorithm::Pairwise;
        all_to_all_chunks(builder, ranks, chunks, per_host, in_pairs);
    }
}

collective!(AllToAll);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideal_times() {
        let micros = |algorithm: AllToAllAlgorithm, n| {
            let (latency, rate) = (Time::from_nanos(5_000), Rate(400_000_000_000));
            let time = algorithm.alpha_beta(n, Bytes(1 << 20), latency, rate);
            (time.as_nanos() / 10.0).round() / 100.0
        };
        assert_eq!(micros(AllToAllAlgorithm::Pairwise, 8), 53.35);
        assert_eq!(micros(AllToAllAlgorithm::Direct, 8), 23.35);
        assert_eq!(micros(AllToAllAlgorithm::Direct, 1), 0.0);
    }
}
