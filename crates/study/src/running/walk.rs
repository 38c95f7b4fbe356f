//! Which runs a unit needs, one after the other: the same walk whether they are run or only looked up.

use std::collections::BTreeMap;

use crate::seeds::is_saturated;
use crate::{Point, SeedOutcome, Study, Unit};

use super::recorded::Recorded;

/// Walks a unit: `run` is asked for every run it needs and answers with its outcome, or ends the walk.
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

/// A run that belongs to the study as far as it is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlannedRun {
    /// Its point.
    pub point: Point,
    /// Its seed.
    pub seed: u64,
}

/// What a study consists of, as far as its run files say.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The runs that are there, in the order of the study: by points, then by seeds.
    pub runs: Vec<PlannedRun>,
    /// What is missing, by unit.
    pub missing: Vec<Missing>,
    /// Runs that ended so.
    pub by_status: BTreeMap<&'static str, usize>,
}

/// A unit with runs missing.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Which unit.
    pub unit: usize,
    /// The first run that it needs and that is not there.
    pub next: PlannedRun,
    /// How many more it needs at most.
    pub at_most: u64,
}

/// Walks the whole study by what is there.
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

/// How many runs a unit has at most.
pub(super) fn most_runs(study: &Study, unit: &Unit) -> u64 {
    let seeds = u64::from(study.seeds.most);
    match unit {
        Unit::Run(..) => 1,
        Unit::Point(_) => seeds,
        Unit::Series(_) => study.rising().map_or(1, |rising| rising.at_most()) * seeds,
    }
}
