//! Test vectors for DET on k-ary n-trees (paper 001).

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::{build, compile};
use netloom_routing::paths::{mean_switches, path};
use netloom_routing::{DModK, Det, DimensionOrder, Forwarding, Lookup};
use netloom_routing::{Deadlock, Tie, Trunk};
use netloom_topology::{FatTree, Peer, Topology, Torus};
use netloom_units::{NicId, Port, SwitchId};

fn tree(arity: u32, levels: u32) -> (Arc<Topology>, Forwarding) {
    let topology = build(&FatTree { arity, levels });
    let forwarding = compile(&Det {}, &topology);
    (topology, forwarding)
}

/// Returns the destinations of the packets that leave by each (switch, port), with the number of
/// paths, over all ordered pairs of different nodes.
fn traffic(topology: &Topology, det: &Forwarding) -> BTreeMap<(u32, u16), (BTreeSet<u32>, u32)> {
    let mut seen = BTreeMap::<(u32, u16), (BTreeSet<u32>, u32)>::new();
    for from in topology.nics() {
        for to in topology.nics().filter(|&to| to != from) {
            for step in path(topology, det, from, to, 0).unwrap() {
                let link = seen.entry((step.switch.0, step.output.0)).or_default();
                link.0.insert(to.0);
                link.1 += 1;
            }
        }
    }
    seen
}

/// Checks the destinations of all ports of a switch of the 2-ary 3-tree.
fn check(switch: u32, expected: &[&[u32]]) {
    let (topology, det) = tree(2, 3);
    let seen = traffic(&topology, &det);
    for (port, destinations) in expected.iter().enumerate() {
        let found: Vec<u32> = seen[&(switch, port as u16)].0.iter().copied().collect();
        assert_eq!(found, *destinations, "switch {switch} port {port}");
    }
    assert_eq!(topology.n_ports(SwitchId(switch)) as usize, expected.len());
}

#[test]
fn v001_1_size_of_the_2_ary_3_tree() {
    let (topology, _) = tree(2, 3);
    assert_eq!(
        (topology.n_nics(), topology.n_switches(), topology.radix()),
        (8, 12, 4)
    );
}

#[test]
fn v001_2_destinations_of_switch_0() {
    check(0, &[&[0], &[1], &[2, 4, 6], &[3, 5, 7]]);
}

#[test]
fn v001_3_destinations_of_switches_1_to_3() {
    check(1, &[&[2], &[3], &[0, 4, 6], &[1, 5, 7]]);
    check(2, &[&[4], &[5], &[0, 2, 6], &[1, 3, 7]]);
    check(3, &[&[6], &[7], &[0, 2, 4], &[1, 3, 5]]);
}

#[test]
fn v001_4_destinations_of_switches_4_to_7() {
    check(4, &[&[0], &[2], &[4], &[6]]);
    check(5, &[&[1], &[3], &[5], &[7]]);
    check(6, &[&[4], &[6], &[0], &[2]]);
    check(7, &[&[5], &[7], &[1], &[3]]);
}

#[test]
fn v001_5_destinations_of_switches_8_to_11() {
    check(8, &[&[0], &[4]]);
    check(9, &[&[1], &[5]]);
    check(10, &[&[2], &[6]]);
    check(11, &[&[3], &[7]]);
}

#[test]
fn v001_9_path_from_0_to_6() {
    let (topology, det) = tree(2, 3);
    let steps = path(&topology, &det, NicId(0), NicId(6), 0).unwrap();
    let found: Vec<(u32, u16)> = steps.iter().map(|s| (s.switch.0, s.output.0)).collect();
    assert_eq!(found, [(0, 2), (4, 3), (10, 1), (6, 1), (3, 0)]);
}

#[test]
fn v001_10_paths_per_link() {
    let (topology, det) = tree(2, 3);
    let seen = traffic(&topology, &det);
    for ((switch, port), (_, paths)) in seen {
        let expected = match (switch / 4, port >= 2) {
            (0, true) => 6,
            (1, true) => 4,
            (0, false) => 7,
            (1, false) => 6,
            _ => 4,
        };
        assert_eq!(paths, expected, "switch {switch} port {port}");
    }
}

#[test]
fn v001_11_mean_switches_per_path() {
    for (k, n, expected) in [
        (2, 3, 3.857),
        (4, 3, 4.4286),
        (4, 4, 6.3647),
        (16, 2, 2.8824),
    ] {
        let (topology, det) = tree(k, n);
        let mean = mean_switches(&topology, &det).unwrap();
        assert!(
            (mean.switches - expected).abs() < 5e-4,
            "{k}-ary {n}-tree: {}",
            mean.switches
        );
        assert!(!mean.is_sample);
    }
}

/// Paper 001, section 2.2.1: links of a stage and direction carry the same number of paths, every
/// down link carries one destination, and a stage-s switch sees k^(n-s) destinations.
#[test]
fn det_is_balanced() {
    for (k, n) in [(2u32, 3u32), (4, 3), (4, 4), (16, 2)] {
        let (topology, det) = tree(k, n);
        let per_stage = k.pow(n - 1);
        let mut paths = BTreeMap::<(u32, bool), BTreeSet<u32>>::new();
        let mut at_switch = BTreeMap::<u32, BTreeSet<u32>>::new();
        for ((switch, port), (destinations, count)) in traffic(&topology, &det) {
            let is_up = u32::from(port) >= k;
            paths
                .entry((switch / per_stage, is_up))
                .or_default()
                .insert(count);
            at_switch.entry(switch).or_default().extend(&destinations);
            if !is_up {
                assert_eq!(destinations.len(), 1, "one destination per down link");
            }
        }
        for (stage, counts) in paths {
            assert_eq!(
                counts.len(),
                1,
                "{k}-ary {n}-tree, stage and direction {stage:?}"
            );
        }
        assert_eq!(at_switch.len(), topology.n_switches() as usize);
        for (switch, destinations) in at_switch {
            let stage = switch / per_stage;
            assert_eq!(
                destinations.len() as u32,
                k.pow(n - stage),
                "switch {switch}"
            );
        }
    }
}

/// The formula of section 2.2.1, literally.
fn out_port(k: u32, n: u32, s: u32, w: u32, d: u32) -> u32 {
    let dig = |x: u32, i: u32| x / k.pow(i) % k;
    let reaches_down = (s..n - 1).all(|i| dig(w, i) == dig(d, i + 1));
    dig(d, s) + if reaches_down { 0 } else { k }
}

#[test]
fn det_and_d_mod_k_are_the_formula() {
    for (k, n) in [(2u32, 3u32), (4, 3), (4, 4), (16, 2), (3, 4), (5, 1)] {
        let (topology, det) = tree(k, n);
        let d_mod_k = compile(&DModK {}, &topology);
        let per_stage = k.pow(n - 1);
        for switch in topology.switches() {
            for to in topology.nics() {
                let route = |f: &Forwarding| f.route(&Lookup::any(switch, Port(0), 0, to));
                let (s, w) = (switch.0 / per_stage, switch.0 % per_stage);
                assert_eq!(u32::from(route(&det).port.0), out_port(k, n, s, w, to.0));
                assert_eq!(route(&det), route(&d_mod_k));
            }
        }
    }
}

/// Mean distance of an 8 x 8 torus with one node per switch: 2 x 2 hops, plus one switch, over
/// pairs of different nodes: 1 + 4 x 64 / 63 = 5.063.
#[test]
fn mean_switches_of_the_8_by_8_torus() {
    let topology = build(&Torus {
        sides: vec![8, 8],
        hosts: 1,
        trunk: 1,
    });
    for tie in [Tie::Random, Tie::Positive] {
        let routing = DimensionOrder {
            deadlock: Deadlock::Bubble,
            tie,
            trunk: Trunk::Flow,
        };
        let mean = mean_switches(&topology, &compile(&routing, &topology)).unwrap();
        assert!((mean.switches - 5.063).abs() < 5e-4, "{}", mean.switches);
    }
}

#[test]
fn every_leaf_delivers_to_its_own_nics() {
    let (topology, det) = tree(4, 3);
    for nic in topology.nics() {
        let (leaf, _) = topology.attachment(nic);
        let hop = det.route(&Lookup::any(leaf, Port(4), 0, nic));
        assert_eq!(topology.peer(leaf, hop.port), Peer::Nic(nic));
    }
}
