//! What a run has gathered so far.

use netloom_fabric::{PortUse, Simulation};
use netloom_units::Tick;

use super::connections::Recorded;
use super::protocol::Stashes;
use super::recording::Recording;
use crate::{Experiment, WarmupRule};

/// The epochs of a warm-up whose end is still to be found.
pub(super) const NOT_YET: usize = usize::MAX;

/// Counts since the start, taken at some moment.
pub(super) struct Snapshot {
    pub(super) ports: Vec<PortUse>,
    pub(super) nic_flits: Vec<Vec<u64>>,
}

netloom_encoding::encoded!(Snapshot { ports, nic_flits });

impl Snapshot {
    pub(super) fn take(simulation: &mut dyn Simulation) -> Snapshot {
        Snapshot {
            ports: simulation
                .port_uses()
                .into_iter()
                .map(|(_, _, usage)| usage)
                .collect(),
            nic_flits: simulation.nic_flits(),
        }
    }
}

/// All that is known of a run beside the fabric itself.
pub(super) struct Gathered {
    pub(super) recording: Recording,
    /// Epochs of the warm-up, where it is given; [`NOT_YET`] as long as its end is to be found.
    pub(super) given: Option<usize>,
    pub(super) at_warmup: Option<Snapshot>,
    pub(super) punctuality: Recorded,
    pub(super) stashes: Stashes,
    /// When packets that wait in a circle are looked for again.
    pub(super) next_look: u64,
    /// Every tick before this one has been run: the end of the last epoch, or within the next.
    pub(super) at: Tick,
}

netloom_encoding::state!(Gathered {
    changes: [given, at_warmup, next_look, at],
    parts: [recording, punctuality, stashes],
});

impl Gathered {
    /// Nothing yet.
    pub(super) fn new(experiment: &Experiment) -> Gathered {
        let measure = &experiment.measure;
        let given = match measure.warmup {
            // Work that ends has no steady state to be found.
            WarmupRule::Auto if experiment.ends() => Some(0),
            WarmupRule::Auto => None,
            WarmupRule::Until(tick) => Some(tick.0.div_ceil(measure.epoch) as usize),
            WarmupRule::Packets(_) => Some(NOT_YET),
        };
        let n_rows = netloom_fabric::rows(&experiment.fabric).len();
        Gathered {
            recording: Recording::new(n_rows, measure.epoch, measure.length, given),
            given,
            at_warmup: None,
            punctuality: Recorded::new(experiment),
            stashes: Stashes::default(),
            next_look: measure.patience,
            at: Tick::ZERO,
        }
    }

    /// Adds what happened in the epoch that ends here.
    pub(super) fn add_epoch(&mut self, simulation: &mut dyn Simulation) {
        self.recording.add_epoch(|rows| simulation.take_rows(rows));
        self.punctuality.add_epoch(simulation);
        self.stashes
            .add_epoch(self.recording.n_epochs(), simulation);
    }
}
