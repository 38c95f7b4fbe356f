//! Zero-load latency equals the sum of its parts, to the tick.

mod support;

use std::sync::Arc;

use netloom_fabric::{
    CentralStart, ClassPlan, CrossbarStart, FabricPlan, Followed, LinkTiming, Options, Row, Stage,
    Step, Watch, build,
};
use netloom_packet::{Arrival, Cursor, Source};
use netloom_routing::{Deadlock, DimensionOrder, Paths, Shortest, Tie, Trunk, UpDown, paths};
use netloom_topology::{Hypercube, Mesh, ParallelFatTree, RandomRegular};
use netloom_units::{NicId, Sl, Tick};
use support::architectures::Centre;
use support::{Case, pipeline};

/// A single message.
struct One {
    from: NicId,
    to: NicId,
    bytes: u32,
    cycle: u64,
}

impl Source for One {
    fn next(&self, nic: NicId, cursor: &mut Cursor) -> Option<Arrival> {
        let is_first = nic == self.from && cursor.number == 0;
        cursor.number += 1;
        is_first.then_some(Arrival {
            cycle: self.cycle,
            destination: self.to,
            bytes: self.bytes,
            sl: None,
            flow: 0,
        })
    }
}

/// Returns the sum of the parts, for a single packet in an idle fabric.
fn written(plan: &FabricPlan, from: NicId, to: NicId, flits: u64, cycle: u64) -> u64 {
    let switch = plan.switch.crossbar();
    let (p, stages, pace) = (switch.period, switch.pipeline, switch.crossbar_pace());
    let up = |t: u64| t.div_ceil(p) * p;
    let link = |s, port| plan.links[usize::from(plan.topology.link_class(s, port))];
    let mut wire = plan.nic_link(from);
    let mut start = cycle * wire.flit;
    for step in paths::path(&plan.topology, &plan.forwarding, from, to, 0).unwrap() {
        // Link: the first flit, and the propagation.
        let received = start + wire.flit + wire.delay;
        let comes = |k: u64| received + k * wire.flit;
        // Buffer, routing; a crossbar that is faster than the link and does not start at once may
        // not run dry.
        let mut granted = up(received) + (stages.input + stages.routing) * p;
        if switch.start == CrossbarStart::Stored {
            let dry = |k: u64| comes(k).saturating_sub(pace.time_of(k) + stages.allocation * p);
            granted = granted.max(up((0..flits).map(dry).max().unwrap()));
        }
        // Allocation, crossbar: at its pace, until a flit is missing; then as they come.
        let begin = granted + stages.allocation * p;
        let missing = (0..flits).find(|&k| comes(k) > begin + pace.time_of(k));
        let buffered = |k: u64| {
            stages.crossbar * p
                + match missing {
                    Some(first) if k >= first => comes(k),
                    _ => begin + pace.time_of(k),
                }
        };
        // The link may not run dry.
        let out = link(step.switch, step.output);
        let dry =
            |k: u64| buffered(k).saturating_sub(buffered(0) + k * out.flit + stages.output * p);
        start = buffered(0) + up((0..flits).map(dry).max().unwrap()) + stages.output * p;
        wire = out;
    }
    start + flits * wire.flit + wire.delay - cycle * plan.nic_link(from).flit
}

/// Returns the latency of one message, and its steps.
fn measured(
    plan: &mut FabricPlan,
    from: NicId,
    to: NicId,
    flits: u64,
    cycle: u64,
) -> (u64, Vec<Step>) {
    let source = Arc::new(One {
        from,
        to,
        bytes: flits as u32 * 64,
        cycle,
    });
    plan.classes = vec![ClassPlan {
        name: "one".into(),
        sl: Sl(0),
        sls: vec![Sl(0)],
        source,
    }];
    plan.largest = vec![64; usize::from(plan.n_vls)];
    let watch = Some(Watch::packets([Followed {
        source: from,
        sequence: 0,
    }]));
    let mut run = build(
        plan,
        Options {
            watch,
            ..Options::default()
        },
    );
    run.run_until(Tick(100_000));
    let mut sums = vec![Row::default()];
    run.take_rows(&mut sums);
    let latency = sums[0].message_latency.max().expect("it has arrived");
    (latency, run.steps())
}

/// Checks with crossbars that start at once and with others.
fn check(name: &str, case: &Case) {
    for start in [CrossbarStart::AtOnce, CrossbarStart::Stored] {
        let case = Case {
            start,
            ..case.clone()
        };
        check_one(&format!("{name}, {start:?}"), &case);
    }
}

fn check_one(name: &str, case: &Case) {
    let mut plan = case.plan();
    let n = plan.topology.n_nics();
    for (from, to) in [(0, n - 1), (n - 1, 0), (1, n / 2), (n / 3, 2 * n / 3)] {
        if from == to {
            continue;
        }
        for flits in [1u64, 2, 7, 32] {
            for cycle in [0u64, 3, 11] {
                let (from, to) = (NicId(from), NicId(to));
                let (latency, steps) = measured(&mut plan, from, to, flits, cycle);
                let expected = written(&plan, from, to, flits, cycle);
                assert_eq!(
                    latency, expected,
                    "{name}: {flits} flits from {from} to {to} at cycle {cycle}: {steps:#?}"
                );
                assert!(matches!(
                    steps.first().unwrap().stage,
                    Stage::Created { .. }
                ));
                assert!(matches!(
                    steps.last().unwrap().stage,
                    Stage::Delivered { .. }
                ));
                assert_eq!(
                    steps.last().unwrap().at - steps[0].at,
                    expected,
                    "the trace agrees"
                );
            }
        }
    }
}

#[test]
fn every_topology() {
    let dor = Arc::new(DimensionOrder {
        deadlock: Deadlock::Bubble,
        tie: Tie::Positive,
        trunk: Trunk::Flow,
    });
    let base = Case {
        input: 128,
        output: 128,
        ..Case::tree(4, 3)
    };
    let cases = [
        ("4-ary 3-tree", base.clone()),
        (
            "pgft",
            Case {
                topology: Arc::new(ParallelFatTree {
                    children: vec![4, 3],
                    parents: vec![1, 2],
                    links: vec![1, 2],
                }),
                ..base.clone()
            },
        ),
        (
            "mesh",
            Case {
                topology: Arc::new(Mesh {
                    sides: vec![4, 3],
                    hosts: 2,
                    trunk: 1,
                }),
                routing: dor.clone(),
                ..base.clone()
            },
        ),
        (
            "torus",
            Case {
                input: 128,
                output: 128,
                ..Case::torus(&[5, 4], 2, 2, Deadlock::Bubble)
            },
        ),
        (
            "torus with dateline",
            Case {
                input: 128,
                output: 128,
                ..Case::torus(&[5, 4], 1, 1, Deadlock::Dateline)
            },
        ),
        (
            "hypercube",
            Case {
                topology: Arc::new(Hypercube {
                    dimensions: 4,
                    hosts: 1,
                }),
                routing: dor,
                ..base.clone()
            },
        ),
        (
            "single switch",
            Case {
                input: 128,
                output: 128,
                ..Case::single(8)
            },
        ),
        (
            "random regular",
            Case {
                topology: Arc::new(RandomRegular {
                    switches: 12,
                    degree: 4,
                    hosts: 2,
                }),
                routing: Arc::new(UpDown {
                    root: 0,
                    paths: Paths::All,
                }),
                ..base.clone()
            },
        ),
        (
            "shortest",
            Case {
                topology: Arc::new(RandomRegular {
                    switches: 10,
                    degree: 3,
                    hosts: 1,
                }),
                routing: Arc::new(Shortest { paths: Paths::All }),
                ..base
            },
        ),
    ];
    for (name, case) in cases {
        check(name, &case);
    }
}

#[test]
fn rates_that_differ() {
    let link = |flit, delay| LinkTiming { flit, delay };
    let base = Case {
        input: 128,
        output: 128,
        pipeline: pipeline(1, 2, 1, 1, 1, 1),
        ..Case::tree(4, 2)
    };
    for (name, links, period, speedup) in [
        ("slow hosts", vec![link(4, 7), link(1, 20)], 1, (1, 1)),
        ("slow trunks", vec![link(1, 7), link(3, 20)], 1, (1, 1)),
        (
            "slow hosts, fast crossbar",
            vec![link(4, 7), link(2, 20)],
            2,
            (3, 1),
        ),
        ("13:10", vec![link(13, 65), link(13, 500)], 10, (1, 1)),
        (
            "13:10 with trunks at a third",
            vec![link(13, 65), link(39, 501)],
            10,
            (3, 2),
        ),
        (
            "links faster than the switch",
            vec![link(2, 9), link(1, 9)],
            5,
            (1, 1),
        ),
        (
            "a crossbar at half rate",
            vec![link(2, 9), link(3, 4)],
            2,
            (1, 2),
        ),
    ] {
        check(
            name,
            &Case {
                links,
                period,
                speedup,
                ..base.clone()
            },
        );
    }
}

/// A faster crossbar costs an idle fabric nothing. With stored starts, the cost grows with the
/// speed of the crossbar.
#[test]
fn a_faster_crossbar_is_never_slower() {
    let base = Case {
        input: 128,
        output: 128,
        pipeline: pipeline(1, 1, 1, 1, 1, 1),
        ..Case::tree(4, 2)
    };
    let latencies = |start: CrossbarStart, is_hierarchical: bool| -> Vec<u64> {
        let of = |speedup: (u32, u32)| {
            let mut case = Case {
                start,
                speedup,
                ..base.clone()
            };
            if is_hierarchical {
                let centre = Centre {
                    ports: 2,
                    links: 2,
                    to: speedup,
                    from: speedup,
                    flits: 128,
                    ..Centre::default()
                };
                case = case.hierarchical(centre);
            }
            let mut plan = case.plan();
            measured(&mut plan, NicId(0), NicId(15), 64, 0).0
        };
        [(1, 1), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1), (7, 1)]
            .map(of)
            .into()
    };
    for is_hierarchical in [false, true] {
        let at_once = latencies(CrossbarStart::AtOnce, is_hierarchical);
        assert!(
            at_once.is_sorted_by(|slow, fast| slow >= fast),
            "{at_once:?}"
        );
        let stored = latencies(CrossbarStart::Stored, is_hierarchical);
        assert_eq!(stored[0], at_once[0], "equal if it is not faster");
        assert!(stored.is_sorted_by(|slow, fast| slow < fast), "{stored:?}");
    }
}

/// A packet of 64 flits that must be in the centre as a whole continues 63 flits later than with
/// its header, in each of three switches, if all crossbars pass flits as they come.
#[test]
fn a_whole_packet_in_the_centre_comes_later_by_its_length() {
    let [header, packet] = [CentralStart::Header, CentralStart::Packet].map(|start| {
        let case = Case {
            input: 128,
            output: 128,
            pipeline: pipeline(1, 1, 1, 1, 1, 1),
            ..Case::tree(4, 2)
        };
        let centre = Centre {
            ports: 1,
            to: (1, 1),
            from: (1, 1),
            flits: 128,
            start,
            ..Centre::default()
        };
        let mut plan = case.hierarchical(centre).plan();
        measured(&mut plan, NicId(0), NicId(15), 64, 0).0
    });
    assert_eq!(packet - header, 3 * 63);
}

#[test]
fn a_chain_by_hand() {
    // Two NICs on one switch, 8 flits of 1 tick, links of 5, routing 3, crossbar 2:
    // flit 1 + link 5 + routing 3 + crossbar 2 + flits 8 + link 5.
    let case = Case {
        pipeline: pipeline(0, 3, 0, 2, 0, 0),
        ..Case::single(2)
    };
    assert_eq!(
        written(&case.plan(), NicId(0), NicId(1), 8, 0),
        1 + 5 + 3 + 2 + 8 + 5
    );
    check("one switch", &case);
}
