//! The stage that estimates the cost of a run.

use netloom_routing::Forwarding;
use netloom_topology::Topology;

use super::Request;
use super::admitted::{Admission, Admitted};
use super::classes::Classes;
use super::cost::{self, Cost};
use super::diagnostics::Diagnostics;
use super::lanes::LaneMap;
use super::machine::Machine;
use super::memory::Holdings;
use super::timing::Timing;
use crate::Measure;

/// The input of the cost estimate of a run.
pub(super) struct Estimate<'a> {
    pub(super) topology: &'a Topology,
    pub(super) forwarding: &'a Forwarding,
    pub(super) machine: &'a Machine,
    pub(super) lanes: &'a LaneMap,
    pub(super) classes: &'a Classes,
    pub(super) timing: &'a Timing,
    pub(super) measure: &'a Measure,
}

impl Estimate<'_> {
    /// Returns the cost of a run and its number of partitions; `None` if it does not fit into
    /// memory.
    pub(super) fn cost(
        &self,
        admitted: Option<&(Admission, Admitted)>,
        own_loads: &[f64],
        request: &Request<'_>,
        seed: u64,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<(Cost, usize)> {
        let (topology, classes) = (self.topology, self.classes);
        let state = cost::state_bytes(topology, self.machine, self.lanes, classes.levels.len());
        let n_partitions = request
            .partitions
            .unwrap_or_else(|| cost::partitions(state, request.threads * request.ranks.max(1)));
        let n_partitions = n_partitions
            .max(request.ranks)
            .clamp(1, (topology.n_switches() as usize).min(65_535));
        let drawn = classes.workloads.drawn(seed);
        let mut offered = cost::offered(&classes.workloads, &drawn);
        offered.packets_at_all = classes.program_packets;
        if let Some((admission, admitted)) = admitted {
            offered.n_classes += own_loads.len();
            offered.load += own_loads.iter().sum::<f64>();
            offered.packets += admission.packets_per_cycle(admitted);
        }
        offered.through(self.machine, topology, self.lanes);
        let (timing, measure) = (self.timing, self.measure);
        let holdings = Holdings {
            state,
            waiting: cost::waiting(&classes.workloads, &drawn, timing, measure),
            tables: cost::table_bytes(topology, &classes.levels, measure),
            ports: topology.n_ports_in_all() as u64,
        };
        let cost = cost::fact(
            topology,
            self.forwarding,
            &offered,
            timing,
            measure,
            holdings,
            diagnostics,
        );
        diagnostics
            .memory_for_run(&holdings)
            .then_some((cost, n_partitions))
    }
}
