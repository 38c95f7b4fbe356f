//! Collects the results of a scenario's study from its store, to judge claims.

use netloom_results::{Frame, RunId};
use netloom_study::running::{Recorded, Store};

use crate::plan::Scenario;
use crate::{Outcome, Results};

/// Why results cannot be collected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// An experiment has errors: their messages.
    #[error("{0}")]
    Mistakes(String),
    /// A run ended in a deadlock: the run and the time.
    #[error("deadlock in {0}")]
    Deadlock(String),
    /// Stored files cannot be read.
    #[error("{0}")]
    System(String),
}

impl Scenario {
    /// Collects the existing runs; the others are listed as missing.
    ///
    /// # Errors
    /// If the store cannot be read, or a run ended in a deadlock.
    pub fn results(&self, store: &dyn Store) -> Result<Results, Failure> {
        let refused = |error: &dyn std::fmt::Display| {
            Failure::System(format!("cannot read {}: {error}", store.place()))
        };
        let recorded = Recorded::read(store).map_err(|error| refused(&error))?;
        let mut results = Results::default();
        for point in self.study.points() {
            let settings = self.study.settings(&point);
            for n in 0..self.study.seeds.repeat {
                let seed = self.study.seeds.seed(n);
                let run = self.run(&point, seed);
                let Some(record) = recorded.get(&settings, seed) else {
                    results.lacking.push((run.series, run.load));
                    continue;
                };
                let (result, tables) = self
                    .stored(store, &record.run_id)
                    .map_err(|error| refused(&error))?;
                if let Some(deadlock) = &result.deadlock {
                    let (series, load, time) = (&run.series, run.load, deadlock.time_ns);
                    let what = format!("{series} at {load}, seed {seed}, after {time} ns");
                    return Err(Failure::Deadlock(what));
                }
                results.outcomes.push(Outcome {
                    run,
                    result,
                    tables,
                });
            }
        }
        Ok(results)
    }

    /// Reads a run with the tables that claims need. Tables are the largest part of a file, and
    /// most claims need none.
    fn stored(
        &self,
        store: &dyn Store,
        run_id: &RunId,
    ) -> Result<(netloom_results::Run, Vec<(String, Frame)>), String> {
        if self.tables.is_empty() {
            let summary = store.summary(run_id);
            return Ok((summary.map_err(|error| error.to_string())?.run, vec![]));
        }
        let file = store.get(run_id).map_err(|error| error.to_string())?;
        let tables = file.tables.iter();
        let wanted = tables.filter(|(name, _)| self.tables.contains(name));
        Ok((file.summary.run.clone(), wanted.cloned().collect()))
    }

    /// Returns results in which all runs are missing.
    pub fn nothing(&self) -> Results {
        let lacking = self.runs().into_iter().map(|run| (run.series, run.load));
        Results {
            outcomes: vec![],
            lacking: lacking.collect(),
        }
    }
}

impl Results {
    /// Adds other results.
    pub fn add(&mut self, others: Results) {
        self.outcomes.extend(others.outcomes);
        self.lacking.extend(others.lacking);
    }

    /// Returns the results of some scenarios, by id, or of single series.
    pub fn of(&self, names: &[String]) -> Results {
        let is_own = |series: &str| {
            let scenario = series.split(' ').next();
            let mut names = names.iter().map(String::as_str);
            names.any(|name| name == series || Some(name) == scenario)
        };
        let outcomes = self.outcomes.iter();
        let outcomes = outcomes.filter(|own| is_own(&own.run.series));
        let lacking = self.lacking.iter();
        let lacking = lacking.filter(|(series, _)| is_own(series));
        Results {
            outcomes: outcomes.cloned().collect(),
            lacking: lacking.cloned().collect(),
        }
    }
}
