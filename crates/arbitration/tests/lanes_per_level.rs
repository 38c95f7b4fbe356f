//! A service level on several lanes: its lanes take turns, it is served if any of them can be, and
//! its share belongs to the level as a whole.

use std::collections::VecDeque;

use netloom_arbitration::{
    Arbiter, BxiDeficit, BxiTable, DTable, DeficitTable, Head, Policy, Scfq, SlEntry, TurnsOf,
    View, WeightUnit, WeightedRoundRobin, Wfq,
};
use netloom_units::{Bytes, Sl, Tick, Vl};

/// SL0 on the first two queues, SL1 on the third.
const LEVELS: [u8; 3] = [0, 0, 1];

/// Returns every arbiter by service level, with three parts of the bytes for SL0 and one for SL1.
fn three_to_one() -> Vec<(&'static str, Box<dyn Policy>)> {
    let entries = || {
        [(0, 48), (1, 32), (0, 48)]
            .map(|(sl, weight)| SlEntry { sl: Sl(sl), weight })
            .to_vec()
    };
    let weights = || {
        [(0, 3), (1, 1)]
            .map(|(sl, weight)| SlEntry { sl: Sl(sl), weight })
            .to_vec()
    };
    vec![
        (
            "dtable",
            Box::new(DTable {
                table: DeficitTable::new(entries()).unwrap(),
            }),
        ),
        (
            "bxi-table",
            Box::new(BxiTable {
                table: entries(),
                k: 1,
                flit: Bytes(64),
            }),
        ),
        (
            "bxi-deficit",
            Box::new(BxiDeficit {
                table: entries(),
                k: 1,
                flit: Bytes(64),
            }),
        ),
        (
            "weighted-round-robin",
            Box::new(WeightedRoundRobin {
                weights: vec![(0, 3 * 20_480), (1, 20_480)],
                by: TurnsOf::Sls,
                unit: WeightUnit::Bytes,
            }),
        ),
        ("scfq", Box::new(Scfq { weights: weights() })),
        ("wfq", Box::new(Wfq { weights: weights() })),
    ]
}

/// Returns the packets sent by each queue in a number of decisions, in each of which the queues of
/// `eligible` can send. Every queue always has four packets of its own length, in flits of 64
/// bytes.
fn sent(
    arbiter: &mut dyn Arbiter,
    flits: [u32; 3],
    announces: bool,
    eligible: &[u32],
    decisions: usize,
) -> [u64; 3] {
    let mut queues: [VecDeque<Head>; 3] = Default::default();
    let mut now = 0;
    let mut join = |queue: usize, arbiter: &mut dyn Arbiter, waiting: &mut VecDeque<Head>| {
        let head = Head {
            born: Tick(now),
            bytes: flits[queue] * 64,
            sl: Sl(LEVELS[queue]),
            vl: Vl(queue as u8),
        };
        now += 1;
        if announces {
            arbiter.arrived(queue as u8, &head);
        }
        waiting.push_back(head);
    };
    for _ in 0..4 {
        for (at, queue) in queues.iter_mut().enumerate() {
            join(at, arbiter, queue);
        }
    }
    let mut sent = [0; 3];
    for decision in 0..decisions {
        let mut heads = [Head::default(); 32];
        for (head, queue) in heads.iter_mut().zip(&queues) {
            *head = queue[0];
        }
        let eligible = eligible[decision % eligible.len()];
        let view = View {
            eligible,
            heads: &heads,
        };
        let grant = arbiter.choose(&view).expect("work conserving");
        arbiter.commit(grant);
        let at = usize::from(grant.queue);
        assert!(
            eligible >> at & 1 == 1,
            "a queue without credits was served"
        );
        sent[at] += 1;
        queues[at].pop_front();
        join(at, arbiter, &mut queues[at]);
    }
    sent
}

fn share_of_sl0(sent: [u64; 3], flits: [u32; 3]) -> f64 {
    let of = |queue: usize| sent[queue] as f64 * f64::from(flits[queue]);
    (of(0) + of(1)) / (of(0) + of(1) + of(2))
}

fn is_fair_queueing(name: &str) -> bool {
    matches!(name, "scfq" | "wfq")
}

#[test]
fn g000_8_both_lanes_of_a_level_have_turns_and_the_level_its_share() {
    // Lengths that divide every turn, because bxi-table and round robin lose or exceed the rest.
    for flits in [[4, 4, 4], [8, 2, 4], [2, 8, 16]] {
        for (name, policy) in three_to_one() {
            for announces in [true, false] {
                let sent = sent(&mut *policy.build(), flits, announces, &[0b111], 40_000);
                let what = format!("{name}, {flits:?}, announced {announces}: {sent:?}");
                let share = share_of_sl0(sent, flits);
                assert!((share - 0.75).abs() < 0.02, "{what}: {share}");
                assert!(sent[0].min(sent[1]) * 4 > sent[0].max(sent[1]), "{what}");
                if !is_fair_queueing(name) {
                    assert!(sent[0].abs_diff(sent[1]) <= 1, "{what}: turns");
                }
            }
        }
    }
}

#[test]
fn spec_1_2_3_a_level_is_served_while_any_of_its_lanes_has_credits() {
    let flits = [4, 4, 4];
    for (name, policy) in three_to_one() {
        for announces in [true, false] {
            // One lane has no credits at all: the other gets the whole share of the level.
            let one = sent(&mut *policy.build(), flits, announces, &[0b101], 40_000);
            let what = format!("{name}, announced {announces}: {one:?}");
            assert_eq!(one[1], 0, "{what}");
            assert!((share_of_sl0(one, flits) - 0.75).abs() < 0.02, "{what}");
            // The two lanes alternate.
            let turns = [0b101, 0b101, 0b101, 0b110, 0b110];
            let both = sent(&mut *policy.build(), flits, announces, &turns, 40_000);
            let what = format!("{name}, announced {announces}: {both:?}");
            assert!(both.iter().all(|&n| n > 4_000), "{what}");
            assert!((share_of_sl0(both, flits) - 0.75).abs() < 0.03, "{what}");
        }
    }
}
