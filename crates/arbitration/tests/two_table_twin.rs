//! The two-table arbiter compared with its reference implementation: the rules one by one, with
//! signed counters and plain searches, without masks and lookups.

use netloom_arbitration::{Arbiter, Head, TwoTable, View, VlArbitrationTable};
use netloom_units::{Tick, Vl};
use proptest::prelude::*;

/// One table and its position.
struct Table {
    entries: Vec<(u8, u8)>,
    /// The entry served last, if any was.
    at: Option<usize>,
    counter: i64,
}

impl Table {
    fn can_send(&self, vl: u8) -> bool {
        self.entries
            .iter()
            .any(|&(v, weight)| v == vl && weight > 0)
    }

    /// Returns the entry to serve and its counter, given the lanes that have an eligible packet.
    fn select(&self, has_packet: &[bool; 32]) -> (usize, i64) {
        if let Some(at) = self.at
            && self.counter > 0
            && has_packet[usize::from(self.entries[at].0)]
        {
            return (at, self.counter);
        }
        let n = self.entries.len();
        let mut next = self.at.map_or(0, |at| (at + 1) % n);
        for _ in 0..n {
            let (vl, weight) = self.entries[next];
            if weight > 0 && has_packet[usize::from(vl)] {
                return (next, i64::from(weight));
            }
            next = (next + 1) % n;
        }
        panic!("selected from a table that can send nothing");
    }
}

struct Twin {
    high: Table,
    low: Table,
    limit: u8,
    /// High-priority bytes since the last low-priority packet.
    high_bytes: u64,
}

impl Twin {
    fn new(high: &[(u8, u8)], low: &[(u8, u8)], limit: u8) -> Twin {
        let table = |entries: &[(u8, u8)]| Table {
            entries: entries.to_vec(),
            at: None,
            counter: 0,
        };
        Twin {
            high: table(high),
            low: table(low),
            limit,
            high_bytes: 0,
        }
    }

    fn limit_is_spent(&self) -> bool {
        match self.limit {
            255 => false,
            0 => self.high_bytes > 0,
            limit => self.high_bytes >= u64::from(limit) * 4096,
        }
    }

    /// Returns the queue to send from; sends the packet if `is_sent`.
    fn step(&mut self, eligible: u32, heads: &[Head; 32], is_sent: bool) -> Option<u8> {
        let queues: Vec<u8> = (0..32).filter(|q| eligible >> q & 1 == 1).collect();
        let vl_of = |queue: u8| heads[usize::from(queue)].vl.0;
        let oldest_of = |vl: u8| {
            let of_lane = queues.iter().copied().filter(|&q| vl_of(q) == vl);
            of_lane.min_by_key(|&q| (heads[usize::from(q)].born, q))
        };
        if let Some(queue) = oldest_of(15) {
            return Some(queue);
        }
        let mut has_packet = [false; 32];
        for &queue in &queues {
            has_packet[usize::from(vl_of(queue))] = true;
        }
        let any = |table: &Table| queues.iter().any(|&q| table.can_send(vl_of(q)));
        let (any_high, any_low) = (any(&self.high), any(&self.low));
        let is_high = match (any_high, any_low) {
            (false, false) => return None,
            (true, true) => !self.limit_is_spent(),
            (any_high, _) => any_high,
        };
        let table = if is_high {
            &mut self.high
        } else {
            &mut self.low
        };
        let (at, counter) = table.select(&has_packet);
        let queue = oldest_of(table.entries[at].0).expect("the lane has a packet");
        if is_sent {
            let bytes = heads[usize::from(queue)].bytes;
            table.at = Some(at);
            table.counter = counter - i64::from(bytes.div_ceil(64));
            if is_high {
                self.high_bytes += u64::from(bytes);
            } else {
                self.high_bytes = 0;
            }
        }
        Some(queue)
    }
}

/// Entries as lane and weight.
type Pairs = Vec<(u8, u8)>;

/// Weights near zero, near a packet, and the largest.
fn entries(n_vls: u8) -> impl Strategy<Value = Pairs> {
    let weight = prop_oneof![Just(0u8), 1u8..4, 1u8..=255, Just(255u8)];
    let length = prop_oneof![0usize..6, 0usize..=64];
    length.prop_flat_map(move |n| prop::collection::vec((0..n_vls, weight.clone()), n))
}

/// One decision: the eligible queues, and whether the packet is then sent.
#[derive(Clone, Debug)]
struct Moment {
    eligible: u32,
    is_sent: bool,
    /// The queue whose head changes before it, with lane, length and birth.
    queue: usize,
    vl: u8,
    bytes: u32,
    born: u64,
}

fn moments(n_vls: u8) -> impl Strategy<Value = Vec<Moment>> {
    let few = prop::collection::vec(0u32..32, 0..4)
        .prop_map(|queues| queues.into_iter().fold(0, |mask, q| mask | 1 << q));
    let eligible = prop_oneof![few, any::<u32>(), any::<u32>().prop_map(|m| m & 0xff)];
    // Sometimes a lane beyond the tables, and rarely management.
    let vl = prop_oneof![40 => 0..n_vls, 2 => 0u8..15, 1 => 15u8..18];
    let bytes = prop_oneof![1u32..200, 1u32..5000, 1u32..100_000];
    let moment = (
        eligible,
        prop::bool::weighted(0.8),
        0usize..32,
        vl,
        bytes,
        0u64..8,
    )
        .prop_map(|(eligible, is_sent, queue, vl, bytes, born)| Moment {
            eligible,
            is_sent,
            queue,
            vl,
            bytes,
            born,
        });
    prop::collection::vec(moment, 1..300)
}

fn limits() -> impl Strategy<Value = u8> {
    prop_oneof![0u8..4, Just(254u8), Just(255u8), any::<u8>()]
}

fn scenario() -> impl Strategy<Value = (Pairs, Pairs, u8, Vec<Moment>)> {
    (1u8..=15).prop_flat_map(|n_vls| (entries(n_vls), entries(n_vls), limits(), moments(n_vls)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_arbiter_does_what_the_rules_say((high, low, limit, moments) in scenario()) {
        let table = |pairs: &[(u8, u8)]| VlArbitrationTable::from_pairs(pairs).unwrap();
        let mut arbiter = TwoTable::new(&table(&high), &table(&low), limit);
        let mut twin = Twin::new(&high, &low, limit);
        let mut heads = [Head { bytes: 64, ..Head::default() }; 32];
        for moment in moments {
            let head = &mut heads[moment.queue];
            head.vl = Vl(moment.vl);
            head.bytes = moment.bytes;
            head.born = Tick(moment.born);
            let view = View { eligible: moment.eligible, heads: &heads };
            let grant = arbiter.choose(&view);
            let expected = twin.step(moment.eligible, &heads, moment.is_sent);
            prop_assert_eq!(grant.map(|g| g.queue), expected);
            if let Some(grant) = grant.filter(|_| moment.is_sent) {
                arbiter.commit(grant);
            }
        }
    }
}
