//! Verdicts on fabrics with a known answer.

mod common;

use common::{build, compile};
use netloom_routing::deadlock::{CentralQueue, Centre, Verdict, check, check_with};
use netloom_routing::paths::path;
use netloom_routing::{
    Choice, DModK, Deadlock, DimensionOrder, Ecmp, Paths, RandomUp, Routing, Shortest, Tie, Trunk,
    UpDown,
};
use netloom_topology::{Blueprint, FatTree, Graph, Mesh, ParallelFatTree, Torus};
use netloom_units::NicId;

fn verdict(blueprint: &dyn Blueprint, routing: &dyn Routing) -> Verdict {
    let topology = build(blueprint);
    check(&topology, &compile(routing, &topology))
}

fn order(deadlock: Deadlock) -> DimensionOrder {
    DimensionOrder {
        deadlock,
        tie: Tie::Random,
        trunk: Trunk::Packet,
    }
}

fn torus(sides: &[u16], trunk: u16) -> Torus {
    Torus {
        sides: sides.to_vec(),
        hosts: 1,
        trunk,
    }
}

#[test]
fn a_torus_with_nothing_against_it_has_a_cycle() {
    let Verdict::Cycle(cycle) = verdict(&torus(&[4, 4], 1), &order(Deadlock::Nothing)) else {
        panic!("a cycle");
    };
    // Once round the first row, in positive direction: hosts first, so the port is 1.
    let lines: Vec<String> = cycle.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "switch 0 port 1 lane 0 -> switch 1",
            "switch 1 port 1 lane 0 -> switch 2",
            "switch 2 port 1 lane 0 -> switch 3",
            "switch 3 port 1 lane 0 -> switch 0",
        ]
    );
}

#[test]
fn bubble_and_dateline_free_a_torus() {
    for fabric in [torus(&[8, 8], 1), torus(&[8, 8], 10), torus(&[4, 5, 3], 2)] {
        for deadlock in [
            Deadlock::Bubble,
            Deadlock::Dateline,
            Deadlock::DatelineEntry,
        ] {
            let verdict = verdict(&fabric, &order(deadlock));
            let Verdict::Free {
                how,
                channels,
                dependencies,
            } = verdict
            else {
                panic!("{deadlock:?}: {verdict}");
            };
            assert!(channels > 0 && dependencies > 0);
            assert_eq!(
                how.contains("bubble"),
                deadlock == Deadlock::Bubble,
                "{how}"
            );
        }
    }
}

/// A ring of three has no packet that stays for two hops.
#[test]
fn rings_of_three_need_nothing() {
    let free = verdict(&torus(&[3, 3], 1), &order(Deadlock::Nothing));
    assert!(matches!(free, Verdict::Free { .. }));
}

/// From five switches on, both directions have packets that stay for two hops everywhere.
#[test]
fn rings_of_five_and_more_with_shortest_paths_have_a_cycle() {
    for n in [5u16, 6, 7, 9, 16] {
        let cycle = verdict(&torus(&[n], 1), &Shortest { paths: Paths::All });
        let Verdict::Cycle(cycle) = cycle else {
            panic!("a ring of {n}: {cycle}");
        };
        assert_eq!(cycle.len(), usize::from(n));
        let free = verdict(
            &torus(&[n], 1),
            &UpDown {
                root: 0,
                paths: Paths::All,
            },
        );
        assert!(matches!(free, Verdict::Free { .. }), "{free}");
    }
}

/// In a ring of four, all two-hop packets are ties. If all go in the same direction, there is a
/// cycle. The hash that spreads shortest paths happens to send them in both, which leaves a gap.
#[test]
fn a_ring_of_four_depends_on_its_ties() {
    let one_way = DimensionOrder {
        tie: Tie::Positive,
        ..order(Deadlock::Nothing)
    };
    let ring = torus(&[4], 1);
    assert!(matches!(verdict(&ring, &one_way), Verdict::Cycle(c) if c.len() == 4));
    assert!(matches!(
        verdict(&ring, &order(Deadlock::Nothing)),
        Verdict::Cycle(_)
    ));
    let topology = build(&ring);
    let shortest = compile(&Shortest { paths: Paths::All }, &topology);
    let mut ports = [0, 1, 2, 3].map(|from| {
        let steps = path(&topology, &shortest, NicId(from), NicId((from + 2) % 4), 0).unwrap();
        steps[0].output.0
    });
    ports.sort_unstable();
    assert_eq!((ports[0], ports[3]), (1, 2), "both ways are taken");
    assert!(matches!(check(&topology, &shortest), Verdict::Free { .. }));
}

#[test]
fn meshes_are_free() {
    let mesh = Mesh {
        sides: vec![5, 4, 3],
        hosts: 1,
        trunk: 2,
    };
    let free = verdict(&mesh, &order(Deadlock::Nothing));
    assert!(matches!(free, Verdict::Free { .. }), "{free}");
}

/// Counted by hand: two leaves, one root, one NIC each. Each leaf sends up, the root sends down.
#[test]
fn channels_and_dependencies_of_a_line() {
    let text = "link a root\nlink b root\nnic n0 a\nnic n1 b";
    let graph = Graph {
        file: None,
        text: Some(text.into()),
    };
    let Verdict::Free {
        channels,
        dependencies,
        ..
    } = verdict(&graph, &Shortest { paths: Paths::All })
    else {
        panic!("free");
    };
    assert_eq!((channels, dependencies), (4, 2));
}

#[test]
fn large_trees_are_proved_by_structure_and_small_ones_by_enumeration() {
    let large = ParallelFatTree {
        children: vec![32, 32, 64],
        parents: vec![1, 32, 32],
        links: vec![],
    };
    let small = FatTree {
        arity: 4,
        levels: 3,
    };
    let ecmp = |choice| Ecmp {
        choice,
        granularity: 1,
    };
    let routings: [&dyn Routing; 5] = [
        &DModK {},
        &ecmp(Choice::Hash),
        &ecmp(Choice::Least),
        &RandomUp { to_root: false },
        &RandomUp { to_root: true },
    ];
    for routing in routings {
        for (fabric, expected) in [(&large as &dyn Blueprint, true), (&small, false)] {
            let Verdict::Free { how, .. } = verdict(fabric, routing) else {
                panic!("free");
            };
            assert_eq!(how.contains("by structure"), expected, "{how}");
        }
    }
}

/// All outcomes of a choice are followed: between two leaves and two roots, joined by three cables
/// each, a leaf has six cables up and a root three down. So each of the 12 cables up may wait for
/// the 3 down to the other leaf.
#[test]
fn all_outcomes_of_a_choice_are_part_of_the_proof() {
    let tree = ParallelFatTree {
        children: vec![2, 2],
        parents: vec![1, 2],
        links: vec![1, 3],
    };
    for choice in [Choice::Hash, Choice::Spray, Choice::Least, Choice::LeastOf2] {
        let ecmp = Ecmp {
            choice,
            granularity: 1,
        };
        let Verdict::Free {
            channels,
            dependencies,
            ..
        } = verdict(&tree, &ecmp)
        else {
            panic!("free");
        };
        assert_eq!((channels, dependencies), (24, 36), "{choice:?}");
    }
}

/// A centre with all ports on one side changes nothing. One whose groups join dimensions closes a
/// cycle that the lanes of the routing had opened. Guarded rings do not pass the centre.
#[test]
fn shared_central_queues_are_part_of_the_proof() {
    let topology = build(&torus(&[4, 4], 1));
    let centre = |ports_per_mport| Some(Centre::of_mports(ports_per_mport, 2));
    let dateline = compile(&order(Deadlock::Dateline), &topology);
    assert!(matches!(
        check_with(&topology, &dateline, centre(5)),
        Verdict::Free { dependencies, .. }
            if matches!(check(&topology, &dateline), Verdict::Free { dependencies: d, .. } if d == dependencies)
    ));
    let Verdict::Cycle(cycle) = check_with(&topology, &dateline, centre(2)) else {
        panic!("MPorts of two ports join dimensions");
    };
    let queues: Vec<CentralQueue> = cycle.iter().filter_map(|channel| channel.through).collect();
    assert!(!queues.is_empty() && queues.iter().all(|queue| queue.link < 2 && queue.mport < 3));
    // Each channel leads to the switch from which the next one starts.
    for (channel, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(channel.to, next.switch);
    }
    let bubble = compile(&order(Deadlock::Bubble), &topology);
    assert!(matches!(
        check_with(&topology, &bubble, centre(2)),
        Verdict::Free { .. }
    ));
}
