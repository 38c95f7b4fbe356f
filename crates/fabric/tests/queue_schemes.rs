//! Queue schemes with DET on k-ary n-trees: test vectors of paper 001.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netloom_fabric::{QueueMap, QueueScheme};
use netloom_routing::paths::path;
use netloom_routing::{Det, Forwarding, Routing};
use netloom_topology::{Blueprint, FatTree, Peer, Topology};
use netloom_units::NicId;

fn tree(arity: u32, levels: u32) -> (Arc<Topology>, Forwarding) {
    let topology = FatTree { arity, levels }.build(1).expect("a small tree");
    let topology = Arc::new(topology);
    let det = Det {}.compile(&topology, 1).expect("a tree is routed");
    (topology, det)
}

/// Destinations by (switch, input port, queue), over all ordered pairs of different nodes.
type Queues = BTreeMap<(u32, u16, u32), BTreeSet<u32>>;

fn queues(topology: &Topology, det: &Forwarding, scheme: QueueScheme) -> Queues {
    let map = QueueMap::new(scheme, 1, topology.radix(), topology.n_nics());
    let mut found = Queues::new();
    for from in topology.nics() {
        for to in topology.nics().filter(|&to| to != from) {
            let (_, mut input) = topology.attachment(from);
            for step in path(topology, det, from, to, 0).expect("a path") {
                let queue = map.queue(0, step.output.0, to);
                found
                    .entry((step.switch.0, input.0, queue))
                    .or_default()
                    .insert(to.0);
                if let Peer::Switch(_, port) = topology.peer(step.switch, step.output) {
                    input = port;
                }
            }
        }
    }
    found
}

/// Returns the destinations in each queue of a port.
fn at(found: &Queues, switch: u32, port: u16) -> Vec<(u32, Vec<u32>)> {
    let own = found.range((switch, port, 0)..=(switch, port, u32::MAX));
    own.map(|((_, _, queue), to)| (*queue, to.iter().copied().collect()))
        .collect()
}

#[test]
fn v001_6_to_8_two_queues_by_output() {
    let (topology, det) = tree(2, 3);
    let found = queues(&topology, &det, QueueScheme::Obqa { queues: 2 });
    assert_eq!(
        at(&found, 0, 0),
        [(0, vec![2, 4, 6]), (1, vec![1, 3, 5, 7])]
    );
    // Port 0 of switch 4 receives 2, 4 and 6, which leave by P1, P2 and P3.
    assert_eq!(at(&found, 4, 0), [(0, vec![4]), (1, vec![2, 6])]);
    assert_eq!(at(&found, 8, 0), [(1, vec![4])]);
    // Packets at switch 4 port 0 come from switch 0, from nodes 0 and 1.
    assert_eq!(topology.attachment(NicId(0)).0.0, 0);
}

/// Returns the queues in use at a port fed from below and the most destinations of one of them, by
/// stage.
fn used(arity: u32, levels: u32, scheme: QueueScheme) -> Vec<(usize, usize)> {
    let (topology, det) = tree(arity, levels);
    let found = queues(&topology, &det, scheme);
    let per_stage = arity.pow(levels - 1);
    let mut stages = vec![(0, 0); levels as usize];
    for switch in 0..topology.n_switches() {
        for port in 0..arity as u16 {
            let own = at(&found, switch, port);
            let stage = &mut stages[(switch / per_stage) as usize];
            let most = own.iter().map(|(_, to)| to.len()).max().unwrap_or(0);
            *stage = (stage.0.max(own.len()), stage.1.max(most));
        }
    }
    // Ports fed from above hold one destination.
    for ((_, port, _), to) in &found {
        assert!(u32::from(*port) < arity || to.len() == 1);
    }
    stages
}

#[test]
fn c001_15_dbbm_leaves_queues_unused_beyond_the_first_stage() {
    let obqa = |queues| QueueScheme::Obqa { queues };
    let dbbm = |queues| QueueScheme::Dbbm { queues };
    assert_eq!(used(4, 4, obqa(4)), [(4, 64), (4, 16), (4, 4), (3, 1)]);
    assert_eq!(used(4, 4, dbbm(4)), [(4, 64), (1, 63), (1, 15), (1, 3)]);
    assert_eq!(used(16, 2, obqa(8)), [(8, 32), (8, 2)]);
    assert_eq!(used(16, 2, dbbm(8)), [(8, 32), (1, 15)]);
}
