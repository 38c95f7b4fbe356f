//! The studies of a paper: runs what is missing in their folders, and collects the results.
//!
//! ```text
//!  DIR/ci/S000-1/        an ordinary folder of a study, as for run, study status, report and plot
//!  DIR/ci-voq/S000-1/    the same study under another reading
//! ```

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use netloom_experiment::runner::Control;
use netloom_reproduction::{Failure, Plan, Results, Scenario, Size, Variation};
use netloom_study::Study;
use netloom_study::running::{
    self, Journal, MergeOptions, Options, Recorded, StudyFolder, StudyProgress,
};

use super::output::Output;
use super::progress::{ProgressDisplay, Style};
use super::{interrupt, study};

/// What to run.
pub(super) struct Studies<'a> {
    pub(super) plan: &'a Plan,
    pub(super) size: Size,
    pub(super) seeds: Option<u32>,
    /// Ids of the scenarios to run; empty for all.
    pub(super) scenarios: &'a [String],
    /// Whether to run only other readings. The runs under netloom's own reading are read from the
    /// folder.
    pub(super) vary_only: bool,
    /// Parent of the folders of studies.
    pub(super) folder: &'a Path,
    /// Whether the folder is kept, so that tables are written.
    pub(super) is_stored: bool,
    /// Whether a study may replace another one.
    pub(super) overwrite: bool,
    pub(super) threads: NonZeroUsize,
    pub(super) progress: Style,
}

/// The results.
pub(super) struct Executed {
    /// Under netloom's own reading first, then under each other one.
    pub(super) results: Vec<Results>,
    /// Of all studies together.
    pub(super) progress: StudyProgress,
}

impl Studies<'_> {
    /// Runs what is missing under netloom's own reading and under the others. The results of its
    /// own come first.
    pub(super) fn run(
        &self,
        variations: &[&Variation],
        output: &Output,
    ) -> anyhow::Result<Result<Executed, Failure>> {
        let readings = std::iter::once(None).chain(variations.iter().copied().map(Some));
        let readings: Vec<(Option<&Variation>, Vec<Scenario>)> = readings
            .map(|own| (own, self.plan.scenarios(self.size, self.seeds, own)))
            .collect();
        let mut later = self.later(&readings);
        let mut executed = Executed {
            results: vec![],
            progress: StudyProgress::default(),
        };
        for (variation, scenarios) in &readings {
            let mut results = Results::default();
            for scenario in scenarios {
                let path = self.path(scenario, *variation);
                let after = self.asks_for(scenario, *variation).then(|| {
                    let after = together(&StudyProgress::default(), &later);
                    later.pop_front();
                    after
                });
                let progress = &mut executed.progress;
                match self.scenario(scenario, &path, after.as_ref(), progress, output)? {
                    Ok(own) => results.add(own),
                    Err(failure) => return Ok(Err(failure)),
                }
            }
            if let (Some(variation), Some(ours)) = (variation, executed.results.first()) {
                results.add(ours.of(self.plan.ours(variation)));
            }
            executed.results.push(results);
        }
        Ok(Ok(executed))
    }

    /// Returns the progress of all requested scenarios after the first one, in the order of their
    /// runs.
    fn later(&self, readings: &[(Option<&Variation>, Vec<Scenario>)]) -> VecDeque<StudyProgress> {
        let own = readings.iter().flat_map(|(variation, scenarios)| {
            scenarios.iter().map(move |scenario| (scenario, *variation))
        });
        own.filter(|(scenario, variation)| self.asks_for(scenario, *variation))
            .skip(1)
            .map(|(scenario, variation)| there(&scenario.study, &self.path(scenario, variation)))
            .collect()
    }

    fn path(&self, scenario: &Scenario, variation: Option<&Variation>) -> PathBuf {
        let size = self.size.word();
        let under = match variation {
            Some(variation) => format!("{size}-{}", variation.name),
            None => size.to_owned(),
        };
        self.folder.join(under).join(&scenario.id)
    }

    fn asks_for(&self, scenario: &Scenario, variation: Option<&Variation>) -> bool {
        let mut asked = self.scenarios.iter();
        (self.scenarios.is_empty() || asked.any(|name| name == scenario.name()))
            && (variation.is_some() || !self.vary_only)
    }

    /// Returns the results of a scenario. Runs it first if it is requested; `after` is then the
    /// progress of later ones.
    fn scenario(
        &self,
        scenario: &Scenario,
        path: &Path,
        after: Option<&StudyProgress>,
        all: &mut StudyProgress,
        output: &Output,
    ) -> anyhow::Result<Result<Results, Failure>> {
        let Some(after) = after.filter(|_| !interrupt::is_asked()) else {
            let results = match held(&scenario.study, path) {
                Some((folder, own)) => {
                    let mut scenario = scenario.clone();
                    // A scenario that is not requested keeps the seeds that it was run with.
                    if after.is_none() {
                        scenario.study = own;
                    }
                    scenario.results(&folder)
                }
                None => Ok(scenario.nothing()),
            };
            if let Ok(results) = &results {
                let n = results.outcomes.len() as u64;
                all.done += n;
                all.found += n;
                // Runs that are not requested are not missing.
                all.of += n + after.map_or(0, |_| results.lacking.len() as u64);
            }
            return Ok(results);
        };
        let folder = StudyFolder::begin(path, &scenario.study, self.overwrite)?;
        let host = netloom_results::host().unwrap_or_else(|| "localhost".to_owned());
        let journal = Journal::begin(folder.path(), &host, None, self.threads.get())?;
        let options = Options {
            threads: self.threads,
            journal: Some(&journal),
            ..Options::default()
        };
        let display = Mutex::new(ProgressDisplay::new(self.progress, output.quiet));
        let so_far = all.clone();
        let finished = scenario.study.run(&folder, &options, &|progress| {
            if let Ok(mut display) = display.lock() {
                display.update_study(&together(&so_far, [progress, after]));
            }
            interrupt::control()
        });
        if let Ok(display) = display.lock() {
            display.finish();
        }
        let finished = finished?;
        *all = together(&so_far, [&finished.progress]);
        if let Some((point, messages)) = finished.failed.first() {
            let what = format!("{messages}not run: {}: {point}", scenario.id);
            return Ok(Err(Failure::Mistakes(what)));
        }
        if self.is_stored && scenario.is_drawn && !finished.interrupted {
            // Complete results are merged even if the user wants no further ones.
            let (options, control) = (MergeOptions::default(), || Control::Continue);
            study::merge(&scenario.study, &folder, options, control, output)?;
        }
        Ok(scenario.results(&folder))
    }
}

/// Returns the folder of a study, if it exists, and the study with the seeds of that folder.
fn held(study: &Study, path: &Path) -> Option<(StudyFolder, Study)> {
    let folder = StudyFolder::open(path).ok()?;
    let own = folder.own_of(study)?;
    Some((folder, own))
}

/// Returns the progress of a study that is not running.
fn there(study: &Study, path: &Path) -> StudyProgress {
    let recorded = held(study, path).and_then(|(folder, _)| Recorded::read(&folder).ok());
    let (done, missing) = match recorded {
        Some(recorded) => {
            let planned = running::planned(study, &recorded);
            let missing = planned.missing.iter().map(|unit| unit.at_most).sum();
            (planned.runs.len() as u64, missing)
        }
        None => (0, study.most_runs()),
    };
    StudyProgress {
        done,
        found: done,
        of: done + missing,
        ..StudyProgress::default()
    }
}

/// Adds the progress of other studies, in their order.
fn together<'a>(
    before: &StudyProgress,
    others: impl IntoIterator<Item = &'a StudyProgress>,
) -> StudyProgress {
    let is_worse = |one: &running::Worst, other: &running::Worst| one.status > other.status;
    let mut all = before.clone();
    for other in others {
        let is_worst = match (&all.worst, &other.worst) {
            (Some(one), Some(other)) => is_worse(one, other),
            (_, other) => other.is_none(),
        };
        if !is_worst {
            all.worst = other.worst.clone();
        }
        all.done += other.done;
        all.of += other.of;
        all.found += other.found;
        all.packet_hops += other.packet_hops;
        all.elapsed += other.elapsed;
    }
    all
}
