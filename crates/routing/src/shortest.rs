//! Shortest paths on any fabric. Deadlock is possible if the fabric has rings.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_topology::Topology;
use netloom_units::{Port, SwitchId};

use crate::columns::{self, Columns};
use crate::table::{Entry, Paths, TableBuilder};
use crate::{Forwarding, Routing};

params! {
    /// Shortest paths by tables.
    #[derive(Clone, Debug)]
    pub struct Shortest {
        /// The paths to the NICs of a switch: spread over all shortest paths, or the same for all
        /// NICs.
        pub paths: Paths = Paths::All,
    }
}

impl Routing for Shortest {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        columns::compile(ShortestColumns::new(self.paths, topology), topology)
    }

    fn compile_for_check(&self, topology: &Arc<Topology>, _: u64) -> Result<Forwarding, String> {
        columns::compile_for_check(ShortestColumns::new(self.paths, topology), topology)
    }
}

/// Fills the tables of shortest paths.
#[derive(Debug)]
pub(crate) struct ShortestColumns {
    topology: Arc<Topology>,
    paths: Paths,
    has_nic: Vec<bool>,
    targets: Vec<SwitchId>,
}

impl ShortestColumns {
    pub(crate) fn new(paths: Paths, topology: &Arc<Topology>) -> Self {
        let mut has_nic = vec![false; topology.n_switches() as usize];
        for nic in topology.nics() {
            has_nic[topology.attachment(nic).0.index()] = true;
        }
        let targets = topology.switches().filter(|at| has_nic[at.index()]);
        ShortestColumns {
            topology: topology.clone(),
            paths,
            targets: targets.collect(),
            has_nic,
        }
    }
}

impl Columns for ShortestColumns {
    const TABLES: usize = 1;
    const CLAIMS_NO_DEADLOCK: bool = false;

    fn fill(&mut self, tables: &mut TableBuilder, column: usize) -> Result<(), String> {
        let (topology, target) = (&self.topology, self.targets[column]);
        let mut candidates: Vec<Port> = vec![];
        let distances = topology.distances(target);
        for at in topology.switches() {
            let Some(distance) = distances[at.index()] else {
                if self.has_nic[at.index()] {
                    let [from, to] = [at, target].map(|switch| topology.switch_name(switch));
                    return Err(format!("no path leads from {from} to {to}"));
                }
                continue;
            };
            if at == target {
                tables.set(0, at, column, Entry::Deliver);
                continue;
            }
            candidates.clear();
            let nearer = topology
                .neighbours(at)
                .filter(|(_, other, _)| distances[other.index()] == Some(distance - 1));
            candidates.extend(nearer.map(|(port, _, _)| port));
            tables.set_paths(self.paths, 0, at, column, &candidates);
        }
        Ok(())
    }
}

impl Described for Shortest {
    const NAME: &'static str = "shortest";
    const SUMMARY: &'static str =
        "Shortest paths on any fabric; may deadlock on fabrics with rings.";
    const EXAMPLE: &'static str = "";
}
