//! Shortest paths on any fabric. Nothing keeps them from deadlock where the fabric has rings.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_topology::Topology;
use netloom_units::Port;

use crate::table::{Entry, TableBuilder, pick};
use crate::{Forwarding, Routing};

params! {
    /// Shortest paths by tables; of equally short ones, a hash of destination switch and switch takes one.
    #[derive(Clone, Debug)]
    pub struct Shortest {}
}

impl Routing for Shortest {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let mut tables = TableBuilder::new(topology, 1)?;
        let mut candidates: Vec<Port> = vec![];
        for (column, target) in tables.targets().into_iter().enumerate() {
            let distances = topology.distances(target);
            for at in topology.switches() {
                let Some(distance) = distances[at.index()] else {
                    return Err(format!("there is no path from {at} to {target}"));
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
                tables.set(0, at, column, Entry::Port(pick(&candidates, target, at)));
            }
        }
        Ok(tables.finish(None, false))
    }
}

impl Described for Shortest {
    const NAME: &'static str = "shortest";
    const SUMMARY: &'static str = "Shortest paths on any fabric; may deadlock where it has rings.";
    const EXAMPLE: &'static str = "";
}
