//! The studies of a paper: run what their folders lack, and collect what they hold.
//!
//! ```text
//!  DIR/ci/S000-1/        a folder of a study like any other: resume, status, merge, report, plot
//!  DIR/ci-voq/S000-1/    the same under another reading
//! ```

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use netloom_experiment::runner::Control;
use netloom_reproduction::{Failure, Plan, Results, Scenario, Size, Variation};
use netloom_study::Division;
use netloom_study::running::{self, Journal, MergeOptions, Options, Progress, StudyFolder};

use super::output::Output;
use super::progress::{Shown, Style};
use super::{interrupt, machine, study};

/// What is asked for.
pub(super) struct Studies<'a> {
    pub(super) plan: &'static Plan,
    pub(super) size: Size,
    pub(super) seeds: Option<u32>,
    /// The scenarios that are run, by their ids; all, if none is named.
    pub(super) scenarios: &'a [String],
    /// Run only what other readings ask for; of our own, what the folder holds.
    pub(super) vary_only: bool,
    /// Where folders of studies go.
    pub(super) folder: &'a Path,
    /// Whether the folder stays, so that tables are worth their time.
    pub(super) is_kept: bool,
    /// Put a study in the place of another one.
    pub(super) overwrite: bool,
    pub(super) threads: NonZeroUsize,
    pub(super) progress: Style,
}

/// What came out.
pub(super) struct Executed {
    /// Under our readings, then under each of the others.
    pub(super) results: Vec<Results>,
    /// How far all studies have come.
    pub(super) progress: Progress,
}

impl Studies<'_> {
    /// Runs what is missing under our readings and under others; results of ours come first.
    pub(super) fn run(
        &self,
        variations: &[&'static Variation],
        output: &Output,
    ) -> anyhow::Result<Result<Executed, Failure>> {
        let mut executed = Executed {
            results: vec![],
            progress: Progress::default(),
        };
        for variation in std::iter::once(None).chain(variations.iter().copied().map(Some)) {
            let mut results = Results::default();
            for scenario in self.plan.scenarios(self.size, self.seeds, variation) {
                let path = self.path(&scenario, variation);
                let is_asked = self.asks_for(&scenario, variation);
                let progress = &mut executed.progress;
                match self.scenario(&scenario, is_asked, &path, progress, output)? {
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

    /// Runs a scenario if it is asked for; what there is of it.
    fn scenario(
        &self,
        scenario: &Scenario,
        is_asked: bool,
        path: &Path,
        all: &mut Progress,
        output: &Output,
    ) -> anyhow::Result<Result<Results, Failure>> {
        if !is_asked || interrupt::is_asked() {
            let there = StudyFolder::open(path).ok();
            let is_it = |folder: &StudyFolder| {
                let document = folder.document();
                document.is_ok_and(|own| own.study_id == scenario.study.id())
            };
            let results = match there.filter(is_it) {
                Some(folder) => scenario.results(&folder),
                None => Ok(scenario.nothing()),
            };
            if let Ok(results) = &results {
                let n = results.outcomes.len() as u64;
                all.done += n;
                all.found += n;
                // What nobody asked for is not missing.
                all.of += n + if is_asked {
                    results.lacking.len() as u64
                } else {
                    0
                };
            }
            return Ok(results);
        }
        let folder = StudyFolder::begin(path, &scenario.study, self.overwrite)?;
        let host = machine::host().unwrap_or_else(|| "localhost".to_owned());
        let journal = Journal::begin(folder.path(), &host, None, self.threads.get())?;
        let options = Options {
            owns: &|_| true,
            threads: self.threads,
            division: Division::default(),
            leader: None,
        };
        let shown = Mutex::new(Shown::new(self.progress, output.quiet));
        let so_far = all.clone();
        let finished =
            running::execute(&scenario.study, &folder, &journal, &options, &|progress| {
                if let Ok(mut shown) = shown.lock() {
                    shown.update_study(&together(&so_far, progress));
                }
                match interrupt::is_asked() {
                    true => Control::Stop,
                    false => Control::Continue,
                }
            });
        if let Ok(shown) = shown.lock() {
            shown.finish();
        }
        let finished = finished?;
        *all = together(&so_far, &finished.progress);
        if let Some((point, messages)) = finished.failed.first() {
            let what = format!("{messages}not run: {}: {point}", scenario.id);
            return Ok(Err(Failure::Mistakes(what)));
        }
        if self.is_kept && scenario.is_drawn && !finished.interrupted {
            study::merge(&scenario.study, &folder, MergeOptions::default(), output)?;
        }
        Ok(scenario.results(&folder))
    }
}

/// How far all studies have come, this one the last of them.
fn together(before: &Progress, last: &Progress) -> Progress {
    let is_worse = |one: &running::Worst, other: &running::Worst| one.status > other.status;
    let worst = match (&before.worst, &last.worst) {
        (Some(one), Some(other)) if is_worse(one, other) => Some(one.clone()),
        (one, None) => one.clone(),
        (_, other) => other.clone(),
    };
    Progress {
        done: before.done + last.done,
        of: before.of + last.of,
        found: before.found + last.found,
        unsure: before.unsure + last.unsure,
        packet_hops: before.packet_hops + last.packet_hops,
        elapsed: before.elapsed + last.elapsed,
        worst,
    }
}
