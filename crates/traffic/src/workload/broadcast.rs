//! Broadcast: all ranks end with the data of one.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::collective::{Collective, Outline, THAKUR, check, collective, wrong};
use super::programs::{Builder, Rank, binomial_broadcast, chain_broadcast};
use crate::NicSet;

choice! {
    /// The algorithm of a broadcast.
    pub enum BroadcastAlgorithm {
        /// A tree: every rank that has the data sends it to ranks that do not.
        Binomial = "binomial",
        /// A chain: every rank sends each piece to the next rank as soon as it has it.
        Chain = "chain",
    }
}

impl BroadcastAlgorithm {
    /// Returns the time of one broadcast without other traffic (the α-β model).
    ///
    /// A tree of p ranks takes lg p steps, rounded up; with p not a power of two this is an upper
    /// bound. A chain of `pieces` takes p − 1 steps for the first piece, and the time on the wire
    /// for each further one. The other arguments are those of
    /// [`AllReduceAlgorithm::alpha_beta`](crate::AllReduceAlgorithm::alpha_beta).
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(
        self,
        n_ranks: u32,
        bytes: Bytes,
        pieces: u32,
        latency: Time,
        rate: Rate,
    ) -> Time {
        if n_ranks < 2 {
            return Time::ZERO;
        }
        match self {
            BroadcastAlgorithm::Binomial => {
                let n_steps = n_ranks.next_power_of_two().ilog2();
                (latency + rate.time_for(bytes)) * u64::from(n_steps)
            }
            BroadcastAlgorithm::Chain => {
                let pieces = u64::from(pieces.max(1));
                let piece = rate.time_for(Bytes(bytes.0.div_ceil(pieces)));
                (latency + piece) * u64::from(n_ranks - 1) + piece * (pieces - 1)
            }
        }
    }
}

params! {
    /// In a round the data of the root reach all ranks.
    #[derive(Clone, Debug)]
    pub struct Broadcast {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Algorithm of the broadcast.
        pub algorithm: BroadcastAlgorithm = BroadcastAlgorithm::Binomial,
        /// Data of the root.
        pub bytes: Bytes = Bytes(4 << 20),
        /// Rank that has the data.
        pub root: u32 = 0,
        /// Pieces that travel along a chain one after another; a tree sends all data at once.
        pub pieces: u32 = 8,
        /// Number of rounds.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        check(it, section);
        if it.pieces == 0 {
            let message = "the number of pieces is 0".to_owned();
            wrong(section, "pieces", message, "use 1 or more");
        }
    }
}

impl Described for Broadcast {
    const NAME: &'static str = "broadcast";
    const SUMMARY: &'static str = "A broadcast: the data of one NIC reach all others.";
    const PAPER: Option<&'static str> = Some(THAKUR);
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"\nroot = 3";
}

impl Collective for Broadcast {
    const WORDS: &'static str = "a broadcast";

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
        let (words, pieces) = match self.algorithm {
            BroadcastAlgorithm::Binomial => ("a tree", 1),
            BroadcastAlgorithm::Chain => ("a chain", u64::from(self.pieces)),
        };
        Outline {
            words,
            n_messages: pieces * (n - 1),
            n_chunks: pieces,
            largest: 1,
            needs_power_of_two: false,
            bus_factor: [1, 1],
        }
    }

    fn problem(&self, n: u64) -> Option<String> {
        let root = self.root;
        (u64::from(root) >= n).then(|| {
            format!(
                "the root is rank {root}, but there are {n} ranks, from 0; use a smaller `root`"
            )
        })
    }

    fn add(&self, builder: &mut Builder, ranks: &[Rank], chunks: &[u32]) {
        let root = self.root as usize;
        match self.algorithm {
            BroadcastAlgorithm::Binomial => binomial_broadcast(builder, ranks, root, chunks[0]),
            BroadcastAlgorithm::Chain => chain_broadcast(builder, ranks, root, chunks),
        }
    }
}

collective!(Broadcast);
