//! Routings of fat trees with missing cables or switches.
//!
//! They equal those of whole trees (`tree.rs`, `ecmp.rs`) except where an exception lists the live
//! ports (`exceptions.rs`). A path by destination changes only if its port is dead, and choices are
//! among live ports only. As in a whole tree, no packet goes up after it came down.

use netloom_topology::{Peer, Pgft, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::choice::Chooser;
use crate::deadlock::{Network, Verdict, of_large_tree};
use crate::exceptions::{Exceptions, Live};
use crate::route::RouteSeeing;
use crate::tree::TreePlan;
use crate::{Hop, Lookup, QueueView, Route};

/// A tree routing with exceptions.
#[derive(Clone, Debug)]
pub(crate) struct DamagedPlan {
    tree: TreePlan,
    /// Chooses among live ports, up and down; `None` if the plan of the tree decides.
    chooser: Option<Chooser>,
    exceptions: Exceptions,
}

impl DamagedPlan {
    /// Returns the plan of a tree with missing cables; `None` if no cable is missing, an error if
    /// hosts are separated.
    pub(crate) fn of(
        shape: &Pgft,
        topology: &Topology,
        tree: &TreePlan,
        chooser: Option<&Chooser>,
    ) -> Result<Option<Self>, String> {
        if topology.n_cables() == n_cables(shape) {
            return Ok(None);
        }
        let name = |leaf: SwitchId| {
            let nic = NicId(leaf.0 * shape.m[0]);
            format!(
                "{} ({})",
                topology.nic_name(nic),
                topology.switch_name(leaf)
            )
        };
        let exceptions = Exceptions::of(shape, topology).map_err(|(from, to)| {
            format!(
                "no path leads up and then down the tree from {} to {}",
                name(from),
                name(to)
            )
        })?;
        Ok(Some(DamagedPlan {
            tree: tree.clone(),
            chooser: chooser.cloned(),
            exceptions,
        }))
    }

    /// Returns the live ports among those of the whole tree, and whether a packet on its way to a
    /// root has to descend here because no up port is live.
    #[inline]
    fn live(&self, lookup: &Lookup) -> (Live<'_>, bool) {
        let (at, from, destination) = (lookup.at, lookup.from, lookup.destination);
        let climbs = self.tree.climbs_on(at, from, destination);
        if climbs {
            match self.exceptions.live_up(at) {
                Live::None => {}
                live => return (live, false),
            }
        }
        (self.exceptions.live(at, destination), climbs)
    }

    /// Whether every exception leads where the arithmetic leads: up to a switch above, or down to
    /// the child above the destination.
    fn exceptions_follow_the_tree(&self, topology: &Topology) -> bool {
        let leads_on = |at: SwitchId, port: Port, destination: Option<NicId>| {
            let (level, nics) = self.tree.range(at);
            let Peer::Switch(other, _) = topology.peer(at, port) else {
                return false;
            };
            let (level_there, nics_there) = self.tree.range(other);
            match destination.filter(|nic| nics.contains(&nic.0)) {
                Some(nic) => level_there + 1 == level && nics_there.contains(&nic.0),
                None => level_there == level + 1,
            }
        };
        let leaves = self.tree.one_per_leaf();
        self.exceptions.switches().all(|at| {
            let each = leaves
                .iter()
                .map(|leaf| (self.exceptions.live(at, *leaf), Some(*leaf)));
            let mut each = each.chain([(self.exceptions.live_up(at), None)]);
            each.all(|(live, destination)| {
                let ports = live.ports().unwrap_or_default();
                ports.iter().all(|port| leads_on(at, *port, destination))
            })
        })
    }
}

impl Route for DamagedPlan {
    fn route(&self, lookup: &Lookup, word: &mut u8, view: &dyn QueueView) -> Hop {
        self.route_seeing(lookup, word, &view)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let (at, destination) = (lookup.at, lookup.destination);
        let (live, ends_climb) = self.live(lookup);
        match (live.ports(), &self.chooser) {
            (Some([]), _) => {}
            (None, Some(_)) => {
                let ways = self.tree.ways(at, destination);
                hops.extend((0..ways.n).map(|i| ways.hop(i)));
            }
            (None, None) if ends_climb => hops.push(hop(self.tree.descent(at, destination))),
            (None, None) => self.tree.choices(lookup, hops),
            (Some(ports), chooser) if chooser.is_some() || self.tree.draws_at(at, ports[0]) => {
                hops.extend(ports.iter().map(|port| hop(*port)));
            }
            (Some(ports), _) => hops.push(hop(self.tree.among(at, destination, ports))),
        }
    }

    fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        match &self.chooser {
            Some(_) => self.tree.one_per_leaf(),
            None => self.tree.representatives(topology),
        }
    }

    fn by_structure(&self, network: Network<'_>, n_targets: u64, _: u64) -> Option<Verdict> {
        let verdict = of_large_tree(network, &self.tree, n_targets)?;
        self.exceptions_follow_the_tree(network.topology)
            .then_some(verdict)
    }
}

impl RouteSeeing for DamagedPlan {
    #[inline(never)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, _: &mut u8, view: &V) -> Hop {
        let (at, destination) = (lookup.at, lookup.destination);
        let (live, ends_climb) = self.live(lookup);
        let Some(ports) = live.ports() else {
            return match &self.chooser {
                Some(chooser) => {
                    let ways = self.tree.ways(at, destination);
                    chooser.choose(lookup, ways.n, |i| ways.hop(i), view)
                }
                None if ends_climb => hop(self.tree.descent(at, destination)),
                None => self.tree.next_hop(lookup),
            };
        };
        assert!(!ports.is_empty(), "no path from {at} to {destination}");
        let n = ports.len() as u32;
        match &self.chooser {
            Some(chooser) => chooser.choose(lookup, n, |i| hop(ports[i as usize]), view),
            None if self.tree.draws_at(at, ports[0]) => {
                hop(ports[self.tree.draw(lookup.occasion, n) as usize])
            }
            None => hop(self.tree.among(at, destination, ports)),
        }
    }
}

fn hop(port: Port) -> Hop {
    Hop { port, lane: 0 }
}

/// Returns the number of cables of a whole tree, those of NICs included.
fn n_cables(shape: &Pgft) -> u32 {
    let up = |level| shape.n_switches(level) * u64::from(shape.n_up(level));
    (shape.n_nics() + (1..shape.levels()).map(up).sum::<u64>()) as u32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::forwarding::Plan;
    use crate::{Choice, DModK, Ecmp, EmptyQueues, Forwarding, Occasion, RandomUp, Routing};
    use netloom_topology::{Blueprint, ParallelFatTree, Structure};

    /// Exceptions that list all ports, for every switch and leaf, change no route.
    #[test]
    fn exceptions_that_list_all_ports_change_nothing() {
        let shapes: [(&[u32], &[u32], &[u32]); 3] = [
            (&[8, 8], &[1, 8], &[1, 1]),
            (&[4, 3, 2], &[1, 2, 3], &[1, 1, 1]),
            (&[3, 2, 2], &[1, 2, 2], &[1, 3, 2]),
        ];
        let ecmp = |choice| Ecmp {
            choice,
            granularity: 1,
        };
        let routings: [&dyn Routing; 6] = [
            &DModK {},
            &RandomUp { to_root: false },
            &RandomUp { to_root: true },
            &ecmp(Choice::Hash),
            &ecmp(Choice::Spray),
            &ecmp(Choice::LeastOf2),
        ];
        for (children, parents, links) in shapes {
            let [children, parents, links] = [children, parents, links].map(<[u32]>::to_vec);
            let blueprint = ParallelFatTree {
                children,
                parents,
                links,
            };
            let topology = Arc::new(blueprint.build(1).unwrap());
            let Structure::Tree(shape) = topology.structure() else {
                panic!("a tree");
            };
            for routing in routings {
                let whole = routing.compile(&topology, 7).unwrap();
                let (tree, chooser) = match &whole.plan {
                    Plan::Tree(tree) => (tree.clone(), None),
                    Plan::Ecmp(plan) => (plan.tree.clone(), Some(plan.chooser.clone())),
                    _ => panic!("a plan of a whole tree"),
                };
                let plan = DamagedPlan {
                    tree,
                    chooser,
                    exceptions: Exceptions::everywhere(shape, &topology),
                };
                assert!(plan.exceptions_follow_the_tree(&topology));
                let facts = whole.facts();
                let listed = Forwarding::new(Plan::Damaged(plan), facts);
                same_answers(&topology, &whole, &listed);
            }
        }
    }

    fn same_answers(topology: &Topology, whole: &Forwarding, listed: &Forwarding) {
        let inputs = topology
            .switches()
            .flat_map(|at| topology.ports(at).map(move |port| (at, port)));
        let (mut expected, mut found) = (vec![], vec![]);
        for (at, from) in inputs {
            for to in topology.nics() {
                for forwarding in [(whole, &mut expected), (listed, &mut found)] {
                    let (forwarding, hops) = forwarding;
                    hops.clear();
                    for sequence in [0, 5] {
                        let occasion = Occasion {
                            source: NicId(1),
                            sequence,
                            hop: 1,
                        };
                        let lookup = Lookup::any(at, from, 0, to).with(occasion);
                        hops.push(forwarding.route_seeing(&lookup, &mut 0, &EmptyQueues));
                    }
                    forwarding.choices(&Lookup::any(at, from, 0, to), hops);
                }
                assert_eq!(expected, found, "{at} {from} {to}");
            }
        }
    }
}
