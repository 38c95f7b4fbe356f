//! Missing cables: fat trees keep their routings, tables give each NIC its path, and separated
//! fabrics are rejected.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{build, compile};
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::{path, path_seeing};
use netloom_routing::{
    Choice, DModK, Ecmp, Forwarding, Lookup, Paths, RandomUp, Routing, Shortest, UpDown,
};
use netloom_topology::{
    Blueprint, FatTree, Graph, ParallelFatTree, Peer, Pgft, RandomRegular, Structure, Topology,
    graph,
};
use netloom_units::{NicId, Port, SwitchId};
use proptest::collection::vec;
use proptest::prelude::*;

fn pgft(children: &[u32], parents: &[u32], links: &[u32]) -> ParallelFatTree {
    ParallelFatTree {
        children: children.to_vec(),
        parents: parents.to_vec(),
        links: links.to_vec(),
    }
}

fn shape(topology: &Topology) -> &Pgft {
    let Structure::Tree(shape) = topology.structure() else {
        panic!("a tree");
    };
    shape
}

/// What `netloom show graph` writes, read back, perhaps without some of its lines.
fn exported(topology: &Topology, is_left_out: impl Fn(&str) -> bool) -> Arc<Topology> {
    let text = graph::write(topology);
    let lines: Vec<&str> = text.lines().filter(|line| !is_left_out(line)).collect();
    let graph = Graph {
        file: None,
        text: Some(lines.join("\n")),
    };
    Arc::new(graph.build(1).unwrap())
}

fn up_down(paths: Paths) -> UpDown {
    UpDown { root: 0, paths }
}

fn ecmp(choice: Choice) -> Ecmp {
    Ecmp {
        choice,
        granularity: 1,
    }
}

/// The NICs of a leaf share all its cables up, level by level, in the same way.
#[test]
fn tables_of_an_exported_tree_are_d_mod_k() {
    for tree in [
        pgft(&[8, 8], &[1, 8], &[]),
        pgft(&[4, 4, 4], &[1, 4, 4], &[]),
        pgft(&[4, 3, 2], &[1, 2, 3], &[]),
        pgft(&[8, 4], &[1, 4], &[1, 2]),
        pgft(&[6, 2, 2], &[1, 2, 2], &[1, 3, 2]),
        pgft(&[2, 2, 2, 2], &[1, 2, 2, 2], &[]),
    ] {
        let tree = build(&tree);
        let listed = exported(&tree, |_| false);
        let expected = compile(&DModK {}, &tree);
        let routings: [&dyn Routing; 2] = [&up_down(Paths::All), &Shortest { paths: Paths::All }];
        for routing in routings {
            let forwarding = compile(routing, &listed);
            assert!(forwarding.keeps_order());
            for from in tree.nics() {
                for to in tree.nics() {
                    let [a, b] = [(&tree, &expected), (&listed, &forwarding)]
                        .map(|(topology, f)| path(topology, f, from, to, 0).unwrap());
                    assert_eq!(a, b, "{}: {from} to {to}", tree.structure().words());
                }
            }
        }
        // The other choice: one path to all NICs of a leaf.
        let one = compile(&up_down(Paths::One), &listed);
        for from in tree.nics() {
            let mut outputs = BTreeSet::new();
            for to in tree.nics() {
                let steps = path(&listed, &one, from, to, 0).unwrap();
                if steps.len() > 1 {
                    outputs.insert((listed.attachment(to).0, steps[0].output));
                }
            }
            let n_leaves = shape(&tree).first_switches()[1] as usize;
            assert_eq!(outputs.len(), n_leaves - 1);
        }
    }
}

/// However the ports are numbered, hosts share parallel cables up and down evenly.
#[test]
fn parallel_cables_next_to_each_other_are_shared_evenly() {
    // Two leaves with four hosts, two cables to each of two spines, cable by cable.
    let text = "switch a ports 8\nswitch b ports 8\nlink a:4 c:0\nlink a:5 c:1\nlink a:6 d:0\n\
        link a:7 d:1\n\
                link b:4 c:2\nlink b:5 c:3\nlink b:6 d:2\nlink b:7 d:3\n";
    let nics: String = (0..8)
        .map(|n| format!("nic n{n} {}:{}\n", if n < 4 { "a" } else { "b" }, n % 4))
        .collect();
    let graph = Graph {
        file: None,
        text: Some(format!("{text}{nics}")),
    };
    let topology = build(&graph);
    let forwarding = compile(&up_down(Paths::All), &topology);
    for (from, to) in [(0..4, 4..8), (4..8, 0..4)] {
        let steps = from.zip(to).flat_map(|(from, to)| {
            let steps = path(&topology, &forwarding, NicId(from), NicId(to), 0).unwrap();
            steps[..2]
                .iter()
                .map(|step| (step.switch, step.output))
                .collect::<Vec<_>>()
        });
        let links: BTreeSet<_> = steps.collect();
        assert_eq!(
            links.len(),
            8,
            "four cables up and four down, each once: {links:?}"
        );
    }
}

/// A graph that is a tree accepts the routings of trees; one that is not gets an error that says
/// where.
#[test]
fn a_graph_may_be_a_damaged_tree() {
    let tree = build(&pgft(&[4, 4, 2], &[1, 2, 3], &[1, 2, 1]));
    let left = tree.without(&[(SwitchId(0), Port(5)), (SwitchId(9), Port(8))]);
    let missing = |line: &str| {
        let ends = ["link s0:5 ", "link s9:8 "];
        ends.iter().any(|end| line.starts_with(end))
    };
    let listed = exported(&tree, missing);
    assert_eq!(listed.n_cables() + 2, tree.n_cables());
    for routing in [&DModK {} as &dyn Routing, &ecmp(Choice::Hash)] {
        let left = Arc::new(left.clone());
        let [expected, found] = [&left, &listed].map(|topology| compile(routing, topology));
        for from in tree.nics() {
            for to in tree.nics() {
                let [a, b] = [(&left, &expected), (&listed, &found)]
                    .map(|(topology, f)| path(topology, f, from, to, 0).unwrap());
                assert_eq!(a, b);
            }
        }
    }
    let reason = |topology: Arc<Topology>| DModK {}.compile(&topology, 1).unwrap_err();
    let none = "routing d-mod-k requires a fat tree, and this fabric is not one: ";
    let text = graph::write(&tree).replace("link s0:4 s8:0 ", "link s0:4 s8:16 ");
    let text = text.replace("switch s8 ports 11", "switch s8 ports 17");
    let graph = |text: String| {
        let graph = Graph {
            file: None,
            text: Some(text),
        };
        Arc::new(graph.build(1).unwrap())
    };
    assert_eq!(
        reason(graph(text)),
        format!("{none}s0:4 leads to s8:16, expected s8:0 as in PGFT(3; 4,4,2; 1,2,3; 1,2,1)")
    );
    assert_eq!(
        reason(exported(&tree, |line| line.starts_with("nic n5 "))),
        format!(
            "{none}its switches match PGFT(3; 4,4,2; 1,2,3; 1,2,1), which has 32 hosts \
             and 18 switches, found 31 and 18"
        )
    );
    let random = RandomRegular {
        switches: 8,
        degree: 3,
        hosts: 1,
    };
    let reason = reason(build(&random));
    assert!(
        reason.contains("a cable joins ") && reason.ends_with(" of the same level"),
        "{reason}"
    );
    let undeclared = "switch a\nswitch c\nlink a:1 b:0\nlink c:1 b:1\nnic x a:0\nnic y c:0";
    assert!(DModK {}.compile(&graph(undeclared.into()), 1).is_ok());
}

/// Returns the leaves from which packets reach a leaf by climbing and then descending, by a search
/// over states.
fn reached(topology: &Topology, tree: &Pgft, from: SwitchId) -> BTreeSet<SwitchId> {
    let level = |at: SwitchId| tree.level_and_first_nic(at).0;
    let mut seen = BTreeSet::from([(from, false)]);
    let mut stack = vec![(from, false)];
    while let Some((at, has_descended)) = stack.pop() {
        for (_, other, _) in topology.neighbours(at) {
            let climbs = level(other) > level(at);
            let next = (other, !climbs);
            if !(climbs && has_descended) && seen.insert(next) {
                stack.push(next);
            }
        }
    }
    let leaves = seen.into_iter().map(|(at, _)| at);
    leaves.filter(|at| level(*at) == 1).collect()
}

/// Follows every choice of every pair of NICs: all lead to the destination, and none leads up after
/// down.
fn every_choice_arrives(topology: &Topology, tree: &Pgft, forwarding: &Forwarding) {
    let level = |at: SwitchId| tree.level_and_first_nic(at).0;
    let mut hops = vec![];
    for to in topology.nics() {
        let mut seen = BTreeSet::new();
        let sources = topology.nics().map(|nic| (topology.attachment(nic), false));
        let mut stack: Vec<_> = sources.collect();
        while let Some(((at, from), has_descended)) = stack.pop() {
            if !seen.insert((at, from, has_descended)) {
                continue;
            }
            hops.clear();
            forwarding.choices(&Lookup::any(at, from, 0, to), &mut hops);
            assert!(!hops.is_empty(), "{at} {from} to {to}");
            for hop in &hops {
                match topology.peer(at, hop.port) {
                    Peer::Switch(other, there) => {
                        let climbs = level(other) > level(at);
                        assert!(!(climbs && has_descended), "up after down at {at} to {to}");
                        stack.push(((other, there), !climbs));
                    }
                    end => assert_eq!(end, Peer::Nic(to)),
                }
            }
        }
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(64, |n| n.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_failures_of_random_trees(
        levels in vec((1u32..4, 1u32..4, 1u32..3), 2..4),
        draws in vec(any::<u32>(), 0..8),
        dead in proptest::option::of(any::<u32>()),
        to_root: bool,
    ) {
        let (mut children, mut parents, mut links) = (vec![], vec![], vec![]);
        for (i, (m, w, p)) in levels.into_iter().enumerate() {
            children.push(m);
            parents.push(if i == 0 { 1 } else { w });
            links.push(if i == 0 { 1 } else { p });
        }
        let whole = build(&pgft(&children, &parents, &links));
        let tree = shape(&whole);
        let cables: Vec<_> = (1..tree.levels()).flat_map(|level| tree.cables_up(level)).collect();
        let mut missing: Vec<_> = draws.iter().map(|n| cables[*n as usize % cables.len()]).collect();
        if let Some(dead) = dead {
            let n_leaves = tree.first_switches()[1];
            let at = SwitchId(n_leaves + dead % (whole.n_switches() - n_leaves));
            missing.extend(whole.neighbours(at).map(|(port, ..)| (at, port)));
        }
        let left = Arc::new(whole.without(&missing));
        let leaves: BTreeSet<SwitchId> = left.nics().map(|nic| left.attachment(nic).0).collect();
        let apart = leaves.iter().flat_map(|&from| {
            let reached = reached(&left, tree, from);
            leaves.iter().filter(move |to| !reached.contains(to)).map(move |&to| (from, to)).collect::<Vec<_>>()
        });
        let apart: BTreeSet<(SwitchId, SwitchId)> = apart.collect();
        let routings: [&dyn Routing; 5] = [
            &DModK {},
            &RandomUp { to_root },
            &ecmp(Choice::Hash),
            &ecmp(Choice::Spray),
            &ecmp(Choice::Least),
        ];
        for routing in routings {
            let forwarding = match routing.compile(&left, 3) {
                Ok(forwarding) => forwarding,
                Err(reason) => {
                    let words = reason.strip_prefix("no path leads up and then down the tree \
                        from ").unwrap();
                    let (from, to) = words.split_once(" to ").unwrap();
                    let leaf = |words: &str| {
                        let name = words.split(['(', ')']).nth(1).unwrap();
                        SwitchId(name[1..].parse().unwrap())
                    };
                    prop_assert!(apart.contains(&(leaf(from), leaf(to))), "{reason}: {apart:?}");
                    continue;
                }
            };
            prop_assert!(apart.is_empty(), "{apart:?}");
            every_choice_arrives(&left, tree, &forwarding);
            let verdict = check(&left, &forwarding);
            prop_assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
            for from in left.nics() {
                for to in left.nics() {
                    let queued = |s: SwitchId, p: Port| (s.0 * 31 + u32::from(p.0) * 17) % 97;
                    let steps = path_seeing(&left, &forwarding, from, to, from.0, queued);
                    prop_assert!(steps.is_ok(), "{steps:?}");
                }
            }
        }
        // A path by destination that no failure affects does not change.
        if apart.is_empty() {
            let [before, after] = [&whole, &left].map(|topology| compile(&DModK {}, topology));
            let is_whole = |steps: &[netloom_routing::paths::Step]| {
                steps.iter().all(|step| left.peer(step.switch, step.output) != Peer::Unused)
            };
            for from in left.nics() {
                for to in left.nics() {
                    let expected = path(&whole, &before, from, to, 0).unwrap();
                    let found = path(&left, &after, from, to, 0).unwrap();
                    if is_whole(&expected) {
                        prop_assert_eq!(expected, found);
                    }
                }
            }
        }
    }

    /// Tables of damaged fabrics of any kind are legal, shortest and proved.
    #[test]
    fn tables_of_random_failures(
        n in 4u32..20, degree in 2u32..5, draws in vec(any::<u32>(), 0..4), seed: u64,
    ) {
        prop_assume!(degree < n && n * degree % 2 == 0);
        let random = RandomRegular { switches: n, degree, hosts: 3 };
        let whole = random.build(seed).unwrap();
        let cables = whole.switches().flat_map(|at| whole.neighbours(at).map(move |(port, ..)| (at, port)));
        let cables: Vec<_> = cables.collect();
        let missing: Vec<_> = draws.iter().map(|n| cables[*n as usize % cables.len()]).collect();
        let left = Arc::new(whole.without(&missing));
        let is_connected = left.distances(SwitchId(0)).iter().all(Option::is_some);
        for paths in [Paths::All, Paths::One] {
            match up_down(paths).compile(&left, 1) {
                Ok(forwarding) => {
                    prop_assert!(is_connected);
                    let verdict = check(&left, &forwarding);
                    prop_assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
                    for (from, to) in left.nics().flat_map(|a| left.nics().map(move |b| (a, b))) {
                        prop_assert!(path(&left, &forwarding, from, to, 0).is_ok());
                    }
                }
                Err(reason) => prop_assert!(!is_connected, "{reason}"),
            }
        }
    }
}

/// Large trees are proved by their structure, with their exceptions one by one.
#[test]
fn a_large_damaged_tree_is_proved_by_its_structure() {
    let whole = build(&FatTree {
        arity: 24,
        levels: 3,
    });
    let tree = shape(&whole);
    let missing: Vec<_> = (1..3)
        .flat_map(|level| tree.draw_cables_up(level, 0.02, 0, 1))
        .collect();
    let left = Arc::new(whole.without(&missing));
    for routing in [&DModK {} as &dyn Routing, &ecmp(Choice::Spray)] {
        let forwarding = compile(routing, &left);
        let verdict = check(&left, &forwarding);
        let Verdict::Free { how, channels, .. } = &verdict else {
            panic!("{verdict}");
        };
        assert!(how.contains("by structure"), "{how}");
        assert_eq!(*channels, 2 * u64::from(left.n_cables() - left.n_nics()));
        for nic in (0..left.n_nics()).step_by(97).map(NicId) {
            let far = NicId((nic.0 * 31 + 577) % left.n_nics());
            assert!(path(&left, &forwarding, nic, far, 0).is_ok());
        }
    }
}
