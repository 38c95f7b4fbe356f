//! The runs: which machines, switches and traffic, and for how long.

use std::borrow::Cow;

use super::applications::{APPLICATIONS, Application};
use super::machines::{DRAGONFLY, Machine, SMALL};
use super::readings;
use super::switches::Switch::{self, Baseline, Full, Half, Quarter};
use super::switches::Usage;
use crate::{Results, Run, Size, Variation};

/// A switch in a scenario.
pub(super) struct Case {
    pub(super) switch: Switch,
    /// The name of its runs.
    pub(super) series: &'static str,
    /// What is set over the file beside the switch.
    sets: &'static [&'static str],
}

impl Case {
    /// Runs with a switch.
    pub(super) const fn new(switch: Switch, series: &'static str) -> Case {
        Case {
            switch,
            series,
            sets: &[],
        }
    }
}

/// What varies within a scenario.
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

/// When what happens, in microseconds.
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
    file: &'static str,
    text: &'static str,
    usage: Usage,
    /// What is set over the file for the machine: its groups.
    sets: &'static [&'static str],
    pub(super) course: Course,
    /// Endpoints whose latency is looked at.
    pub(super) victims: u32,
    pub(super) cases: &'static [Case],
}

impl Scenario {
    /// The series of a switch; the first, where there are several.
    pub(super) fn series(&self, switch: Switch) -> &'static str {
        let case = self.cases.iter().find(|case| case.switch == switch);
        case.map_or("that switch", |case| case.series)
    }

    /// Whether any of it was run or should have been.
    fn is_in(&self, results: &Results) -> bool {
        let is_own = |series: &str| match self.course {
            Course::Application => APPLICATIONS.iter().any(|application| {
                let cases = application.cases(self.machine);
                cases.iter().any(|case| case.series == series)
            }),
            _ => self.cases.iter().any(|case| case.series == series),
        };
        results.outcomes.iter().any(|o| is_own(o.run.series))
            || results.lacking.iter().any(|(series, _)| is_own(series))
    }

    /// What orders are read off: the paper's machine, or the small one where only that was run.
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

const TEXT_1: &str = include_str!("../../../../experiments/papers/002/s002_1.toml");
const TEXT_3: &str = include_str!("../../../../experiments/papers/002/s002_3.toml");
const TEXT_4: &str = include_str!("../../../../experiments/papers/002/s002_4.toml");
const TEXT_7: &str = include_str!("../../../../experiments/papers/002/s002_7.toml");

/// Figure 5, both parts: S002-1 and S002-2.
pub(super) const S002_1: Scenario = Scenario {
    machine: &DRAGONFLY,
    file: "s002_1.toml",
    text: TEXT_1,
    usage: Usage::Reliability,
    sets: &[],
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
    file: "s002_3.toml",
    text: TEXT_3,
    course: Course::Application,
    cases: &[],
    ..S002_1
};

pub(super) const SMALL_3: Scenario = Scenario {
    machine: &SMALL,
    ..S002_3
};

/// Nothing but victims.
const NO_AGGRESSORS: &[&str] = &["traffic.1.from=\"1 s\"", "traffic.2.from=\"1 s\""];
/// Nobody slows down.
const NO_ECN: &[&str] = &["nic.congestion-control=\"none\""];

/// Baseline without aggressors (Figure 7b), on both machines.
pub(super) const ALONE: [&str; 2] = ["S002-5 alone", "S002-5 72 nodes alone"];
/// Baseline without congestion control (C002-14).
pub(super) const WITHOUT_ECN: [&str; 2] = ["S002-4 without ECN", "S002-4 72 nodes without ECN"];

/// Figures 7 and 8: S002-4 to S002-6, one set of runs.
pub(super) const S002_4: Scenario = Scenario {
    file: "s002_4.toml",
    text: TEXT_4,
    usage: Usage::Congestion,
    course: Course::Onset(Moments {
        onset: 20,
        end: 100,
    }),
    victims: 3020,
    cases: &[
        Case::new(Baseline, "S002-4 baseline"),
        Case::new(Full, "S002-4 100 %"),
        Case::new(Half, "S002-4 50 %"),
        Case {
            sets: NO_AGGRESSORS,
            ..Case::new(Baseline, ALONE[0])
        },
        Case {
            sets: NO_ECN,
            ..Case::new(Baseline, WITHOUT_ECN[0])
        },
    ],
    ..S002_1
};

/// Eight aggressors on two hot spots.
pub(super) const SMALL_4: Scenario = Scenario {
    machine: &SMALL,
    sets: &[
        "groups.hot-spots=\"random 1\"",
        "groups.aggressors=\"random 4\"",
    ],
    course: Course::Onset(Moments { onset: 20, end: 80 }),
    victims: 62,
    cases: &[
        Case::new(Baseline, "S002-4 72 nodes baseline"),
        Case::new(Full, "S002-4 72 nodes 100 %"),
        Case::new(Half, "S002-4 72 nodes 50 %"),
        Case {
            sets: NO_AGGRESSORS,
            ..Case::new(Baseline, ALONE[1])
        },
        Case {
            sets: NO_ECN,
            ..Case::new(Baseline, WITHOUT_ECN[1])
        },
    ],
    ..S002_4
};

/// Figure 9.
pub(super) const S002_7: Scenario = Scenario {
    file: "s002_7.toml",
    text: TEXT_7,
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
    sets: &["groups.victims=\"random 36\""],
    victims: 36,
    cases: &[
        Case::new(Baseline, "S002-7 72 nodes baseline"),
        Case::new(Full, "S002-7 72 nodes 100 %"),
        Case::new(Half, "S002-7 72 nodes 50 %"),
    ],
    ..S002_7
};

/// The scenarios that are drawn over one another, paper's machine first.
pub(super) const UNIFORM: [&Scenario; 2] = [&S002_1, &SMALL_1];
pub(super) const PROGRAMS: [&Scenario; 2] = [&S002_3, &SMALL_3];
pub(super) const ONSET: [&Scenario; 2] = [&S002_4, &SMALL_4];
pub(super) const BURSTS: [&Scenario; 2] = [&S002_7, &SMALL_7];

/// A fixed time, in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Span {
    warmup: u32,
    measured: u32,
}

impl Span {
    const fn new(warmup: u32, measured: u32) -> Span {
        Span { warmup, measured }
    }

    /// Bins of a microsecond, as the figures have them.
    fn sets(self) -> [String; 3] {
        let length = self.warmup + self.measured;
        [
            format!("measure.warmup=\"{} us\"", self.warmup),
            format!("measure.length=\"{length} us\""),
            format!("measure.epochs={length}"),
        ]
    }
}

/// How long runs over load and over message lengths are.
pub(super) fn spans(size: Size) -> [Span; 2] {
    match size {
        Size::Tiny => [Span::new(3, 5), Span::new(3, 5)],
        Size::Ci => [Span::new(5, 10), Span::new(10, 30)],
        Size::Paper => [Span::new(20, 40), Span::new(20, 60)],
    }
}

/// As a person is told.
pub(super) fn length(size: Size) -> String {
    let [uniform, bursts] = spans(size);
    format!(
        "{} us after a warm-up of {} us (uniform traffic), {} us after {} us (bursts)",
        uniform.measured, uniform.warmup, bursts.measured, bursts.warmup
    )
}

/// Loads of S002-1: eight at paper size, and every hundredth where a switch that is not limited by its stash saturates.
pub(super) fn loads(size: Size, is_varied: bool, switch: Switch) -> &'static [f64] {
    match (size, is_varied) {
        (Size::Tiny, _) => &[0.4, 1.0],
        (Size::Ci, _) => &[0.4, 0.7, 0.85, 1.0],
        (Size::Paper, true) => &[0.6, 0.8, 0.85, 0.9],
        (Size::Paper, false) if switch == Switch::Quarter => {
            &[0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 1.0]
        }
        (Size::Paper, false) => &[
            0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 1.0,
        ],
    }
}

/// Packets of an aggressor's message in S002-7.
pub(super) fn messages(size: Size) -> &'static [u32] {
    match size {
        Size::Tiny => &[1, 64],
        Size::Ci => &[1, 64, 256],
        Size::Paper => &[1, 16, 64, 128, 256, 512],
    }
}

/// Bytes of a packet.
const PACKET: u32 = 240;

/// Tables over time, of latencies, and of what stashes hold.
pub(super) const SERIES: &str = "series";
pub(super) const HISTOGRAMS: &str = "histograms";
pub(super) const STASHES: &str = "stashes";

/// Another reading runs on so many seeds at most: an order takes two.
const VARIED_SEEDS: u32 = 2;

/// All runs of a size; under another reading those of the scenarios that it is about.
pub(super) fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    let scenarios = match size {
        Size::Paper => [&S002_1, &S002_3, &S002_4, &S002_7],
        Size::Ci | Size::Tiny => [&SMALL_1, &SMALL_3, &SMALL_4, &SMALL_7],
    };
    let mut list = List {
        size,
        seeds: variation.map_or(seeds, |_| seeds.min(VARIED_SEEDS)),
        variation,
        runs: vec![],
    };
    for scenario in scenarios {
        if variation.is_none_or(|own| readings::concerns(own, scenario.course)) {
            list.add(scenario);
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
    /// A scenario with all its switches, points and seeds.
    fn add(&mut self, scenario: &Scenario) {
        if let Course::Application = scenario.course {
            for application in &APPLICATIONS {
                for case in application.cases(scenario.machine) {
                    self.case(scenario, case, Some(application));
                }
            }
        }
        for case in scenario.cases {
            self.case(scenario, case, None);
        }
    }

    fn case(&mut self, scenario: &Scenario, case: &Case, application: Option<&Application>) {
        for (load, own) in self.points(scenario, case.switch, application) {
            let mut sets: Vec<String> = vec![];
            let fixed = [scenario.machine.sets, scenario.sets].concat();
            sets.extend(fixed.into_iter().map(str::to_owned));
            sets.push(case.switch.set(scenario.usage));
            sets.extend(own);
            sets.extend(case.sets.iter().map(|&set| set.to_owned()));
            let varied = self.variation.iter().flat_map(|variation| variation.sets);
            // A run without congestion control stays without it.
            let concerns = |set: &&&str| !(case.sets == NO_ECN && set.starts_with("nic."));
            sets.extend(varied.filter(concerns).map(|&set| set.to_owned()));
            let tables: &[&str] = match (scenario.course, case.switch) {
                (Course::Onset(_), Baseline) => &[SERIES, HISTOGRAMS],
                (Course::Onset(_), _) => &[SERIES, HISTOGRAMS, STASHES],
                _ => &[],
            };
            let run = |seed| Run {
                series: case.series,
                load,
                seed,
                file: scenario.file,
                text: Cow::Borrowed(scenario.text),
                sets: sets.clone(),
                tables,
            };
            let seeds = self.seeds_of(scenario);
            self.runs.extend((1..=u64::from(seeds)).map(run));
        }
    }

    /// Applications and bursts are the largest runs: half the seeds at paper size.
    fn seeds_of(&self, scenario: &Scenario) -> u32 {
        let is_large = matches!(scenario.course, Course::Application | Course::Message);
        if self.size == Size::Paper && is_large {
            self.seeds.div_ceil(2)
        } else {
            self.seeds
        }
    }

    /// Where runs stand in their series, and what is set for it.
    fn points(
        &self,
        scenario: &Scenario,
        switch: Switch,
        application: Option<&Application>,
    ) -> Vec<(f64, Vec<String>)> {
        let [uniform, bursts] = spans(self.size);
        match scenario.course {
            Course::Load => {
                let loads = loads(self.size, self.variation.is_some(), switch);
                let point = |&load: &f64| {
                    let own = [format!("traffic.0.load={load:.2}")];
                    (load, own.into_iter().chain(uniform.sets()).collect())
                };
                loads.iter().map(point).collect()
            }
            Course::Application => {
                let workload = application.map(|own| own.workload(scenario.machine));
                let sets = workload.map(|own| format!("traffic.0.workload={{ {own} }}"));
                vec![(1.0, sets.into_iter().collect())]
            }
            Course::Onset(Moments { onset, end }) => {
                // Tiny runs are a tenth as long.
                let divisor = if self.size == Size::Tiny { 10.0 } else { 1.0 };
                let us = |moment: u32| f64::from(moment) / divisor;
                let sets = [
                    format!("traffic.1.from=\"{} us\"", us(onset)),
                    format!("traffic.2.from=\"{} us\"", us(onset)),
                    format!("measure.warmup=\"{} us\"", us(onset)),
                    format!("measure.length=\"{} us\"", us(end)),
                    format!("measure.epochs={end}"),
                ];
                vec![(0.4, sets.to_vec())]
            }
            Course::Message => {
                let point = |&packets: &u32| {
                    let own = [format!("traffic.1.message=\"{} B\"", PACKET * packets)];
                    let sets = own.into_iter().chain(bursts.sets()).collect();
                    (f64::from(packets), sets)
                };
                messages(self.size).iter().map(point).collect()
            }
        }
    }
}
