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

use crate::columns::{self, Columns};
use crate::table::{Entry, Paths, TableBuilder, UP_DOWN};
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
#[derive(Default, Debug)]
struct Distances {
    /// Over down links only; `None` if there is no such path.
    down: Vec<Option<u32>>,
    /// Over any legal path; `None` if there is no such path.
    any: Vec<Option<u32>>,
}

impl Routing for UpDown {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        columns::compile(UpDownColumns::new(self, topology)?, topology)
    }

    fn compile_for_check(&self, topology: &Arc<Topology>, _: u64) -> Result<Forwarding, String> {
        columns::compile_for_check(UpDownColumns::new(self, topology)?, topology)
    }
}

/// Fills the tables of up*/down*.
#[derive(Debug)]
pub(crate) struct UpDownColumns {
    topology: Arc<Topology>,
    paths: Paths,
    targets: Vec<SwitchId>,
    /// All switches from the root outwards.
    order: Vec<SwitchId>,
    /// The place of each switch in this order.
    rank: Vec<u32>,
    distances: Distances,
}

impl UpDownColumns {
    pub(crate) fn new(routing: &UpDown, topology: &Arc<Topology>) -> Result<Self, String> {
        let n_switches = topology.n_switches();
        let root = routing.root;
        if root >= n_switches {
            let last = n_switches - 1;
            return Err(format!(
                "up-down: expected a root from 0 to {last}, found {root}"
            ));
        }
        let levels = topology.distances(SwitchId(root));
        let mut targets: Vec<SwitchId> = topology
            .nics()
            .map(|nic| topology.attachment(nic).0)
            .collect();
        if let Some(apart) = targets.iter().find(|at| levels[at.index()].is_none()) {
            return Err(format!(
                "no path leads from the root, {}, to {}",
                topology.switch_name(SwitchId(root)),
                topology.switch_name(*apart)
            ));
        }
        targets.sort_unstable();
        targets.dedup();
        // Switches without a cable come last; no packet reaches them.
        let mut order: Vec<SwitchId> = topology.switches().collect();
        order.sort_by_key(|s| (levels[s.index()].unwrap_or(u32::MAX), s.0));
        let mut rank = vec![0; n_switches as usize];
        for (place, at) in (0..).zip(&order) {
            rank[at.index()] = place;
        }
        Ok(UpDownColumns {
            topology: topology.clone(),
            paths: routing.paths,
            targets,
            order,
            rank,
            distances: Distances::default(),
        })
    }
}

/// Returns whether a link leads up.
fn leads_up(rank: &[u32], from: SwitchId, to: SwitchId) -> bool {
    rank[to.index()] < rank[from.index()]
}

impl Columns for UpDownColumns {
    const TABLES: usize = 2;
    const CLAIMS_NO_DEADLOCK: bool = true;

    fn fill(&mut self, tables: &mut TableBuilder, column: usize) -> Result<(), String> {
        let (topology, target) = (&*self.topology, self.targets[column]);
        let leads_up = |from, to| leads_up(&self.rank, from, to);
        let distances = &mut self.distances;
        distances.measure(topology, target, &self.order, leads_up);
        let mut candidates: Vec<Port> = vec![];
        let mut set = |table, at, candidates: &[Port]| {
            tables.set_paths(self.paths, table, at, column, candidates);
        };
        for at in topology.switches().filter(|at| *at != target) {
            // Before coming down.
            let Some(left) = distances.any[at.index()].map(|distance| distance - 1) else {
                continue;
            };
            candidates.clear();
            let neighbours = topology.neighbours(at);
            let good = neighbours.filter(|&(_, other, _)| match leads_up(at, other) {
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
        Ok(())
    }

    fn has_come_down(&self, topology: &Topology) -> Option<Vec<bool>> {
        let comes_down = |at, port| match topology.peer(at, port) {
            Peer::Switch(other, _) => !leads_up(&self.rank, other, at),
            _ => false,
        };
        let by_port = topology
            .switches()
            .flat_map(|at| topology.ports(at).map(move |port| comes_down(at, port)));
        Some(by_port.collect())
    }

    fn theorem(&self) -> Option<&'static str> {
        Some(UP_DOWN)
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
