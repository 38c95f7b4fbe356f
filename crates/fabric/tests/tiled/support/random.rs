//! Random configurations.

use std::sync::Arc;

use netloom_fabric::{
    Cuts, LinkTiming, Priority, Retransmission, RowSpace, StashUse, TileStages, Window,
};
use netloom_routing::{
    Intermediate, Knowledge, Minimal, Par, ParUgal, Policy, Routing, Ugal, Valiant,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::Case;

/// A fabric: its topology, its routing and tiles with enough ports.
fn fabrics() -> impl Strategy<Value = Case> {
    let single = select(vec![
        (8u32, (2, 2, 4, 4)),
        (12, (2, 3, 6, 4)),
        (12, (3, 2, 4, 6)),
        (12, (4, 1, 3, 12)),
        (6, (1, 6, 6, 1)),
        (5, (2, 3, 3, 2)),
    ]);
    let single = single.prop_map(|(ports, tiles)| Case {
        tiles,
        ..Case::single(ports)
    });
    let tree = select(vec![
        (2u32, 3, (2, 2, 2, 2)),
        (3, 2, (3, 2, 2, 3)),
        (4, 2, (2, 4, 4, 2)),
    ]);
    let tree = tree.prop_map(|(arity, levels, tiles)| Case {
        tiles,
        ..Case::tree(arity, levels)
    });
    let torus = select(vec![(4, 3), (5, 1), (3, 3)]).prop_map(|(a, b)| Case::torus(&[a, b], 1));
    let routings: Vec<Arc<dyn Routing + Send + Sync>> = vec![
        Arc::new(Minimal {}),
        Arc::new(Valiant {
            intermediate: Intermediate::Group,
        }),
        Arc::new(Ugal {
            threshold: 8,
            knowledge: Knowledge::Local,
            every: 1,
        }),
        Arc::new(Ugal {
            threshold: 8,
            knowledge: Knowledge::Global,
            every: 5,
        }),
        Arc::new(ParUgal { threshold: 8 }),
        Arc::new(Par {
            threshold_min: 0,
            threshold_local: 100,
            threshold_global: 100,
            relative: false,
            policy: Policy::Mixed,
        }),
        Arc::new(Par {
            threshold_min: 10,
            threshold_local: 70,
            threshold_global: 90,
            relative: true,
            policy: Policy::CurrentRouter,
        }),
    ];
    let shapes = select(vec![(1u16, 2u16, 1u16), (2, 2, 2), (1, 3, 1)]);
    let dragonfly = (shapes, (0..routings.len()))
        .prop_map(move |(shape, routing)| Case::dragonfly(shape, routings[routing].clone()));
    prop_oneof![3 => single, 2 => tree, 1 => torus, 3 => dragonfly]
}

/// Clocks, stages and links.
fn timed(case: Case) -> impl Strategy<Value = Case> {
    let clocks = select(vec![
        (10u64, 13u64),
        (1, 1),
        (7, 11),
        (3, 10),
        (4, 4),
        (1, 3),
    ]);
    let stages = (0u64..4, 1u64..3, 1u64..4, 1u64..3, 0u64..4, 1u64..40);
    let delays = prop::collection::vec(prop_oneof![0u64..40, 40u64..700], 3);
    (clocks, stages, delays).prop_map(move |((period, flit), stages, delays)| {
        let (before_bus, row_bus, tile, multiplexer, output, side_band) = stages;
        let link = |delay| LinkTiming { flit, delay };
        Case {
            period,
            stages: TileStages {
                before_bus,
                row_bus,
                tile,
                multiplexer,
                output,
                side_band,
            },
            links: delays.into_iter().map(link).collect(),
            until: 1_200 * flit,
            ..case.clone()
        }
    })
}

/// Buffers and traffic.
fn loaded(case: Case) -> impl Strategy<Value = Case> {
    let spaces = select(vec![RowSpace::Shared, RowSpace::PerOutput]);
    let retransmissions = select(vec![
        Retransmission::Packet,
        Retransmission::PerFlit,
        Retransmission::Nothing,
    ]);
    let rules = (
        retransmissions,
        select(vec![
            Priority::Equal,
            Priority::Equal,
            Priority::TransitFirst,
        ]),
        prop::option::weighted(0.3, 0u32..60),
    );
    let buffers = (1u32..4, spaces, 1u32..4, 0u32..100, 0u32..100, rules);
    let sizes = select(vec![
        vec![vec![1u64]],
        vec![vec![8]],
        vec![vec![1, 5, 24]],
        vec![vec![1, 7, 24, 60], vec![3]],
        vec![vec![2, 3], vec![24]],
    ]);
    let load = select(vec![0.2, 0.5, 0.8, 1.0]);
    let traffic = (sizes, load, 0u64..1_000, 1u8..3, prop::bool::weighted(0.4));
    (buffers, traffic).prop_map(move |(buffers, (flits, load, seed, vls, is_hot))| {
        let (row_buffer, row_space, column_buffer, input, output, rules) = buffers;
        let (retransmission, priority, most) = rules;
        let case = Case {
            row_buffer,
            row_space,
            column_buffer,
            retransmission,
            priority,
            most,
            input: vec![input, input / 2, 2 * input],
            output: vec![output, output / 2, 2 * output],
            flits,
            load,
            seed,
            vls,
            ..case.clone()
        };
        if is_hot { case.hot(3) } else { case }
    })
}

/// Behaviour of endpoints and stashes.
fn behaving(case: Case) -> impl Strategy<Value = Case> {
    let largest = case.largest();
    let flit = case.links[0].flit;
    let cuts = select(vec![Cuts::EveryMark, Cuts::OncePerWindow]);
    let window = (1u32..6, 1u64..60, cuts).prop_map(move |(most, step, cuts)| Window {
        most: largest * most,
        least: largest,
        cut: (4, 5),
        cuts,
        step: step * flit,
    });
    let acknowledged = (1u16..3, prop::option::weighted(0.5, window));
    let stash = prop::collection::vec(prop_oneof![Just(0u32), 0u32..20], 2)
        .prop_map(move |more| vec![largest + 1 + more[0] * 12, more[1] * 24, 0]);
    let above = prop::collection::vec(0u32..60, 3);
    // Even without faults, a timeout that is too short causes retransmissions.
    let rates = prop_oneof![1 => Just((0u32, 0, 0)), 3 => (0u32..8, 0u32..8, 0u32..20)];
    let faults = (rates, 100u64..800);
    let faults = prop::option::weighted(0.6, faults);
    let usage = (0u8..4, prop::bool::weighted(0.6));
    (acknowledged, stash, above, faults, usage).prop_map(
        move |((flits, window), stash, above, faults, (usage, is_marking))| {
            let plain = Case {
                marks_above: above,
                ..case.clone()
            };
            let acknowledging = Case {
                acknowledgement: Some(flits),
                window,
                marking: is_marking,
                stash: stash.iter().map(|&s| s.next_multiple_of(2)).collect(),
                ..plain.clone()
            };
            let reliable = |timeout| Case {
                stash_use: Some(StashUse::Reliability { timeout }),
                ..acknowledging.clone()
            };
            match (usage, faults) {
                (0, _) => plain,
                (1, _) => acknowledging,
                (2, Some(((corrupt, lose, link), timeout))) => {
                    let percent = |n: u32| f64::from(n) / 100.0;
                    reliable(Some(timeout * flit)).faulty(
                        percent(corrupt),
                        percent(lose),
                        percent(link),
                    )
                }
                (2, None) => reliable(None),
                _ => Case {
                    marking: true,
                    stash_use: Some(StashUse::Congestion),
                    ..acknowledging
                },
            }
        },
    )
}

/// Any combination of these.
pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    fabrics()
        .prop_flat_map(timed)
        .prop_flat_map(loaded)
        .prop_flat_map(behaving)
}

/// Number of random cases: `usual`, unless PROPTEST_CASES is set.
pub(crate) fn so_many(usual: u32) -> proptest::test_runner::Config {
    let asked = std::env::var("PROPTEST_CASES").ok();
    proptest::test_runner::Config {
        cases: asked.and_then(|n| n.parse().ok()).unwrap_or(usual),
        failure_persistence: None,
        max_shrink_iters: 40,
        ..proptest::test_runner::Config::default()
    }
}
