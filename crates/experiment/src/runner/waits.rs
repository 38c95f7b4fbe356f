//! Measures the longest waits at outputs (`measure.waits`) with wait monitors at all arbiters of a
//! fabric.
//!
//! Wait monitors wrap the policies of the plan, so a run without them has no overhead.

use std::sync::Arc;

use netloom_arbitration::{Monitored, WaitRecord, WaitsBy};
use netloom_encoding::{Validity, ensure_below, ensure_equal};
use netloom_fabric::{FabricPlan, Simulation};
use netloom_results::{ClassWait, PlaceWaits, WaitScope, WaitSummary, Waits};
use netloom_topology::Egress;

use super::gathered::MOST;
use crate::Experiment;

/// The records at switches and at NICs.
pub(super) struct WaitMonitors {
    switches: Arc<WaitRecord>,
    nics: Arc<WaitRecord>,
}

impl WaitMonitors {
    /// Returns the plan with wait monitors at all its arbiters.
    pub(super) fn put(plan: &FabricPlan) -> (FabricPlan, WaitMonitors) {
        let mut plan = plan.clone();
        // The queues of a switch output are lanes, those of a NIC service levels.
        let at_switches = Monitored::new(plan.switch_policy, WaitsBy::Vl);
        let at_nics = Monitored::new(plan.nic_policy, WaitsBy::Sl);
        let monitors = WaitMonitors {
            switches: at_switches.record(),
            nics: at_nics.record(),
        };
        for (output, policy) in &mut plan.own_policies {
            let record = match output {
                Egress::Nic(_) => &monitors.nics,
                Egress::Switch(..) => &monitors.switches,
            };
            *policy = Arc::new(Monitored::sharing(policy.clone(), record.clone()));
        }
        plan.switch_policy = Arc::new(at_switches);
        plan.nic_policy = Arc::new(at_nics);
        (plan, monitors)
    }

    /// Returns the records of the wait monitors of each process.
    pub(super) fn seen(&self, simulation: &mut dyn Simulation) -> Vec<Vec<Vec<u64>>> {
        let switches = simulation.everyone(self.switches.numbers());
        let nics = simulation.everyone(self.nics.numbers());
        let pairs = switches.into_iter().zip(nics);
        pairs.map(|(switches, nics)| vec![switches, nics]).collect()
    }

    /// Checks that each process has the right number of records, all far from overflow.
    pub(super) fn validate(&self, all: &[Vec<Vec<u64>>]) -> Validity {
        let lengths = [self.switches.numbers().len(), self.nics.numbers().len()];
        for seen in all {
            let found: Vec<usize> = seen.iter().map(Vec::len).collect();
            ensure_equal("longest waits", &lengths[..], &found[..])?;
        }
        for &number in all.iter().flatten().flatten() {
            ensure_below("longest wait", number, MOST)?;
        }
        Ok(())
    }

    /// Adds the records of a process.
    pub(super) fn add(&self, seen: &[Vec<u64>]) {
        let records = [&self.switches, &self.nics];
        records
            .into_iter()
            .zip(seen)
            .for_each(|(record, numbers)| record.add(numbers));
    }

    /// Adds the records of the other processes.
    pub(super) fn join(&self, simulation: &mut dyn Simulation, own_rank: usize) {
        let all = self.seen(simulation);
        let others = all.iter().enumerate().filter(|(rank, _)| *rank != own_rank);
        others.for_each(|(_, seen)| self.add(seen));
    }

    pub(super) fn summary(&self, experiment: &Experiment) -> Waits {
        let plan = &experiment.fabric;
        let (links, nics) = (plan.links.iter(), plan.topology.nics());
        let slowest = links.map(|link| link.flit).max().unwrap_or(0);
        let slowest_nic = nics.map(|nic| plan.nic_link(nic).flit).max().unwrap_or(0);
        Waits {
            switches: place(&self.switches, slowest, experiment),
            nics: place(&self.nics, slowest_nic, experiment),
        }
    }
}

/// Summarises one record, with times for links that need `flit` ticks per flit.
fn place(record: &WaitRecord, flit: u64, experiment: &Experiment) -> PlaceWaits {
    let per_byte = flit as f64 / experiment.fabric.segmentation.flit.0 as f64;
    let nanos = |bytes: u64| experiment.timebase.nanos(bytes as f64 * per_byte);
    let summary = |(choices, contested_choices), at_least, at_most| WaitSummary {
        choices,
        contested_choices,
        wait_at_least_bytes: at_least,
        wait_at_most_bytes: at_most,
        wait_at_least_ns: nanos(at_least),
        wait_at_most_ns: nanos(at_most),
    };
    let longest = record.longest();
    let at_least = longest.iter().map(|wait| wait.at_least).max();
    let at_most = longest.iter().map(|wait| wait.at_most).max();
    PlaceWaits {
        by: match record.by() {
            WaitsBy::Sl => WaitScope::Sl,
            WaitsBy::Vl => WaitScope::Vl,
        },
        total: summary(
            record.choices(),
            at_least.unwrap_or(0),
            at_most.unwrap_or(0),
        ),
        classes: longest
            .iter()
            .map(|wait| ClassWait {
                number: wait.class,
                summary: summary((wait.choices, wait.contested), wait.at_least, wait.at_most),
            })
            .collect(),
    }
}
