//! Determines the runs that a unit needs, in order. The same code runs them or only looks them up.

use std::collections::BTreeMap;

use crate::seeds::is_saturated;
use crate::{Point, SeedOutcome, Study, Unit};

use super::recorded::Recorded;

/// Walks a unit: calls `run` for every run it needs. `run` returns its outcome, or ends the walk.
pub(super) fn walk<E>(
    study: &Study,
    unit: &Unit,
    run: &mut dyn FnMut(&Point, u64) -> Result<SeedOutcome, E>,
) -> Result<(), E> {
    match unit {
        Unit::Run(point, seed) => run(point, *seed).map(|_| ()),
        Unit::Point(point) => seeds(study, point, run).map(|_| ()),
        Unit::Series(series) => {
            let rising = study.rising().expect("a series is walked by a rule");
            let mut seen = BTreeMap::new();
            while let Some(number) = rising.next(&seen) {
                let outcomes = seeds(study, &series.point(number), run)?;
                seen.insert(number, is_saturated(&outcomes));
            }
            Ok(())
        }
    }
}

fn seeds<E>(
    study: &Study,
    point: &Point,
    run: &mut dyn FnMut(&Point, u64) -> Result<SeedOutcome, E>,
) -> Result<Vec<SeedOutcome>, E> {
    let mut outcomes = vec![];
    while study.seeds.needs_another(&outcomes) {
        let n = u32::try_from(outcomes.len()).expect("fewer than 2^32 seeds");
        outcomes.push(run(point, study.seeds.seed(n))?);
    }
    Ok(outcomes)
}

/// A run that belongs to the study according to the existing run files.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlannedRun {
    pub point: Point,
    pub seed: u64,
}

/// The runs of a study, according to its run files.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The existing runs, in the order of the study: by points, then by seeds.
    pub runs: Vec<PlannedRun>,
    /// The missing runs, by unit.
    pub missing: Vec<Missing>,
    /// Number of runs by status.
    pub by_status: BTreeMap<&'static str, usize>,
}

/// A unit with missing runs.
#[derive(Clone, Debug)]
pub struct Missing {
    pub unit: usize,
    /// The first missing run.
    pub next: PlannedRun,
    /// Maximum number of missing runs.
    pub at_most: u64,
}

/// Walks the whole study, using the existing runs.
pub fn planned(study: &Study, recorded: &Recorded) -> Planned {
    let mut planned = Planned::default();
    for (number, unit) in study.units().iter().enumerate() {
        let mut done = 0;
        let end = walk(study, unit, &mut |point, seed| {
            let own = PlannedRun {
                point: point.clone(),
                seed,
            };
            let Some(record) = recorded.get(&study.settings(point), seed) else {
                return Err(own);
            };
            done += 1;
            *planned.by_status.entry(record.status.word()).or_default() += 1;
            planned.runs.push(own);
            Ok(record.outcome)
        });
        if let Err(next) = end {
            planned.missing.push(Missing {
                unit: number,
                next,
                at_most: most_runs(study, unit) - done,
            });
        }
    }
    planned.runs.sort_unstable();
    planned
}

/// Returns the maximum number of runs of a unit.
pub(super) fn most_runs(study: &Study, unit: &Unit) -> u64 {
    let seeds = u64::from(study.seeds.most);
    match unit {
        Unit::Run(..) => 1,
        Unit::Point(_) => seeds,
        Unit::Series(_) => study.rising().map_or(1, |rising| rising.at_most()) * seeds,
    }
}
