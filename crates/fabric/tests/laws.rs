//! Invariants. Debug builds also assert them inside: credits never exceed what was taken, buffers
//! never overflow, order is kept per flow, and packets reach their NIC.

mod support;

use netloom_fabric::{Allocation, Options, QueueScheme, Row, build, rows};
use netloom_routing::Deadlock;
use netloom_units::Tick;
use proptest::prelude::*;
use support::{Case, drains, pipeline, two_tables};

#[test]
fn a_tree_drains() {
    drains(
        &Case {
            flits: vec![1, 8, 64],
            load: 1.0,
            policy: two_tables(4, 0),
            ..Case::tree(4, 2)
        },
        20,
    );
}

#[test]
fn a_torus_with_tight_bubbles_drains_at_full_load() {
    drains(
        &Case {
            flits: vec![8],
            input: 8,
            output: 16,
            load: 1.0,
            vls: 2,
            ..Case::torus(&[4, 4], 2, 1, Deadlock::Bubble)
        },
        50,
    );
}

#[test]
fn a_torus_with_dateline_drains_at_full_load() {
    drains(
        &Case {
            flits: vec![8],
            input: 8,
            output: 8,
            load: 1.0,
            vls: 2,
            ..Case::torus(&[5, 4], 2, 1, Deadlock::Dateline)
        },
        50,
    );
}

#[test]
fn a_torus_without_either_deadlocks_and_shows_the_cycle() {
    let case = Case {
        flits: vec![8],
        input: 8,
        output: 8,
        load: 1.0,
        vls: 1,
        until: 20_000,
        ..Case::torus(&[4, 4], 2, 1, Deadlock::Nothing)
    };
    let mut run = case.simulate(Options::default());
    let cycle = run
        .deadlock(Tick(case.until), 5_000)
        .expect("a cycle of waits");
    assert!(cycle.len() >= 4, "{cycle:?}");
    let delivered = run.counters().delivered;
    run.run_until(Tick(40_000));
    assert!(
        run.deadlock(Tick(40_000), 5_000).is_some(),
        "it does not dissolve"
    );
    assert!(
        run.counters().delivered < delivered + 500,
        "the ring does not move"
    );
}

#[test]
fn a_busy_fabric_is_not_called_deadlocked() {
    let case = Case {
        flits: vec![8],
        input: 8,
        output: 8,
        load: 1.0,
        until: 20_000,
        ..Case::tree(4, 2)
    };
    assert_eq!(
        case.simulate(Options::default())
            .deadlock(Tick(case.until), 5_000),
        None
    );
}

#[test]
fn loads_are_what_was_asked_for_and_delivered() {
    let case = Case {
        load: 0.4,
        until: 200_000,
        ..Case::tree(4, 2)
    };
    let plan = case.plan();
    let mut run = build(&plan, Options::default());
    run.run_until(Tick(case.until));
    let mut sums: Vec<Row> = rows(&plan).iter().map(|_| Row::default()).collect();
    run.take_rows(&mut sums);
    let nics = f64::from(plan.topology.n_nics());
    let load = |flits: u64| flits as f64 / nics / case.until as f64;
    let offered: f64 = sums.iter().map(|row| load(row.offered_flits)).sum();
    let delivered: f64 = sums.iter().map(|row| load(row.delivered_flits)).sum();
    assert!((offered - 0.4).abs() < 0.005, "{offered}");
    assert!(
        (delivered - offered).abs() < 0.002,
        "{delivered} of {offered}"
    );
}

proptest! {
    #![proptest_config(support::cases(32))]

    #[test]
    fn everything_drains(
        shape in 0usize..4,
        flits in proptest::collection::vec(1u64..24, 1..4),
        (input, output, pooled) in (0u32..30, 0u32..30, any::<bool>()),
        (voq, islip, speedup) in (any::<bool>(), 0u8..3, 1u32..3),
        stages in (0u64..2, 0u64..3, 0u64..2, 1u64..3, 0u64..3, 0u64..2),
        (vls, seed, partitions) in (1u8..5, 0u64..100, 1usize..4),
        mtu in proptest::option::of(1u64..12),
    ) {
        let base = match shape {
            0 => Case::tree(2, 3),
            1 => Case::single(6),
            2 => Case::torus(&[4, 3], 1, 1, Deadlock::Bubble),
            _ => Case::torus(&[4, 4], 1, 1, Deadlock::Dateline),
        };
        let largest = u32::try_from(flits.iter().map(|&f| mtu.map_or(f, |m| f.min(m))).max().unwrap()).unwrap();
        drains(&Case {
            flits,
            mtu,
            input: largest + input,
            output: 2 * largest + output,
            pooled: pooled && shape != 2,
            queues: if voq { QueueScheme::VoqSwitch } else { QueueScheme::PerVl },
            allocation: if islip == 0 { Allocation::Separable } else { Allocation::Islip { iterations: islip } },
            speedup: (speedup, 1),
            pipeline: pipeline(stages.0, stages.1, stages.2, stages.3, stages.4, stages.5),
            vls,
            seed,
            partitions,
            load: 1.0,
            ..base
        }, 12);
    }
}
