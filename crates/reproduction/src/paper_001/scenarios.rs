//! The runs: which networks, schemes and loads, and for how long.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::schemes::Scheme::{self, Dbbm, Obqa, OneQueue, VoqNet, VoqSw};
use crate::{Results, Run, Size, Variation};

/// A scheme in a scenario.
pub(super) struct Case {
    pub(super) scheme: Scheme,
    /// The name of its runs.
    pub(super) series: &'static str,
    /// Loads in hundredths that are run one by one, since the scheme saturates among them; that it does is
    /// checked where saturation is read off. Empty for runs over time.
    knee: RangeInclusive<u32>,
}

/// What varies within a scenario.
pub(super) enum Course {
    /// Uniform traffic of several loads.
    Load,
    /// Time, around a hot spot.
    HotSpot(Moments),
    /// Time, with storage traffic.
    Storage {
        /// Simulated, in microseconds.
        end: u32,
    },
}

/// When what happens, in microseconds.
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
    /// The network, for people.
    pub(super) network: &'static str,
    file: &'static str,
    text: &'static str,
    /// What is set over the file.
    sets: &'static [&'static str],
    pub(super) course: Course,
    pub(super) cases: &'static [Case],
    /// The hot sources of a variation: the first quarter.
    quarter: &'static str,
}

impl Scenario {
    /// The series of a scheme.
    pub(super) fn series(&self, scheme: Scheme) -> Option<&'static str> {
        let case = self.cases.iter().find(|case| case.scheme == scheme);
        case.map(|case| case.series)
    }

    /// Whether any of it was run or should have been.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| self.cases.iter().any(|case| case.series == series);
        results.outcomes.iter().any(|o| is_own(o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// The network that orders are read off: the paper's, or the small one where only that was run.
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
        case!($id, $network, $name, $scheme, 0, 0)
    };
    ($id:literal, $network:literal, $name:literal, $scheme:expr, $from:literal, $to:literal) => {
        Case {
            scheme: $scheme,
            series: concat!($id, " ", $network, " ", $name),
            knee: $from..=$to,
        }
    };
}

const TEXT_1: &str = include_str!("../../../../experiments/papers/001/s001_1.toml");
const TEXT_2: &str = include_str!("../../../../experiments/papers/001/s001_2.toml");
const TEXT_3: &str = include_str!("../../../../experiments/papers/001/s001_3.toml");
const TEXT_4: &str = include_str!("../../../../experiments/papers/001/s001_4.toml");
const TEXT_5: &str = include_str!("../../../../experiments/papers/001/s001_5.toml");

/// Figure 4a.
pub(super) const S001_1: Scenario = Scenario {
    network: "4-ary 4-tree",
    file: "s001_1.toml",
    text: TEXT_1,
    sets: &[],
    course: Course::Load,
    cases: &[
        case!("S001-1", "#2", "1Q", OneQueue, 60, 74),
        case!("S001-1", "#2", "DBBM-4", Dbbm(4), 62, 77),
        case!("S001-1", "#2", "OBQA-2", Obqa(2), 76, 90),
        case!("S001-1", "#2", "OBQA-4", Obqa(4), 89, 100),
        case!("S001-1", "#2", "VOQsw-8", VoqSw, 89, 100),
        case!("S001-1", "#2", "VOQnet", VoqNet, 90, 100),
    ],
    quarter: "0-63",
};

/// Figure 4b.
pub(super) const S001_2: Scenario = Scenario {
    network: "16-ary 2-tree",
    file: "s001_2.toml",
    text: TEXT_2,
    cases: &[
        case!("S001-2", "#3", "1Q", OneQueue, 56, 70),
        case!("S001-2", "#3", "DBBM-4", Dbbm(4), 56, 70),
        case!("S001-2", "#3", "DBBM-8", Dbbm(8), 56, 70),
        case!("S001-2", "#3", "OBQA-4", Obqa(4), 80, 96),
        case!("S001-2", "#3", "OBQA-8", Obqa(8), 87, 100),
        case!("S001-2", "#3", "VOQsw-32", VoqSw, 88, 100),
        case!("S001-2", "#3", "VOQnet", VoqNet, 90, 100),
    ],
    ..S001_1
};

/// Figure 5a.
pub(super) const S001_3: Scenario = Scenario {
    file: "s001_3.toml",
    text: TEXT_3,
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
    file: "s001_4.toml",
    text: TEXT_4,
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
    file: "s001_5.toml",
    text: TEXT_5,
    course: Course::Storage { end: 10_000 },
    cases: &[
        case!("S001-5", "#1", "1Q", OneQueue),
        case!("S001-5", "#1", "DBBM-4", Dbbm(4)),
        case!("S001-5", "#1", "OBQA-4", Obqa(4)),
        case!("S001-5", "#1", "VOQsw-8", VoqSw),
    ],
    ..S001_1
};

/// Figure 6b: the same hours in half the time.
pub(super) const S001_6: Scenario = Scenario {
    sets: &["traffic.0.workload.compression=40"],
    course: Course::Storage { end: 5_000 },
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
    sets: &["topology.levels=3"],
    cases: &[
        case!("S001-1", "64 nodes", "1Q", OneQueue, 62, 74),
        case!("S001-1", "64 nodes", "DBBM-4", Dbbm(4), 70, 84),
        case!("S001-1", "64 nodes", "OBQA-2", Obqa(2), 78, 90),
        case!("S001-1", "64 nodes", "OBQA-4", Obqa(4), 88, 100),
        case!("S001-1", "64 nodes", "VOQsw-8", VoqSw, 88, 100),
        case!("S001-1", "64 nodes", "VOQnet", VoqNet, 88, 100),
    ],
    quarter: "0-15",
    ..S001_1
};

/// A hot spot on a 4-ary 3-tree, sooner and for less long.
pub(super) const SMALL_3: Scenario = Scenario {
    network: "4-ary 3-tree",
    sets: &["topology.levels=3", "traffic.0.pattern.destination=27"],
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
    quarter: "0-15",
    ..S001_3
};

/// A part of the storage traffic.
pub(super) const SMALL_5: Scenario = Scenario {
    course: Course::Storage { end: 1_000 },
    cases: &[
        case!("S001-5", "1 ms", "1Q", OneQueue),
        case!("S001-5", "1 ms", "DBBM-4", Dbbm(4)),
        case!("S001-5", "1 ms", "OBQA-4", Obqa(4)),
        case!("S001-5", "1 ms", "VOQsw-8", VoqSw),
    ],
    ..S001_5
};

/// How long runs over load are.
pub(super) struct Length {
    warmup_us: u32,
    measured_us: u32,
}

pub(super) fn length(size: Size) -> Length {
    let of = |warmup_us, measured_us| Length {
        warmup_us,
        measured_us,
    };
    match size {
        Size::Tiny => of(5, 10),
        Size::Ci => of(20, 50),
        Size::Paper => of(50, 200),
    }
}

impl Length {
    /// As a person is told.
    pub(super) fn words(&self) -> String {
        let (measured, warmup) = (self.measured_us, self.warmup_us);
        format!("{measured} us after a warm-up of {warmup} us (uniform traffic)")
    }
}

/// What one step between loads is at most, in hundredths, for a saturation load to be read off.
pub(super) const STEP: u32 = 2;

/// The schemes that other readings are tried on.
const VARIED: [Scheme; 4] = [OneQueue, Dbbm(4), Obqa(4), VoqSw];

/// Loads in hundredths for readings whose knees are not known.
fn widely() -> impl Iterator<Item = u32> {
    (40..=100).step_by(STEP as usize)
}

/// All runs of a size; under another reading those on the network of Figures 4a and 5a, with fewer schemes.
pub(super) fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    let ours: &[&Scenario] = match size {
        Size::Paper => &[&S001_1, &S001_2, &S001_3, &S001_4, &S001_5, &S001_6],
        Size::Ci | Size::Tiny => &[&SMALL_1, &SMALL_3, &SMALL_5],
    };
    let varied: &[&Scenario] = match size {
        Size::Paper => &[&S001_1, &S001_3],
        Size::Ci | Size::Tiny => &[&SMALL_1, &SMALL_3],
    };
    let scenarios = if variation.is_some() { varied } else { ours };
    let mut list = List {
        size,
        seeds,
        variation,
        runs: vec![],
    };
    for scenario in scenarios {
        for case in scenario.cases {
            if variation.is_none() || VARIED.contains(&case.scheme) {
                list.add(scenario, case);
            }
        }
    }
    list.runs
}

/// The runs so far, and what all of them share.
struct List {
    size: Size,
    seeds: u32,
    variation: Option<&'static Variation>,
    runs: Vec<Run>,
}

impl List {
    /// A scheme with all its loads and seeds.
    fn add(&mut self, scenario: &Scenario, case: &Case) {
        match scenario.course {
            Course::Load => {
                let length = length(self.size);
                let whole = length.warmup_us + length.measured_us;
                let sets = [
                    format!("measure.warmup=\"{} us\"", length.warmup_us),
                    format!("measure.length=\"{whole} us\""),
                ];
                for load in self.loads(case) {
                    let load = f64::from(load) / 100.0;
                    let own = [format!("traffic.0.load={load:.2}")];
                    self.point(scenario, case, load, own.iter().chain(&sets), &[]);
                }
            }
            Course::HotSpot(moments) => {
                // Five microseconds a bin; tiny runs are a tenth as long.
                let divisor = if self.size == Size::Tiny { 10.0 } else { 1.0 };
                let us = |moment: u32| f64::from(moment) / divisor;
                let sets = [
                    format!("traffic.0.pattern.from=\"{} us\"", us(moments.from)),
                    format!("traffic.0.pattern.until=\"{} us\"", us(moments.until)),
                    format!("measure.length=\"{} us\"", us(moments.end)),
                    "measure.warmup=\"0 us\"".to_owned(),
                    format!("measure.epochs={}", moments.end / BIN),
                ];
                self.point(scenario, case, 1.0, sets.iter(), &[SERIES]);
            }
            Course::Storage { end } => {
                let divisor = if self.size == Size::Tiny { 100.0 } else { 1.0 };
                let sets = [
                    format!("measure.length=\"{} us\"", f64::from(end) / divisor),
                    format!("measure.epochs={STORAGE_BINS}"),
                ];
                self.point(scenario, case, 1.0, sets.iter(), &[SERIES]);
            }
        }
    }

    /// The loads in hundredths.
    fn loads(&self, case: &Case) -> Vec<u32> {
        let mut loads: Vec<u32> = match (self.size, self.variation) {
            (Size::Tiny, _) => vec![10, 100],
            (_, Some(_)) => widely().chain([10]).collect(),
            (Size::Ci, None) => {
                let fine = case.knee.clone().step_by(STEP as usize);
                fine.chain([10, 100]).collect()
            }
            (Size::Paper, None) => {
                let coarse = (10..=100).step_by(10);
                coarse.chain(case.knee.clone()).collect()
            }
        };
        loads.sort_unstable();
        loads.dedup();
        loads
    }

    /// A point with all its seeds.
    fn point<'a>(
        &mut self,
        scenario: &Scenario,
        case: &Case,
        load: f64,
        own: impl Iterator<Item = &'a String>,
        tables: &'static [&'static str],
    ) {
        let mut sets: Vec<String> = scenario.sets.iter().map(|&set| set.to_owned()).collect();
        sets.extend(case.scheme.sets());
        sets.extend(own.cloned());
        let varied = self.variation.iter().flat_map(|variation| variation.sets);
        // What is about the hot spot concerns only those that have one.
        let has_hot_spot = matches!(scenario.course, Course::HotSpot(_));
        let varied = varied.filter(|set| has_hot_spot || !set.starts_with("traffic.0.pattern."));
        sets.extend(varied.map(|set| set.replace("QUARTER", scenario.quarter)));
        self.runs
            .extend((1..=u64::from(self.seeds)).map(|seed| Run {
                series: case.series,
                load,
                seed,
                file: scenario.file,
                text: Cow::Borrowed(scenario.text),
                sets: sets.clone(),
                tables,
            }));
    }
}

/// The table of a run over time.
pub(super) const SERIES: &str = "series";

/// Microseconds of a bin around a hot spot.
const BIN: u32 = 5;
/// Bins of a run with storage traffic.
pub(super) const STORAGE_BINS: u32 = 200;
