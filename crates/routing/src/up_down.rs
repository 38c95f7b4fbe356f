//! Up*/down* on any fabric: up zero or more links, then down zero or more, never up again.
//!
//! A link leads up if its far end is nearer to the root, or equally near with a smaller number. A
//! packet may go up only until it has come down a link, which follows from its input port. So there
//! are two tables, and both give shortest legal paths. If there are several, the NICs of the
//! destination switch share them. Every mixture of them is legal, so sets do not affect deadlock.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_topology::{Peer, Topology};
use netloom_units::{Port, SwitchId};

use crate::table::{Entry, Paths, TableBuilder};
use crate::{Forwarding, Routing};

params! {
    /// Up*/down* over a breadth-first tree: the shortest of the paths that never go up after going
    /// down.
    #[derive(Clone, Debug)]
    pub struct UpDown {
        /// The switch at the root of the tree.
        pub root: u32 = 0,
        /// The paths to the NICs of a switch: spread over all shortest legal paths, or the same for
        /// all NICs.
        pub paths: Paths = Paths::All,
    }
}

/// Distances from every switch to one destination, in links.
#[derive(Default)]
struct Distances {
    /// Over down links only; `None` if there is no such path.
    down: Vec<Option<u32>>,
    /// Over any legal path; `None` if there is no such path.
    any: Vec<Option<u32>>,
}

impl Routing for UpDown {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let n_switches = topology.n_switches();
        if self.root >= n_switches {
            let (root, last) = (self.root, n_switches - 1);
            return Err(format!(
                "up-down: expected a root from 0 to {last}, found {root}"
            ));
        }
        let levels = topology.distances(SwitchId(self.root));
        let mut has_nic = topology.nics().map(|nic| topology.attachment(nic).0);
        if let Some(apart) = has_nic.find(|switch| levels[switch.index()].is_none()) {
            return Err(format!(
                "no path leads from the root, {}, to {}",
                topology.switch_name(SwitchId(self.root)),
                topology.switch_name(apart)
            ));
        }
        // Switches without a cable come last; no packet reaches them.
        let mut order: Vec<SwitchId> = topology.switches().collect();
        order.sort_by_key(|s| (levels[s.index()].unwrap_or(u32::MAX), s.0));
        let mut rank = vec![0; n_switches as usize];
        order
            .iter()
            .enumerate()
            .for_each(|(i, s)| rank[s.index()] = i);
        let leads_up = |from: SwitchId, to: SwitchId| rank[to.index()] < rank[from.index()];

        let mut tables = TableBuilder::new(topology, 2)?;
        let mut distances = Distances::default();
        let mut candidates: Vec<Port> = vec![];
        for (column, target) in tables.targets().into_iter().enumerate() {
            distances.measure(topology, target, &order, leads_up);
            let mut set = |table, at, candidates: &[Port]| {
                tables.set_paths(self.paths, table, at, column, candidates);
            };
            for at in topology.switches().filter(|at| *at != target) {
                // Before coming down.
                let Some(left) = distances.any[at.index()].map(|distance| distance - 1) else {
                    continue;
                };
                candidates.clear();
                let good =
                    topology
                        .neighbours(at)
                        .filter(|&(_, other, _)| match leads_up(at, other) {
                            true => distances.any[other.index()] == Some(left),
                            false => distances.down[other.index()] == Some(left),
                        });
                candidates.extend(good.map(|(port, _, _)| port));
                set(0, at, &candidates);
                // After coming down.
                let Some(distance) = distances.down[at.index()] else {
                    continue;
                };
                candidates.clear();
                let good = topology.neighbours(at).filter(|&(_, other, _)| {
                    !leads_up(at, other) && distances.down[other.index()] == Some(distance - 1)
                });
                candidates.extend(good.map(|(port, _, _)| port));
                set(1, at, &candidates);
            }
            for table in 0..2 {
                tables.set(table, target, column, Entry::Deliver);
            }
        }
        let mut has_come_down = Vec::with_capacity(topology.n_ports_in_all());
        for at in topology.switches() {
            has_come_down.extend(
                topology
                    .ports(at)
                    .map(|port| match topology.peer(at, port) {
                        Peer::Switch(other, _) => !leads_up(other, at),
                        _ => false,
                    }),
            );
        }
        Ok(tables.finish(Some(has_come_down), true))
    }
}

impl Distances {
    fn measure(
        &mut self,
        topology: &Topology,
        target: SwitchId,
        order: &[SwitchId],
        leads_up: impl Fn(SwitchId, SwitchId) -> bool,
    ) {
        // Backwards from the destination over links that lead down to the current switch.
        self.down.clear();
        self.down.resize(order.len(), None);
        self.down[target.index()] = Some(0);
        let mut queue = vec![(target, 0)];
        let mut next = 0;
        while let Some(&(at, distance)) = queue.get(next) {
            next += 1;
            for (_, other, _) in topology.neighbours(at) {
                if !leads_up(other, at) && self.down[other.index()].is_none() {
                    self.down[other.index()] = Some(distance + 1);
                    queue.push((other, distance + 1));
                }
            }
        }
        // From the root outwards: a switch is processed after all switches above it.
        self.any.clear();
        self.any.resize(order.len(), None);
        for &at in order {
            let above = topology
                .neighbours(at)
                .filter(|&(_, other, _)| leads_up(at, other));
            let by_up = above
                .filter_map(|(_, other, _)| self.any[other.index()])
                .min();
            let by_down = self.down[at.index()];
            self.any[at.index()] = by_up.map(|left| left + 1).into_iter().chain(by_down).min();
        }
    }
}

impl Described for UpDown {
    const NAME: &'static str = "up-down";
    const SUMMARY: &'static str = "Up*/down* on any fabric: shortest legal paths without deadlock.";
    const PAPER: Option<&'static str> = Some(
        "M. Schroeder et al., \"Autonet: a high-speed, self-configuring local area network\", IEEE \
         JSAC 9, \
         1991",
    );
    const EXAMPLE: &'static str = "root = 0\npaths = \"all\"";
}
