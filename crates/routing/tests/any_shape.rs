//! Fabrics of random shape: every packet arrives, by the path the formulas give, without deadlock.

mod common;

use std::sync::Arc;

use common::compile;
use netloom_routing::deadlock::{Verdict, check};
use netloom_routing::paths::{path, path_seeing};
use netloom_routing::{
    Choice, DModK, Deadlock, DimensionOrder, Ecmp, Forwarding, Lookup, Paths, RandomUp, Routing,
    Shortest, Tie, Trunk, UpDown,
};
use netloom_topology::{Blueprint, Mesh, ParallelFatTree, Pgft, RandomRegular, Structure};
use netloom_topology::{Topology, Torus};
use netloom_units::{NicId, Port, SwitchId};
use proptest::collection::vec;
use proptest::prelude::*;

/// D-Mod-K in its textbook form, with divisions and digits.
fn d_mod_k(tree: &Pgft, at: SwitchId, j: NicId) -> u32 {
    let (level, first) = tree.level_and_first_nic(at);
    let up = |l: usize| {
        let (w, p) = (u64::from(tree.w[l]), u64::from(tree.p[l]));
        u64::from(j.0) / tree.siblings(l) % (w * p)
    };
    let size = tree.nics_below(level);
    if u64::from(j.0) / size != u64::from(first.0) / size {
        return tree.n_down(level) + up(level) as u32;
    }
    let child = u64::from(j.0) / tree.nics_below(level - 1) % u64::from(tree.m[level - 1]);
    let parallel = up(level - 1) / u64::from(tree.w[level - 1]);
    child as u32 + parallel as u32 * tree.m[level - 1]
}

/// Returns some pairs of NICs, spread over all.
fn pairs(topology: &Topology) -> impl Iterator<Item = (NicId, NicId)> + use<> {
    let n = topology.n_nics();
    let step = (n / 23).max(1) as usize;
    (0..n)
        .step_by(step)
        .flat_map(move |a| (0..n).step_by(step).map(move |b| (NicId(a), NicId(b))))
}

fn arrives(topology: &Topology, forwarding: &Forwarding, longest: usize) {
    for (from, to) in pairs(topology) {
        for sequence in [0, 1, 2] {
            let steps = path(topology, forwarding, from, to, sequence).unwrap();
            assert!(
                steps.len() <= longest,
                "{} switches, {longest} expected",
                steps.len()
            );
        }
    }
    if forwarding.claims_no_deadlock() {
        let verdict = check(topology, forwarding);
        assert!(matches!(verdict, Verdict::Free { .. }), "{verdict}");
    }
}

/// Whatever waits, a packet climbs to the nearest common ancestor and no higher.
fn never_up_after_down(topology: &Topology, tree: &Pgft, forwarding: &Forwarding) {
    let level = |s: SwitchId| tree.level_and_first_nic(s).0;
    for (from, to) in pairs(topology) {
        for sequence in [0, 9] {
            let queued = |s: SwitchId, p: Port| (s.0 * 31 + u32::from(p.0) * 17 + sequence) % 97;
            let steps = path_seeing(topology, forwarding, from, to, sequence, queued).unwrap();
            let levels: Vec<usize> = steps.iter().map(|step| level(step.switch)).collect();
            let below = |l: usize, nic: NicId| u64::from(nic.0) / tree.nics_below(l);
            let ancestor = (1..).find(|&l| below(l, from) == below(l, to)).unwrap();
            let expected = (1..=ancestor).chain((1..ancestor).rev());
            assert!(levels.iter().copied().eq(expected), "{levels:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn generalised_trees(levels in vec((1u32..6, 1u32..5, 1u32..4), 1..5), to_root: bool) {
        let (mut children, mut parents, mut links) = (vec![], vec![], vec![]);
        for (i, (m, w, p)) in levels.into_iter().enumerate() {
            children.push(m);
            parents.push(if i == 0 { 1 } else { w });
            links.push(if i == 0 { 1 } else { p });
        }
        let n_switches = |l: usize| children[l..].iter().product::<u32>() * parents[..l].iter().product::<u32>();
        prop_assume!((1..=children.len()).map(n_switches).sum::<u32>() < 400);
        let topology = Arc::new(ParallelFatTree { children, parents, links }.build(0).unwrap());
        let Structure::Tree(tree) = topology.structure() else { panic!() };
        let forwarding = compile(&DModK {}, &topology);
        let longest = 2 * tree.levels() - 1;
        for at in topology.switches() {
            for to in topology.nics() {
                let hop = forwarding.route(&Lookup::any(at, Port(0), 0, to));
                prop_assert_eq!(u32::from(hop.port.0), d_mod_k(tree, at, to));
            }
        }
        arrives(&topology, &forwarding, longest);
        let random_up = compile(&RandomUp { to_root }, &topology);
        arrives(&topology, &random_up, longest);
        for choice in [Choice::Hash, Choice::Spray, Choice::Least, Choice::LeastOf2] {
            let ecmp = compile(&Ecmp { choice, granularity: 3 }, &topology);
            arrives(&topology, &ecmp, longest);
            never_up_after_down(&topology, tree, &ecmp);
            // Draws are the same, unless parallel cables downwards are drawn as well.
            if choice == Choice::Spray && !to_root && tree.p.iter().all(|&p| p == 1) {
                for (from, to) in pairs(&topology) {
                    let [a, b] = [&random_up, &ecmp].map(|f| path(&topology, f, from, to, 5).unwrap());
                    prop_assert_eq!(a, b);
                }
            }
        }
    }

    #[test]
    fn grids(
        sides in vec(1u16..7, 1..4), hosts in 1u16..4, trunk in 1u16..4,
        wraps: bool, deadlock in 0usize..3, random: bool, by_packet: bool,
    ) {
        let rings = |s: u16| if wraps && s > 2 { s / 2 } else { s - 1 };
        let longest = 1 + sides.iter().map(|&s| usize::from(rings(s))).sum::<usize>();
        let topology = Arc::new(match wraps {
            true => Torus { sides, hosts, trunk }.build(0).unwrap(),
            false => Mesh { sides, hosts, trunk }.build(0).unwrap(),
        });
        let routing = DimensionOrder {
            deadlock: [Deadlock::Bubble, Deadlock::Dateline, Deadlock::DatelineEntry][deadlock],
            tie: if random { Tie::Random } else { Tie::Positive },
            trunk: if by_packet { Trunk::Packet } else { Trunk::Flow },
        };
        let forwarding = compile(&routing, &topology);
        arrives(&topology, &forwarding, longest);
        // Dimension order is minimal.
        for (from, to) in pairs(&topology) {
            let (a, b) = (topology.attachment(from).0, topology.attachment(to).0);
            let steps = path(&topology, &forwarding, from, to, 9).unwrap();
            prop_assert_eq!(steps.len() as u32, topology.distances(a)[b.index()].unwrap() + 1);
        }
    }

    #[test]
    fn random_graphs(n in 3u32..40, degree in 2u32..8, root: u32, seed: u64) {
        prop_assume!(degree < n && n * degree % 2 == 0);
        let graph = RandomRegular { switches: n, degree, hosts: 1 };
        let topology = Arc::new(graph.build(seed).unwrap());
        arrives(&topology, &compile(&UpDown { root: root % n, paths: Paths::All }, &topology), n as usize);
        arrives(&topology, &compile(&Shortest { paths: Paths::All }, &topology), n as usize);
    }
}

/// The two directions of a tie and the members of a trunk are taken about equally often.
#[test]
fn random_choices_are_balanced() {
    let torus = Torus {
        sides: vec![4],
        hosts: 1,
        trunk: 4,
    };
    let topology = Arc::new(torus.build(0).unwrap());
    let routing = DimensionOrder {
        deadlock: Deadlock::Bubble,
        tie: Tie::Random,
        trunk: Trunk::Packet,
    };
    let forwarding = routing.compile(&topology, 3).unwrap();
    let mut taken = [0; 9];
    for sequence in 0..8000 {
        let steps = path(&topology, &forwarding, NicId(0), NicId(2), sequence).unwrap();
        taken[steps[0].output.index()] += 1;
        assert_eq!(
            steps[0].output, steps[1].output,
            "direction and member are kept"
        );
    }
    assert_eq!(taken[0], 0);
    assert!(
        taken[1..].iter().all(|&n| (880..1120).contains(&n)),
        "{taken:?}"
    );
}

#[test]
fn random_ascents_are_balanced_and_keyed_by_hop() {
    let tree = netloom_topology::FatTree {
        arity: 4,
        levels: 3,
    };
    let topology = Arc::new(tree.build(0).unwrap());
    let forwarding = RandomUp { to_root: false }.compile(&topology, 3).unwrap();
    let mut taken = [[0; 4]; 4];
    for sequence in 0..16_000 {
        let steps = path(&topology, &forwarding, NicId(0), NicId(63), sequence).unwrap();
        taken[steps[0].output.index() - 4][steps[1].output.index() - 4] += 1;
    }
    assert!(
        taken.iter().flatten().all(|&n| (880..1120).contains(&n)),
        "{taken:?}"
    );
}
