//! AMR: a refined mesh on some of the ranks, with irregular neighbours.

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream, permutation};
use netloom_units::Bytes;

use super::super::programs::{Builder, Rank, all_reduce};
use super::{MOST_RANKS, PAPER, Skeleton, check, divided, everyone};
use crate::{NicSet, Setting};

params! {
    /// In a round every active rank sends to its neighbours, and then all ranks do an all-reduce.
    /// The active ranks, their destinations and the sizes are drawn once per run. Sizes are powers
    /// of two times the smallest, all equally likely.
    #[derive(Clone, Debug)]
    pub struct Amr {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Number of ranks.
        pub ranks: u32 = 1728,
        /// Share of ranks that are active, at least two of them.
        pub active: f64 = 0.4,
        /// Number of active ranks that an active rank sends to, as [fewest, most].
        pub neighbours: (u32, u32) = (3, 10),
        /// Smallest and largest message, as [smallest, largest].
        pub sizes: (Bytes, Bytes) = (Bytes(1 << 10), Bytes(32 << 10)),
        /// Number of rounds.
        pub rounds: u32 = 10,
        /// Bytes that an all-reduce sums; not divided.
        pub reduced: Bytes = Bytes(8),
        /// Divisor of all sizes, for a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        let (smallest, largest) = it.sizes;
        let sizes = [("sizes", smallest), ("sizes", largest), ("reduced", it.reduced)];
        check(it.rounds, it.size_divisor, &sizes, section);
        let mut wrong = |is_wrong: bool, key: &str, message: String, help: &str| {
            if is_wrong {
                let place = section.place_of(key);
                section.notes.error("E0603", place, message).help(help);
            }
        };
        let is_few = !(2..=MOST_RANKS).contains(&u64::from(it.ranks));
        let help = format!("use a number from 2 to {MOST_RANKS}");
        let message = format!("the number of ranks is {}", it.ranks);
        wrong(is_few, "ranks", message, &help);
        let is_no_share = !(it.active > 0.0 && it.active <= 1.0);
        let message = format!("{} is not a share of the ranks", it.active);
        wrong(is_no_share, "active", message, "use a number above 0, up to 1");
        let (fewest, most) = it.neighbours;
        let message = format!("expected 1 to 1000 neighbours, found {fewest} to {most}");
        let help = "use [fewest, most], from 1 to 1000";
        wrong(fewest == 0 || fewest > most || most > 1000, "neighbours", message, help);
        let message = format!("the smallest message, {smallest}, is larger than {largest}");
        wrong(smallest > largest, "sizes", message, "use [smallest, largest]");
    }
}

impl Described for Amr {
    const NAME: &'static str = "amr";
    const SUMMARY: &'static str =
        "A skeleton of AMR: some ranks send to random neighbours, then all do an all-reduce.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "ranks = 20\nrounds = 2\nsize-divisor = 16";
}

/// Draws of placements for this purpose have these last words; permutations have 0 and random
/// partners 1 there.
const HOW_MANY: u32 = 2;
const TO_WHOM: u32 = 3;

impl Amr {
    /// Returns the active ranks, in ascending order.
    fn active(&self, stream: &Stream, class: u8) -> Vec<Rank> {
        let n = (f64::from(self.ranks) * self.active).round() as usize;
        // Permutations of patterns have occasions below 2^24.
        let order = permutation(stream, 1 << 31 | u32::from(class), self.ranks);
        let mut active: Vec<Rank> = order.into_iter().take(n.max(2)).map(Rank).collect();
        active.sort_unstable();
        active
    }

    /// Returns the messages of a round: source, destination and bytes.
    fn messages(&self, setting: &Setting<'_>) -> Vec<(Rank, Rank, u32)> {
        let stream = Stream::new(setting.seed, Purpose::Placement);
        let class = u32::from(setting.class);
        let active = self.active(&stream, setting.class);
        let (smallest, largest) = self.sizes;
        let n_sizes = (largest.0 / smallest.0).ilog2() + 1;
        let mut messages = vec![];
        for (own, &rank) in active.iter().enumerate() {
            let n_others = active.len() as u32 - 1;
            let (fewest, most) = self.neighbours;
            let draw = stream.draw([class, rank.0, 0, HOW_MANY]);
            let n = (fewest + draw.below(0, most - fewest + 1)).min(n_others);
            // Taken positions among the others, in ascending order.
            let mut taken: Vec<u32> = vec![];
            for number in 0..n {
                let draw = stream.draw([class, rank.0, number, TO_WHOM]);
                let mut place = draw.below(0, n_others - number);
                let skipped = taken.iter().take_while(|other| {
                    let is_before = **other <= place;
                    place += u32::from(is_before);
                    is_before
                });
                let at = skipped.count();
                taken.insert(at, place);
                let to = active[place as usize + usize::from(place as usize >= own)];
                let size = Bytes(smallest.0 << draw.below(1, n_sizes));
                messages.push((rank, to, divided(size, self.size_divisor)));
            }
        }
        messages
    }
}

impl Skeleton for Amr {
    fn n_ranks(&self) -> u32 {
        self.ranks
    }

    fn nics(&self) -> &NicSet {
        &self.nics
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn largest_message(&self) -> u32 {
        divided(self.sizes.1, self.size_divisor).max(divided(self.reduced, 1))
    }

    fn round(&self, builder: &mut Builder, setting: &Setting<'_>) {
        let messages = self.messages(setting);
        for &(from, to, bytes) in &messages {
            builder.send(from, to, bytes);
        }
        for &(from, to, _) in &messages {
            builder.receive(to, from);
        }
        let everyone = everyone(builder);
        all_reduce(builder, &everyone, divided(self.reduced, 1));
    }
}
