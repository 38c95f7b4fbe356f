//! Properties that every kind of routing must have, on every fabric it accepts.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{build, read};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::{path, path_seeing};
use netloom_routing::{Forwarding, KINDS, Lookup};
use netloom_topology::{
    Arrangement, Dragonfly, FatTree, Graph, Hypercube, Megafly, Mesh, ParallelFatTree, Peer,
    Placement, RandomRegular, SingleSwitch, Structure, Topology, Torus,
};
use netloom_units::{Port, SwitchId};

fn fabrics() -> Vec<(&'static str, Arc<Topology>)> {
    let pgft = |children: &[u32], parents: &[u32], links: &[u32]| {
        build(&ParallelFatTree {
            children: children.to_vec(),
            parents: parents.to_vec(),
            links: links.to_vec(),
        })
    };
    let torus = |sides: &[u16], hosts, trunk| {
        build(&Torus {
            sides: sides.to_vec(),
            hosts,
            trunk,
        })
    };
    let mesh = |sides: &[u16], hosts, trunk| {
        build(&Mesh {
            sides: sides.to_vec(),
            hosts,
            trunk,
        })
    };
    let dragonfly = |[hosts, switches, globals]: [u16; 3], groups| {
        build(&Dragonfly {
            hosts,
            switches,
            globals,
            groups,
            arrangement: Arrangement::PalmTree,
            ports: Some(12),
            placement: Placement::Random,
        })
    };
    let megafly = |[hosts, leaves, spines, globals]: [u16; 4], groups| {
        build(&Megafly {
            hosts,
            leaves,
            spines,
            globals,
            groups,
            arrangement: Arrangement::Consecutive,
        })
    };
    // Fabrics with missing cables, each named by one of its ends.
    let without = |whole: Arc<Topology>, cables: &[(u32, u16)]| {
        let cables: Vec<_> = cables
            .iter()
            .map(|&(s, p)| (SwitchId(s), Port(p)))
            .collect();
        Arc::new(whole.without(&cables))
    };
    let text = "link a b\nlink b c\nlink c d\nlink d a\nlink d e\nlink d e\n\
                nic n0 a\nnic n1 e\nnic n2 c\nnic n3 c\nnic n4 b";
    let graph = Graph {
        file: None,
        text: Some(text.into()),
    };
    vec![
        ("single switch", build(&SingleSwitch { ports: 5 })),
        (
            "2-ary 3-tree",
            build(&FatTree {
                arity: 2,
                levels: 3,
            }),
        ),
        (
            "4-ary 2-tree",
            build(&FatTree {
                arity: 4,
                levels: 2,
            }),
        ),
        ("slim tree", pgft(&[4, 3, 2], &[1, 2, 3], &[])),
        ("paper 003, small", pgft(&[8, 4], &[1, 4], &[1, 2])),
        ("parallel twice", pgft(&[3, 2, 2], &[1, 2, 2], &[1, 3, 2])),
        (
            "damaged 4-ary 2-tree",
            without(
                build(&FatTree {
                    arity: 4,
                    levels: 2,
                }),
                &[(0, 4), (2, 5), (2, 6)],
            ),
        ),
        (
            "tree without a root",
            without(
                build(&FatTree {
                    arity: 2,
                    levels: 3,
                }),
                &[(9, 0), (9, 1)],
            ),
        ),
        (
            "damaged slim tree",
            without(pgft(&[4, 3, 2], &[1, 2, 3], &[]), &[(0, 4), (6, 3), (7, 4)]),
        ),
        (
            "damaged parallel cables",
            without(
                pgft(&[3, 2, 2], &[1, 2, 2], &[1, 3, 2]),
                &[(0, 3), (0, 5), (1, 4), (4, 7), (4, 8)],
            ),
        ),
        (
            "damaged torus",
            without(torus(&[4, 4], 2, 1), &[(5, 2), (10, 3)]),
        ),
        ("ring of 5", torus(&[5], 1, 1)),
        ("4x4 torus", torus(&[4, 4], 2, 1)),
        ("torus with trunks", torus(&[4, 3], 1, 3)),
        ("flat torus", torus(&[2, 4, 1], 2, 2)),
        ("3d torus", torus(&[4, 3, 4], 1, 1)),
        ("mesh", mesh(&[4, 3], 2, 2)),
        (
            "hypercube",
            build(&Hypercube {
                dimensions: 4,
                hosts: 2,
            }),
        ),
        (
            "random",
            build(&RandomRegular {
                switches: 16,
                degree: 4,
                hosts: 2,
            }),
        ),
        ("graph", build(&graph)),
        ("dragonfly", dragonfly([1, 3, 1], None)),
        ("dragonfly of two groups", dragonfly([1, 3, 2], Some(2))),
        ("dragonfly with trunks", dragonfly([2, 4, 2], Some(4))),
        ("dragonfly of one group", dragonfly([2, 4, 0], None)),
        ("dragonfly of single switches", dragonfly([2, 1, 4], None)),
        ("megafly", megafly([2, 2, 2, 2], None)),
        ("megafly of two groups", megafly([1, 3, 2, 1], Some(2))),
        ("megafly with trunks", megafly([1, 2, 3, 2], Some(4))),
        ("megafly of one group", megafly([1, 3, 2, 0], None)),
        ("megafly of single switches", megafly([2, 1, 1, 3], None)),
        ("paper 002, small", dragonfly([2, 4, 2], None)),
    ]
}

/// Returns the parameter sets to try for a kind.
fn variants(kind: &str) -> Vec<String> {
    match kind {
        "random-up" => vec!["".into(), "to-root = true".into()],
        "ecmp" => [
            "",
            "choice = \"spray\"",
            "choice = \"least\"",
            "choice = \"least\"\ngranularity = 40",
            "choice = \"least-of-2\"",
        ]
        .map(String::from)
        .to_vec(),
        "up-down" => vec!["".into(), "root = 3".into()],
        "dimension-order" => {
            let mut all = vec![];
            for deadlock in ["bubble", "dateline", "dateline-entry", "none"] {
                for tie in ["random", "positive"] {
                    for trunk in ["flow", "packet"] {
                        all.push(format!(
                            "deadlock = \"{deadlock}\"\ntie = \"{tie}\"\ntrunk = \"{trunk}\""
                        ));
                    }
                }
            }
            all
        }
        _ => vec!["".into()],
    }
}

/// Whether a kind must accept a fabric; the others may reject it.
fn is_suitable(kind: &str, topology: &Topology) -> bool {
    match (kind, topology.structure()) {
        ("det", Structure::Tree(tree)) => tree.is_k_ary_n_tree(),
        ("d-mod-k" | "random-up" | "ecmp", Structure::Tree(_)) => true,
        ("dimension-order", Structure::Grid(_)) => true,
        ("minimal" | "valiant" | "ugal", Structure::Megafly(_)) => true,
        ("minimal" | "valiant" | "ugal" | "par" | "par-ugal", Structure::Dragonfly(_)) => true,
        ("shortest" | "up-down", _) => true,
        _ => false,
    }
}

fn check_promises(what: &str, topology: &Topology, forwarding: &Forwarding) {
    let mut hops = vec![];
    let mut has_two_paths = false;
    for from in topology.nics() {
        for to in topology.nics() {
            let mut first = None;
            for sequence in [0, 1, 2, 77, u32::MAX] {
                // Adaptive routings see empty queues for the first packet, arbitrary ones for the
                // others.
                let queued = |s: SwitchId, p: Port| match sequence {
                    0 => 0,
                    _ => (s.0 * 31 + u32::from(p.0) * 17 + sequence % 89) * 13 % 97,
                };
                let steps = path_seeing(topology, forwarding, from, to, sequence, queued)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                let mut lane = 0;
                for step in &steps {
                    assert!(step.lane < forwarding.lanes(), "{what}: lanes in range");
                    hops.clear();
                    let lookup = Lookup::any(step.switch, step.input, lane, to);
                    forwarding.choices(&lookup, &mut hops);
                    let is_choice = hops
                        .iter()
                        .any(|h| (h.port, h.lane) == (step.output, step.lane));
                    assert!(is_choice, "{what}: a hop that is not among the choices");
                    lane = step.lane;
                }
                match &first {
                    None => first = Some(steps),
                    Some(first) if *first != steps => has_two_paths = true,
                    Some(_) => {}
                }
            }
        }
    }
    if forwarding.keeps_order() {
        assert!(!has_two_paths, "{what}: keeps order on two paths");
    } else {
        assert!(
            has_two_paths,
            "{what}: one path per pair, but does not claim order"
        );
        assert!(forwarding.needs_occasion());
    }
    let verdict = check(topology, forwarding);
    if forwarding.claims_no_deadlock() {
        assert!(matches!(verdict, Verdict::Free { .. }), "{what}: {verdict}");
    }
    assert_eq!(
        verdict,
        check(topology, forwarding),
        "{what}: the same verdict again"
    );
    if !forwarding.needs_occasion() && !forwarding.bubble() {
        check_against_paths(what, topology, forwarding, &verdict);
    }
    if let Verdict::Cycle(cycle) = verdict {
        for (held, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            assert_eq!(held.to, next.switch, "{what}: a cycle of neighbours");
            let there = topology.peer(next.switch, next.port);
            assert!(
                matches!(there, Peer::Switch(s, _) if s == next.to),
                "{what}"
            );
        }
    }
    check_rings(what, topology, forwarding);
}

/// Reference implementation of the deadlock check: dependencies from the paths of all pairs, cycles
/// by removing nodes.
fn check_against_paths(
    what: &str,
    topology: &Topology,
    forwarding: &Forwarding,
    verdict: &Verdict,
) {
    let (mut held, mut waits) = (BTreeSet::new(), BTreeSet::new());
    for from in topology.nics() {
        for to in topology.nics() {
            let steps = path(topology, forwarding, from, to, 0).unwrap();
            let channels: Vec<_> = steps[..steps.len() - 1]
                .iter()
                .map(|s| (s.switch, s.output, s.lane))
                .collect();
            held.extend(channels.iter().copied());
            waits.extend(channels.windows(2).map(|w| (w[0], w[1])));
        }
    }
    if let Verdict::Free {
        channels,
        dependencies,
        ..
    } = verdict
    {
        let found = (held.len() as u64, waits.len() as u64);
        assert_eq!((*channels, *dependencies), found, "{what}");
    }
    let mut left = waits;
    loop {
        let waited: BTreeSet<_> = left.iter().map(|&(_, next)| next).collect();
        let before = left.len();
        left.retain(|(first, _)| waited.contains(first));
        if left.len() == before {
            break;
        }
    }
    assert_eq!(
        left.is_empty(),
        matches!(verdict, Verdict::Free { .. }),
        "{what}"
    );
}

/// Both ends of a cable are in one ring, and a host port is in none.
fn check_rings(what: &str, topology: &Topology, forwarding: &Forwarding) {
    let mut has_ring = false;
    for switch in topology.switches() {
        for port in topology.ports(switch) {
            let out = forwarding.ring_of_output(switch, port);
            has_ring |= out != 0;
            match topology.peer(switch, port) {
                Peer::Switch(other, there) => {
                    assert_eq!(out, forwarding.ring_of_input(other, there), "{what}");
                }
                _ => assert_eq!(
                    (out, forwarding.ring_of_input(switch, port)),
                    (0, 0),
                    "{what}"
                ),
            }
        }
    }
    assert_eq!(has_ring, forwarding.bubble(), "{what}");
}

#[test]
fn every_kind_keeps_its_promises_on_every_fabric_it_takes() {
    let fabrics = fabrics();
    let mut checked = 0;
    for kind in KINDS {
        for parameters in variants(kind.name) {
            let routing = read(kind, &parameters);
            for (name, topology) in &fabrics {
                let what = format!("{} ({parameters}) on {name}", kind.name);
                match routing.compile(topology, 5) {
                    Ok(forwarding) => {
                        check_promises(&what, topology, &forwarding);
                        checked += 1;
                    }
                    Err(reason) => {
                        let is_root = kind.name == "up-down" && reason.contains("found 3");
                        assert!(
                            !is_suitable(kind.name, topology) || is_root,
                            "{what}: {reason}"
                        );
                    }
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn examples_read() {
    for kind in KINDS {
        read(kind, kind.example);
    }
}

#[test]
fn unsuitable_fabrics_are_refused_with_a_reason() {
    let fabrics = fabrics();
    let reason = |kind: &str, fabric: &str| {
        let routing = read(KINDS.iter().find(|k| k.name == kind).unwrap(), "");
        let topology = &fabrics.iter().find(|(name, _)| *name == fabric).unwrap().1;
        routing.compile(topology, 0).unwrap_err()
    };
    assert_eq!(
        reason("det", "slim tree"),
        "routing det requires a k-ary n-tree, found PGFT(3; 4,3,2; 1,2,3; 1,1,1); use d-mod-k on \
         other fat trees"
    );
    assert_eq!(
        reason("d-mod-k", "mesh"),
        "routing d-mod-k requires a fat tree, found 4x3 mesh"
    );
    assert_eq!(
        reason("dimension-order", "random"),
        "routing dimension-order requires a grid, found a fabric without regular structure"
    );
}

/// Up*/down* never goes up after down, and takes the shortest of such paths.
#[test]
fn up_down_paths_are_legal_and_shortest() {
    let kind = KINDS.iter().find(|k| k.name == "up-down").unwrap();
    for (name, topology) in fabrics() {
        let forwarding = read(kind, "").compile(&topology, 0).unwrap();
        let levels = topology.distances(SwitchId(0));
        let leads_up =
            |a: SwitchId, b: SwitchId| (levels[b.index()], b.0) < (levels[a.index()], a.0);
        for from in topology.nics() {
            for to in topology.nics() {
                let steps = path(&topology, &forwarding, from, to, 0).unwrap();
                let goes_up: Vec<bool> = steps
                    .windows(2)
                    .map(|w| leads_up(w[0].switch, w[1].switch))
                    .collect();
                assert!(goes_up.is_sorted_by(|a, b| a >= b), "{name}: {steps:?}");
                // Every legal path, breadth first over (switch, has come down).
                let goal = topology.attachment(to).0;
                let mut reached = vec![(topology.attachment(from).0, false)];
                let mut length = 0;
                while !reached.iter().any(|&(s, _)| s == goal) {
                    let mut next = vec![];
                    for (at, down) in reached {
                        for (_, other, _) in topology.neighbours(at) {
                            let up = leads_up(at, other);
                            if !(down && up) {
                                next.push((other, !up));
                            }
                        }
                    }
                    next.sort_unstable();
                    next.dedup();
                    reached = next;
                    length += 1;
                }
                assert_eq!(steps.len(), length + 1, "{name}: {from} to {to}");
            }
        }
    }
}

#[test]
fn shortest_paths_are_shortest() {
    let kind = KINDS.iter().find(|k| k.name == "shortest").unwrap();
    for (name, topology) in fabrics() {
        let forwarding = read(kind, "").compile(&topology, 0).unwrap();
        for from in topology.nics() {
            let distances = topology.distances(topology.attachment(from).0);
            for to in topology.nics() {
                let steps = path(&topology, &forwarding, from, to, 0).unwrap();
                let distance = distances[topology.attachment(to).0.index()].unwrap();
                assert_eq!(steps.len() as u32, distance + 1, "{name}");
            }
        }
    }
}
