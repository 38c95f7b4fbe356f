//! Bounds compared with the arbiters themselves: no class ever waits longer, and the bounds are
//! tight.

mod harness;

use harness::{Arbitration, Case, Draws, Load, Slowest, UNIT, hold, longest_waits, sizes};
use netloom_arbitration::{DeficitTable, QuantumTable, SlEntry, VlArbitrationTable};
use netloom_design::qos::dtable::{self, Needs};
use netloom_design::qos::wait::{PacketSizes, dtable_gap};
use netloom_units::{Bytes, Sl};

/// Packets of 1 to 64 units for 2 to 8 classes; some are not a whole number of units, or less than
/// one.
fn packets(draws: &mut Draws) -> PacketSizes {
    let n = 2 + draws.below(7) as usize;
    let most = draws.one_of(&[2, 8, 64]);
    let mut largest = [0; 8];
    for bytes in &mut largest[..n] {
        *bytes = (1 + draws.below(most)) * UNIT - draws.one_of(&[0, 0, 0, 1, 40]);
    }
    let mut sizes = sizes(&largest, draws.one_of(&[0, 256]));
    for (smallest, largest) in sizes.smallest.iter_mut().zip(sizes.largest) {
        // Any size, one size, or some of them.
        *smallest = Bytes(largest.0 * draws.one_of(&[0, 0, 3, 6]) / 6);
    }
    sizes
}

/// Up to three entries per class on average, also for classes that send nothing.
fn entries(draws: &mut Draws, most_weight: u64) -> Vec<(u8, u16)> {
    let n = 1 + draws.below(24);
    let entry = |draws: &mut Draws| (draws.below(8) as u8, draws.below(most_weight + 1) as u16);
    (0..n).map(|_| entry(draws)).collect()
}

fn dtables(draws: &mut Draws) -> Case {
    let most_weight = draws.one_of(&[4, 20, 100]);
    let table = DeficitTable::from_pairs(&entries(draws, most_weight)).unwrap();
    Case {
        table: Arbitration::DTable(table),
        sizes: packets(draws),
    }
}

fn ib_tables(draws: &mut Draws) -> Case {
    let mut table = || {
        let most_weight = draws.one_of(&[0, 4, 20, 255]);
        let pairs = entries(draws, most_weight).into_iter();
        let pairs: Vec<(u8, u8)> = pairs.map(|(vl, weight)| (vl, weight as u8)).collect();
        VlArbitrationTable::from_pairs(&pairs).unwrap()
    };
    let (high, low) = (table(), table());
    Case {
        table: Arbitration::Ib(high, low, draws.one_of(&[0, 0, 1, 2, 5, 255])),
        sizes: packets(draws),
    }
}

fn quanta(draws: &mut Draws) -> QuantumTable {
    let most_weight = draws.one_of(&[2, 10, 30]);
    let k = draws.one_of(&[1, 3, 16]);
    QuantumTable::from_pairs(&entries(draws, most_weight), k).unwrap()
}

fn bxi_tables(draws: &mut Draws) -> Case {
    Case {
        table: Arbitration::Bxi(quanta(draws)),
        sizes: packets(draws),
    }
}

fn bxi_deficit_tables(draws: &mut Draws) -> Case {
    Case {
        table: Arbitration::BxiDeficit(quanta(draws)),
        sizes: packets(draws),
    }
}

/// Checks 10,000 tables and packet mixes from a maker; some wait is at most 20 % below its bound.
#[track_caller]
fn check(make: fn(&mut Draws) -> Case) {
    let nearest = hold(make, 10_000, 1, 1000);
    println!("{nearest:?}");
    assert!(nearest.n_bounds > 10_000, "{nearest:?}");
    assert!(nearest.ratio >= 0.8, "{nearest:?}");
}

#[test]
fn nobody_waits_longer_under_a_dtable() {
    check(dtables);
}

#[test]
fn nobody_waits_longer_under_the_tables_of_infiniband() {
    check(ib_tables);
}

#[test]
fn nobody_waits_longer_under_a_bxi_table() {
    check(bxi_tables);
}

#[test]
fn nobody_waits_longer_under_a_bxi_table_with_deficits() {
    check(bxi_deficit_tables);
}

/// Checks the slowdowns of 2,500 tables and packet mixes from a maker: no backlog exceeds its
/// bound, and some come within 10 % of it.
#[track_caller]
fn check_slowdowns(make: fn(&mut Draws) -> Case) {
    let mut draws = Draws(3);
    let mut slowest = Slowest::default();
    for _ in 0..2_500 {
        let mut case = make(&mut draws);
        case.sizes.management = Bytes(0);
        slowest.add(&case, draws.0, 1000);
    }
    println!("{slowest:?}");
    assert!(slowest.n_bounds > 2_500, "{slowest:?}");
    assert!(slowest.startup > 0.9, "{slowest:?}");
}

#[test]
fn no_backlog_is_slower_than_a_dtable_allows() {
    check_slowdowns(dtables);
}

#[test]
fn no_backlog_is_slower_than_the_tables_of_infiniband_allow() {
    check_slowdowns(ib_tables);
}

#[test]
fn no_backlog_is_slower_than_a_bxi_table_allows() {
    check_slowdowns(bxi_tables);
}

#[test]
fn no_backlog_is_slower_than_a_bxi_table_with_deficits_allows() {
    check_slowdowns(bxi_deficit_tables);
}

/// Table 4 of paper 000 and the message sizes of its classes.
fn table_4() -> (DeficitTable, PacketSizes) {
    let needs = Needs::table_4_as_printed();
    let largest: Vec<u64> = needs
        .classes
        .iter()
        .map(|c| u64::from(c.mtu) * UNIT)
        .collect();
    (dtable::plan(&needs).unwrap().table, sizes(&largest, 0))
}

/// Returns the longest wait of a class over several seeds: all others always have a packet, or come
/// and go as well.
fn longest(table: &Arbitration, sizes: &PacketSizes, class: usize) -> u64 {
    let run = |seed| {
        let load = Load {
            seed,
            n_decisions: 10_000,
            comes_and_goes: (seed % 2 == 0).then_some(class),
        };
        longest_waits(&mut *table.arbiter(), sizes, load)[class]
    };
    (0..64).map(run).max().unwrap()
}

#[test]
fn v000_13_worst_gaps() {
    let (table, sizes) = table_4();
    // The expected numbers count every entry with the largest weight of its class.
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
    }
    is_near(
        "Table 4",
        Arbitration::DTable(table),
        &sizes,
        &[0, 1, 2, 3, 4, 5, 6],
    );
}

/// Checks that the longest wait of these classes is at most 20 % below the bound.
#[track_caller]
fn is_near(what: &str, table: Arbitration, sizes: &PacketSizes, classes: &[usize]) {
    for &class in classes {
        let longest = longest(&table, sizes, class);
        let bound = table.bound(sizes, class as u8).unwrap().total().0;
        println!("{what}, class {class}: {longest} of {bound}");
        assert!(
            longest <= bound && longest * 10 >= bound * 8,
            "{what}, class {class}: {longest} of {bound}"
        );
    }
}

/// Latency tuning of three classes with packets of 4, 8 and 16 flits, all of which pass in one
/// turn.
#[test]
fn bxi_waits_come_near_their_bounds() {
    let pairs = [
        (0, 16),
        (1, 32),
        (0, 16),
        (2, 64),
        (0, 16),
        (1, 32),
        (0, 16),
    ];
    let table = QuantumTable::from_pairs(&pairs, 1).unwrap();
    let sizes = sizes(&[256, 512, 1024], 0);
    is_near("tuned", Arbitration::Bxi(table.clone()), &sizes, &[0, 1, 2]);
    is_near("tuned", Arbitration::BxiDeficit(table), &sizes, &[0, 1, 2]);
    // A quantum of a quarter of the packet: four laps.
    let table = QuantumTable::from_pairs(&[(0, 4), (1, 20), (2, 30)], 1).unwrap();
    let sizes = harness::sizes(&[1024, 64, 128], 0);
    is_near("laps", Arbitration::BxiDeficit(table), &sizes, &[0]);
}

#[test]
fn infiniband_waits_come_near_their_bounds() {
    let table = |pairs| VlArbitrationTable::from_pairs(pairs).unwrap();
    let sizes = sizes(&[64, 2048, 4096, 256], 0);
    // VL2 alone in the low table sends its long packets whenever the high one gives way.
    let cases = [
        (
            "one table",
            &[(0, 1), (1, 64), (3, 20)][..],
            &[][..],
            0,
            &[0, 3][..],
        ),
        ("limit 0, high", &[(0, 2), (1, 20)], &[(2, 64)], 0, &[0]),
        ("limit 0, low", &[(1, 20)], &[(3, 1), (2, 4)], 0, &[3]),
        ("limit 1, high", &[(0, 2), (1, 40)], &[(2, 1)], 1, &[0]),
        ("limit 1, low", &[(1, 20)], &[(3, 1), (2, 2)], 1, &[3]),
        ("both", &[(1, 4), (0, 1)], &[(0, 1), (2, 1)], 0, &[0]),
        (
            "no limit",
            &[(0, 2), (1, 40), (3, 2)],
            &[(2, 9)],
            255,
            &[0, 3],
        ),
    ];
    for (what, high, low, limit, classes) in cases {
        is_near(
            what,
            Arbitration::Ib(table(high), table(low), limit),
            &sizes,
            classes,
        );
    }
}
