//! The result is the same for any number of partitions and threads, and for the reference (which
//! scrambles the order of a tick, has wide sets and boxed arbiters, and checks for all features).

mod support;

use std::sync::Arc;

use netloom_arbitration::{DTable, DeficitTable};
use netloom_fabric::{InputPorts, LinkTiming, Options, instances};
use netloom_routing::{Deadlock, RandomUp};
use support::{Case, pipeline, two_tables};

fn check(case: &Case) {
    let reference = Case {
        partitions: 1,
        ..case.clone()
    }
    .simulate(Options::default())
    .counters();
    assert!(
        reference.delivered > 200,
        "{} packets are too few to tell",
        reference.delivered
    );
    for partitions in [1, 2, 7] {
        for threads in [1, 2] {
            for is_reference in [false, true] {
                let options = Options {
                    threads,
                    reference: is_reference,
                    ..Options::default()
                };
                let mut run = Case {
                    partitions,
                    ..case.clone()
                }
                .simulate(options);
                let counters = run.counters();
                let what =
                    format!("{partitions} partitions, {threads} threads, reference {is_reference}");
                assert_eq!(counters.digest, reference.digest, "{what}");
                assert_eq!(counters.packet_hops, reference.packet_hops, "{what}");
                assert_eq!(counters.choices, reference.choices, "{what}");
            }
        }
    }
}

/// The tests above and below compare nothing if both runs use the same instance.
#[test]
fn the_reference_is_another_instance() {
    let tree = Case::tree(4, 2);
    let lanes = Case {
        input_ports: InputPorts::PerLane,
        ..tree.clone()
    };
    for (case, fast, reference) in [
        (tree, "PlainTick", "CioqWide"),
        (lanes, "PlainLanes", "CioqLanesWide"),
    ] {
        for (is_reference, expected) in [(false, fast), (true, reference)] {
            let options = Options {
                reference: is_reference,
                ..Options::default()
            };
            let name = case.simulate(options).instance();
            assert_eq!(name, expected);
            assert!(instances().any(|(listed, _)| listed == name), "{name}");
        }
    }
}

#[test]
fn tree() {
    check(&Case {
        flits: vec![1, 8, 32],
        load: 0.8,
        policy: two_tables(4, 1),
        ..Case::tree(4, 2)
    });
}

#[test]
fn tree_of_three_levels_with_random_routing() {
    check(&Case {
        routing: Arc::new(RandomUp { to_root: false }),
        load: 0.7,
        ..Case::tree(3, 3)
    });
}

#[test]
fn torus_with_bubble() {
    check(&Case {
        flits: vec![2, 8],
        input: 32,
        output: 32,
        load: 0.5,
        ..Case::torus(&[4, 4], 2, 1, Deadlock::Bubble)
    });
}

#[test]
fn thirteen_to_ten_clocks() {
    check(&Case {
        links: vec![
            LinkTiming {
                flit: 13,
                delay: 52,
            },
            LinkTiming {
                flit: 13,
                delay: 130,
            },
        ],
        period: 10,
        pipeline: pipeline(1, 1, 1, 1, 1, 1),
        flits: vec![1, 8],
        load: 0.8,
        until: 40_000,
        ..Case::tree(4, 2)
    });
}

#[test]
fn saturated_with_shared_pools_and_mixed_rates() {
    check(&Case {
        links: vec![
            LinkTiming { flit: 2, delay: 3 },
            LinkTiming { flit: 1, delay: 8 },
        ],
        pooled: true,
        input: 24,
        output: 24,
        flits: vec![1, 16],
        load: 1.0,
        speedup: (2, 1),
        ..Case::tree(4, 2)
    });
}

#[test]
fn several_lanes_per_level_with_their_own_mtu() {
    let table = DeficitTable::from_pairs(&[(0, 12), (1, 40), (0, 12), (2, 5)]).expect("a table");
    check(&Case {
        channels: vec![
            vec![(0, 0), (3, 1)],
            vec![(1, 2), (4, 3)],
            vec![(2, 0), (5, 3)],
        ],
        sl_mtu: vec![3, 16, 8],
        policy: Arc::new(DTable { table }),
        flits: vec![2, 40],
        input: 32,
        output: 32,
        load: 0.9,
        ..Case::tree(3, 3)
    });
}

#[test]
fn classes_that_share_their_levels() {
    check(&Case {
        classes_per_level: 3,
        flits: vec![1, 8, 32],
        load: 0.9,
        ..Case::tree(4, 2)
    });
}

#[test]
fn seeds_differ() {
    let case = Case::tree(4, 2);
    let other = Case {
        seed: 2,
        ..case.clone()
    };
    let digest = |c: &Case| c.simulate(Options::default()).counters().digest;
    assert_ne!(digest(&case), digest(&other));
    assert_eq!(digest(&case), digest(&case));
}
