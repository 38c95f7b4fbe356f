//! The existing runs of a store.

use std::collections::{HashMap, HashSet};
use std::io;

use netloom_results::store::{RunFile, RunSummary};
use netloom_results::{RunId, Setting, Status, Verdict};

use crate::SeedOutcome;

use super::store::Store;

/// The part of a run that rules and progress tables need.
#[derive(Clone, PartialEq, Debug)]
pub struct RunRecord {
    pub run_id: RunId,
    pub status: Status,
    /// The outcome for its point.
    pub outcome: SeedOutcome,
    /// 99 % quantile of message latency over all classes.
    pub latency_p99_ns: Option<f64>,
}

impl RunRecord {
    pub(super) fn of(summary: &RunSummary) -> RunRecord {
        let run = &summary.run;
        let verdict = match run.status {
            // As with saturation, further values along an axis would give no information.
            Status::Deadlock => Verdict::Saturated,
            _ => run.total.verdict,
        };
        RunRecord {
            run_id: summary.run_id.clone(),
            status: run.status,
            outcome: SeedOutcome {
                latency_mean_ns: run.total.latency_mean_ns,
                verdict,
            },
            latency_p99_ns: run.total.latency_p99_ns,
        }
    }
}

/// The runs in a store, by settings and seed.
#[derive(Clone, Default, Debug)]
pub struct Recorded {
    runs: HashMap<String, RunRecord>,
    /// The ids of the same runs.
    known: HashSet<RunId>,
    /// Names of run files that are not valid results, with the reason.
    pub invalid: Vec<(String, String)>,
}

fn key(settings: &[Setting], seed: u64) -> String {
    let settings = serde_json::to_string(settings).expect("plain data is JSON");
    format!("{settings} {seed}")
}

impl Recorded {
    /// Reads all runs of a store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(store: &dyn Store) -> io::Result<Recorded> {
        let mut recorded = Recorded::default();
        recorded.update(store)?;
        Ok(recorded)
    }

    /// Reads the runs added since the last call.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn update(&mut self, store: &dyn Store) -> io::Result<()> {
        let ids = store.ids()?;
        self.invalid.clear();
        for run_id in ids {
            if self.known.contains(&run_id) {
                continue;
            }
            match store.summary(&run_id) {
                Ok(summary) => self.add(&summary),
                Err(reason) => {
                    let name = RunFile::name(&run_id);
                    self.invalid.push((name, reason.to_string()));
                }
            }
        }
        self.invalid.sort_unstable();
        Ok(())
    }

    /// Adds a stored run.
    pub(super) fn add(&mut self, summary: &RunSummary) {
        let key = key(&summary.settings, summary.run.seed);
        self.known.insert(summary.run_id.clone());
        self.runs.insert(key, RunRecord::of(summary));
    }

    /// Returns the run of a point and a seed, if it exists.
    pub fn get(&self, settings: &[Setting], seed: u64) -> Option<&RunRecord> {
        self.runs.get(&key(settings, seed))
    }

    pub fn len(&self) -> usize {
        self.runs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}
