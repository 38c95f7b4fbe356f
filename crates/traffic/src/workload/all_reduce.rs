//! All-reduce: every rank ends with the sum of what all ranks had.
//!
//! The operation that gradients of data-parallel training go through. Messages alone are modelled: adding costs no
//! time, and a rank sends a chunk as one message when it has wholly received it.

use netloom_catalog::{Described, choice, params};
use netloom_units::{Bytes, Rate, Time};

use super::programs::{Builder, Rank, ring_all_reduce};
use super::{Generated, Generator, MOST_MESSAGES};
use crate::{NicSet, Setting};

choice! {
    /// How ranks come to the sum of what they have.
    pub enum AllReduceAlgorithm {
        /// Chunks go round a ring, one for each rank: once to be added, once more to be told.
        Ring = "ring",
    }
}

impl AllReduceAlgorithm {
    /// How long one all-reduce takes where nothing is in its way (the α-β model).
    ///
    /// `bytes` are what each rank has, `latency` (α) is what a message without bytes takes from rank to rank, and
    /// `rate` (1/β) is that of the NICs. A ring of p ranks does 2 (p − 1) steps, each of which takes
    /// `latency + chunk / rate`: the largest chunk, which has `bytes / p` rounded up, is under way in every step.
    /// One rank takes no time.
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
    /// In a round every rank sends chunks to the next one and waits for those of the one before, 2 (p − 1) of each
    /// with p ranks, until all have the sum.
    #[derive(Clone, Debug)]
    pub struct AllReduce {
        /// Who takes part: rank r runs on the r-th NIC of this set, and every one of them has a rank.
        pub nics: NicSet = NicSet::All,
        /// How ranks come to the sum.
        pub algorithm: AllReduceAlgorithm = AllReduceAlgorithm::Ring,
        /// What each rank has, in one chunk for each rank; chunks differ by a byte at most.
        pub bytes: Bytes = Bytes(4 << 20),
        /// How often.
        pub rounds: u32 = 1,
    }
    check |it, section| {
        let mut wrong = |key: &str, message: &str, help: &str| {
            let place = section.place_of(key);
            section.notes.error("E0603", place, message).help(help);
        };
        if it.bytes.0 == 0 {
            wrong("bytes", "an all-reduce of 0 B", "write at least a byte for each rank");
        }
        if it.rounds == 0 {
            wrong("rounds", "no rounds", "write 1 or more");
        }
    }
}

impl Described for AllReduce {
    const NAME: &'static str = "all-reduce";
    const SUMMARY: &'static str =
        "An all-reduce: all NICs add up what they have, in chunks that go round a ring.";
    const PAPER: Option<&'static str> = Some(
        "P. Patarasuk, X. Yuan, \"Bandwidth optimal all-reduce algorithms for clusters of workstations\", JPDC 69, 2009",
    );
    const EXAMPLE: &'static str = "nics = \"0-15\"\nbytes = \"64 KiB\"";
}

impl AllReduce {
    /// The bytes of each chunk, one for each rank, or why there are none.
    fn chunks(&self, n_ranks: usize) -> Result<Vec<u32>, String> {
        let (bytes, n) = (self.bytes, n_ranks as u64);
        if n < 2 {
            return Err("an all-reduce of one rank: name two or more `nics`".to_owned());
        }
        let n_messages = 2 * n * (n - 1);
        if n_messages > MOST_MESSAGES as u64 {
            return Err(format!(
                "a ring of {n} ranks has {n_messages} messages, more than {MOST_MESSAGES}; name fewer `nics`"
            ));
        }
        if bytes.0 < n {
            return Err(format!(
                "{bytes} in {n} chunks: a chunk has at least one byte; write more `bytes` or name fewer `nics`"
            ));
        }
        let chunk = |place| {
            let is_longer = place < bytes.0 % n;
            u32::try_from(bytes.0 / n + u64::from(is_longer))
        };
        (0..n).map(chunk).collect::<Result<_, _>>().map_err(|_| {
            format!(
                "{bytes} in {n} chunks: a message is smaller than 4 GiB; write fewer `bytes` or name more `nics`"
            )
        })
    }
}

impl Generator for AllReduce {
    fn largest(&self, setting: &Setting<'_>) -> u32 {
        let nics = self.nics.members(setting.n_nics, setting.groups);
        // What is wrong with the NICs or the chunks is told when they are made.
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
            "an all-reduce of one rank: name two or more `nics`"
        );
        assert_eq!(
            problem(3, 4),
            "3 B in 4 chunks: a chunk has at least one byte; write more `bytes` or name fewer `nics`"
        );
        assert_eq!(
            problem(8 << 30, 2),
            "8 GiB in 2 chunks: a message is smaller than 4 GiB; write fewer `bytes` or name more `nics`"
        );
        // 2 × 3163 × 3162 messages of a round do not belong in memory; those of the 3080 hosts of paper 002 do.
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
