//! Protocol counters of endpoints and switches, and the contents of stashes by epoch.

use netloom_encoding::{State, Validity, ensure_below};
use netloom_fabric::Simulation;
use netloom_results::{Frame, ProtocolSummary, StashLine, Table};
use netloom_units::SwitchId;

use crate::Experiment;

/// The contents of stashes at the ends of epochs.
#[derive(Default, State)]
pub(super) struct Stashes {
    /// Epoch (from 1), switch and flits, if not empty.
    held: Vec<(usize, u32, u32)>,
    peak: u32,
}

impl Stashes {
    /// Checks that lines refer to existing epochs and switches.
    pub(super) fn validate(&self, experiment: &Experiment, n_epochs: usize) -> Validity {
        let n_switches = experiment.fabric.topology.n_switches();
        for &(epoch, switch, _) in &self.held {
            ensure_below("epoch with stashes", epoch as u64, n_epochs as u64 + 1)?;
            ensure_below("switch with stashes", switch, n_switches)?;
        }
        Ok(())
    }

    /// Records all stashes at the end of an epoch.
    pub(super) fn add_epoch(&mut self, epoch: usize, simulation: &mut dyn Simulation) {
        for (switch, flits) in simulation.stash_flits().into_iter().enumerate() {
            if flits > 0 {
                self.held.push((epoch, switch as u32, flits));
                self.peak = self.peak.max(flits);
            }
        }
    }

    /// Writes the lines of a run. `time_ns` is the end of an epoch.
    pub(super) fn write(
        &self,
        experiment: &Experiment,
        seed: u64,
        time_ns: impl Fn(usize) -> f64,
        into: &mut Frame,
    ) {
        for &(epoch, switch, flits) in &self.held {
            let line = StashLine {
                seed,
                time_ns: time_ns(epoch),
                switch: experiment.fabric.topology.switch_name(SwitchId(switch)),
                held_flits: u64::from(flits),
            };
            into.push(line.data());
        }
    }

    /// Returns the summary of a run; `None` if its endpoints have no protocol.
    pub(super) fn summary(
        &self,
        experiment: &Experiment,
        simulation: &mut dyn Simulation,
    ) -> Option<ProtocolSummary> {
        let counted = simulation.protocol()?;
        let nanos = |ticks: f64| experiment.timebase.nanos(ticks);
        Some(ProtocolSummary {
            acknowledgements: counted.acknowledgements,
            marked_packets: counted.marked,
            window_cuts: counted.cuts,
            stashed_packets: counted.stashed,
            retrieved_packets: counted.retrieved,
            deleted_copies: counted.deleted,
            early_acknowledgements: counted.early_acknowledgements,
            retransmitted_packets: counted.retransmitted,
            timeouts: counted.timeouts,
            corrupted_packets: counted.corrupted,
            lost_packets: counted.lost,
            link_repeats: counted.link_repeats,
            discarded_packets: counted.discarded,
            duplicate_packets: counted.duplicates,
            copy_time_mean_ns: counted.copy_time.mean().map(nanos),
            copy_time_max_ns: counted.copy_time.max().map(|ticks| nanos(ticks as f64)),
            stash_peak_flits: u64::from(self.peak),
        })
    }
}
