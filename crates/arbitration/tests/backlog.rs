//! One link with everything to send: every service level always has a packet, and the shares are
//! counted.

#![expect(
    clippy::approx_constant,
    reason = "6.28 is an expected share, not 2 * pi"
)]

use std::collections::VecDeque;

use netloom_arbitration::{
    Arbiter, BxiDeficit, BxiTable, DTable, DeficitRoundRobin, DeficitTable, Head, IbTwoTable,
    N_SLS, Policy, RoundRobin, Scfq, SlEntry, TurnsOf, View, VlArbitrationTable, WeightUnit,
    WeightedRoundRobin, Wfq,
};
use netloom_units::{Bytes, Sl, Tick, Vl};

/// A link with one queue per service level; service level, lane and queue have the same number.
struct Link {
    arbiter: Box<dyn Arbiter>,
    queues: Vec<VecDeque<Head>>,
    /// Whether packets that join a queue are announced to the arbiter, as in a switch; in a NIC
    /// they are not.
    announces: bool,
    now: u64,
}

/// Packets in each queue: more than the lead of a fluid system.
const BACKLOG: usize = 200;

impl Link {
    fn new(policy: &dyn Policy, n_classes: usize) -> Link {
        Link {
            arbiter: policy.build(),
            queues: vec![VecDeque::new(); n_classes],
            announces: true,
            now: 0,
        }
    }

    /// Sends `n_packets` packets, with lengths from `bytes` per class; calls `sent` with class and
    /// length.
    fn send(
        &mut self,
        n_packets: usize,
        mut bytes: impl FnMut(usize) -> u32,
        mut sent: impl FnMut(usize, u32),
    ) {
        for class in 0..self.queues.len() {
            for _ in 0..BACKLOG {
                self.join(class, bytes(class));
            }
        }
        let mut heads = [Head::default(); 32];
        for (head, queue) in heads.iter_mut().zip(&self.queues) {
            *head = queue[0];
        }
        for _ in 0..n_packets {
            let view = View {
                eligible: (1 << self.queues.len()) - 1,
                heads: &heads,
            };
            let grant = self.arbiter.choose(&view).expect("work conserving");
            self.arbiter.commit(grant);
            let class = usize::from(grant.queue);
            sent(class, heads[class].bytes);
            self.join(class, bytes(class));
            self.queues[class].pop_front();
            heads[class] = self.queues[class][0];
        }
    }

    fn join(&mut self, class: usize, bytes: u32) {
        self.now += 1;
        let head = Head {
            born: Tick(self.now),
            bytes,
            sl: Sl(class as u8),
            vl: Vl(class as u8),
        };
        if self.announces {
            self.arbiter.arrived(class as u8, &head);
        }
        self.queues[class].push_back(head);
    }
}

/// Returns the share of each class in percent of the bytes, with packets of a fixed length per
/// class.
fn shares(policy: &dyn Policy, bytes: &[u32], n_packets: usize) -> Vec<f64> {
    let mut totals = vec![0u64; bytes.len()];
    let mut link = Link::new(policy, bytes.len());
    link.send(
        n_packets,
        |class| bytes[class],
        |class, bytes| totals[class] += u64::from(bytes),
    );
    percent(&totals)
}

/// Returns the same with lengths of 1 to 64 flits of 64 bytes, of another distribution for each
/// class.
fn shares_of_mixed_sizes(mut link: Link, n_packets: usize) -> Vec<f64> {
    let n_classes = link.queues.len();
    let mut totals = vec![0u64; n_classes];
    let mut seed = 1u64;
    let mut random = move |n: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let mut flits = move |class: usize| match class % 4 {
        0 => 1 + random(64),
        1 => [1, 64][random(2) as usize],
        2 => 33 + random(32),
        _ => 1 + random(3),
    };
    link.send(
        n_packets,
        |class| flits(class) as u32 * 64,
        |class, bytes| totals[class] += u64::from(bytes),
    );
    percent(&totals)
}

fn percent(totals: &[u64]) -> Vec<f64> {
    let whole: u64 = totals.iter().sum();
    let part = |&total: &u64| 100.0 * total as f64 / whole as f64;
    totals.iter().map(part).collect()
}

/// Checks that all shares are within `tolerance` percentage points.
#[track_caller]
fn check(what: &str, shares: &[f64], expected: &[f64], tolerance: f64) {
    let is_near = |(share, expected): (&f64, &f64)| (share - expected).abs() <= tolerance;
    assert!(
        shares.len() == expected.len() && shares.iter().zip(expected).all(is_near),
        "{what}: {shares:.3?}, expected {expected:?} within {tolerance}"
    );
}

// ---- DTable (paper 000) ----

/// Returns Table 4 of paper 000: 64 slots, powers of two apart, the larger weights of a service
/// level first.
fn table_4() -> DeficitTable {
    let mut weights = [
        [vec![4; 5], vec![3; 27]].concat(),
        vec![11; 16],
        [vec![41; 2], vec![40; 6]].concat(),
        vec![94, 94, 94, 93],
        vec![22, 21],
        vec![39],
        vec![17],
    ]
    .map(Vec::into_iter);
    let entry = |slot: usize| {
        let sl = match slot {
            31 => 5,
            63 => 6,
            _ => slot.trailing_ones() as usize,
        };
        (sl as u8, weights[sl].next().expect("as many as slots"))
    };
    DeficitTable::from_pairs(&(0..64).map(entry).collect::<Vec<_>>()).unwrap()
}

/// Credits of 64 bytes: NC, VO, VI, CL, EE, BE, BK.
const MESSAGES: [u32; 7] = [3, 2, 32, 32, 16, 16, 16];

fn messages() -> [u32; 7] {
    MESSAGES.map(|credits| credits * 64)
}

#[test]
fn v000_2_equal_totals_are_equal_bandwidth() {
    // SL0 every 2nd slot with weight 2, SL1 every 4th with weight 4, SL2 in the rest.
    let entry = |slot: usize| match slot % 4 {
        0 | 2 => (0, 2),
        1 => (1, 4),
        _ => (2, 3),
    };
    let table = DeficitTable::from_pairs(&(0..64).map(entry).collect::<Vec<_>>()).unwrap();
    assert_eq!(table.totals()[..3], [64, 64, 48]);
    let shares = shares(&DTable { table }, &[64, 192, 128], 200_000);
    let third = [
        100.0 * 64.0 / 176.0,
        100.0 * 64.0 / 176.0,
        100.0 * 48.0 / 176.0,
    ];
    check("thirds", &shares, &third, 0.05);
}

#[test]
fn v000_8_total_weights() {
    let table = table_4();
    assert_eq!(table.totals()[..7], [101, 176, 322, 375, 43, 39, 17]);
    assert_eq!(table.totals().iter().sum::<u64>(), 1073);
}

#[test]
fn v000_9_placement() {
    let table = table_4();
    let places: [(usize, usize, u8); 7] = [
        (2, 0, 0),
        (4, 1, 1),
        (8, 3, 2),
        (16, 7, 3),
        (32, 15, 4),
        (64, 31, 5),
        (64, 63, 6),
    ];
    for (every, first, sl) in places {
        let slots = (first..64).step_by(every);
        assert!(slots.clone().all(|slot| table.entries()[slot].sl == Sl(sl)));
        let of_sl = table.entries().iter().filter(|e| e.sl == Sl(sl));
        assert_eq!(of_sl.count(), slots.count());
    }
}

#[test]
fn v000_10_dtable_keeps_the_shares_of_table_4() {
    let shares = shares(&DTable { table: table_4() }, &messages(), 200_000);
    let reference = [9.41, 16.40, 30.01, 34.95, 4.01, 3.63, 1.58];
    check("reference", &shares, &reference, 0.02);
    let configured: Vec<f64> = table_4().shares()[..7].iter().map(|s| s * 100.0).collect();
    check("configured", &shares, &configured, 0.1);
}

#[test]
fn v000_11_native_infiniband_does_not() {
    let pairs: Vec<(u8, u8)> = table_4()
        .entries()
        .iter()
        .map(|e| (e.sl.0, e.weight as u8))
        .collect();
    let policy = IbTwoTable {
        high: VlArbitrationTable::from_pairs(&pairs).unwrap(),
        low: VlArbitrationTable::default(),
        limit: 255,
    };
    let shares = shares(&policy, &messages(), 200_000);
    let reference = [8.27, 14.30, 38.12, 28.59, 4.77, 3.57, 2.38];
    check("reference", &shares, &reference, 0.02);
}

/// Returns the maximum that others can send between two turns of a service level: for each entry
/// between, the largest weight of its service level, and for each service level between, a deficit
/// just below one message.
fn worst_gap(table: &DeficitTable, sl: Sl) -> u32 {
    let entries = table.entries();
    let largest_weight = |sl: Sl| {
        let of_sl = entries.iter().filter(|e| e.sl == sl);
        of_sl.map(|e| u32::from(e.weight)).max().unwrap()
    };
    let own: Vec<usize> = (0..entries.len())
        .filter(|&i| entries[i].sl == sl)
        .collect();
    let gap = |&slot: &usize| {
        let between = (1..=entries.len()).map(|i| entries[(slot + i) % entries.len()].sl);
        let between: Vec<Sl> = between.take_while(|&other| other != sl).collect();
        let weights: u32 = between.iter().map(|&sl| largest_weight(sl)).sum();
        let with_deficit = (0..7).filter(|&other| between.contains(&Sl(other)));
        let deficits: u32 = with_deficit.map(|sl| MESSAGES[usize::from(sl)] - 1).sum();
        weights + deficits
    };
    own.iter().map(gap).max().unwrap()
}

#[test]
fn v000_13_worst_gaps_follow_the_distance() {
    let table = table_4();
    let bounds: Vec<u32> = (0..7).map(|sl| worst_gap(&table, Sl(sl))).collect();
    assert_eq!(bounds, [125, 135, 166, 246, 623, 1164, 1186]);
    // No run has a longer wait.
    let (mut since, mut worst) = ([0u32; 7], [0u32; 7]);
    Link::new(&DTable { table }, 7).send(
        500_000,
        |class| messages()[class],
        |class, bytes| {
            worst[class] = worst[class].max(since[class]);
            since = since.map(|credits| credits + bytes / 64);
            since[class] = 0;
        },
    );
    for sl in 0..7 {
        assert!(
            worst[sl] <= bounds[sl],
            "SL{sl}: {} > {}",
            worst[sl],
            bounds[sl]
        );
        assert!(
            worst[sl] * 10 >= bounds[sl] * 6,
            "SL{sl}: {} is far below",
            worst[sl]
        );
    }
}

#[test]
fn c000_12_the_accumulator_of_table_4_has_8_bits() {
    let mut largest = [0; N_SLS];
    largest[..7].copy_from_slice(&MESSAGES);
    assert_eq!(table_4().largest_accumulator(&largest), 125);
    assert!(table_4().fits_ib_registers(&largest));
}

// ---- BXI (paper 003) ----

#[derive(Clone, Copy, PartialEq, Debug)]
enum Bxi {
    Basic,
    Corrected,
}

fn bxi(kind: Bxi, pairs: &[(u8, u16)], k: u32, flit: u64) -> Box<dyn Policy> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    let table = pairs.iter().map(entry).collect();
    let flit = Bytes(flit);
    match kind {
        Bxi::Basic => Box::new(BxiTable { table, k, flit }),
        Bxi::Corrected => Box::new(BxiDeficit { table, k, flit }),
    }
}

/// Returns the shares of two queues with these quanta and packets, in flits.
fn two(kind: Bxi, quanta: [u16; 2], packets: [u32; 2]) -> Vec<f64> {
    let policy = bxi(kind, &[(0, quanta[0]), (1, quanta[1])], 1, 64);
    shares(&*policy, &packets.map(|flits| flits * 64), 200_000)
}

#[test]
fn v003_1_shares_are_those_of_the_weights() {
    let policy = bxi(Bxi::Corrected, &[(0, 5), (1, 3), (2, 2)], 100, 64);
    let shares = shares(&*policy, &[64 * 64, 48 * 64, 80 * 64], 200_000);
    check("quanta", &shares, &[50.0, 30.0, 20.0], 0.02);
}

#[test]
fn v003_13_1500_of_1000_against_1500_of_500() {
    for (kind, expected) in [(Bxi::Basic, [40.0, 60.0]), (Bxi::Corrected, [50.0, 50.0])] {
        let shares = two(kind, [1500, 1500], [1000, 500]);
        check(&format!("{kind:?}"), &shares, &expected, 0.01);
    }
}

#[test]
fn v003_15_quanta_6_and_4_packets_4_and_3() {
    for (kind, expected) in [(Bxi::Basic, [57.1, 42.9]), (Bxi::Corrected, [60.0, 40.0])] {
        check(
            &format!("{kind:?}"),
            &two(kind, [6, 4], [4, 3]),
            &expected,
            0.05,
        );
    }
}

#[test]
fn v003_16_a_packet_above_its_quantum() {
    check(
        "basic",
        &two(Bxi::Basic, [3, 4], [4, 3]),
        &[0.0, 100.0],
        0.0,
    );
    let shares = two(Bxi::Corrected, [3, 4], [4, 3]);
    check("corrected", &shares, &[300.0 / 7.0, 400.0 / 7.0], 0.01);
}

/// The weights of the three synthetic scenarios, and their shares.
const SCENARIOS: [(&str, [u16; 5], [f64; 5]); 3] = [
    ("fair", [1, 1, 1, 1, 1], [20.0; 5]),
    ("step", [5, 4, 3, 2, 1], [33.33, 26.67, 20.0, 13.33, 6.67]),
    (
        "2powers",
        [16, 8, 4, 2, 1],
        [51.61, 25.81, 12.90, 6.45, 3.23],
    ),
];

/// 1 to 5 KiB.
const PACKETS: [u32; 5] = [1024, 2048, 3072, 4096, 5120];

/// Returns one entry per service level, k = 1024.
fn plain(kind: Bxi, weights: [u16; 5]) -> Box<dyn Policy> {
    let pairs: Vec<(u8, u16)> = (0..).zip(weights).collect();
    bxi(kind, &pairs, 1024, 64)
}

/// Returns 31 entries, 16 of SL0 down to one of SL4, with the weight of a service level divided
/// among its entries. The weights are in flits here, so k is 1.
fn tuned(kind: Bxi, weights: [u16; 5]) -> Box<dyn Policy> {
    let entry = |slot: usize| {
        let sl = slot.trailing_ones();
        (sl as u8, weights[sl as usize] * 1024 / (16 >> sl))
    };
    bxi(kind, &(0..31).map(entry).collect::<Vec<_>>(), 1, 64)
}

#[test]
fn v003_18_basic_with_one_entry_per_sl() {
    let expected = [
        [20.32, 20.32, 20.00, 20.32, 19.05],
        [33.47, 26.78, 20.08, 13.39, 6.28],
        [51.74, 25.87, 12.89, 6.47, 3.03],
    ];
    for ((name, weights, _), expected) in SCENARIOS.into_iter().zip(expected) {
        // A turn around the table has at least 556 packets, so a partial turn must not count.
        let shares = shares(&*plain(Bxi::Basic, weights), &PACKETS, 2_000_000);
        check(name, &shares, &expected, 0.02);
    }
}

#[test]
fn v003_19_basic_tuned_for_latency() {
    let expected = [
        [20.51, 20.51, 19.23, 20.51, 19.23],
        [33.47, 26.78, 20.08, 13.39, 6.28],
        [51.82, 25.91, 12.75, 6.48, 3.04],
    ];
    for ((name, weights, _), expected) in SCENARIOS.into_iter().zip(expected) {
        let shares = shares(&*tuned(Bxi::Basic, weights), &PACKETS, 2_000_000);
        check(name, &shares, &expected, 0.02);
    }
}

#[test]
fn v003_20_deficits_meet_the_targets() {
    for (name, weights, expected) in SCENARIOS {
        for policy in [
            plain(Bxi::Corrected, weights),
            tuned(Bxi::Corrected, weights),
        ] {
            let shares = shares(&*policy, &PACKETS, 2_000_000);
            check(name, &shares, &expected, 0.02);
        }
    }
}

/// Returns what each class receives, in percent of the link, when it generates evenly spaced
/// packets of `PACKETS` bytes at `generated` percent of the link.
fn received(policy: &dyn Policy, generated: [u64; 5]) -> Vec<f64> {
    let mut arbiter = policy.build();
    let mut heads = [Head::default(); 32];
    for (sl, head) in (0..5).zip(&mut heads) {
        head.sl = Sl(sl);
        head.vl = Vl(sl);
        head.bytes = PACKETS[usize::from(sl)];
    }
    // Time is in bytes of the link.
    let (mut now, mut sent) = (0u64, [0u64; 5]);
    while now < 100_000_000 {
        let waits = |&class: &usize| {
            let bytes = u64::from(PACKETS[class]);
            now * generated[class] / 100 >= sent[class] + bytes
        };
        let eligible = (0..5)
            .filter(waits)
            .fold(0, |mask, class| mask | 1 << class);
        let view = View {
            eligible,
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            now += 64;
            continue;
        };
        arbiter.commit(grant);
        let class = usize::from(grant.queue);
        sent[class] += u64::from(PACKETS[class]);
        now += u64::from(PACKETS[class]);
    }
    let part = |sent: u64| 100.0 * sent as f64 / now as f64;
    sent.map(part).to_vec()
}

#[test]
fn v003_21_round_robin_gives_what_is_generated_to_the_modest() {
    for (generated, expected) in [
        ([20, 20, 20, 20, 20], [20.0; 5]),
        ([35, 28, 21, 15, 8], [28.0, 28.0, 21.0, 15.0, 8.0]),
        ([64, 32, 16, 8, 4], [40.0, 32.0, 16.0, 8.0, 4.0]),
    ] {
        check(
            "received",
            &received(&RoundRobin {}, generated),
            &expected,
            0.2,
        );
    }
}

// ---- All arbiters that keep a deficit ----

#[test]
fn deficits_give_every_class_its_share_whatever_the_sizes() {
    let weights = [40u16, 25, 20, 10, 5];
    let expected = [40.0, 25.0, 20.0, 10.0, 5.0];
    // Quanta far below, near, and above the packets of 64 flits; deficits for all of them.
    for k in [1u16, 4, 40] {
        let pairs: Vec<(u8, u16)> = (0..).zip(weights.map(|w| w * k)).collect();
        let bytes = pairs
            .iter()
            .map(|&(vl, w)| (vl, u32::from(w) * 64))
            .collect();
        let policies: [(&str, Box<dyn Policy>); 3] = [
            (
                "dtable",
                Box::new(DTable {
                    table: DeficitTable::from_pairs(&pairs).unwrap(),
                }),
            ),
            ("bxi-deficit", bxi(Bxi::Corrected, &pairs, 1, 64)),
            (
                "deficit-round-robin",
                Box::new(DeficitRoundRobin { quanta: bytes }),
            ),
        ];
        for (name, policy) in policies {
            let shares = shares_of_mixed_sizes(Link::new(&*policy, 5), 500_000);
            check(&format!("{name}, k = {k}"), &shares, &expected, 0.1);
        }
    }
}

#[test]
fn fair_queueing_gives_every_class_its_share_whatever_the_sizes() {
    let weights: Vec<SlEntry> = [40, 25, 20, 10, 5]
        .into_iter()
        .zip(0..)
        .map(|(weight, sl)| SlEntry { sl: Sl(sl), weight })
        .collect();
    let policies: [(&str, Box<dyn Policy>); 2] = [
        (
            "scfq",
            Box::new(Scfq {
                weights: weights.clone(),
            }),
        ),
        ("wfq", Box::new(Wfq { weights })),
    ];
    for (name, policy) in policies {
        for announces in [true, false] {
            let mut link = Link::new(&*policy, 5);
            link.announces = announces;
            let shares = shares_of_mixed_sizes(link, 500_000);
            let what = format!("{name}, announced: {announces}");
            check(&what, &shares, &[40.0, 25.0, 20.0, 10.0, 5.0], 0.1);
        }
    }
}

#[test]
fn weighted_round_robin_shares_packets_or_rounds_bytes_up() {
    let policy = |unit, weights: [u32; 2]| WeightedRoundRobin {
        weights: (0..).zip(weights).collect(),
        by: TurnsOf::Sls,
        unit,
    };
    // 3 x 1000 against 1 x 500 bytes per round.
    let packets = policy(WeightUnit::Packets, [3, 1]);
    let expected = [600.0 / 7.0, 100.0 / 7.0];
    check(
        "packets",
        &shares(&packets, &[1000, 500], 40_000),
        &expected,
        0.01,
    );
    // 2 x 1000 against 3 x 500 bytes per round of 1500 each.
    let bytes = policy(WeightUnit::Bytes, [1500, 1500]);
    let expected = [400.0 / 7.0, 300.0 / 7.0];
    check(
        "bytes",
        &shares(&bytes, &[1000, 500], 40_000),
        &expected,
        0.01,
    );
}
