//! The results that a run has gathered so far.

use netloom_encoding::{Encoded, Invalid, State, Validity, ensure, ensure_below, ensure_equal};
use netloom_fabric::{PortUse, Simulation};
use netloom_units::Tick;

use super::connections::Recorded;
use super::protocol::Stashes;
use super::recording::Recording;
use crate::{Experiment, WarmupRule};

/// The epochs of a warm-up whose end is not yet found.
pub(super) const NOT_YET: usize = usize::MAX;

/// Limit on the counts in a checkpoint. No run reaches it, and no sum of such counts overflows.
pub(super) const MOST: u64 = 1 << 52;

/// Counts since the start, at some time of the run.
#[derive(Encoded)]
pub(super) struct Snapshot {
    pub(super) ports: Vec<PortUse>,
    pub(super) nic_flits: Vec<Vec<u64>>,
}

impl Snapshot {
    /// Checks the numbers of ports and NICs, and that all counters are far from overflow.
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

/// The state of a run in addition to the fabric itself.
#[derive(State)]
pub(super) struct Gathered {
    #[state(part)]
    pub(super) recording: Recording,
    /// Epochs of the warm-up, if it is given; [`NOT_YET`] until its end is found.
    pub(super) given: Option<usize>,
    pub(super) at_warmup: Option<Snapshot>,
    #[state(part)]
    pub(super) punctuality: Recorded,
    #[state(part)]
    pub(super) stashes: Stashes,
    /// Time of the next search for packets that wait in a cycle.
    pub(super) next_look: u64,
    /// Every tick before this one has run: the end of the last epoch, or within the next.
    pub(super) at: Tick,
}

impl Gathered {
    /// Returns the state at the start of a run.
    pub(super) fn new(experiment: &Experiment) -> Gathered {
        let measure = &experiment.measure;
        let given = match measure.warmup {
            // Work that ends has no steady state.
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
            next_look: measure.wait_limit,
            at: Tick::ZERO,
        }
    }

    /// Checks whether a run of this experiment can have gathered this.
    pub(super) fn validate(&self, experiment: &Experiment) -> Validity {
        self.recording.validate()?;
        let from = self.recording.now();
        ensure(
            (from..=self.recording.end_of_next()).contains(&self.at),
            || {
                let expected = format!(
                    "a tick from {} to {}",
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
                "the epochs of the experiment",
                format_args!("{:?}", self.given),
            )
        })?;
        if let Some(start) = &self.at_warmup {
            start.validate(experiment)?;
        }
        self.punctuality.validate()?;
        self.stashes.validate(experiment, most)
    }

    /// Checks that the counters of ports and NICs are not below those at the end of the warm-up.
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

    /// Adds the results of the epoch that ends here.
    pub(super) fn add_epoch(&mut self, simulation: &mut dyn Simulation) {
        self.recording.add_epoch(|rows| simulation.take_rows(rows));
        self.punctuality.add_epoch(simulation);
        self.stashes
            .add_epoch(self.recording.n_epochs(), simulation);
    }
}
