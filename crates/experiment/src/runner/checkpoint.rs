//! Checkpoints: saves the state of a run, and resumes the run from the last checkpoint.
//!
//! ```text
//!   partition 0 … n   state of the fabric, each saved by the process that runs it
//!   run               gathered results and finished seeds; saved last, by the first process
//! ```
//!
//! The number of partitions is that of the first start. The number of threads and processes may
//! change when a run resumes. It does not affect results.

use std::io;

use netloom_encoding::{Encoded, Invalid, State, ensure_below, ensure_equal};
use netloom_fabric::Simulation;
use netloom_results::Run;

use super::gathered::Gathered;
use super::tables::Tables;
use super::waits::WaitMonitors;
use crate::Experiment;

/// A store of checkpoints. Each process of a run has one, and all of them refer to the same store.
pub trait Checkpoints {
    /// Returns the shared part of the last checkpoint; `None` if there is none and the run starts
    /// from the beginning.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    fn last(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Returns a partition of the last checkpoint.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    fn partition(&mut self, partition: usize) -> io::Result<Vec<u8>>;

    /// Returns the path of a partition of the last checkpoint, or of the shared part, for messages.
    fn place(&self, partition: Option<usize>) -> String;

    /// Called when the run resumes from the last checkpoint, which includes every tick before this
    /// time.
    fn resumed(&mut self, at_ns: f64) {
        let _ = at_ns;
    }

    /// Returns whether it is time for a checkpoint.
    fn is_due(&mut self) -> bool;

    /// Saves a partition in the new checkpoint.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    fn keep_partition(&mut self, partition: usize, saved: &[u8]) -> io::Result<()>;

    /// Completes the new checkpoint with the shared part, after all processes have saved their
    /// partitions. The new checkpoint replaces the last one. Called in every process; one of them
    /// writes.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    fn complete(&mut self, shared: &[u8]) -> io::Result<()>;

    /// Called when the checkpoint could not be completed. The last one remains. `error` is the
    /// error of this process, if any.
    fn failed(&mut self, error: Option<io::Error>);
}

/// Why a run cannot resume from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum NotContinued {
    /// The checkpoint cannot be read.
    #[error("cannot read the checkpoint: {0}")]
    Unreadable(#[from] io::Error),
    /// This run cannot have saved the checkpoint.
    #[error("cannot use {file}: {why}")]
    Invalid {
        /// Path of the invalid part.
        file: String,
        /// What is invalid.
        why: Invalid,
    },
    /// Another process could not restore its part.
    #[error("another process of the run cannot read its part of the checkpoint")]
    Elsewhere,
}

/// The part of a checkpoint that all processes share.
#[derive(Encoded)]
pub(super) struct Shared {
    /// Index of the interrupted run, from zero.
    pub(super) number: u32,
    /// Earlier runs and their tables, as JSON.
    earlier: String,
    /// Records of the wait monitors of each process.
    monitored: Vec<Vec<Vec<u64>>>,
    gathered: Vec<u8>,
}

/// Returns the finished runs and their tables as JSON.
pub(super) fn earlier(runs: &[Run], tables: &Tables) -> String {
    match runs {
        [] => String::new(),
        _ => serde_json::to_string(&(runs, tables)).expect("plain data is JSON"),
    }
}

impl Shared {
    pub(super) fn read(bytes: &[u8]) -> Result<Shared, Invalid> {
        Shared::from_bytes(bytes).ok_or_else(|| unknown("shared part of the checkpoint"))
    }

    /// Returns the runs before this one, of `of`, and their tables.
    pub(super) fn earlier(&self, of: u32) -> Result<(Vec<Run>, Tables), Invalid> {
        ensure_below("index of the run", self.number, of)?;
        let (runs, tables) = match self.earlier.as_str() {
            "" => (Vec::<Run>::new(), Tables::new()),
            text => serde_json::from_str(text).map_err(|_| unknown("earlier runs"))?,
        };
        ensure_equal("earlier runs", self.number as usize, runs.len())?;
        Ok((runs, tables))
    }
}

fn unknown(place: &str) -> Invalid {
    Invalid::new(place, "data saved by this version of netloom", "other data")
}

/// Returns the error of an invalid part of a checkpoint, with its path.
pub(super) fn invalid(
    checkpoints: &dyn Checkpoints,
    partition: Option<usize>,
    why: Invalid,
) -> NotContinued {
    let file = checkpoints.place(partition);
    NotContinued::Invalid { file, why }
}

/// Saves a checkpoint of a run between two ticks.
pub(super) fn keep(
    checkpoints: &mut dyn Checkpoints,
    simulation: &mut dyn Simulation,
    gathered: &Gathered,
    monitors: Option<&WaitMonitors>,
    number: u32,
    earlier: &str,
) {
    let saved = simulation.partitions().try_for_each(|partition| {
        let saved = simulation.save(partition);
        checkpoints.keep_partition(partition, &saved)
    });
    let monitored = monitors.map_or(vec![], |monitors| monitors.seen(simulation));
    // A checkpoint is complete when the part of every process is.
    let is_saved = simulation.agree(u64::from(saved.is_ok())) == 1;
    let saved = saved.and_then(|()| match is_saved {
        true => {
            let mut bytes = Vec::new();
            gathered.save(&mut bytes);
            let shared = Shared {
                number,
                earlier: earlier.to_owned(),
                monitored,
                gathered: bytes,
            };
            checkpoints.complete(&shared.to_bytes())
        }
        false => Ok(()),
    });
    let is_complete = simulation.agree(u64::from(saved.is_ok())) == 1;
    if !is_saved || !is_complete {
        checkpoints.failed(saved.err());
    }
}

/// Restores a newly built run from a checkpoint.
pub(super) fn go_on(
    checkpoints: &mut dyn Checkpoints,
    shared: &Shared,
    simulation: &mut dyn Simulation,
    gathered: &mut Gathered,
    monitors: Option<&WaitMonitors>,
    experiment: &Experiment,
) -> Result<(), NotContinued> {
    let mut restore = || -> Result<(), NotContinued> {
        let mut rest = shared.gathered.as_slice();
        let fits = gathered.restore(&mut rest).is_some() && rest.is_empty();
        let gathers = match fits {
            true => gathered.validate(experiment),
            false => Err(unknown("gathered results")),
        };
        let seen = gathers.and_then(|()| match monitors {
            Some(monitors) => monitors.validate(&shared.monitored),
            None => ensure_equal("longest waits", 0, shared.monitored.len()),
        });
        seen.map_err(|why| invalid(checkpoints, None, why))?;
        for partition in simulation.partitions() {
            let saved = checkpoints.partition(partition)?;
            simulation
                .restore(&experiment.fabric, partition, gathered.at, &saved)
                .map_err(|why| invalid(checkpoints, Some(partition), why))?;
        }
        Ok(())
    };
    let restored = restore();
    let are_all = simulation.agree(u64::from(restored.is_ok())) == 1;
    restored?;
    if !are_all {
        return Err(NotContinued::Elsewhere);
    }
    // Only the first process has the ports and NICs.
    let balance = simulation.check_balance();
    let whole = gathered.check_start(simulation).and(balance);
    let are_all = simulation.agree(u64::from(whole.is_ok())) == 1;
    whole.map_err(|why| invalid(checkpoints, None, why))?;
    if !are_all {
        return Err(NotContinued::Elsewhere);
    }
    checkpoints.resumed(experiment.timebase.nanos(gathered.at.0 as f64));
    // One process adds the records of all, which does not affect sums and maxima.
    if let Some(monitors) = monitors
        && simulation.partitions().start == 0
    {
        shared.monitored.iter().for_each(|seen| monitors.add(seen));
    }
    Ok(())
}
