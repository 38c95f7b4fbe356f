//! Access to the outcomes of a series.

use crate::{Finding, Outcome, Results};

/// Returns the outcomes of a series, or an error if one is missing.
pub(super) fn whole<'a>(results: &'a Results, series: &str) -> Result<Vec<&'a Outcome>, String> {
    let is_lacking = results.lacking.iter().any(|(own, _)| *own == series);
    let own = |outcome: &&Outcome| outcome.run.series == series;
    let outcomes: Vec<&Outcome> = results.outcomes.iter().filter(own).collect();
    if is_lacking || outcomes.is_empty() {
        return Err(format!("no results of {series}"));
    }
    Ok(outcomes)
}

/// Returns the finding, or one that explains why there is none.
pub(super) fn told(finding: Result<Finding, String>) -> Finding {
    finding.unwrap_or_else(Finding::not_run)
}
