//! Every group sends to the next one, so that minimal paths share one global link: the effect on
//! each routing.

use std::sync::Arc;

use netloom_fabric::build;
use netloom_fabric::{Options, Row, rows};
use netloom_routing::{Intermediate, Knowledge, Minimal, ParUgal, Routing, Ugal, Valiant};
use netloom_traffic::Neighbour;
use netloom_units::Tick;

use crate::support::Case;

/// Returns accepted load and mean message latency in ns, on a 72-endpoint dragonfly.
fn measure(routing: impl Routing + 'static, load: f64) -> (f64, f64) {
    let case = Case {
        flits: vec![vec![24]],
        pattern: Arc::new(Neighbour { offset: 8 }),
        load,
        ..Case::dragonfly72(Arc::new(routing))
    };
    let plan = case.plan();
    let mut fabric = build(&plan, Options::default());
    let mut recorded = vec![Row::default(); rows(&plan).len()];
    // 20 us to settle, 30 us of measurement.
    fabric.run_until(Tick(260_000));
    fabric.take_rows(&mut recorded);
    recorded.fill(Row::default());
    fabric.run_until(Tick(650_000));
    fabric.take_rows(&mut recorded);
    fabric.check_laws();
    let row = &recorded[0];
    let accepted = row.delivered_flits as f64 / (72.0 * 30_000.0);
    (accepted, row.message_latency.mean().unwrap() / 13.0)
}

fn ugal(knowledge: Knowledge) -> Ugal {
    Ugal {
        threshold: 24,
        knowledge,
        every: 32,
    }
}

/// Eight NICs of a group share the one link of their minimal paths; other paths have capacity for
/// half of the traffic.
#[test]
fn minimal_ways_saturate_early_and_others_do_not() {
    let (accepted, _) = measure(Minimal {}, 0.3);
    assert!(accepted < 1.0 / 8.0, "{accepted}");
    for (name, (accepted, _)) in [
        (
            "valiant",
            measure(
                Valiant {
                    intermediate: Intermediate::Group,
                },
                0.3,
            ),
        ),
        ("ugal", measure(ugal(Knowledge::Local), 0.3)),
        ("ugal-g", measure(ugal(Knowledge::Global), 0.3)),
        ("par-ugal", measure(ParUgal { threshold: 24 }, 0.3)),
    ] {
        assert!((0.295..0.305).contains(&accepted), "{name} {accepted}");
    }
}

/// A switch that sees only its own outputs learns of a full global link elsewhere in its group when
/// packets have filled the buffers in between. With announcements, or with a second decision at the
/// next switch, it reaches the results of J. Kim et al. (2008) and N. Jiang et al. (2009): lower
/// latency at medium load and later saturation.
#[test]
fn announced_queues_beat_local_ones() {
    let (local, global) = (ugal(Knowledge::Local), ugal(Knowledge::Global));
    let [(_, slow), (_, fast)] = [measure(local.clone(), 0.3), measure(global.clone(), 0.3)];
    assert!(fast < 0.9 * slow, "{fast} ns against {slow} ns");
    let (lost, _) = measure(local, 0.5);
    assert!(lost < 0.4, "{lost}");
    for (name, (accepted, _)) in [
        ("ugal-g", measure(global, 0.5)),
        ("par-ugal", measure(ParUgal { threshold: 24 }, 0.5)),
    ] {
        assert!((0.49..0.51).contains(&accepted), "{name} {accepted}");
    }
}
