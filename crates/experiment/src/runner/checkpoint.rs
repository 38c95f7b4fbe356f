//! Checkpoints: a run is kept as it goes, and goes on where the last one was made.
//!
//! ```text
//!   partition 0 … n   state of the fabric, each by the process that runs it
//!   run               what was gathered until then, seeds that are done; kept last, by the first process
//! ```
//!
//! The number of partitions is that of the first start. Threads and processes may be others when a run goes on: no result
//! depends on them.

use std::io;

use netloom_encoding::{Encoded, Invalid, State, ensure_below, ensure_equal};
use netloom_fabric::Simulation;
use netloom_results::Run;

use super::gathered::Gathered;
use super::tables::Tables;
use super::waits::Witnesses;
use crate::Experiment;

/// A place for checkpoints. Each process of a run has one, and all of them mean the same place.
pub trait Checkpoints {
    /// What all processes share in the last checkpoint; `None` if there is none and a run begins anew.
    ///
    /// # Errors
    /// If it cannot be read.
    fn last(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// What was kept of a partition in the last checkpoint.
    ///
    /// # Errors
    /// If it cannot be read.
    fn partition(&mut self, partition: usize) -> io::Result<Vec<u8>>;

    /// Where a partition of the last checkpoint is, or what all processes share, as a person finds it.
    fn place(&self, partition: Option<usize>) -> String;

    /// The run resumes from the last checkpoint, of which every tick before this one has been run.
    fn resumed(&mut self, at_ns: f64) {
        let _ = at_ns;
    }

    /// Whether it is time for a checkpoint.
    fn is_due(&mut self) -> bool;

    /// Keeps a partition in the checkpoint that is being made.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_partition(&mut self, partition: usize, saved: &[u8]) -> io::Result<()>;

    /// All processes have kept their partitions: with what they share the checkpoint is whole, and takes the place of the last.
    /// Called in every process, for one of them to do it.
    ///
    /// # Errors
    /// If it cannot be written.
    fn complete(&mut self, shared: &[u8]) -> io::Result<()>;

    /// The checkpoint could not be made: the last one stays. `error` is what this process knows of it.
    fn failed(&mut self, error: Option<io::Error>);
}

/// Why a run cannot go on from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum NotContinued {
    /// It cannot be read.
    #[error("the checkpoint cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It can be read, and no such run can have saved it.
    #[error("{file} cannot be used: {why}")]
    Invalid {
        /// Which part of it.
        file: String,
        /// What is wrong with it.
        why: Invalid,
    },
    /// Another process could not take its part.
    #[error("another process of the run cannot read its part of the checkpoint")]
    Elsewhere,
}

/// What the processes share in a checkpoint.
pub(super) struct Shared {
    /// The run that was under way, counted from zero.
    pub(super) number: u32,
    /// Runs before it and their tables, as JSON.
    earlier: String,
    /// What the witnesses of each process had seen.
    witnessed: Vec<Vec<Vec<u64>>>,
    gathered: Vec<u8>,
}

netloom_encoding::encoded!(Shared {
    number,
    earlier,
    witnessed,
    gathered
});

/// The seeds that are done.
pub(super) fn earlier(runs: &[Run], tables: &Tables) -> String {
    match runs {
        [] => String::new(),
        _ => serde_json::to_string(&(runs, tables)).expect("plain data is JSON"),
    }
}

impl Shared {
    pub(super) fn read(bytes: &[u8]) -> Result<Shared, Invalid> {
        Shared::from_bytes(bytes).ok_or_else(|| unknown("what all partitions share"))
    }

    /// The runs before this one, of `of`, and their tables.
    pub(super) fn earlier(&self, of: u32) -> Result<(Vec<Run>, Tables), Invalid> {
        ensure_below("number of the run", self.number, of)?;
        let (runs, tables) = match self.earlier.as_str() {
            "" => (Vec::<Run>::new(), Tables::new()),
            text => serde_json::from_str(text).map_err(|_| unknown("runs before this one"))?,
        };
        ensure_equal("runs before this one", self.number as usize, runs.len())?;
        Ok((runs, tables))
    }
}

fn unknown(place: &str) -> Invalid {
    Invalid::new(place, "what this version of netloom saves", "other bytes")
}

/// What is wrong with a part of a checkpoint, with its name.
pub(super) fn invalid(
    checkpoints: &dyn Checkpoints,
    partition: Option<usize>,
    why: Invalid,
) -> NotContinued {
    let file = checkpoints.place(partition);
    NotContinued::Invalid { file, why }
}

/// Makes a checkpoint of a run that stands between two ticks.
pub(super) fn keep(
    checkpoints: &mut dyn Checkpoints,
    simulation: &mut dyn Simulation,
    gathered: &Gathered,
    witnesses: Option<&Witnesses>,
    number: u32,
    earlier: &str,
) {
    let kept = simulation.partitions().try_for_each(|partition| {
        let saved = simulation.save(partition);
        checkpoints.keep_partition(partition, &saved)
    });
    let witnessed = witnesses.map_or(vec![], |witnesses| witnesses.seen(simulation));
    // A checkpoint is whole when everybody's part is.
    let is_kept = simulation.agree(u64::from(kept.is_ok())) == 1;
    let kept = kept.and_then(|()| match is_kept {
        true => {
            let mut bytes = Vec::new();
            gathered.save(&mut bytes);
            let shared = Shared {
                number,
                earlier: earlier.to_owned(),
                witnessed,
                gathered: bytes,
            };
            checkpoints.complete(&shared.to_bytes())
        }
        false => Ok(()),
    });
    let is_complete = simulation.agree(u64::from(kept.is_ok())) == 1;
    if !is_kept || !is_complete {
        checkpoints.failed(kept.err());
    }
}

/// Puts a run that has just been built into the state of a checkpoint.
pub(super) fn go_on(
    checkpoints: &mut dyn Checkpoints,
    shared: &Shared,
    simulation: &mut dyn Simulation,
    gathered: &mut Gathered,
    witnesses: Option<&Witnesses>,
    experiment: &Experiment,
) -> Result<(), NotContinued> {
    let mut restore = || -> Result<(), NotContinued> {
        let mut rest = shared.gathered.as_slice();
        let fits = gathered.restore(&mut rest).is_some() && rest.is_empty();
        let gathers = match fits {
            true => gathered.validate(experiment),
            false => Err(unknown("results until then")),
        };
        let seen = gathers.and_then(|()| match witnesses {
            Some(witnesses) => witnesses.validate(&shared.witnessed),
            None => ensure_equal("longest waits", 0, shared.witnessed.len()),
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
    // Of ports and NICs the first process alone knows.
    let balance = simulation.check_balance();
    let whole = gathered.check_start(simulation).and(balance);
    let are_all = simulation.agree(u64::from(whole.is_ok())) == 1;
    whole.map_err(|why| invalid(checkpoints, None, why))?;
    if !are_all {
        return Err(NotContinued::Elsewhere);
    }
    checkpoints.resumed(experiment.timebase.nanos(gathered.at.0 as f64));
    // One process tells what all had seen: sums and largest values do not mind.
    if let Some(witnesses) = witnesses
        && simulation.partitions().start == 0
    {
        shared.witnessed.iter().for_each(|seen| witnesses.add(seen));
    }
    Ok(())
}
