//! What there is of a series.

use crate::{Finding, Outcome, Results};

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

/// A finding, or why there is none.
pub(super) fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}
