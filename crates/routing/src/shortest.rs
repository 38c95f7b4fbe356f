//! Shortest paths on any fabric. Deadlock is possible if the fabric has rings.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_topology::Topology;
use netloom_units::Port;

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
        let mut tables = TableBuilder::new(topology, 1)?;
        let mut candidates: Vec<Port> = vec![];
        let mut has_nic = vec![false; topology.n_switches() as usize];
        for nic in topology.nics() {
            has_nic[topology.attachment(nic).0.index()] = true;
        }
        for (column, target) in tables.targets().into_iter().enumerate() {
            let distances = topology.distances(target);
            for at in topology.switches() {
                let Some(distance) = distances[at.index()] else {
                    if has_nic[at.index()] {
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
        }
        Ok(tables.finish(None, false))
    }
}

impl Described for Shortest {
    const NAME: &'static str = "shortest";
    const SUMMARY: &'static str =
        "Shortest paths on any fabric; may deadlock on fabrics with rings.";
    const EXAMPLE: &'static str = "";
}
