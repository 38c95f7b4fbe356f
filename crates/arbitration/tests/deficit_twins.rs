//! The arbiters with quanta and deficits compared with reference implementations: the pseudocode of
//! the papers line by line, with its loops.

use netloom_arbitration::{
    BxiDeficit, BxiTable, DTable, DeficitRoundRobin, DeficitTable, Head, Policy, SlEntry, View,
};
use netloom_units::{Bytes, Sl, Tick, Vl};
use proptest::prelude::*;

/// Returns the size of the head of a class, if it has something to send.
type Heads<'a> = &'a dyn Fn(u8) -> Option<u64>;

trait Twin {
    /// Returns the class that sends, and sends its packet.
    fn arbitrate(&mut self, head: Heads<'_>) -> Option<u8>;
}

/// The pseudocode of DTable.
#[derive(Clone)]
struct DTableTwin {
    table: Vec<(u8, u64)>,
    deficit: [u64; 16],
    acc: u64,
    /// One before the entry to examine next.
    p: usize,
    cur: Option<usize>,
}

impl Twin for DTableTwin {
    fn arbitrate(&mut self, head: Heads<'_>) -> Option<u8> {
        let n = self.table.len();
        let sends = |&(sl, weight): &(u8, u64)| weight > 0 && head(sl).is_some();
        if !self.table.iter().any(sends) {
            return None;
        }
        loop {
            if let Some(cur) = self.cur {
                let sl = self.table[cur].0;
                match head(sl) {
                    None => self.deficit[usize::from(sl)] = 0,
                    Some(size) if size <= self.acc => {
                        self.acc -= size;
                        return Some(sl);
                    }
                    Some(_) => self.deficit[usize::from(sl)] = self.acc,
                }
                self.acc = 0;
                self.cur = None;
            }
            self.p = (self.p + 1) % n;
            while !sends(&self.table[self.p]) {
                self.p = (self.p + 1) % n;
            }
            let (sl, weight) = self.table[self.p];
            self.acc = weight + std::mem::take(&mut self.deficit[usize::from(sl)]);
            self.cur = Some(self.p);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Deficits {
    None,
    Corrected,
    /// As the pseudocode is printed: a deficit is added only after a skip, and stays.
    Printed,
}

/// The pseudocodes of BXI; with lanes as classes and bytes as flits, deficit round robin.
#[derive(Clone)]
struct QuantumTwin {
    entries: Vec<(u8, u64)>,
    deficits: Deficits,
    deficit: Vec<u64>,
    cur: usize,
    rem: u64,
}

impl QuantumTwin {
    fn new(entries: Vec<(u8, u64)>, deficits: Deficits) -> QuantumTwin {
        QuantumTwin {
            deficit: vec![0; entries.len()],
            cur: 0,
            rem: entries[0].1,
            entries,
            deficits,
        }
    }

    fn advance(&mut self, is_skip: bool) {
        self.cur = (self.cur + 1) % self.entries.len();
        self.rem = self.entries[self.cur].1;
        match self.deficits {
            Deficits::Corrected => self.rem += std::mem::take(&mut self.deficit[self.cur]),
            Deficits::Printed if is_skip => self.rem += self.deficit[self.cur],
            _ => {}
        }
    }
}

impl Twin for QuantumTwin {
    fn arbitrate(&mut self, head: Heads<'_>) -> Option<u8> {
        let sends = |&(class, quantum): &(u8, u64)| quantum > 0 && head(class).is_some();
        if !self.entries.iter().any(sends) {
            return None;
        }
        let mut probes = 0;
        while self.deficits != Deficits::None || probes < self.entries.len() + 1 {
            probes += 1;
            let class = self.entries[self.cur].0;
            let size = head(class);
            if let Some(size) = size.filter(|&size| size <= self.rem) {
                self.rem -= size;
                if self.rem == 0 {
                    self.advance(false);
                }
                return Some(class);
            }
            self.deficit[self.cur] = size.map_or(0, |_| self.rem);
            self.advance(true);
        }
        None
    }
}

/// One decision: the eligible queues, whether the packet is then sent, and the head that changes
/// before it.
#[derive(Clone, Debug)]
struct Moment {
    eligible: u32,
    is_sent: bool,
    queue: usize,
    class: u8,
    bytes: u32,
}

fn moments() -> impl Strategy<Value = Vec<Moment>> {
    let eligible = prop_oneof![
        (0u32..32).prop_map(|queue| 1 << queue),
        any::<u32>(),
        any::<u32>().prop_map(|m| m & 0x1f)
    ];
    let bytes = prop_oneof![1u32..200, 1u32..5000];
    let moment = (
        eligible,
        prop::bool::weighted(0.8),
        0usize..32,
        0u8..5,
        bytes,
    );
    let moment = moment.prop_map(|(eligible, is_sent, queue, class, bytes)| Moment {
        eligible,
        is_sent,
        queue,
        class,
        bytes,
    });
    prop::collection::vec(moment, 1..200)
}

fn table() -> impl Strategy<Value = Vec<(u8, u16)>> {
    let weight = prop_oneof![1 => Just(0u16), 4 => 1u16..5, 4 => 1u16..100];
    prop::collection::vec((0u8..5, weight), 1..12)
}

/// How queues of one class share it.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    RoundRobin,
    OldestFirst,
}

/// Checks that the arbiter and the reference send the same for the same input.
fn compare(
    policy: &dyn Policy,
    twin: impl Twin + Clone,
    unit: u32,
    within: Within,
    moments: &[Moment],
) -> Result<(), TestCaseError> {
    let (mut arbiter, mut twin) = (policy.build(), twin);
    let mut heads = [Head {
        bytes: 64,
        ..Head::default()
    }; 32];
    let mut next = [0usize; 16];
    for (now, moment) in (0..).zip(moments) {
        heads[moment.queue] = Head {
            born: Tick(now),
            bytes: moment.bytes,
            sl: Sl(moment.class),
            vl: Vl(moment.class),
        };
        // The queue of each class whose turn it is.
        let queue_of = |class: u8| {
            let is_of = |&q: &usize| moment.eligible >> q & 1 == 1 && heads[q].sl.0 == class;
            match within {
                Within::RoundRobin => (0..32)
                    .map(|turn| (next[usize::from(class)] + turn) % 32)
                    .find(is_of),
                Within::OldestFirst => (0..32).filter(is_of).min_by_key(|&q| heads[q].born),
            }
        };
        let size_of = |class: u8| queue_of(class).map(|q| u64::from(heads[q].bytes.div_ceil(unit)));
        let mut after = twin.clone();
        let expected = after
            .arbitrate(&size_of)
            .map(|class| (class, queue_of(class).unwrap()));
        let view = View {
            eligible: moment.eligible,
            heads: &heads,
        };
        let grant = arbiter.choose(&view);
        prop_assert_eq!(
            grant.map(|grant| usize::from(grant.queue)),
            expected.map(|(_, queue)| queue)
        );
        if let (Some(grant), Some((class, queue)), true) = (grant, expected, moment.is_sent) {
            arbiter.commit(grant);
            twin = after;
            next[usize::from(class)] = (queue + 1) % 32;
        }
    }
    Ok(())
}

fn entries(pairs: &[(u8, u16)]) -> Vec<SlEntry> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    pairs.iter().map(entry).collect()
}

/// Figures 5 and 6 of paper 003: classes and sizes in the order of sending.
#[test]
fn v003_11_the_printed_deficits_do_not_give_figure_6() {
    let sent = |deficits| {
        let mut twin = QuantumTwin::new(vec![(0, 2), (1, 2)], deficits);
        let mut queues = [vec![1, 2], vec![2, 1, 1]];
        let mut sent = vec![];
        for t in 0..6 {
            if t == 1 {
                queues[0].push(1);
            }
            let head = |class: u8| queues[usize::from(class)].first().copied();
            let class = twin.arbitrate(&head).unwrap();
            sent.push((class, queues[usize::from(class)].remove(0)));
        }
        sent
    };
    let figure_5 = [(0, 1), (1, 2), (0, 2), (1, 1), (1, 1), (0, 1)];
    let figure_6 = [(0, 1), (1, 2), (0, 2), (0, 1), (1, 1), (1, 1)];
    assert_eq!(sent(Deficits::None), figure_5);
    assert_eq!(sent(Deficits::Corrected), figure_6);
    assert_eq!(sent(Deficits::Printed), figure_5);
}

#[test]
fn v003_14_the_printed_deficits_are_unfair_between_equals() {
    let share = |deficits| {
        let mut twin = QuantumTwin::new(vec![(0, 4), (1, 4)], deficits);
        let classes = (0..60_000).filter_map(|_| twin.arbitrate(&|_| Some(3)));
        classes.filter(|class| *class == 0).count() as f64 / 60_000.0
    };
    assert_eq!(share(Deficits::None), 0.5);
    assert_eq!(share(Deficits::Corrected), 0.5);
    assert!((share(Deficits::Printed) - 0.667).abs() < 5e-4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn dtable_does_what_1_2_1_says(pairs in table(), moments in moments()) {
        let twin = DTableTwin {
            table: pairs.iter().map(|&(sl, weight)| (sl, u64::from(weight))).collect(),
            deficit: [0; 16],
            acc: 0,
            p: pairs.len() - 1,
            cur: None,
        };
        let policy = DTable { table: DeficitTable::from_pairs(&pairs).unwrap() };
        compare(&policy, twin, 64, Within::RoundRobin, &moments)?;
    }

    #[test]
    fn bxi_does_what_4_2_says(pairs in table(), k in 1u32..4, flit in 30u32..100, moments in moments()) {
        let quanta = || pairs.iter().map(|&(sl, w)| (sl, u64::from(w) * u64::from(k))).collect();
        let bytes = Bytes(u64::from(flit));
        let basic = BxiTable { table: entries(&pairs), k, flit: bytes };
        let twin = QuantumTwin::new(quanta(), Deficits::None);
        compare(&basic, twin, flit, Within::RoundRobin, &moments)?;
        let policy = BxiDeficit { table: entries(&pairs), k, flit: bytes };
        let twin = QuantumTwin::new(quanta(), Deficits::Corrected);
        compare(&policy, twin, flit, Within::RoundRobin, &moments)?;
    }

    #[test]
    fn deficit_round_robin_is_a_walk_over_lanes(
        quanta in prop::collection::vec(1u32..6000, 1..6),
        moments in moments(),
    ) {
        let quanta: Vec<(u8, u32)> = (0..).zip(quanta).collect();
        let turns = quanta.iter().map(|&(vl, bytes)| (vl, u64::from(bytes))).collect();
        let twin = QuantumTwin::new(turns, Deficits::Corrected);
        compare(&DeficitRoundRobin { quanta }, twin, 1, Within::OldestFirst, &moments)?;
    }
}
