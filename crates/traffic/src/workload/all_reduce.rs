//! All-reduce: every rank ends with the sum of the data of all ranks.
//!
//! Gradients of data-parallel training use this operation. Only messages are modelled: adding takes
//! no time, and a rank sends a chunk as one message after it has received the whole chunk.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::programs::{Builder, Rank, ring_all_reduce};
use super::{Generated, Generator, MOST_MESSAGES};
use crate::{NicSet, Setting};

choice! {
    /// The algorithm that computes the sum.
    pub enum AllReduceAlgorithm {
        /// Chunks travel around a ring, one per rank: once to be added, and once to be distributed.
        Ring = "ring",
    }
}

impl AllReduceAlgorithm {
    /// Returns the time of one all-reduce without other traffic (the α-β model).
    ///
    /// `bytes` is the data of each rank, `latency` (α) is the time of a message without bytes from
    /// rank to rank, and `rate` (1/β) is that of the NICs. A ring of p ranks takes 2 (p − 1) steps
    /// of `latency + chunk / rate`. The largest chunk, `bytes / p` rounded up, is sent in every
    /// step. One rank takes no time.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn alpha_beta(self, n_ranks: u32, bytes: Bytes, latency: Time, rate: Rate) -> Time {
        if n_ranks < 2 {
            return Time::ZERO;
        }
        match self {
            AllReduceAlgorithm::Ring => {
                let chunk = Bytes(bytes.0.div_ceil(u64::from(n_ranks)));
                (latency + rate.time_for(chunk)) * (2 * u64::from(n_ranks - 1))
            }
        }
    }
}

params! {
    /// In a round every rank sends chunks to the next rank and waits for those of the previous one,
    /// 2 (p − 1) of each with p ranks, until all have the sum.
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
        let mut wrong = |key: &str, message: &str, help: &str| {
            let place = section.place_of(key);
            section.notes.error("E0603", place, message).help(help);
        };
        if it.bytes.0 == 0 {
            let message = "an all-reduce needs at least one byte per rank";
            wrong("bytes", message, "use at least 1 byte per rank");
        }
        if it.rounds == 0 {
            wrong("rounds", "the number of rounds is 0", "use 1 or more");
        }
    }
}

impl Described for AllReduce {
    const NAME: &'static str = "all-reduce";
    const SUMMARY: &'static str =
        "An all-reduce: all NICs sum their data, in chunks that travel around a ring.";
    const PAPER: Option<&'static str> = Some(
        "P. Patarasuk, X. Yuan, \"Bandwidth optimal all-reduce algorithms for clusters of \
         workstations\", JPDC 69, 2009",
    );
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"";
}

impl AllReduce {
    /// Returns the bytes of each chunk, one per rank, or why there are none.
    fn chunks(&self, n_ranks: usize) -> Result<Vec<u32>, String> {
        let (bytes, n) = (self.bytes, n_ranks as u64);
        if n < 2 {
            return Err("an all-reduce needs at least two ranks; add `nics`".to_owned());
        }
        let n_messages = 2 * n * (n - 1);
        if n_messages > MOST_MESSAGES as u64 {
            return Err(format!(
                "a ring of {n} ranks has {n_messages} messages, more than {MOST_MESSAGES}; use \
                 fewer `nics`"
            ));
        }
        if bytes.0 < n {
            return Err(format!(
                "{bytes} in {n} chunks is less than a byte per chunk; use more `bytes` or fewer \
                 `nics`"
            ));
        }
        let chunk = |place| {
            let is_longer = place < bytes.0 % n;
            u32::try_from(bytes.0 / n + u64::from(is_longer))
        };
        (0..n).map(chunk).collect::<Result<_, _>>().map_err(|_| {
            format!(
                "{bytes} in {n} chunks makes messages of 4 GiB or more; use fewer `bytes` or more \
                 `nics`"
            )
        })
    }
}

impl Generator for AllReduce {
    fn largest(&self, setting: &Setting<'_>) -> u32 {
        let nics = self.nics.members(setting.n_nics, setting.groups);
        // Errors of the NICs or the chunks are reported when they are made.
        let chunks = nics.ok().and_then(|nics| self.chunks(nics.len()).ok());
        chunks.map_or(1, |chunks| chunks[0])
    }

    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String> {
        let nics = self
            .nics
            .members(setting.n_nics, setting.groups)
            .map_err(|problem| format!("`nics`: {problem}"))?;
        let chunks = self.chunks(nics.len())?;
        let ranks: Vec<Rank> = (0..nics.len() as u32).map(Rank).collect();
        let mut builder = Builder::new(nics.len() as u32);
        match self.algorithm {
            AllReduceAlgorithm::Ring => ring_all_reduce(&mut builder, &ranks, &chunks),
        }
        let programs = builder
            .repeat(self.rounds)
            .map_err(|misfit| misfit.to_string())?;
        Ok(Generated::Programs(programs.place(&nics, setting.n_nics)))
    }

    fn sets(&self) -> Vec<NicSet> {
        vec![self.nics.clone()]
    }

    fn is_program(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use netloom_units::Ratio;

    use super::*;

    fn all_reduce(bytes: u64) -> AllReduce {
        AllReduce {
            nics: NicSet::All,
            algorithm: AllReduceAlgorithm::Ring,
            bytes: Bytes(bytes),
            rounds: 1,
        }
    }

    #[test]
    fn chunks_add_up_and_differ_by_a_byte() {
        let chunks = |bytes, n| all_reduce(bytes).chunks(n).unwrap();
        assert_eq!(chunks(12, 4), [3; 4]);
        assert_eq!(chunks(14, 4), [4, 4, 3, 3]);
        assert_eq!(chunks(3, 3), [1; 3]);
        assert_eq!(chunks(2 * u64::from(u32::MAX), 2), [u32::MAX; 2]);
    }

    #[test]
    fn chunks_that_are_no_messages_are_refused() {
        let problem = |bytes, n| all_reduce(bytes).chunks(n).unwrap_err();
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
            "8 GiB in 2 chunks makes messages of 4 GiB or more; use fewer `bytes` or more `nics`"
        );
        // 2 × 3163 × 3162 messages per round are too many for memory; those of the 3080 hosts of
        // paper 002 are not.
        assert!(problem(1 << 30, 3163).starts_with("a ring of 3163 ranks has 20002812 messages"));
        assert!(all_reduce(1 << 30).chunks(3080).is_ok());
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
}
