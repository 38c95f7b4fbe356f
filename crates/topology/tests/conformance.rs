//! Every kind of topology keeps its promises and refuses what is impossible.

mod promises;

use netloom_catalog::{Document, Notes, Section};
use netloom_topology::KINDS;
use promises::keeps_promises;

#[test]
fn every_example_builds_and_keeps_the_promises() {
    KINDS.iter().for_each(keeps_promises);
}

#[test]
fn kinds_are_named_once() {
    let mut names: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn impossible_numbers_are_refused_at_their_key() {
    let cases = [
        ("fat-tree", "arity = 0\nlevels = 3", "at least one child"),
        (
            "fat-tree",
            "arity = 64\nlevels = 9",
            "switch ports in total",
        ),
        (
            "pgft",
            "children = [4, 4]\nparents = [2, 4]",
            "a NIC has one port",
        ),
        (
            "pgft",
            "children = [4, 4]\nparents = [1]",
            "expected 2 numbers, one per level, found 1",
        ),
        (
            "pgft",
            "children = [4, 4]\nparents = [1, 4]\nlinks = [1, 0]",
            "at least 1",
        ),
        ("torus", "sides = []", "dimensions"),
        ("torus", "sides = [4, 4]\nhosts = 0", "at least one NIC"),
        (
            "mesh",
            "sides = [65535, 65535, 65535, 65535, 65535]",
            "switch ports in total",
        ),
        (
            "mesh",
            "sides = [4]\nhosts = 60000\ntrunk = 60000",
            "at most 65535 ports per switch",
        ),
        ("hypercube", "dimensions = 0", "1 to 24"),
        ("single-switch", "ports = 0", "1 to 65535"),
        (
            "random-regular",
            "switches = 5\ndegree = 3",
            "odd number of ports",
        ),
        (
            "random-regular",
            "switches = 4\ndegree = 4",
            "at most 3, found 4",
        ),
        (
            "random-regular",
            "switches = 4\ndegree = 1",
            "cannot be connected",
        ),
        ("graph", "", "either `file` or `text`"),
        (
            "dragonfly",
            "hosts = 0\nswitches = 4\nglobals = 2",
            "at least one NIC",
        ),
        (
            "dragonfly",
            "hosts = 2\nswitches = 0\nglobals = 2",
            "at least one switch",
        ),
        (
            "dragonfly",
            "hosts = 2\nswitches = 4\nglobals = 2\ngroups = 10",
            "expected at most 9 groups, found 10: a group has 8 global ports (switches * globals)",
        ),
        (
            "dragonfly",
            "hosts = 2\nswitches = 4\nglobals = 2\ngroups = 0",
            "at least one",
        ),
        (
            "dragonfly",
            "hosts = 2\nswitches = 4\nglobals = 2\nports = 6",
            "expected at least 7 ports (hosts + switches - 1 + globals), found 6",
        ),
        (
            "dragonfly",
            "hosts = 2\nswitches = 4000\nglobals = 2000",
            "switch ports in total",
        ),
        (
            "megafly",
            "hosts = 2\nleaves = 2\nspines = 0\nglobals = 2",
            "at least one spine",
        ),
        (
            "megafly",
            "hosts = 2\nleaves = 2\nspines = 2\nglobals = 2\ngroups = 6",
            "expected at most 5 groups, found 6: a group has 4 global ports (spines * globals)",
        ),
    ];
    for (name, text, expected) in cases {
        let kind = KINDS.iter().find(|k| k.name == name).unwrap();
        let mut notes = Notes::new();
        let document = Document::parse(name, text, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).unwrap();
        assert!((kind.read)(&mut section).is_none(), "{name}: {text}");
        let messages: Vec<&str> = notes.iter().map(|n| n.message.as_str()).collect();
        assert!(
            messages.iter().any(|m| m.contains(expected)),
            "{name}: {messages:?}"
        );
    }
}

mod any_shape {
    use super::promises::check;
    use netloom_topology::{
        Arrangement, Blueprint, Dragonfly, GroupLinks, Megafly, Mesh, ParallelFatTree, Peer,
        Placement, RandomRegular, Topology, Torus,
    };
    use netloom_topology::{Structure, measures};
    use netloom_units::{NicId, SwitchId};
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn level() -> impl Strategy<Value = (u32, u32, u32)> {
        (1u32..5, 1u32..4, 1u32..3)
    }

    /// Returns the largest number of cables between two NICs, by breadth-first search.
    fn diameter(topology: &netloom_topology::Topology) -> u32 {
        let ends = topology.nics().map(|nic| topology.attachment(nic).0);
        let farthest = |s: SwitchId| {
            let distances = topology.distances(s);
            let to = topology
                .nics()
                .map(|nic| distances[topology.attachment(nic).0.index()]);
            to.max().flatten().unwrap()
        };
        ends.map(farthest).max().unwrap() + 2
    }

    const ARRANGEMENTS: [Arrangement; 4] = [
        Arrangement::PalmTree,
        Arrangement::Consecutive,
        Arrangement::Circulant,
        Arrangement::Random,
    ];

    /// Checks that the cables between groups match the arithmetic, are evenly distributed, and use
    /// all ports.
    fn check_groups(
        topology: &Topology,
        links: &GroupLinks,
        switches_of_group: u32,
        ports_of_group: usize,
    ) {
        let groups = links.groups();
        let group = |s: SwitchId| s.0 / switches_of_group;
        let mut joined = vec![vec![0; groups as usize]; groups as usize];
        for s in topology.switches() {
            for (port, other, _) in topology.neighbours(s) {
                let is_global = topology.link_class(s, port) == 2;
                assert_eq!(is_global, group(s) != group(other));
                joined[group(s) as usize][group(other) as usize] += usize::from(is_global);
            }
        }
        for a in 0..groups {
            for b in 0..groups {
                let between = links.between(a, b);
                assert_eq!(between.len(), joined[a as usize][b as usize]);
                assert!(between.is_sorted_by_key(|link| link.switch));
                for link in between {
                    let at = SwitchId(a * switches_of_group + u32::from(link.switch));
                    let to = SwitchId(b * switches_of_group + u32::from(link.to));
                    let peer = topology.peer(at, link.port);
                    assert!(matches!(peer, Peer::Switch(s, _) if s == to));
                }
                let least = ports_of_group / (groups as usize - 1).max(1);
                let is_even = (least..=least + 1).contains(&between.len());
                assert_eq!(is_even, a != b || least == 0, "{} cables", between.len());
            }
            let used: usize = joined[a as usize].iter().sum();
            let unused = ports_of_group - used;
            assert!(groups == 1 || unused <= 1, "{unused} unused global ports");
            // A port is left over only if their number is odd.
            assert!(groups == 1 || unused == 0 || groups % 2 == 1 && ports_of_group % 2 == 1);
        }
    }

    /// Checks that parts consist of whole groups, if there are enough groups.
    fn check_split(topology: &Topology, groups: u32) {
        for n in 2..=(groups as usize).min(9) {
            let parts = topology.partitions(n);
            let size = parts.len() / groups as usize;
            for of_group in parts.chunks(size) {
                assert!(of_group.iter().all(|&part| part == of_group[0]));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn dragonflies(
            hosts in 1u16..4, switches in 1u16..6, globals in 0u16..5, fewer in 0u32..20, extra in 0u16..3,
            arrangement in 0usize..4, random: bool, seed: u64,
        ) {
            let most = u32::from(switches) * u32::from(globals) + 1;
            let groups = most.saturating_sub(fewer).max(1);
            let used = hosts + switches - 1 + globals;
            let blueprint = Dragonfly {
                hosts,
                switches,
                globals,
                groups: (fewer > 0).then_some(groups),
                arrangement: ARRANGEMENTS[arrangement],
                ports: (extra > 0).then_some(used + extra),
                placement: if random { Placement::Random } else { Placement::InOrder },
            };
            let topology = blueprint.build(seed).unwrap();
            check("dragonfly", &topology);
            prop_assert_eq!(blueprint.n_nics(), Some(u64::from(topology.n_nics())));
            prop_assert_eq!(topology.n_switches(), groups * u32::from(switches));
            prop_assert_eq!(topology.radix(), used + extra);
            let Structure::Dragonfly(shape) = topology.structure() else { panic!() };
            check_groups(&topology, &shape.links, u32::from(switches), usize::from(switches * globals));
            check_split(&topology, groups);
            for switch in topology.switches() {
                for host in 0..hosts {
                    let nic = NicId(switch.0 * u32::from(hosts) + u32::from(host));
                    prop_assert_eq!(topology.peer(switch, shape.host_port(switch, host)), Peer::Nic(nic));
                }
                for other in (0..switches).filter(|&other| other != shape.index(switch)) {
                    let there = shape.switch(shape.group(switch), other);
                    let peer = topology.peer(switch, shape.local_port(switch, other));
                    let is_there = matches!(peer, Peer::Switch(s, _) if s == there);
                    prop_assert!(is_there);
                }
            }
            if topology.n_nics() > 1 {
                prop_assert_eq!(measures(&topology).diameter, diameter(&topology));
                prop_assert!(measures(&topology).diameter <= 5);
            }
        }

        #[test]
        fn megaflies(
            hosts in 1u16..4, leaves in 1u16..4, spines in 1u16..4, globals in 0u16..5, fewer in 0u32..12,
            arrangement in 0usize..4, seed: u64,
        ) {
            let most = u32::from(spines) * u32::from(globals) + 1;
            let groups = most.saturating_sub(fewer).max(1);
            let blueprint = Megafly {
                hosts,
                leaves,
                spines,
                globals,
                groups: (fewer > 0).then_some(groups),
                arrangement: ARRANGEMENTS[arrangement],
            };
            let topology = blueprint.build(seed).unwrap();
            check("megafly", &topology);
            prop_assert_eq!(blueprint.n_nics(), Some(u64::from(topology.n_nics())));
            let Structure::Megafly(shape) = topology.structure() else { panic!() };
            let n = u32::from(shape.switches());
            prop_assert_eq!(topology.n_switches(), groups * n);
            check_groups(&topology, &shape.links, n, usize::from(spines * globals));
            check_split(&topology, groups);
            for switch in topology.switches() {
                for other in 0..shape.switches() {
                    let there = shape.switch(shape.group(switch), other);
                    let are_apart = (shape.index(switch) < leaves) != (other < leaves);
                    let peer = shape.local_port(switch, other).map(|port| topology.peer(switch, port));
                    let is_there = matches!(peer, Some(Peer::Switch(s, _)) if s == there);
                    prop_assert_eq!(is_there, are_apart);
                }
            }
            if topology.n_nics() > 1 {
                prop_assert!(measures(&topology).diameter <= 5);
            }
        }

        #[test]
        fn generalised_trees(levels in vec(level(), 1..5)) {
            let mut tree = ParallelFatTree { children: vec![], parents: vec![], links: vec![] };
            for &(m, w, p) in &levels {
                tree.children.push(m);
                tree.parents.push(w);
                tree.links.push(p);
            }
            (tree.parents[0], tree.links[0]) = (1, 1);
            let topology = tree.build(0).unwrap();
            prop_assert_eq!(tree.n_nics(), Some(u64::from(topology.n_nics())));
            check("pgft", &topology);
            if topology.n_nics() > 1 {
                prop_assert_eq!(measures(&topology).diameter, diameter(&topology));
            }
            // The NICs below a switch, found by walking down, are the range that the arithmetic
            // gives.
            let Structure::Tree(shape) = topology.structure() else { panic!() };
            let mut below: Vec<Vec<u32>> = vec![vec![]; topology.n_switches() as usize];
            for switch in topology.switches() {
                let (level, first) = shape.level_and_first_nic(switch);
                let mut nics = vec![];
                for port in topology.ports(switch).take(shape.n_down(level) as usize) {
                    match topology.peer(switch, port) {
                        netloom_topology::Peer::Nic(NicId(nic)) => nics.push(nic),
                        netloom_topology::Peer::Switch(child, _) => nics.extend(&below[child.index()]),
                        netloom_topology::Peer::Unused => panic!("a down port without a cable"),
                    }
                }
                nics.sort_unstable();
                nics.dedup();
                prop_assert!(nics.iter().copied().eq(first.0..first.0 + shape.nics_below(level) as u32));
                below[switch.index()] = nics;
            }
        }

        #[test]
        fn grids(sides in vec(1u16..6, 1..4), hosts in 1u16..4, trunk in 1u16..4, wraps: bool) {
            let topology = match wraps {
                true => Torus { sides, hosts, trunk }.build(0).unwrap(),
                false => Mesh { sides, hosts, trunk }.build(0).unwrap(),
            };
            check("grid", &topology);
            if topology.n_nics() > 1 {
                prop_assert_eq!(measures(&topology).diameter, diameter(&topology));
            }
        }

        #[test]
        fn random_graphs(n in 2u32..40, degree in 1u32..12, seed: u64) {
            let graph = RandomRegular { switches: n, degree, hosts: 1 };
            let is_possible = degree < n && n * degree % 2 == 0 && (degree > 1 || n == 2);
            match graph.build(seed) {
                Err(_) => prop_assert!(!is_possible),
                Ok(topology) => {
                    prop_assert!(is_possible);
                    check("random-regular", &topology);
                    for switch in topology.switches() {
                        let mut others: Vec<_> = topology.neighbours(switch).map(|(_, s, _)| s).collect();
                        others.dedup();
                        prop_assert_eq!(others.len() as u32, degree);
                    }
                    prop_assert_eq!(measures(&topology).diameter, diameter(&topology));
                }
            }
        }
    }
}
