//! S003-1 to S003-3 under five arbiters; S003-4 and S003-5 are in `search.rs`.

use super::arbiters::Arbiter;
use crate::{Finding, Outcome, Results};

/// The classes of S003-1 to S003-3, by service level.
pub(super) const CLASSES: [&str; 5] = ["SL0", "SL1", "SL2", "SL3", "SL4"];

/// Five service levels with messages of 1 to 5 KiB that generate at least the capacity of a link.
pub(super) struct Scenario {
    /// The weight of each service level in the table.
    pub(super) weights: [u16; 5],
    /// Expected share of each level under round robin, in percent of a link.
    pub(super) oracle: [f64; 5],
    /// The names of its series, in the order of [`Arbiter::ALL`].
    series: [&'static str; 5],
}

macro_rules! series {
    ($id:literal) => {
        [
            concat!($id, " RR"),
            concat!($id, " basic"),
            concat!($id, " basic tuned"),
            concat!($id, " deficits"),
            concat!($id, " deficits tuned"),
        ]
    };
}

/// Table 5.
pub(super) const FAIR: Scenario = Scenario {
    weights: [1; 5],
    oracle: [20.0; 5],
    series: series!("S003-1"),
};

/// Table 6.
pub(super) const STEP: Scenario = Scenario {
    weights: [5, 4, 3, 2, 1],
    oracle: [28.0, 28.0, 21.0, 15.0, 8.0],
    series: series!("S003-2"),
};

/// Table 7.
pub(super) const TWO_POWERS: Scenario = Scenario {
    weights: [16, 8, 4, 2, 1],
    oracle: [40.0, 32.0, 16.0, 8.0, 4.0],
    series: series!("S003-3"),
};

pub(super) const SCENARIOS: [&Scenario; 3] = [&FAIR, &STEP, &TWO_POWERS];

impl Scenario {
    /// Returns the name of its series under an arbiter.
    pub(super) fn series(&self, arbiter: Arbiter) -> &'static str {
        let at = Arbiter::ALL.iter().position(|&own| own == arbiter);
        self.series[at.expect("all arbiters are listed")]
    }

    /// Returns the share of a service level by its table, in percent of a link.
    pub(super) fn target(&self, class: usize) -> f64 {
        let sum: u16 = self.weights.iter().sum();
        100.0 * f64::from(self.weights[class]) / f64::from(sum)
    }

    /// Returns its outcomes under an arbiter, if none is missing.
    pub(super) fn outcomes<'a>(
        &self,
        results: &'a Results,
        arbiter: Arbiter,
    ) -> Option<Vec<&'a Outcome>> {
        whole(results, self.series(arbiter))
    }
}

/// Returns the outcomes of a series, or `None` if one is missing.
pub(super) fn whole<'a>(results: &'a Results, series: &str) -> Option<Vec<&'a Outcome>> {
    if results.lacking.iter().any(|(own, _)| *own == series) {
        return None;
    }
    let own = |outcome: &&Outcome| outcome.run.series == series;
    let outcomes: Vec<&Outcome> = results.outcomes.iter().filter(own).collect();
    (!outcomes.is_empty()).then_some(outcomes)
}

pub(super) fn not_there(scenario: &Scenario, arbiter: Arbiter) -> Finding {
    Finding::not_run(format!("no result of {}", scenario.series(arbiter)))
}
