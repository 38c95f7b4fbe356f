//! An experiment ready to run: resolved, typed, in ticks.

use std::sync::Arc;

use netloom_catalog::{Resolved, ResolvedLine};
use netloom_design::infiniband::slots::N_SLS;
use netloom_design::plan::Plan;
use netloom_fabric::FabricPlan;
use netloom_units::{NicId, Rate, Sl, Tick, Time, Timebase};

use crate::spec::remake::Remake;

/// An experiment ready to run.
#[derive(Clone)]
pub struct Experiment {
    /// Its name: the `name` of the file, or the file's stem.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The length of a tick.
    pub timebase: Timebase,
    /// The machine and its traffic.
    pub fabric: FabricPlan,
    /// The traffic classes, in the order of `fabric.classes`.
    pub classes: Vec<ClassInfo>,
    /// The admitted connections, where the file has any.
    pub connections: Option<ConnectionSet>,
    /// What was planned, where the tables follow from it.
    pub plan: Option<Arc<Plan>>,
    /// How long, how often, how exactly.
    pub measure: Measure,
    /// SHA-256 of the messages of every class that lists them in a file, in the order of the classes.
    pub inputs: Vec<String>,
    /// Every value of the file, defaults included.
    pub resolved: Resolved,
    /// What is needed to build it for another seed; `None` for one that was put together by hand and
    /// is the same for every seed.
    pub(crate) remake: Option<Arc<Remake>>,
}

impl Experiment {
    /// The same experiment with everything that is random drawn from another seed: traffic always,
    /// wiring and routing where they are random.
    ///
    /// # Errors
    /// If this seed draws what cannot be built: a random graph that is not connected, or more connections of a NIC
    /// than a packet tells apart.
    pub fn with_seed(&self, seed: u64) -> Result<Experiment, NotBuilt> {
        let mut other = self.clone();
        if let Some(remake) = &self.remake {
            let why = remake.apply(seed, &mut other);
            why.map_err(|why| NotBuilt { seed, why })?;
        }
        Ok(other)
    }
}

impl Experiment {
    /// Whether all traffic ends whatever the length of the run: jobs and lists of messages.
    pub fn ends(&self) -> bool {
        let mut classes = self.fabric.classes.iter();
        classes.all(|class| class.source.messages().is_some())
    }

    /// Cuts the fabric into so many partitions, or as many as it has switches; results do not depend on it.
    pub fn cut_into(&mut self, n_partitions: usize) {
        let most = self.fabric.topology.n_switches() as usize;
        let n_partitions = n_partitions.clamp(1, most.min(65_535));
        self.fabric.partitions = self.fabric.topology.partitions(n_partitions);
    }

    /// The experiment of one seed alone, as if the file had `measure.seed` of that value and `measure.repeat` of 1:
    /// run id and results are the same. So the many seeds of one point need not be loaded each.
    ///
    /// # Errors
    /// If this seed draws what cannot be built.
    pub fn alone(&self, seed: u64) -> Result<Experiment, NotBuilt> {
        let mut alone = self.with_seed(seed)?;
        (alone.measure.seed, alone.measure.repeat) = (seed, 1);
        let values = [("seed", seed.to_string()), ("repeat", "1".to_owned())];
        for line in &mut alone.resolved.lines {
            let ResolvedLine::Table(name, table) = line else {
                continue;
            };
            for line in table.lines.iter_mut().filter(|_| name == "measure") {
                if let ResolvedLine::Value { key, text, .. } = line
                    && let Some((_, value)) = values.iter().find(|(wanted, _)| wanted == key)
                {
                    text.clone_from(value);
                }
            }
        }
        Ok(alone)
    }
}

impl Experiment {
    /// Whether each of so many processes has a partition to run.
    ///
    /// # Errors
    /// If there are fewer switches than processes.
    pub fn has_work_for(&self, ranks: usize) -> Result<(), TooManyRanks> {
        let partitions = self.fabric.n_partitions();
        match partitions >= ranks {
            true => Ok(()),
            false => Err(TooManyRanks { ranks, partitions }),
        }
    }
}

/// More processes than a run can be shared by: a fabric is cut between switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{ranks} ranks, and the fabric has {partitions} switch{}: start at most {partitions}",
    if *.partitions == 1 { "" } else { "es" }
)]
pub struct TooManyRanks {
    /// How many processes there are.
    pub ranks: usize,
    /// Into how many parts the fabric can be cut.
    pub partitions: usize,
}

/// What one seed draws cannot be built, though another seed's could.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("seed {seed} cannot be run: {why}")]
pub struct NotBuilt {
    /// The seed.
    pub seed: u64,
    /// Why.
    pub why: String,
}

/// A traffic class as results name it.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Its name.
    pub name: String,
    /// Its service level.
    pub sl: Sl,
    /// The load it asks for as a fraction of a NIC's link over all NICs, where the file says so.
    pub load: Option<f64>,
}

/// The admitted connections.
#[derive(Clone, Debug)]
pub struct ConnectionSet {
    /// In the order of acceptance, which is that of `fabric.connections`.
    pub connections: Arc<[ConnectionInfo]>,
    /// When they end the run.
    pub until: Option<UntilPackets>,
}

/// One admitted connection as results name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionInfo {
    /// Who sends.
    pub source: NicId,
    /// Who receives.
    pub destination: NicId,
    /// The service level of its packets.
    pub sl: Sl,
    /// How long its packets may wait at all outputs of the path together, if that was promised.
    pub deadline: Option<Time>,
    /// What it asked for, in payload.
    pub bandwidth: Rate,
    /// Slots that it has at every output on its way.
    pub slots: u64,
    /// The time between two of its packets.
    pub inter_arrival: Time,
}

/// A run ends once every one of some connections has received so many packets after the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UntilPackets {
    /// How many.
    pub packets: u32,
    /// The lowest service level whose connections must have them; those with deadlines go by their bandwidth too.
    pub least_sl: Sl,
}

impl UntilPackets {
    /// Whether the run waits for connections whose packets have this service level.
    pub fn awaits(&self, sl: Sl) -> bool {
        sl.0 % N_SLS >= self.least_sl.0
    }
}

/// How long, how often, how exactly.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Seed of the first run.
    pub seed: u64,
    /// Number of runs, with seeds counted up from the first.
    pub repeat: u32,
    /// What is discarded.
    pub warmup: WarmupRule,
    /// The end of a run.
    pub length: Tick,
    /// Length of an epoch in ticks: rules and series are evaluated at its multiples.
    pub epoch: u64,
    /// How long a packet may wait at an input before a deadlock is looked for.
    pub patience: u64,
    /// Relative half width of the 95 % interval of mean message latency that counts as converged.
    pub interval: f64,
    /// Whether the longest waits at outputs are measured.
    pub waits: bool,
}

/// What is discarded at the start of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WarmupRule {
    /// Found by MSER-5.
    Auto,
    /// Everything before this.
    Until(Tick),
    /// The epochs until so many packets are delivered.
    Packets(u64),
}
