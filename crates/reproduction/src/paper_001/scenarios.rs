//! The networks, schemes and times of claims.

use super::schemes::Scheme::{self, Dbbm, Obqa, OneQueue, VoqNet, VoqSw};
use crate::Results;

/// A scheme in a scenario.
pub(super) struct Case {
    pub(super) scheme: Scheme,
    /// The name of its runs.
    pub(super) series: &'static str,
}

/// What varies in a scenario.
pub(super) enum Course {
    /// Uniform traffic of several loads.
    Load,
    /// Time, around a hot spot.
    HotSpot(Moments),
    /// Time, with storage traffic.
    Storage,
}

/// Times of events, in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    /// The hot sources begin.
    pub(super) from: u32,
    /// They stop.
    pub(super) until: u32,
    /// The run ends.
    pub(super) end: u32,
}

/// A scenario on a network.
pub(super) struct Scenario {
    /// Name of the network.
    pub(super) network: &'static str,
    pub(super) course: Course,
    pub(super) cases: &'static [Case],
}

impl Scenario {
    /// Returns the series of a scheme.
    pub(super) fn series(&self, scheme: Scheme) -> Option<&'static str> {
        let case = self.cases.iter().find(|case| case.scheme == scheme);
        case.map(|case| case.series)
    }

    /// Whether the results or the missing runs include it.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| self.cases.iter().any(|case| case.series == series);
        results.outcomes.iter().any(|o| is_own(&o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// Returns the scenario for orders: that of the paper, or the small one if only that was run.
    pub(super) fn either<'a>(results: &Results, both: [&'a Scenario; 2]) -> &'a Scenario {
        let [paper, small] = both;
        if !paper.is_in(results) && small.is_in(results) {
            small
        } else {
            paper
        }
    }
}

macro_rules! case {
    ($id:literal, $network:literal, $name:literal, $scheme:expr) => {
        Case {
            scheme: $scheme,
            series: concat!($id, " ", $network, " ", $name),
        }
    };
}

/// Figure 4a.
pub(super) const S001_1: Scenario = Scenario {
    network: "4-ary 4-tree",
    course: Course::Load,
    cases: &[
        case!("S001-1", "#2", "1Q", OneQueue),
        case!("S001-1", "#2", "DBBM-4", Dbbm(4)),
        case!("S001-1", "#2", "OBQA-2", Obqa(2)),
        case!("S001-1", "#2", "OBQA-4", Obqa(4)),
        case!("S001-1", "#2", "VOQsw-8", VoqSw),
        case!("S001-1", "#2", "VOQnet", VoqNet),
    ],
};

/// Figure 4b.
pub(super) const S001_2: Scenario = Scenario {
    network: "16-ary 2-tree",
    cases: &[
        case!("S001-2", "#3", "1Q", OneQueue),
        case!("S001-2", "#3", "DBBM-4", Dbbm(4)),
        case!("S001-2", "#3", "DBBM-8", Dbbm(8)),
        case!("S001-2", "#3", "OBQA-4", Obqa(4)),
        case!("S001-2", "#3", "OBQA-8", Obqa(8)),
        case!("S001-2", "#3", "VOQsw-32", VoqSw),
        case!("S001-2", "#3", "VOQnet", VoqNet),
    ],
    ..S001_1
};

/// Figure 5a.
pub(super) const S001_3: Scenario = Scenario {
    course: Course::HotSpot(Moments {
        from: 250,
        until: 300,
        end: 1000,
    }),
    cases: &[
        case!("S001-3", "#2", "1Q", OneQueue),
        case!("S001-3", "#2", "DBBM-4", Dbbm(4)),
        case!("S001-3", "#2", "OBQA-4", Obqa(4)),
        case!("S001-3", "#2", "VOQsw-8", VoqSw),
        case!("S001-3", "#2", "VOQnet", VoqNet),
    ],
    ..S001_1
};

/// Figure 5b.
pub(super) const S001_4: Scenario = Scenario {
    network: "16-ary 2-tree",
    cases: &[
        case!("S001-4", "#3", "1Q", OneQueue),
        case!("S001-4", "#3", "DBBM-4", Dbbm(4)),
        case!("S001-4", "#3", "DBBM-8", Dbbm(8)),
        case!("S001-4", "#3", "OBQA-4", Obqa(4)),
        case!("S001-4", "#3", "OBQA-8", Obqa(8)),
        case!("S001-4", "#3", "VOQsw-32", VoqSw),
        case!("S001-4", "#3", "VOQnet", VoqNet),
    ],
    ..S001_3
};

/// Figure 6a.
pub(super) const S001_5: Scenario = Scenario {
    network: "4-ary 3-tree",
    course: Course::Storage,
    cases: &[
        case!("S001-5", "#1", "1Q", OneQueue),
        case!("S001-5", "#1", "DBBM-4", Dbbm(4)),
        case!("S001-5", "#1", "OBQA-4", Obqa(4)),
        case!("S001-5", "#1", "VOQsw-8", VoqSw),
    ],
};

/// Figure 6b: the same trace in half the time.
pub(super) const S001_6: Scenario = Scenario {
    course: Course::Storage,
    cases: &[
        case!("S001-6", "#1", "1Q", OneQueue),
        case!("S001-6", "#1", "DBBM-4", Dbbm(4)),
        case!("S001-6", "#1", "OBQA-4", Obqa(4)),
        case!("S001-6", "#1", "VOQsw-8", VoqSw),
    ],
    ..S001_5
};

/// Uniform traffic on a 4-ary 3-tree, for orders at CI size.
pub(super) const SMALL_1: Scenario = Scenario {
    network: "4-ary 3-tree",
    cases: &[
        case!("S001-1", "64 nodes", "1Q", OneQueue),
        case!("S001-1", "64 nodes", "DBBM-4", Dbbm(4)),
        case!("S001-1", "64 nodes", "OBQA-2", Obqa(2)),
        case!("S001-1", "64 nodes", "OBQA-4", Obqa(4)),
        case!("S001-1", "64 nodes", "VOQsw-8", VoqSw),
        case!("S001-1", "64 nodes", "VOQnet", VoqNet),
    ],
    ..S001_1
};

/// A hot spot on a 4-ary 3-tree, earlier and shorter.
pub(super) const SMALL_3: Scenario = Scenario {
    network: "4-ary 3-tree",
    course: Course::HotSpot(Moments {
        from: 100,
        until: 150,
        end: 200,
    }),
    cases: &[
        case!("S001-3", "64 nodes", "1Q", OneQueue),
        case!("S001-3", "64 nodes", "DBBM-4", Dbbm(4)),
        case!("S001-3", "64 nodes", "OBQA-4", Obqa(4)),
        case!("S001-3", "64 nodes", "VOQsw-8", VoqSw),
        case!("S001-3", "64 nodes", "VOQnet", VoqNet),
    ],
};

/// A part of the storage traffic.
pub(super) const SMALL_5: Scenario = Scenario {
    course: Course::Storage,
    cases: &[
        case!("S001-5", "1 ms", "1Q", OneQueue),
        case!("S001-5", "1 ms", "DBBM-4", Dbbm(4)),
        case!("S001-5", "1 ms", "OBQA-4", Obqa(4)),
        case!("S001-5", "1 ms", "VOQsw-8", VoqSw),
    ],
    ..S001_5
};

/// Maximum step between loads, in hundredths, for determining a saturation load.
pub(super) const STEP: u32 = 2;

/// The table of a run over time.
pub(super) const SERIES: &str = "series";

/// Bins of a run with storage traffic.
pub(super) const STORAGE_BINS: u32 = 200;
