//! Bounds against the arbiters themselves: nobody ever waits longer, and the bounds are not far off.

use netloom_arbitration::{Arbiter, DTable, Head, N_QUEUES, Policy, TwoTable, View};
use proptest::prelude::*;

use super::*;
use crate::qos::dtable;
use crate::qos::placement::Spacing;
use netloom_units::Ratio;

/// The table of V000-8 and the message sizes of its classes.
fn table_4() -> (DeficitTable, PacketSizes) {
    let class = |(sl, (distance, mtu, share)): (usize, (usize, u32, u128))| dtable::Class {
        name: format!("SL{sl}"),
        sl: Sl(sl as u8),
        spacing: Spacing::Distance(distance),
        mtu,
        share: Ratio::new(share, 1000),
    };
    let rows = [
        (2, 3, 94),
        (4, 2, 164),
        (8, 32, 300),
        (16, 32, 350),
        (32, 16, 40),
        (64, 16, 36),
        (64, 16, 16),
    ];
    let mut needs = dtable::Needs::new(rows.into_iter().enumerate().map(class).collect());
    needs.total = Some(1072);
    let table = dtable::plan(&needs).unwrap().table;
    (
        table,
        sizes(&rows.map(|(_, mtu, _)| u64::from(mtu) * 64), 0),
    )
}

fn sizes(largest: &[u64], management: u64) -> PacketSizes {
    let mut all = [Bytes(0); N_SLS];
    for (slot, &bytes) in all.iter_mut().zip(largest) {
        *slot = Bytes(bytes);
    }
    PacketSizes {
        largest: all,
        management: Bytes(management),
    }
}

/// A small generator, so that a failure can be repeated from its seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    /// A length in bytes: mostly one of the extremes, which is where bounds are met.
    fn length(&mut self, largest: u64) -> u32 {
        let credits = largest.div_ceil(64);
        let bytes = match self.below(4) {
            0 | 1 => largest,
            2 => 64 * (1 + self.below(credits)),
            _ => 64,
        };
        bytes.min(largest) as u32
    }
}

/// The longest wait of `class` in `n` decisions of an arbiter, in bytes: all others are backlogged, the class
/// comes and goes. With `behind_own` a head counts as present from the start of its predecessor, otherwise
/// from its end.
fn longest_wait(
    arbiter: &mut dyn Arbiter,
    sizes: &PacketSizes,
    class: usize,
    (seed, n, behind_own): (u64, usize, bool),
) -> u64 {
    let mut draws = Draws(seed);
    let mut heads = [Head::default(); N_QUEUES];
    let mut eligible = 0u32;
    for (queue, head) in heads.iter_mut().enumerate().take(N_SLS) {
        head.sl = Sl(queue as u8);
        head.vl = Vl(queue as u8);
        if sizes.of(queue) > 0 {
            head.bytes = draws.length(sizes.of(queue));
            eligible |= 1 << queue;
        }
    }
    let (mut now, mut since, mut longest) = (0u64, 0u64, 0u64);
    let mut asleep = 0u64;
    for _ in 0..n {
        let is_present = asleep == 0;
        let view = View {
            eligible: if is_present {
                eligible
            } else {
                eligible & !(1 << class)
            },
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            asleep = 0;
            since = now;
            continue;
        };
        arbiter.commit(grant);
        let queue = usize::from(grant.queue);
        let bytes = u64::from(heads[queue].bytes);
        if queue == class {
            longest = longest.max(now - since);
            since = if behind_own { now } else { now + bytes };
            // It stays, or goes for some decisions.
            asleep = draws.below(2) * draws.below(60);
        } else if asleep > 0 {
            asleep -= 1;
            // Its next head appears right after this decision.
            since = now;
        }
        heads[queue].bytes = draws.length(sizes.of(queue));
        now += bytes;
    }
    longest
}

#[test]
fn v000_13_worst_gaps() {
    let (table, sizes) = table_4();
    // The vector counts every entry with the largest weight of its class.
    let heaviest = |sl| {
        let own = table.entries().iter().filter(|e| e.sl == sl);
        own.map(|e| e.weight).max().unwrap()
    };
    let level = |e: &SlEntry| SlEntry {
        sl: e.sl,
        weight: heaviest(e.sl),
    };
    let levelled = DeficitTable::new(table.entries().iter().map(level).collect()).unwrap();
    let expected = [125, 135, 166, 246, 623, 1164, 1186];
    for (sl, expected) in expected.into_iter().enumerate() {
        let gap = |table| dtable_gap(table, &sizes, Sl(sl as u8)).unwrap();
        assert_eq!(gap(&levelled), expected, "SL{sl}");
        assert!(gap(&table) <= expected);
        // No run of the arbiter passes it, and some come near.
        let mut longest = 0;
        for seed in 0..8 {
            let mut arbiter = DTable {
                table: table.clone(),
            }
            .build();
            let run = (seed, 60_000, false);
            longest = longest.max(longest_wait(arbiter.as_mut(), &sizes, sl, run) / 64);
        }
        assert!(longest <= gap(&table), "SL{sl} waited {longest}");
        assert!(
            longest * 10 >= gap(&table) * 8,
            "SL{sl} waited only {longest} of {}",
            gap(&table)
        );
    }
}

#[test]
fn a_bound_is_the_sum_of_its_parts() {
    let (table, mut sizes) = table_4();
    sizes.management = Bytes(290);
    let Wait::AtMost(bound) = dtable_wait(&table, &sizes, Sl(0)) else {
        panic!("NC has entries");
    };
    assert_eq!(bound.total(), Bytes(192 + 125 * 64 + 290));
    let nanos = bound.time(Rate(100_000_000_000)).as_nanos();
    assert_eq!(format!("{nanos:.2}"), "678.56");
    assert!(matches!(
        dtable_wait(&table, &sizes, Sl(9)),
        Wait::Unbounded(_)
    ));
}

#[test]
fn a_weight_below_a_message_waits_for_several_turns() {
    let table = DeficitTable::from_pairs(&[(0, 1), (1, 4)]).unwrap();
    // Three turns for three credits: 3 times 4, and a deficit of up to one credit.
    assert_eq!(dtable_gap(&table, &sizes(&[192, 128], 0), Sl(0)), Some(13));
    assert_eq!(dtable_gap(&table, &sizes(&[64, 128], 0), Sl(0)), Some(5));
    assert_eq!(dtable_gap(&table, &sizes(&[64, 0], 0), Sl(0)), Some(0));
}

fn ib(high: &[(u8, u8)], low: &[(u8, u8)], limit: u8, vl: u8) -> Wait {
    let [high, low] = [high, low].map(|pairs| VlArbitrationTable::from_pairs(pairs).unwrap());
    let tables = IbTables {
        high: &high,
        low: &low,
        limit,
    };
    ib_wait(tables, &sizes(&[64, 2048, 4096], 290), Vl(vl))
}

fn total(wait: Wait) -> Option<u64> {
    match wait {
        Wait::AtMost(bound) => Some(bound.total().0),
        Wait::Unbounded(_) => None,
    }
}

#[test]
fn infiniband_by_hand() {
    // VL1 may begin with 63 of 64 units sent: 63 * 64 + 2048 bytes, then an own and a management packet.
    assert_eq!(
        total(ib(&[(0, 1), (1, 64)], &[], 0, 0)),
        Some(64 + 6080 + 290)
    );
    // A low packet can be in flight, and no more without a limit.
    assert_eq!(total(ib(&[(0, 1)], &[(2, 9)], 255, 0)), Some(4096 + 290));
    // Limit 0: one low packet after each high one, at most one before every own turn.
    assert_eq!(total(ib(&[(0, 1)], &[(2, 9)], 0, 0)), Some(64 + 4096 + 290));
    // The low table waits for a burst before its packet: 4095 bytes and a packet that begins then.
    assert_eq!(
        total(ib(&[(1, 64)], &[(0, 1)], 1, 0)),
        Some(64 + 4095 + 2048 + 290)
    );
    assert_eq!(total(ib(&[(1, 64)], &[(0, 1)], 255, 0)), None);
    assert_eq!(total(ib(&[(1, 64)], &[], 0, 0)), None);
    // In both tables the earlier counts.
    assert_eq!(
        total(ib(&[(1, 64), (0, 1)], &[(0, 1)], 255, 0)),
        Some(64 + 6080 + 290)
    );
}

fn pairs(most: u64) -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0u8..4, 0u8..20), 0..most as usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_lane_waits_longer_than_its_bound(
        high in pairs(6), low in pairs(6), limit in prop::sample::select(vec![0u8, 1, 2, 255]), seed: u64,
    ) {
        let [high, low] = [high, low].map(|p| VlArbitrationTable::from_pairs(&p).unwrap());
        let sizes = sizes(&[64, 300, 1024, 2048], 0);
        for vl in 0..4u8 {
            let tables = IbTables { high: &high, low: &low, limit };
            let Some(bound) = total(ib_wait(tables, &sizes, Vl(vl))) else { continue };
            let mut arbiter = TwoTable::new(&high, &low, limit);
            let run = (seed, 3000, true);
            let longest = longest_wait(&mut arbiter, &sizes, vl.into(), run);
            prop_assert!(longest <= bound, "VL{} waited {} of {}", vl, longest, bound);
        }
    }

    #[test]
    fn no_service_level_waits_longer_than_its_bound(
        entries in prop::collection::vec((0u8..4, 0u16..20), 1..8), seed: u64,
    ) {
        let table = DeficitTable::from_pairs(&entries).unwrap();
        let sizes = sizes(&[64, 320, 1024, 2048], 0);
        for sl in 0..4u8 {
            let Some(bound) = total(dtable_wait(&table, &sizes, Sl(sl))) else { continue };
            let mut arbiter = DTable { table: table.clone() }.build();
            let run = (seed, 3000, true);
            let longest = longest_wait(arbiter.as_mut(), &sizes, sl.into(), run);
            prop_assert!(longest <= bound, "SL{} waited {} of {}", sl, longest, bound);
        }
    }
}
