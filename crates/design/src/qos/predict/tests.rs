//! Predictions compared with the arbiters themselves, all classes backlogged on one link.

#![expect(
    clippy::approx_constant,
    reason = "6.28 is an expected share, not 2 * pi"
)]

use netloom_arbitration::{
    Arbiter, BxiDeficit, BxiTable, DTable, DeficitTable, Head, N_QUEUES, Policy, QuantumTable,
    TwoTable, View, VlArbitrationTable,
};
use netloom_units::{Bytes, Sl, Vl};
use proptest::prelude::*;

use super::*;
use crate::qos::wait::IbTables;

/// Draws from a law, reproducible from a seed.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn size(&mut self, law: &SizeLaw) -> u32 {
        let mut rest = self.unit();
        for &(size, p) in law.sizes() {
            if rest < p {
                return size;
            }
            rest -= p;
        }
        law.largest().0 as u32
    }
}

/// The number of packets that averages out the draws.
const MANY: usize = 200_000;

/// Returns the share of each class while an arbiter sends at least `least` bytes and [`MANY`]
/// packets. Service level, lane and queue have the same number. If the arbiter stops, the shares
/// are those of what it has sent.
fn measured(arbiter: &mut dyn Arbiter, laws: &Laws, least: u64, seed: u64) -> [f64; N_SLS] {
    let mut draws = Draws(seed);
    let mut heads = [Head::default(); N_QUEUES];
    let mut eligible = 0;
    for (class, law) in laws.iter().enumerate() {
        let Some(law) = law else { continue };
        eligible |= 1 << class;
        heads[class].sl = Sl(class as u8);
        heads[class].vl = Vl(class as u8);
        heads[class].bytes = draws.size(law);
    }
    let (mut bytes, mut n_packets) = ([0u64; N_SLS], 0);
    while n_packets < MANY || bytes.iter().sum::<u64>() < least {
        n_packets += 1;
        let view = View {
            eligible,
            heads: &heads,
        };
        let Some(grant) = arbiter.choose(&view) else {
            break;
        };
        arbiter.commit(grant);
        let class = usize::from(grant.queue);
        bytes[class] += u64::from(heads[class].bytes);
        let law = laws[class].as_ref().expect("an eligible class has a law");
        heads[class].bytes = draws.size(law);
    }
    parts(bytes.map(|bytes| bytes as f64))
}

/// Returns whether all shares agree within `points`.
fn is_near(a: &[f64; N_SLS], b: &[f64; N_SLS], points: f64) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| (a - b).abs() * 100.0 <= points)
}

fn laws_of(laws: Vec<SizeLaw>) -> Laws {
    let mut all = Laws::default();
    for (slot, law) in all.iter_mut().zip(laws) {
        *slot = Some(law);
    }
    all
}

/// Returns one size per class, in units of 64 bytes.
fn fixed(units: &[u64]) -> Laws {
    laws_of(
        units
            .iter()
            .map(|u| SizeLaw::fixed(Bytes(u * 64)).unwrap())
            .collect(),
    )
}

#[track_caller]
fn check(name: &str, shares: [f64; N_SLS], percent: &[f64], tolerance: f64) {
    let mut expected = [0.0; N_SLS];
    for (slot, percent) in expected.iter_mut().zip(percent) {
        *slot = percent / 100.0;
    }
    assert!(
        is_near(&shares, &expected, tolerance),
        "{name}: {:.2?}, expected {percent:?}",
        shares.map(|share| share * 100.0)
    );
}

fn ib(
    high: &[(u8, u8)],
    low: &[(u8, u8)],
    limit: u8,
) -> (VlArbitrationTable, VlArbitrationTable, u8) {
    let table = |pairs| VlArbitrationTable::from_pairs(pairs).unwrap();
    (table(high), table(low), limit)
}

fn ib_predicted(
    tables: &(VlArbitrationTable, VlArbitrationTable, u8),
    laws: &Laws,
) -> [f64; N_SLS] {
    let (high, low, limit) = tables;
    let tables = IbTables {
        high,
        low,
        limit: *limit,
    };
    ib_shares(tables, laws)
}

/// Returns Table 4 of paper 000 as pairs: powers of two apart, the larger weights first.
fn table_4() -> Vec<(u8, u8)> {
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
        (sl as u8, weights[sl].next().unwrap())
    };
    (0..64).map(entry).collect()
}

#[test]
fn v000_10_and_11_table_4_with_and_without_deficits() {
    let laws = fixed(&[3, 2, 32, 32, 16, 16, 16]);
    let native = ib_predicted(&ib(&table_4(), &[], 255), &laws);
    let expected = [8.27, 14.30, 38.12, 28.59, 4.77, 3.57, 2.38];
    check("native", native, &expected, 0.005);
    let pairs: Vec<(u8, u16)> = table_4()
        .into_iter()
        .map(|(sl, w)| (sl, w.into()))
        .collect();
    let dtable = dtable_shares(&DeficitTable::from_pairs(&pairs).unwrap(), &laws);
    let expected = [9.41, 16.40, 30.01, 34.95, 4.01, 3.63, 1.58];
    check("dtable", dtable, &expected, 0.005);
}

#[test]
fn s5_2_4_weighted_round_robin_with_round_up() {
    let laws = fixed(&[64, 4]);
    for (weight, expected) in [(1, [94.1, 5.9]), (100, [56.1, 43.9])] {
        let shares = ib_predicted(&ib(&[], &[(0, weight), (1, weight)], 255), &laws);
        check("ib-two-table", shares, &expected, 0.05);
    }
    // 100 units: two packets of 64; of either size, 1 or 64, computed by hand for weights 1 to 3.
    assert_eq!(ib_visit_bytes(100, laws[0].as_ref().unwrap()), 8192.0);
    let mixed = SizeLaw::new(vec![(Bytes(64), 1.0), (Bytes(4096), 1.0)]).unwrap();
    let packets = [0, 1, 2, 3].map(|weight| ib_visit_bytes(weight, &mixed) / 2080.0);
    assert_eq!(packets, [0.0, 1.0, 1.5, 1.75]);
}

fn two(quanta: [u16; 2], packets: [u64; 2]) -> [[f64; N_SLS]; 2] {
    let table = QuantumTable::from_pairs(&[(0, quanta[0]), (1, quanta[1])], 1).unwrap();
    let laws = fixed(&packets);
    [
        bxi_shares(&table, Bytes(64), &laws),
        bxi_deficit_shares(&table, Bytes(64), &laws),
    ]
}

#[test]
fn v003_12_a_third_of_the_quantum_is_lost() {
    // Flits of 1 byte: 1000 of 1500 per visit.
    let law = SizeLaw::fixed(Bytes(1000)).unwrap();
    let visits = BxiVisits::new(&law, Bytes(1), 3000);
    assert_eq!(visits.bytes_per_lap(&[1500]), 1000.0);
    assert_eq!(visits.bytes_per_lap(&[1500, 1500]), 2000.0);
    assert_eq!(visits.bytes_per_lap(&[3000, 999]), 3000.0);
    assert_eq!(visits.bytes_per_lap(&[999]), 0.0);
    // By hand, 1 or 2 flits equally often in quanta of 2: a short head leaves a flit, which the
    // next head uses if it is short too. A long head follows a short one 3 times in 4, and a long
    // one 2 times in 4, so 3 of 5 visits find one.
    let law = SizeLaw::new(vec![(Bytes(1), 1.0), (Bytes(2), 1.0)]).unwrap();
    let bytes = BxiVisits::new(&law, Bytes(1), 2).bytes_per_lap(&[2]);
    assert!((bytes - 1.5 * (1.0 + 0.4 * 0.5)).abs() < 1e-6, "{bytes}");
}

#[test]
fn v003_13_to_16_two_saturated_queues() {
    for (quanta, packets, basic, deficits) in [
        ([1500, 1500], [1000, 500], [40.0, 60.0], [50.0, 50.0]),
        ([4, 4], [3, 3], [50.0, 50.0], [50.0, 50.0]),
        ([6, 4], [4, 3], [57.1, 42.9], [60.0, 40.0]),
        ([3, 4], [4, 3], [0.0, 100.0], [42.9, 57.1]),
    ] {
        let [without, with] = two(quanta, packets);
        check("basic", without, &basic, 0.05);
        check("deficits", with, &deficits, 0.05);
    }
}

#[test]
fn v003_18_to_20_basic_and_deficits_plain_and_tuned() {
    let laws = fixed(&[16, 32, 48, 64, 80]);
    let scenarios: [(&str, [u16; 5]); 3] = [
        ("fair", [1, 1, 1, 1, 1]),
        ("step", [5, 4, 3, 2, 1]),
        ("2powers", [16, 8, 4, 2, 1]),
    ];
    let v003_18 = [
        [20.32, 20.32, 20.00, 20.32, 19.05],
        [33.47, 26.78, 20.08, 13.39, 6.28],
        [51.74, 25.87, 12.89, 6.47, 3.03],
    ];
    let v003_19 = [
        [20.51, 20.51, 19.23, 20.51, 19.23],
        [33.47, 26.78, 20.08, 13.39, 6.28],
        [51.82, 25.91, 12.75, 6.48, 3.04],
    ];
    let v003_20 = [
        [20.0; 5],
        [33.33, 26.67, 20.0, 13.33, 6.67],
        [51.61, 25.81, 12.90, 6.45, 3.23],
    ];
    for (at, (name, weights)) in scenarios.into_iter().enumerate() {
        let pairs: Vec<(u8, u16)> = (0..).zip(weights).collect();
        let plain = QuantumTable::from_pairs(&pairs, 1024).unwrap();
        let entry = |slot: usize| {
            let sl = slot.trailing_ones();
            (sl as u8, weights[sl as usize] * 1024 / (16 >> sl))
        };
        let pairs: Vec<(u8, u16)> = (0..31).map(entry).collect();
        let tuned = QuantumTable::from_pairs(&pairs, 1).unwrap();
        for (table, basic) in [(&plain, &v003_18[at]), (&tuned, &v003_19[at])] {
            check(name, bxi_shares(table, Bytes(64), &laws), basic, 0.006);
            let with = bxi_deficit_shares(table, Bytes(64), &laws);
            check(name, with, &v003_20[at], 0.006);
        }
    }
}

/// A full packet of 65 bytes is charged two units, so the class gets about half of its weight's
/// share.
#[test]
fn bytes_differ_from_units_where_packets_do_not_fill_them() {
    let laws = laws_of(vec![
        SizeLaw::fixed(Bytes(65)).unwrap(),
        SizeLaw::fixed(Bytes(128)).unwrap(),
    ]);
    let table = DeficitTable::from_pairs(&[(0, 10), (1, 10)]).unwrap();
    let expected = [100.0 * 65.0 / 193.0, 100.0 * 128.0 / 193.0];
    check("65 bytes", dtable_shares(&table, &laws), &expected, 1e-6);
}

/// Fixed sizes synchronise bursts with the table, which an average of the overshoot would miss.
#[test]
fn a_limit_that_fits_the_table_is_never_passed() {
    let laws = fixed(&[1, 64, 64]);
    // 64 packets of 64 bytes, then one of 4096: two bursts of exactly 4096 bytes, each followed by
    // a low packet.
    let tables = ib(&[(0, 64), (1, 1)], &[(2, 1)], 1);
    check(
        "locked",
        ib_predicted(&tables, &laws),
        &[25.0, 25.0, 50.0],
        1e-6,
    );
    // A limit of 0 is one packet: 65 low ones per lap.
    let tables = ib(&[(0, 64), (1, 1)], &[(2, 1)], 0);
    let lap = 2.0 * 64.0 + 65.0 * 64.0;
    let expected = [6400.0 / lap, 6400.0 / lap, 100.0 * 65.0 * 64.0 / lap];
    check("limit 0", ib_predicted(&tables, &laws), &expected, 1e-6);
    let tables = ib(&[(0, 64), (1, 1)], &[(2, 1)], 255);
    check(
        "no limit",
        ib_predicted(&tables, &laws),
        &[50.0, 50.0, 0.0],
        1e-6,
    );
}

/// One byte less than the limit does not reach the limit: sizes must not be rounded if that changes
/// the result.
#[test]
fn a_burst_of_4095_bytes_goes_on() {
    let short = SizeLaw::uniform(Bytes(64), Bytes(320), Bytes(64)).unwrap();
    let long = SizeLaw::new(vec![(Bytes(831), 1.0), (Bytes(3264), 1.0)]).unwrap();
    let laws = laws_of(vec![short, long]);
    let tables = ib(&[(1, 116), (0, 167)], &[(1, 1)], 1);
    let mut arbiter = TwoTable::new(&tables.0, &tables.1, tables.2);
    let measured = measured(&mut arbiter, &laws, 1 << 30, 1);
    let predicted = ib_predicted(&tables, &laws);
    assert!(
        is_near(&predicted, &measured, 0.1),
        "{predicted:.4?}\n{measured:.4?}"
    );
}

#[test]
fn a_lane_in_both_tables_has_both_shares() {
    // High VL0; low VL0 and VL1 in turn: three packets of four.
    let tables = ib(&[(0, 1)], &[(0, 1), (1, 1)], 0);
    check(
        "both",
        ib_predicted(&tables, &fixed(&[1, 1])),
        &[75.0, 25.0],
        1e-6,
    );
    // Classes that send nothing do not matter, in either table.
    let laws = fixed(&[1]);
    check(
        "alone",
        ib_predicted(&ib(&[(1, 9)], &[(0, 1)], 1), &laws),
        &[100.0],
        0.0,
    );
    check(
        "none",
        ib_predicted(&ib(&[(1, 9)], &[], 1), &laws),
        &[],
        0.0,
    );
}

/// Beyond the tabulated rests the surplus is sent at the mean rate; both methods agree if both
/// apply.
#[test]
fn long_quanta_go_on_as_tabulated() {
    let law = SizeLaw::uniform(Bytes(1), Bytes(64), Bytes(1)).unwrap();
    let [short, long] = [4000, 8192].map(|quantum| BxiVisits::new(&law, Bytes(1), quantum));
    for quanta in [&[8000][..], &[4100, 7000, 64]] {
        let (a, b) = (short.bytes_per_lap(quanta), long.bytes_per_lap(quanta));
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
}

/// Sizes of 1 to 64 units of 64 bytes, with the last unit partly filled: fixed, uniform, or two of
/// them.
fn law() -> impl Strategy<Value = SizeLaw> {
    let size = (1u64..=64, prop::sample::select(vec![0u64, 0, 0, 1, 40]))
        .prop_map(|(u, less)| u * 64 - less);
    prop_oneof![
        size.clone().prop_map(|s| SizeLaw::fixed(Bytes(s)).unwrap()),
        (1u64..=64, 1u64..=64, 1u64..=4).prop_map(|(a, b, step)| {
            let bounds = [a.min(b), a.max(b)].map(|units| Bytes(units * 64));
            SizeLaw::uniform(bounds[0], bounds[1], Bytes(step * 64)).unwrap()
        }),
        (size.clone(), size, 1u32..10).prop_map(|(a, b, odds)| {
            SizeLaw::new(vec![(Bytes(a), f64::from(odds)), (Bytes(b), 1.0)]).unwrap()
        }),
    ]
}

/// Laws of 2 to 8 classes.
fn laws() -> impl Strategy<Value = Laws> {
    prop::collection::vec(law(), 2..=8).prop_map(laws_of)
}

fn pairs<W: Strategy>(weight: W) -> impl Strategy<Value = Vec<(u8, W::Value)>>
where
    W::Value: Clone,
{
    prop::collection::vec((0u8..8, weight), 1..16)
}

/// Returns the units of `n` laps, from the amount that the entries of one lap may send; a partial
/// lap must not count.
fn laps(n: u64, units: impl Iterator<Item = u64>) -> u64 {
    n * units.map(|units| (units + 64) * 64).sum::<u64>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn ib_shares_are_those_of_the_arbiter(
        laws in laws(), high in pairs(0u8..=255), low in pairs(0u8..=255),
        limit in prop::sample::select(vec![0u8, 0, 1, 1, 2, 3, 8, 40, 255]), which in 0..3, seed: u64,
    ) {
        let none: &[(u8, u8)] = &[];
        let tables = match which {
            0 => ib(none, &low, limit),
            1 => ib(&high, none, limit),
            _ => ib(&high, &low, limit),
        };
        let predicted = ib_predicted(&tables, &laws);
        let mut arbiter = TwoTable::new(&tables.0, &tables.1, tables.2);
        let entries = tables.0.entries().iter().chain(tables.1.entries());
        let least = laps(400, entries.map(|e| e.weight.into()));
        let measured = measured(&mut arbiter, &laws, least, seed);
        prop_assert!(is_near(&predicted, &measured, 0.5), "{predicted:.4?}\n{measured:.4?}");
    }

    #[test]
    fn bxi_shares_are_those_of_the_arbiter(
        laws in laws(), pairs in pairs(0u16..=20), k in 10u32..=60, seed: u64,
    ) {
        let table = QuantumTable::from_pairs(&pairs, k).unwrap();
        let predicted = bxi_shares(&table, Bytes(64), &laws);
        let mut arbiter = BxiTable::from_table(&table, Bytes(64)).build();
        let least = laps(400, table.entries().iter().map(|e| table.quantum(e).into()));
        let measured = measured(&mut *arbiter, &laws, least, seed);
        // A class that finally sends nothing has sent something before.
        prop_assume!(predicted.iter().sum::<f64>() > 0.0);
        prop_assert!(is_near(&predicted, &measured, 0.5), "{predicted:.4?}\n{measured:.4?}");
    }

    #[test]
    fn deficit_shares_are_those_of_the_arbiters(
        laws in laws(), pairs in pairs(0u16..=40), k in 1u32..=3, seed: u64,
    ) {
        let table = DeficitTable::from_pairs(&pairs).unwrap();
        let predicted = dtable_shares(&table, &laws);
        let least = laps(2000, table.entries().iter().map(|e| e.weight.into()));
        let by_arbiter = measured(&mut *DTable { table }.build(), &laws, least, seed);
        prop_assert!(is_near(&predicted, &by_arbiter, 0.1), "{predicted:.4?}\n{by_arbiter:.4?}");
        let table = QuantumTable::from_pairs(&pairs, k).unwrap();
        let predicted = bxi_deficit_shares(&table, Bytes(64), &laws);
        let mut arbiter = BxiDeficit::from_table(&table, Bytes(64)).build();
        let by_arbiter = measured(&mut *arbiter, &laws, least * u64::from(k), seed);
        prop_assert!(is_near(&predicted, &by_arbiter, 0.1), "{predicted:.4?}\n{by_arbiter:.4?}");
    }
}
