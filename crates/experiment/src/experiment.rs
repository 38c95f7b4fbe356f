//! An experiment ready to run: resolved, typed, in ticks.

use std::sync::Arc;

use netloom_catalog::{Resolved, ResolvedLine};
use netloom_design::infiniband::slots::N_SLS;
use netloom_design::plan::Plan;
use netloom_fabric::FabricPlan;
use netloom_units::{NicId, Rate, Sl, Tick, Time, Timebase};

use crate::spec::reseed::Reseed;

/// An experiment ready to run.
#[derive(Clone)]
pub struct Experiment {
    /// The `name` in the file, or the file's stem.
    pub name: String,
    /// Description.
    pub about: String,
    /// Length of a tick.
    pub timebase: Timebase,
    /// The machine and its traffic.
    pub fabric: FabricPlan,
    /// Traffic classes, in the order of `fabric.classes`.
    pub classes: Vec<ClassInfo>,
    /// Admitted connections, if the file has any.
    pub connections: Option<ConnectionSet>,
    /// The plan, if the tables follow from one.
    pub plan: Option<Arc<Plan>>,
    /// Length, number and precision of runs.
    pub measure: Measure,
    /// SHA-256 of the messages of every class that lists them in a file, in the order of the
    /// classes.
    pub inputs: Vec<String>,
    /// Every value of the file, including defaults.
    pub resolved: Resolved,
    /// Data to build the experiment for another seed; `None` if it was built by hand and is the
    /// same for every seed.
    pub(crate) reseed: Option<Arc<Reseed>>,
}

impl Experiment {
    /// Returns the experiment with all random choices drawn from another seed: traffic always,
    /// wiring and routing if they are random.
    ///
    /// # Errors
    /// Fails if the draws of this seed cannot be built: a random graph that is not connected, or
    /// more connections of a NIC than a packet can distinguish.
    pub fn with_seed(&self, seed: u64) -> Result<Experiment, NotBuilt> {
        let mut other = self.clone();
        if let Some(reseed) = &self.reseed {
            let why = reseed.apply(seed, &mut other);
            why.map_err(|why| NotBuilt { seed, why })?;
        }
        Ok(other)
    }
}

impl Experiment {
    /// Returns whether all traffic ends, independent of the length of the run: jobs and lists of
    /// messages.
    pub fn ends(&self) -> bool {
        let mut classes = self.fabric.classes.iter();
        classes.all(|class| class.source.messages().is_some())
    }

    /// Cuts the fabric into this number of partitions, at most one per switch. Does not affect
    /// results.
    pub fn cut_into(&mut self, n_partitions: usize) {
        let most = self.fabric.topology.n_switches() as usize;
        let n_partitions = n_partitions.clamp(1, most.min(65_535));
        self.fabric.partitions = self.fabric.topology.partitions(n_partitions);
    }

    /// Returns the experiment with one seed only, as if the file had this `measure.seed` and
    /// `measure.repeat = 1`: run id and results are the same. So the seeds of a point are loaded
    /// once.
    ///
    /// # Errors
    /// Fails if the draws of this seed cannot be built.
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
    /// Checks that each of `ranks` processes has a partition.
    ///
    /// # Errors
    /// Fails if there are fewer switches than processes.
    pub fn has_work_for(&self, ranks: usize) -> Result<(), TooManyRanks> {
        let partitions = self.fabric.n_partitions();
        match partitions >= ranks {
            true => Ok(()),
            false => Err(TooManyRanks { ranks, partitions }),
        }
    }
}

/// More processes than a run can use: a fabric is cut between switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{ranks} ranks, but the fabric has {partitions} switch{}: start at most {partitions}",
    if *.partitions == 1 { "" } else { "es" }
)]
pub struct TooManyRanks {
    /// Number of processes.
    pub ranks: usize,
    /// Largest number of partitions.
    pub partitions: usize,
}

/// A seed whose draws cannot be built, although those of another seed can.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot run seed {seed}: {why}")]
pub struct NotBuilt {
    /// The seed.
    pub seed: u64,
    /// Reason.
    pub why: String,
}

/// A traffic class in results.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Name.
    pub name: String,
    /// Service level.
    pub sl: Sl,
    /// Requested load as a fraction of a NIC's link over all NICs, if the file sets it.
    pub load: Option<f64>,
}

/// The admitted connections.
#[derive(Clone, Debug)]
pub struct ConnectionSet {
    /// In the order of acceptance, which is that of `fabric.connections`.
    pub connections: Arc<[ConnectionInfo]>,
    /// Packets after which they end the run.
    pub until: Option<UntilPackets>,
}

/// One admitted connection in results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionInfo {
    /// Sender.
    pub source: NicId,
    /// Receiver.
    pub destination: NicId,
    /// Service level of its packets.
    pub sl: Sl,
    /// Guaranteed limit on the total waiting time of a packet at all outputs of the path.
    pub deadline: Option<Time>,
    /// Requested bandwidth, as payload.
    pub bandwidth: Rate,
    /// Reserved slots at every output on its path.
    pub slots: u64,
    /// Time between two of its packets.
    pub inter_arrival: Time,
}

/// The rule that ends a run once certain connections have received enough packets after the
/// warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UntilPackets {
    /// Packets per connection.
    pub packets: u32,
    /// The lowest service level whose connections must have them. Connections with deadlines count
    /// with the level of their bandwidth.
    pub least_sl: Sl,
}

impl UntilPackets {
    /// Returns whether the run waits for connections whose packets have this service level.
    pub fn awaits(&self, sl: Sl) -> bool {
        sl.0 % N_SLS >= self.least_sl.0
    }
}

/// Length, number and precision of runs.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Seed of the first run.
    pub seed: u64,
    /// Number of runs. Their seeds count up from the first.
    pub repeat: u32,
    /// Part to discard at the start.
    pub warmup: WarmupRule,
    /// End of a run.
    pub length: Tick,
    /// Length of an epoch in ticks. Rules and series are evaluated at its multiples.
    pub epoch: u64,
    /// Ticks that a packet may wait at an input before a search for deadlocks.
    pub wait_limit: u64,
    /// Relative half width of the 95 % interval of mean message latency at which a run has
    /// converged.
    pub interval: f64,
    /// Whether the longest waits at outputs are measured.
    pub waits: bool,
}

/// The part to discard at the start of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WarmupRule {
    /// Found by MSER-5.
    Auto,
    /// Everything before this.
    Until(Tick),
    /// The epochs until this number of packets is delivered.
    Packets(u64),
}
