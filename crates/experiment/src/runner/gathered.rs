//! What a run has gathered so far.

use netloom_encoding::{Invalid, Validity, ensure, ensure_below, ensure_equal};
use netloom_fabric::{PortUse, Simulation};
use netloom_units::Tick;

use super::connections::Recorded;
use super::protocol::Stashes;
use super::recording::Recording;
use crate::{Experiment, WarmupRule};

/// The epochs of a warm-up whose end is still to be found.
pub(super) const NOT_YET: usize = usize::MAX;

/// The largest count that a checkpoint may have: no run comes near, and no sum of them overflows.
pub(super) const MOST: u64 = 1 << 52;

/// Counts since the start, taken at some moment.
pub(super) struct Snapshot {
    pub(super) ports: Vec<PortUse>,
    pub(super) nic_flits: Vec<Vec<u64>>,
}

netloom_encoding::encoded!(Snapshot { ports, nic_flits });

impl Snapshot {
    /// As many ports and NICs as there are, all far from where counters end.
    fn validate(&self, experiment: &Experiment) -> Validity {
        let topology = &experiment.fabric.topology;
        let n_rows = netloom_fabric::rows(&experiment.fabric).len();
        let (n_ports, n_nics) = (topology.n_ports_in_all(), topology.n_nics() as usize);
        ensure_equal("ports at the end of the warm-up", n_ports, self.ports.len())?;
        ensure_equal(
            "NICs at the end of the warm-up",
            n_nics,
            self.nic_flits.len(),
        )?;
        for flits in &self.nic_flits {
            ensure_equal(
                "rows of a NIC at the end of the warm-up",
                n_rows.max(1),
                flits.len(),
            )?;
        }
        let of_ports = self
            .ports
            .iter()
            .flat_map(|port| [port.flits, port.packets, port.choices]);
        for count in of_ports.chain(self.nic_flits.iter().flatten().copied()) {
            ensure_below("flits at the end of the warm-up", count, MOST)?;
        }
        Ok(())
    }

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

    /// Whether a run of an experiment could have gathered this.
    pub(super) fn validate(&self, experiment: &Experiment) -> Validity {
        self.recording.validate()?;
        let from = self.recording.now();
        ensure(
            (from..=self.recording.end_of_next()).contains(&self.at),
            || {
                let expected = format!(
                    "a time from {} to {}",
                    from.0,
                    self.recording.end_of_next().0
                );
                Invalid::new("time", expected, self.at.0)
            },
        )?;
        let most = self.recording.n_epochs();
        let is_given = match (experiment.measure.warmup, self.given) {
            (WarmupRule::Auto, given) => given == experiment.ends().then_some(0),
            (WarmupRule::Packets(_), Some(given)) => given == NOT_YET || given <= most,
            (WarmupRule::Until(tick), Some(given)) => {
                given == tick.0.div_ceil(experiment.measure.epoch) as usize
            }
            (_, None) => false,
        };
        ensure(is_given, || {
            Invalid::new(
                "epochs of the warm-up",
                "those of the experiment",
                format_args!("{:?}", self.given),
            )
        })?;
        if let Some(start) = &self.at_warmup {
            start.validate(experiment)?;
        }
        self.punctuality.validate()?;
        self.stashes.validate(experiment, most)
    }

    /// Whether ports and NICs have done no less than at the end of the warm-up.
    pub(super) fn check_start(&self, simulation: &mut dyn Simulation) -> Validity {
        let now = Snapshot::take(simulation);
        let Some(start) = self.at_warmup.as_ref().filter(|_| simulation.leads()) else {
            return Ok(());
        };
        let ports = start.ports.iter().zip(&now.ports);
        let of_ports = ports.flat_map(|(then, now)| {
            [
                (then.flits, now.flits),
                (then.packets, now.packets),
                (then.choices, now.choices),
                (then.input_residence, now.input_residence),
            ]
        });
        let nics = start.nic_flits.iter().flatten();
        let of_nics = nics.zip(now.nic_flits.iter().flatten());
        for (then, now) in of_ports.chain(of_nics.map(|(then, now)| (*then, *now))) {
            ensure(then <= now, || {
                let expected = format!("at most {now}");
                Invalid::new("counter at the end of the warm-up", expected, then)
            })?;
        }
        Ok(())
    }

    /// Adds what happened in the epoch that ends here.
    pub(super) fn add_epoch(&mut self, simulation: &mut dyn Simulation) {
        self.recording.add_epoch(|rows| simulation.take_rows(rows));
        self.punctuality.add_epoch(simulation);
        self.stashes
            .add_epoch(self.recording.n_epochs(), simulation);
    }
}
