//! Expert parallelism: tokens travel to the experts that they choose, and their results back.
//!
//! ```text
//!   rank 0   token ─┬─ dispatch ─► rank 2: expert 5 ─┬─ combine ─► rank 0     per layer
//!                   └─ dispatch ─► rank 1: expert 3 ─┘
//!            all ranks wait for all tokens of their experts, then for all results of their tokens
//! ```
//!
//! Messages are those of DeepEP: with `merge = "none"` its kernels for low latency, with `token`
//! one copy of a token per rank. Tokens for experts of the own rank, or of ranks on the same host,
//! do not use the network.

use netloom_catalog::{Described, Section, choice, params};
use netloom_packet::Volume;
use netloom_random::{Draw, Purpose, Stream, permutation};
use netloom_units::Bytes;

use super::collective::wrong;
use super::programs::{Builder, Rank};
use super::{Generated, Generator, MOST_MESSAGES};
use crate::{NicSet, Setting};

/// Maximum of choices of experts, to limit the time of a check.
const MOST_CHOICES: u64 = 50_000_000;

/// Maximum of experts of a layer, and of those that a token chooses.
const MOST_EXPERTS: u32 = 1 << 16;
const MOST_CHOSEN: u32 = 64;

/// Bytes that describe a dispatched token.
const HEADER: u64 = 16;

/// Elements that share a scale, and bytes of the scale.
const SCALED: u64 = 128;
const SCALE: u64 = 4;

choice! {
    /// The data type of the elements of a token.
    pub enum TokenType {
        /// 1 byte per element, and 4 bytes of scale for each 128 elements.
        Fp8 = "fp8",
        /// 2 bytes per element.
        Bf16 = "bf16",
    }
}

impl TokenType {
    /// Returns the bytes of a token.
    fn bytes(self, hidden: u32) -> u64 {
        let hidden = u64::from(hidden);
        match self {
            TokenType::Fp8 => hidden + hidden.div_ceil(SCALED) * SCALE,
            TokenType::Bf16 => 2 * hidden,
        }
    }
}

choice! {
    /// The phases of a layer that a workload has.
    pub enum Phases {
        /// Dispatch, then combine.
        Both = "both",
        /// Tokens travel to their experts.
        Dispatch = "dispatch",
        /// Results travel back.
        Combine = "combine",
    }
}

choice! {
    /// The copies that share a message.
    pub enum Merge {
        /// None: a message for each token and chosen expert.
        None = "none",
        /// Those of a token for the same rank, which are one copy.
        Token = "token",
        /// All copies for the same rank.
        Rank = "rank",
    }
}

params! {
    /// In a layer every rank sends each of its tokens to the ranks of the experts that the token
    /// chooses (dispatch), and waits for all tokens of its own experts. Then it sends the results
    /// back (combine), and waits for those of its own tokens.
    #[derive(Clone, Debug)]
    pub struct ExpertParallel {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, and every NIC has a rank.
        pub nics: NicSet = NicSet::All,
        /// Tokens of each rank.
        pub tokens: u32 = 128,
        /// Experts of a layer. Every rank has the same number of them, the first rank the first.
        pub experts: u32 = 256,
        /// Experts that a token chooses, all different, by draws of the seed.
        pub top_k: u32 = 8,
        /// Elements of a token.
        pub hidden: u32 = 7168,
        /// Phases of each layer. One alone is what benchmarks of its kernel time.
        pub phases: Phases = Phases::Both,
        /// Data type of dispatched tokens, which have 16 bytes in addition.
        pub dispatch: TokenType = TokenType::Fp8,
        /// Data type of results.
        pub combine: TokenType = TokenType::Bf16,
        /// Number of layers; the choices of each are drawn separately.
        pub layers: u32 = 1,
        /// Number of times that all layers are repeated, with the same choices.
        pub rounds: u32 = 1,
        /// Exponent of Zipf's law of the popularity of experts; 0 makes all equally popular. Each
        /// layer has its own popular experts.
        pub skew: f64 = 0.0,
        /// Copies that share a message.
        pub merge: Merge = Merge::None,
        /// Size of the message that ends a phase: for each expert with `merge = "none"`, for each
        /// rank with "token"; 0 B for none.
        pub count: Bytes = Bytes(4),
        /// Ranks of a host, with consecutive numbers. Tokens between them do not use the network.
        pub ranks_per_host: u32 = 1,
    }
    check |it, section| {
        it.check(section);
    }
}

impl Described for ExpertParallel {
    const NAME: &'static str = "expert-parallel";
    const SUMMARY: &'static str =
        "Expert parallelism: tokens go to the ranks of their experts, and results come back.";
    const PAPER: Option<&'static str> = Some(
        "Messages of the kernels of DeepEP, github.com/deepseek-ai/DeepEP, \
         csrc/kernels/legacy/internode_ll.cu, read in November 2026",
    );
    const EXAMPLE: &'static str =
        "nics = \"0-15\"\ntokens = 8\nexperts = 32\ntop-k = 4\nhidden = 1024\nskew = 0.6";
}

/// The sizes of a message: of a token in each phase, and of a count.
struct Sizes {
    dispatch: u64,
    combine: u64,
}

impl ExpertParallel {
    /// Notes every invalid value.
    fn check(&self, section: &mut Section<'_>) {
        for (key, value) in [
            ("tokens", self.tokens),
            ("experts", self.experts),
            ("top-k", self.top_k),
            ("hidden", self.hidden),
            ("layers", self.layers),
            ("rounds", self.rounds),
            ("ranks-per-host", self.ranks_per_host),
        ] {
            if value == 0 {
                wrong(section, key, format!("`{key}` is 0"), "use 1 or more");
            }
        }
        if self.top_k > self.experts {
            let (top_k, experts) = (self.top_k, self.experts);
            let message = format!("a token cannot choose {top_k} of {experts} experts");
            wrong(section, "top-k", message, "use at most `experts`");
        }
        for (key, value, most) in [
            ("experts", self.experts, MOST_EXPERTS),
            ("top-k", self.top_k, MOST_CHOSEN),
        ] {
            if value > most {
                let message = format!("`{key}` is {value}, more than {most}");
                wrong(section, key, message, &format!("use at most {most}"));
            }
        }
        if !(0.0..=10.0).contains(&self.skew) {
            let message = format!("exponent {} is out of range", self.skew);
            wrong(
                section,
                "skew",
                message,
                "use a number from 0 (all equal) to 10",
            );
        }
        if self.count.0 > u64::from(u32::MAX) {
            let message = format!("a message cannot have {}", self.count);
            wrong(
                section,
                "count",
                message,
                "use less than 4 GiB, such as \"4 B\"",
            );
        }
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            dispatch: HEADER + self.dispatch.bytes(self.hidden),
            combine: self.combine.bytes(self.hidden),
        }
    }

    /// Returns the copies of a token that a rank can get from another one in a layer, at most.
    fn most_copies(&self, n_ranks: u32) -> u64 {
        let of_rank = self.experts / n_ranks.max(1);
        u64::from(self.tokens) * u64::from(self.top_k.min(of_rank.max(1)))
    }

    /// Returns the largest message of `n` ranks, at most.
    fn most_bytes(&self, n_ranks: u32) -> u64 {
        let sizes = self.sizes();
        let token = match self.phases {
            Phases::Both => sizes.dispatch.max(sizes.combine),
            Phases::Dispatch => sizes.dispatch,
            Phases::Combine => sizes.combine,
        };
        let joined = match self.merge {
            Merge::None | Merge::Token => 1,
            Merge::Rank => self.most_copies(n_ranks),
        };
        token.saturating_mul(joined).max(self.count.0)
    }

    /// Returns why `n` ranks cannot run this, if they cannot.
    fn problem(&self, n: u64) -> Option<String> {
        let (experts, tokens) = (u64::from(self.experts), u64::from(self.tokens));
        if n < 2 {
            return Some("expert parallelism needs at least two ranks; add `nics`".to_owned());
        }
        if experts % n != 0 {
            return Some(format!(
                "{experts} experts cannot be divided evenly over {n} ranks; use a multiple of {n}"
            ));
        }
        let layers = u64::from(self.layers);
        let choices = (n * tokens)
            .saturating_mul(u64::from(self.top_k))
            .saturating_mul(layers);
        if choices > MOST_CHOICES {
            return Some(format!(
                "{choices} choices of experts are more than {MOST_CHOICES}; use fewer `tokens` or \
                 `layers`, and more `rounds`"
            ));
        }
        let counts = match (self.count.0, self.merge) {
            (0, _) | (_, Merge::Rank) => 0,
            (_, Merge::Token) => n * n,
            (_, Merge::None) => n * experts,
        };
        let copies = match self.merge {
            Merge::None | Merge::Token => choices,
            Merge::Rank => choices.min((n * n).saturating_mul(layers)),
        };
        let messages = counts
            .saturating_mul(layers)
            .saturating_add(copies)
            .saturating_mul(match self.phases {
                Phases::Both => 2,
                Phases::Dispatch | Phases::Combine => 1,
            });
        if messages > MOST_MESSAGES as u64 {
            return Some(format!(
                "{messages} messages are more than {MOST_MESSAGES}; use fewer `layers` and more \
                 `rounds`, or merge = \"rank\""
            ));
        }
        let bytes = self.most_bytes(n as u32);
        (bytes > u64::from(u32::MAX)).then(|| {
            format!(
                "a message may have {bytes} bytes, but the maximum is 4 GiB; use fewer `tokens`"
            )
        })
    }

    /// Adds the steps of a layer, and returns the bytes of the largest buffer of a rank in its
    /// phases together.
    fn layer(&self, builder: &mut Builder, routing: &Routing) -> u64 {
        let sizes = self.sizes();
        let mut token = 0;
        if self.phases != Phases::Combine {
            self.dispatch(builder, routing, sizes.dispatch);
            token += sizes.dispatch;
        }
        if self.phases != Phases::Dispatch {
            self.combine(builder, routing, sizes.combine);
            token += sizes.combine;
        }
        let n = routing.n_ranks;
        let copies = |from: usize, to: usize| routing.copies(from, to);
        let sent = |own: usize| (0..n).map(|to| copies(own, to)).sum::<usize>();
        let received = |own: usize| (0..n).map(|from| copies(from, own)).sum::<usize>();
        let most = (0..n).map(|own| sent(own).max(received(own))).max();
        most.unwrap_or(0) as u64 * token
    }

    /// Sends each token of each rank to its experts.
    fn dispatch(&self, builder: &mut Builder, routing: &Routing, token: u64) {
        for own in 0..routing.n_ranks {
            match self.merge {
                Merge::None | Merge::Token => {
                    for &to in &routing.order[own] {
                        if routing.is_remote(own, to as usize) {
                            builder.send(rank(own), Rank(to), token as u32);
                        }
                    }
                }
                Merge::Rank => {
                    for to in routing.others(own) {
                        if let n @ 1.. = routing.copies(own, to) {
                            builder.send(rank(own), rank(to), (token * n as u64) as u32);
                        }
                    }
                }
            }
            self.end_phase(builder, routing, own, |from| routing.copies(from, own));
        }
    }

    /// Sends the results of each rank back.
    fn combine(&self, builder: &mut Builder, routing: &Routing, token: u64) {
        for own in 0..routing.n_ranks {
            match self.merge {
                // All results are ready at once, so the messages take turns among the ranks.
                Merge::None | Merge::Token => {
                    let copies = routing.others(own).map(|to| routing.copies(to, own));
                    for turn in 0..copies.max().unwrap_or(0) {
                        for to in routing.others(own) {
                            if turn < routing.copies(to, own) {
                                builder.send(rank(own), rank(to), token as u32);
                            }
                        }
                    }
                }
                Merge::Rank => {
                    for to in routing.others(own) {
                        if let n @ 1.. = routing.copies(to, own) {
                            builder.send(rank(own), rank(to), (token * n as u64) as u32);
                        }
                    }
                }
            }
            self.end_phase(builder, routing, own, |from| routing.copies(own, from));
        }
    }

    /// Sends the counts of a rank that end a phase, and waits for all messages and counts of the
    /// others; `copies` returns those of a sender.
    fn end_phase(
        &self,
        builder: &mut Builder,
        routing: &Routing,
        own: usize,
        copies: impl Fn(usize) -> usize,
    ) {
        let n_counts = match (self.count.0, self.merge) {
            (0, _) | (_, Merge::Rank) => 0,
            (_, Merge::Token) => 1,
            (_, Merge::None) => self.experts as usize / routing.n_ranks,
        };
        for _ in 0..n_counts {
            for to in routing.others(own) {
                builder.send(rank(own), rank(to), self.count.0 as u32);
            }
        }
        for from in routing.others(own) {
            let messages = match self.merge {
                Merge::None | Merge::Token => copies(from),
                Merge::Rank => copies(from).min(1),
            };
            for _ in 0..messages + n_counts {
                builder.receive(rank(own), rank(from));
            }
        }
    }
}

fn rank(place: usize) -> Rank {
    Rank(place as u32)
}

impl Generator for ExpertParallel {
    fn largest(&self, setting: &Setting<'_>) -> u32 {
        let nics = self.nics.members(setting.n_nics, setting.groups);
        // Errors of the NICs or the sizes are reported when programs are made.
        let n_ranks = nics.map_or(1, |nics| nics.len() as u32);
        self.most_bytes(n_ranks).min(u64::from(u32::MAX)) as u32
    }

    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String> {
        let nics = self
            .nics
            .members(setting.n_nics, setting.groups)
            .map_err(|problem| format!("`nics`: {problem}"))?;
        let n = nics.len();
        if let Some(problem) = self.problem(n as u64) {
            return Err(problem);
        }
        let mut builder = Builder::new(n as u32);
        let mut bytes = 0;
        for layer in 0..self.layers {
            let choice = Choice::new(self, setting, layer);
            bytes += self.layer(&mut builder, &Routing::new(self, &choice, n));
        }
        let programs = builder
            .repeat(self.rounds)
            .map_err(|misfit| misfit.to_string())?;
        let volume = Volume {
            bytes,
            operations: self.rounds,
            bus_factor: [n as u64 - 1, n as u64],
        };
        let placed = programs.place(&nics, setting.n_nics).counted(volume);
        Ok(Generated::Programs(placed))
    }

    fn sets(&self) -> Vec<NicSet> {
        vec![self.nics.clone()]
    }

    fn is_program(&self) -> bool {
        true
    }
}

/// The copies of tokens in a layer.
struct Routing {
    n_ranks: usize,
    per_host: usize,
    /// By rank: the ranks to which it sends its copies, in order.
    order: Vec<Vec<u32>>,
    /// The number of copies from each rank to each other one: at `from * n_ranks + to`.
    copies: Vec<u32>,
}

impl Routing {
    fn new(workload: &ExpertParallel, choice: &Choice, n_ranks: usize) -> Routing {
        let of_rank = workload.experts / n_ranks as u32;
        let mut copies = vec![0; n_ranks * n_ranks];
        let mut chosen = vec![];
        let order = (0..n_ranks).map(|own| {
            let mut order = vec![];
            for token in 0..workload.tokens {
                choice.experts(own as u32, token, workload.top_k, &mut chosen);
                let first = order.len();
                for expert in &chosen {
                    let rank = expert / of_rank;
                    if workload.merge == Merge::Token && order[first..].contains(&rank) {
                        continue;
                    }
                    order.push(rank);
                    copies[own * n_ranks + rank as usize] += 1;
                }
            }
            order
        });
        let order = order.collect();
        Routing {
            n_ranks,
            per_host: workload.ranks_per_host as usize,
            order,
            copies,
        }
    }

    /// Returns the number of copies from one rank to another.
    fn copies(&self, from: usize, to: usize) -> usize {
        self.copies[from * self.n_ranks + to] as usize
    }

    /// Whether two ranks are on different hosts.
    fn is_remote(&self, a: usize, b: usize) -> bool {
        a / self.per_host != b / self.per_host
    }

    /// Returns the ranks on other hosts, from the next one on.
    fn others(&self, own: usize) -> impl Iterator<Item = usize> {
        let others = (1..self.n_ranks).map(move |distance| (own + distance) % self.n_ranks);
        others.filter(move |other| self.is_remote(own, *other))
    }
}

/// The experts that tokens choose in a layer. A choice depends on the seed, the class, the layer,
/// the rank and the token alone.
struct Choice {
    stream: Stream,
    /// The class and the layer.
    occasion: u32,
    /// The experts, the most popular first.
    order: Vec<u32>,
    /// The sum of the weights before each place, and of all.
    starts: Vec<u64>,
}

/// The weight of the most popular expert.
const WEIGHT: f64 = 4_294_967_296.0;

impl Choice {
    fn new(workload: &ExpertParallel, setting: &Setting<'_>, layer: u32) -> Choice {
        let stream = Stream::new(setting.seed, Purpose::Experts);
        let occasion = u32::from(setting.class) | layer << 8;
        let mut starts = vec![0];
        for place in 1..=workload.experts {
            let weight = WEIGHT * libm::pow(f64::from(place), -workload.skew);
            let weight = (libm::round(weight) as u64).max(1);
            starts.push(starts[starts.len() - 1] + weight);
        }
        Choice {
            order: permutation(&stream, occasion, workload.experts),
            stream,
            occasion,
            starts,
        }
    }

    /// Replaces `chosen` by the experts of a token, each by its weight among those that are left.
    fn experts(&self, rank: u32, token: u32, top_k: u32, chosen: &mut Vec<u32>) {
        chosen.clear();
        // The places that are taken, in ascending order, and their weight.
        let mut taken = [0; MOST_CHOSEN as usize];
        let mut taken_weight = 0;
        for at in 0..top_k as usize {
            // A permutation has 0 as its fourth word.
            let occasion = [rank, self.occasion, token, 1 + at as u32];
            let left = self.starts[self.order.len()] - taken_weight;
            let mut number = scaled(self.stream.draw(occasion), left);
            let mut below = 0;
            while below < at && self.starts[taken[below]] <= number {
                number += self.weight(taken[below]);
                below += 1;
            }
            let place = self.starts.partition_point(|&start| start <= number) - 1;
            taken.copy_within(below..at, below + 1);
            taken[below] = place;
            taken_weight += self.weight(place);
            chosen.push(self.order[place]);
        }
    }

    fn weight(&self, place: usize) -> u64 {
        self.starts[place + 1] - self.starts[place]
    }
}

/// Returns a number below `n` from 64 bits of a draw.
fn scaled(draw: Draw, n: u64) -> u64 {
    let bits = u64::from(draw.0[0]) << 32 | u64::from(draw.0[1]);
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use netloom_catalog::Disk;
    use netloom_packet::{Op, Program, Segmentation};

    use super::super::programs::{Placed, Step, play};
    use super::*;
    use crate::NO_GROUPS;

    const CUTTING: Segmentation = Segmentation {
        flit: Bytes(64),
        mtu: Some(Bytes(4096)),
        header: Bytes(64),
    };

    fn workload() -> ExpertParallel {
        ExpertParallel {
            nics: NicSet::All,
            tokens: 128,
            experts: 256,
            top_k: 8,
            hidden: 7168,
            phases: Phases::Both,
            dispatch: TokenType::Fp8,
            combine: TokenType::Bf16,
            layers: 1,
            rounds: 1,
            skew: 0.0,
            merge: Merge::None,
            count: Bytes(4),
            ranks_per_host: 1,
        }
    }

    fn made(workload: &ExpertParallel, n_nics: u32, seed: u64) -> Result<Placed, String> {
        let setting = Setting {
            segmentation: CUTTING.into(),
            n_nics,
            groups: &NO_GROUPS,
            seed,
            class: 3,
            cycles: &|_| 0,
            files: Disk::HERE,
        };
        match workload.generate(&setting)? {
            Generated::Programs(placed) => Ok(placed),
            _ => panic!("a program"),
        }
    }

    /// Returns the messages of each size that a rank sends.
    fn sent(placed: &Placed, rank: u32) -> std::collections::BTreeMap<u32, u64> {
        let mut sizes = std::collections::BTreeMap::new();
        for step in placed.programs().steps(Rank(rank)) {
            if let Step::Send { bytes, .. } = step {
                *sizes.entry(bytes).or_default() += 1;
            }
        }
        sizes
    }

    #[test]
    fn messages_are_those_of_the_low_latency_kernels() {
        let placed = made(&workload(), 64, 1).unwrap();
        let (mut dispatched, mut combined) = (0, 0);
        for rank in 0..64 {
            let sizes = sent(&placed, rank);
            assert_eq!(sizes.len(), 3, "{sizes:?}");
            // 252 experts of other ranks in dispatch. In combine every expert ends for each other
            // rank.
            assert_eq!(sizes[&4], 252 + 4 * 63);
            dispatched += sizes[&7_408];
            combined += sizes[&14_336];
        }
        assert_eq!(dispatched, combined);
        // 1,024 copies of each rank, of which one in 64 stays.
        let expected = 64.0 * 1024.0 * 63.0 / 64.0;
        assert!((dispatched as f64 - expected).abs() < 200.0, "{dispatched}");
        assert!(play(placed.programs(), |_| 1).is_ok());
        // 64 x 1,024 copies in each phase, distributed over the ranks at random.
        let volume = placed.volume().unwrap();
        let even = 1024 * (7_408 + 14_336);
        assert!(
            volume.bytes > even && volume.bytes < even * 12 / 10,
            "{volume:?}"
        );
        assert_eq!((volume.operations, volume.bus_factor), (1, [63, 64]));
    }

    #[test]
    fn merged_messages_have_the_same_bytes() {
        let of = |merge, count| {
            let workload = ExpertParallel {
                merge,
                count: Bytes(count),
                layers: 2,
                ..workload()
            };
            made(&workload, 32, 5).unwrap()
        };
        let bytes = |placed: &Placed| placed.programs().sum(u64::from);
        let (none, rank) = (of(Merge::None, 0), of(Merge::Rank, 0));
        assert_eq!(bytes(&none), bytes(&rank));
        // Every rank has something for each other one, in two phases of two layers.
        assert_eq!(rank.programs().n_messages(), 2 * 2 * 32 * 31);
        // Two of eight choices are sometimes of one rank.
        let token = of(Merge::Token, 0);
        let share = bytes(&token) as f64 / bytes(&none) as f64;
        assert!((0.85..0.95).contains(&share), "{share}");
        // One count per rank and phase.
        let counted = of(Merge::Token, 8);
        let counts = counted.programs().n_messages() - token.programs().n_messages();
        assert_eq!(counts, 2 * 2 * 32 * 31);
        for placed in [none, rank, token, counted] {
            assert!(play(placed.programs(), |_| 1).is_ok());
        }
    }

    #[test]
    fn a_phase_alone_has_the_messages_that_it_has_in_a_layer() {
        let of = |merge, phases| {
            let workload = ExpertParallel {
                merge,
                phases,
                ..workload()
            };
            made(&workload, 64, 3).unwrap()
        };
        for merge in [Merge::None, Merge::Token, Merge::Rank] {
            let [both, dispatch, combine] =
                [Phases::Both, Phases::Dispatch, Phases::Combine].map(|own| of(merge, own));
            let bytes = |placed: &Placed| placed.programs().sum(u64::from);
            assert_eq!(bytes(&both), bytes(&dispatch) + bytes(&combine));
            let sends = |placed: &Placed| -> Vec<Op> {
                let ops = (0..).map_while(|step| placed.op(placed.nics()[0], step));
                ops.filter(|op| matches!(op, Op::Send { .. })).collect()
            };
            assert_eq!(sends(&both), [sends(&dispatch), sends(&combine)].concat());
            for placed in [dispatch, combine] {
                assert!(play(placed.programs(), |_| 1).is_ok());
            }
        }
    }

    #[test]
    fn choices_depend_on_the_seed_and_the_layer() {
        let ops = |placed: &Placed| -> Vec<Op> {
            let nic = placed.nics()[0];
            (0..).map_while(|step| placed.op(nic, step)).collect()
        };
        let one = |seed| ops(&made(&workload(), 64, seed).unwrap());
        assert_eq!(one(1), one(1));
        assert_ne!(one(1), one(2));
        // The first layer of two is that of one, and the second differs.
        let two = ExpertParallel {
            layers: 2,
            ..workload()
        };
        let two = ops(&made(&two, 64, 1).unwrap());
        let one = one(1);
        let sends = |ops: &[Op]| -> Vec<Op> { ops[..1000].to_vec() };
        assert_eq!(sends(&two), sends(&one));
        assert_ne!(sends(&two[one.len()..]), sends(&one));
    }

    #[test]
    fn ranks_of_a_host_keep_their_tokens_inside() {
        let workload = ExpertParallel {
            ranks_per_host: 8,
            ..workload()
        };
        let placed = made(&workload, 64, 1).unwrap();
        for rank in 0..64 {
            for step in placed.programs().steps(Rank(rank)) {
                let (Step::Send { to: other, .. } | Step::Receive { from: other, .. }) = step;
                assert_ne!(other.0 / 8, rank / 8);
            }
        }
    }

    /// Returns the share of choices of each expert, the most popular first.
    fn shares(skew: f64, top_k: u32) -> Vec<f64> {
        let workload = ExpertParallel {
            experts: 16,
            top_k,
            skew,
            ..workload()
        };
        let setting = Setting {
            segmentation: CUTTING.into(),
            n_nics: 8,
            groups: &NO_GROUPS,
            seed: 9,
            class: 0,
            cycles: &|_| 0,
            files: Disk::HERE,
        };
        let choice = Choice::new(&workload, &setting, 0);
        let mut counts = [0u32; 16];
        let mut chosen = vec![];
        for token in 0..20_000 {
            choice.experts(token % 7, token, top_k, &mut chosen);
            let mut distinct = chosen.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), top_k as usize);
            chosen
                .iter()
                .for_each(|&expert| counts[expert as usize] += 1);
        }
        choice
            .order
            .iter()
            .map(|&expert| f64::from(counts[expert as usize]) / 20_000.0)
            .collect()
    }

    #[test]
    fn popular_experts_follow_zipf() {
        for share in shares(0.0, 4) {
            assert!((share - 0.25).abs() < 0.02, "{share}");
        }
        let sum: f64 = (1..=16).map(|place| 1.0 / f64::from(place)).sum();
        for (place, share) in (1..).zip(shares(1.0, 1)) {
            let expected = 1.0 / f64::from(place) / sum;
            assert!(
                (share - expected).abs() < 0.015,
                "{place}: {share}, {expected}"
            );
        }
        // All experts, however unpopular.
        assert_eq!(shares(10.0, 16), [1.0; 16]);
        assert_eq!(shares(0.0, 16), [1.0; 16]);
        // Two of a law with weights far apart: the second is mostly the second.
        let two = shares(8.0, 2);
        assert!(two[0] > 0.99 && two[1] > 0.9, "{two:?}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let problem = |change: &dyn Fn(&mut ExpertParallel), n| {
            let mut workload = workload();
            change(&mut workload);
            made(&workload, n, 1).unwrap_err()
        };
        assert!(problem(&|_| (), 1).starts_with("expert parallelism needs at least two ranks"));
        assert_eq!(
            problem(&|_| (), 48),
            "256 experts cannot be divided evenly over 48 ranks; use a multiple of 48"
        );
        let choices = problem(&|it| it.tokens = 1_000_000, 64);
        assert!(
            choices.starts_with("512000000 choices of experts"),
            "{choices}"
        );
        let messages = problem(&|it| it.layers = 200, 64);
        assert!(
            messages.contains("use fewer `layers` and more `rounds`"),
            "{messages}"
        );
        let largest = problem(
            &|it| (it.merge, it.tokens, it.top_k) = (Merge::Rank, 100_000, 4),
            64,
        );
        assert!(largest.contains("the maximum is 4 GiB"), "{largest}");
    }
}
