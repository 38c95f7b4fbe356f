//! A 72-endpoint dragonfly gives the same result for any partitioning, any number of threads and
//! either event queue.

use std::sync::Arc;

use netloom_fabric::Options;
use netloom_fabric::build;
use netloom_routing::ParUgal;
use netloom_units::Tick;

use crate::support::Case;
use crate::support::cases::{WINDOW, ugal_g};

fn dragonfly72() -> Case {
    Case {
        flits: vec![vec![24], vec![24, 96]],
        load: 0.7,
        until: 200_000,
        ..Case::dragonfly72(Arc::new(ParUgal { threshold: 24 }))
    }
}

/// Results that must not depend on the partitioning.
fn outcome(case: &Case, options: Options) -> Vec<u64> {
    let mut fabric = build(&case.plan(), options);
    fabric.run_until(Tick(case.until));
    fabric.check_laws();
    let (counters, protocol) = (fabric.counters(), fabric.protocol().unwrap());
    let mut all = vec![
        counters.digest.value(),
        counters.packet_hops,
        counters.injected,
        counters.delivered,
        protocol.marked,
        protocol.cuts,
        protocol.stashed,
        protocol.retrieved,
        protocol.deleted,
        protocol.retransmitted,
        protocol.lost,
    ];
    all.extend(fabric.stash_flits().into_iter().map(u64::from));
    all
}

fn is_the_same_for_any_split(case: Case) -> Vec<u64> {
    let alone = outcome(&case, Options::default());
    for partitions in [2, 7] {
        let split = Case {
            partitions,
            ..case.clone()
        };
        for threads in [1, 2] {
            let options = Options {
                threads,
                ..Options::default()
            };
            let what = format!("{partitions} partitions, {threads} threads");
            assert_eq!(outcome(&split, options), alone, "{what}");
        }
    }
    let options = Options {
        reference: true,
        ..Options::default()
    };
    assert_eq!(outcome(&case, options), alone, "the reference queue");
    alone
}

#[test]
fn baseline() {
    is_the_same_for_any_split(dragonfly72().acknowledging());
}

#[test]
fn queues_announced_to_neighbours() {
    let base = dragonfly72();
    let case = Case {
        routing: ugal_g(32),
        ..base.acknowledging()
    };
    is_the_same_for_any_split(case);
}

#[test]
fn congestion_absorbed_in_stashes() {
    let case = dragonfly72()
        .hot(5)
        .marking(&[62, 125, 500], WINDOW)
        .setting_aside(&[1750, 1500, 0]);
    let [.., marked, cuts, stashed] = is_the_same_for_any_split(case)[..7] else {
        unreachable!("seven numbers");
    };
    assert!(marked > 0 && cuts > 0 && stashed > 0);
}

#[test]
fn copies_and_faults() {
    let case = dragonfly72()
        .reliable(&[875, 750, 0], Some(100_000))
        .faulty(1e-2, 1e-2, 1e-2);
    let outcome = is_the_same_for_any_split(case);
    assert!(outcome[9] > 0 && outcome[10] > 0, "sent again, and lost");
}
