//! The machines, switches and times of claims.

use super::applications::APPLICATIONS;
use super::machines::{DRAGONFLY, Machine, SMALL};
use super::switches::Switch::{self, Baseline, Full, Half, Quarter};
use crate::Results;

/// A switch in a scenario.
pub(super) struct Case {
    pub(super) switch: Switch,
    /// The name of its runs.
    pub(super) series: &'static str,
}

impl Case {
    /// Runs with a switch.
    pub(super) const fn new(switch: Switch, series: &'static str) -> Case {
        Case { switch, series }
    }
}

/// What varies in a scenario.
#[derive(Clone, Copy)]
pub(super) enum Course {
    /// Uniform traffic of several loads.
    Load,
    /// An application until it ends.
    Application,
    /// Time, around the onset of aggressors.
    Onset(Moments),
    /// The length of an aggressor's messages.
    Message,
}

/// Times of events, in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    /// Aggressors begin.
    pub(super) onset: u32,
    /// The run ends.
    pub(super) end: u32,
}

/// A scenario on a machine.
pub(super) struct Scenario {
    pub(super) machine: &'static Machine,
    pub(super) course: Course,
    /// Number of endpoints whose latency is measured.
    pub(super) victims: u32,
    pub(super) cases: &'static [Case],
}

impl Scenario {
    /// Returns the series of a switch, or the first of several.
    pub(super) fn series(&self, switch: Switch) -> &'static str {
        let case = self.cases.iter().find(|case| case.switch == switch);
        case.map_or("that switch", |case| case.series)
    }

    /// Whether the results or the missing runs include it.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| match self.course {
            Course::Application => APPLICATIONS.iter().any(|application| {
                let cases = application.cases(self.machine);
                cases.iter().any(|case| case.series == series)
            }),
            _ => self.cases.iter().any(|case| case.series == series),
        };
        results.outcomes.iter().any(|o| is_own(&o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// Returns the scenario for orders: that on the paper's machine, or on the small one if only
    /// that was run.
    pub(super) fn either<'a>(results: &Results, both: [&'a Scenario; 2]) -> &'a Scenario {
        let [paper, small] = both;
        if !paper.is_in(results) && small.is_in(results) {
            small
        } else {
            paper
        }
    }
}

/// All four switches.
macro_rules! four {
    ($($name:literal),+) => {
        [
            Case::new(Baseline, concat!($($name),+, " baseline")),
            Case::new(Full, concat!($($name),+, " 100 %")),
            Case::new(Half, concat!($($name),+, " 50 %")),
            Case::new(Quarter, concat!($($name),+, " 25 %")),
        ]
    };
}
pub(super) use four;

/// Figure 5, both parts: S002-1 and S002-2.
pub(super) const S002_1: Scenario = Scenario {
    machine: &DRAGONFLY,
    course: Course::Load,
    victims: DRAGONFLY.n_nics,
    cases: &four!("S002-1"),
};

pub(super) const SMALL_1: Scenario = Scenario {
    machine: &SMALL,
    victims: SMALL.n_nics,
    cases: &four!("S002-1 72 nodes"),
    ..S002_1
};

/// Figure 6; the cases are those of the applications.
pub(super) const S002_3: Scenario = Scenario {
    course: Course::Application,
    cases: &[],
    ..S002_1
};

pub(super) const SMALL_3: Scenario = Scenario {
    machine: &SMALL,
    ..S002_3
};

/// Baseline without aggressors (Figure 7b), on both machines.
pub(super) const ALONE: [&str; 2] = ["S002-5 alone", "S002-5 72 nodes alone"];
/// Baseline without congestion control (C002-14).
pub(super) const WITHOUT_ECN: [&str; 2] = ["S002-4 without ECN", "S002-4 72 nodes without ECN"];

/// Figures 7 and 8: S002-4 to S002-6, one set of runs.
pub(super) const S002_4: Scenario = Scenario {
    course: Course::Onset(Moments {
        onset: 20,
        end: 100,
    }),
    victims: 3020,
    cases: &[
        Case::new(Baseline, "S002-4 baseline"),
        Case::new(Full, "S002-4 100 %"),
        Case::new(Half, "S002-4 50 %"),
        Case::new(Baseline, ALONE[0]),
        Case::new(Baseline, WITHOUT_ECN[0]),
    ],
    ..S002_1
};

/// Eight aggressors on two hot spots.
pub(super) const SMALL_4: Scenario = Scenario {
    machine: &SMALL,
    course: Course::Onset(Moments { onset: 20, end: 80 }),
    victims: 62,
    cases: &[
        Case::new(Baseline, "S002-4 72 nodes baseline"),
        Case::new(Full, "S002-4 72 nodes 100 %"),
        Case::new(Half, "S002-4 72 nodes 50 %"),
        Case::new(Baseline, ALONE[1]),
        Case::new(Baseline, WITHOUT_ECN[1]),
    ],
};

/// Figure 9.
pub(super) const S002_7: Scenario = Scenario {
    course: Course::Message,
    victims: 1540,
    cases: &[
        Case::new(Baseline, "S002-7 baseline"),
        Case::new(Full, "S002-7 100 %"),
        Case::new(Half, "S002-7 50 %"),
    ],
    ..S002_4
};

pub(super) const SMALL_7: Scenario = Scenario {
    machine: &SMALL,
    victims: 36,
    cases: &[
        Case::new(Baseline, "S002-7 72 nodes baseline"),
        Case::new(Full, "S002-7 72 nodes 100 %"),
        Case::new(Half, "S002-7 72 nodes 50 %"),
    ],
    ..S002_7
};

/// The scenarios that are drawn in one figure, the paper's machine first.
pub(super) const UNIFORM: [&Scenario; 2] = [&S002_1, &SMALL_1];
pub(super) const PROGRAMS: [&Scenario; 2] = [&S002_3, &SMALL_3];
pub(super) const ONSET: [&Scenario; 2] = [&S002_4, &SMALL_4];
pub(super) const BURSTS: [&Scenario; 2] = [&S002_7, &SMALL_7];

/// Tables over time, of latencies, and of the occupancy of stashes.
pub(super) const SERIES: &str = "series";
pub(super) const HISTOGRAMS: &str = "histograms";
pub(super) const STASHES: &str = "stashes";
