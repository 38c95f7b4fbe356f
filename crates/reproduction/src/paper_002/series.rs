//! What there is of a series, and whether it is enough for an order.

use super::machines::{DRAGONFLY, Machine};
use crate::order::ordered;
use crate::{Finding, Outcome, Results, Shown};

/// The outcomes of a series; none if one is lacking.
pub(super) fn whole<'a>(results: &'a Results, series: &str) -> Result<Vec<&'a Outcome>, String> {
    let is_lacking = results.lacking.iter().any(|(own, _)| *own == series);
    let own = |outcome: &&Outcome| outcome.run.series == series;
    let outcomes: Vec<&Outcome> = results.outcomes.iter().filter(own).collect();
    if is_lacking || outcomes.is_empty() {
        return Err(format!("no results of {series}"));
    }
    Ok(outcomes)
}

/// An order of runs that the paper's machine has with one seed, and is judged by it: the largest ones.
pub(super) fn ordered_large(
    machine: &Machine,
    n_seeds: usize,
    holds: impl Into<Shown>,
    words: impl Into<String>,
) -> Finding {
    let is_large = machine.n_nics == DRAGONFLY.n_nics;
    let enough = if is_large { n_seeds.max(2) } else { n_seeds };
    ordered(enough, holds, words)
}

/// A finding, or why there is none.
pub(super) fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}
