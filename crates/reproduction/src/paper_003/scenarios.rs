//! The runs: S003-1 to S003-3 under five arbiters, S003-4 and S003-5 (`search.rs`), and how long each size is.

use std::borrow::Cow;

use super::arbiters::Arbiter;
use super::readings::Scope;
use super::throughput::HOSTS;
use super::{readings, search};
use crate::{Effort, Finding, Outcome, Results, Run, Size, Span, Variation};

/// The classes of S003-1 to S003-3, by service level.
pub(super) const CLASSES: [&str; 5] = ["SL0", "SL1", "SL2", "SL3", "SL4"];

/// Five service levels with messages of 1 to 5 KiB that generate more than a link carries, or as much.
pub(super) struct Scenario {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    /// The weight of each service level in the table.
    pub(super) weights: [u16; 5],
    /// What each generates, in percent of a link.
    pub(super) generated: [u32; 5],
    /// What round robin leaves each with, in percent of a link (V003-21).
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
    file: "fair.toml",
    text: include_str!("../../../../experiments/papers/003/fair.toml"),
    weights: [1; 5],
    generated: [20; 5],
    oracle: [20.0; 5],
    series: series!("S003-1"),
};

/// Table 6.
pub(super) const STEP: Scenario = Scenario {
    file: "step.toml",
    text: include_str!("../../../../experiments/papers/003/step.toml"),
    weights: [5, 4, 3, 2, 1],
    generated: [35, 28, 21, 15, 8],
    oracle: [28.0, 28.0, 21.0, 15.0, 8.0],
    series: series!("S003-2"),
};

/// Table 7.
pub(super) const TWO_POWERS: Scenario = Scenario {
    file: "2powers.toml",
    text: include_str!("../../../../experiments/papers/003/2powers.toml"),
    weights: [16, 8, 4, 2, 1],
    generated: [64, 32, 16, 8, 4],
    oracle: [40.0, 32.0, 16.0, 8.0, 4.0],
    series: series!("S003-3"),
};

pub(super) const SCENARIOS: [&Scenario; 3] = [&FAIR, &STEP, &TWO_POWERS];

impl Scenario {
    /// The name of its series under an arbiter.
    pub(super) fn series(&self, arbiter: Arbiter) -> &'static str {
        let at = Arbiter::ALL.iter().position(|&own| own == arbiter);
        self.series[at.expect("all arbiters are listed")]
    }

    /// What its table gives a service level, in percent of a link.
    pub(super) fn target(&self, class: usize) -> f64 {
        let sum: u16 = self.weights.iter().sum();
        100.0 * f64::from(self.weights[class]) / f64::from(sum)
    }

    /// Its outcomes under an arbiter, if none is lacking.
    pub(super) fn outcomes<'a>(
        &self,
        results: &'a Results,
        arbiter: Arbiter,
    ) -> Option<Vec<&'a Outcome>> {
        whole(results, self.series(arbiter))
    }

    /// What all service levels generate together, of a link.
    fn load(&self) -> f64 {
        f64::from(self.generated.iter().sum::<u32>()) / 100.0
    }
}

/// The outcomes of a series; none if one is lacking.
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

fn span(size: Size) -> Span {
    match size {
        Size::Tiny => Span {
            warmup_us: 5,
            measured_us: 10,
            seeds: 2,
        },
        Size::Ci => Span {
            warmup_us: 50,
            measured_us: 100,
            seeds: 5,
        },
        // The paper gives no duration (spec 4.5).
        Size::Paper => Span {
            warmup_us: 100,
            measured_us: 1000,
            seeds: 5,
        },
    }
}

pub(super) fn effort(size: Size) -> Effort {
    let synthetic = span(size).effort();
    Effort {
        seeds: synthetic.seeds,
        length: format!("{}; {}", synthetic.length, search::length(size).words()),
    }
}

/// The fabric of a size: PGFT(2; 8,4; 1,4; 1,2), 32 hosts, unless it is the paper's (spec 9).
fn fabric(size: Size) -> Vec<String> {
    match size {
        Size::Paper => vec![],
        Size::Tiny | Size::Ci => vec![
            "topology.children=[8, 4]".to_owned(),
            "topology.parents=[1, 4]".to_owned(),
        ],
    }
}

/// Another reading runs on so many seeds at most: an order takes two.
const VARIED_SEEDS: u32 = 2;

/// All runs of a size; under another reading those of the scenarios that it is about.
pub(super) fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    let mut list = List {
        size,
        seeds: variation.map_or(seeds, |_| seeds.min(VARIED_SEEDS)),
        variation,
        runs: vec![],
    };
    let scope = variation.map_or(Scope::All, readings::scope);
    if scope != Scope::Search {
        for scenario in SCENARIOS {
            for arbiter in Arbiter::ALL {
                let asked = Asked {
                    series: scenario.series(arbiter),
                    load: scenario.load(),
                    file: scenario.file,
                    text: scenario.text,
                    arbiter,
                    weights: &scenario.weights,
                    tables: &[HOSTS],
                };
                list.add(&asked, span(size).sets().to_vec());
            }
        }
    }
    if scope != Scope::Synthetic {
        for variant in search::VARIANTS {
            let length = search::length(size);
            list.add(&variant.asked(), length.sets());
        }
    }
    list.runs
}

/// One line of runs: everything but size and seed.
pub(super) struct Asked<'a> {
    pub(super) series: &'static str,
    pub(super) load: f64,
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    pub(super) arbiter: Arbiter,
    pub(super) weights: &'a [u16],
    pub(super) tables: &'static [&'static str],
}

/// The runs so far, and what all of them share.
struct List {
    size: Size,
    seeds: u32,
    variation: Option<&'static Variation>,
    runs: Vec<Run>,
}

impl List {
    fn add(&mut self, asked: &Asked<'_>, own: Vec<String>) {
        let mut sets = fabric(self.size);
        sets.push(asked.arbiter.set(asked.weights));
        sets.extend(own);
        let varied = self.variation.iter().flat_map(|variation| variation.sets);
        let known = varied.filter(|set| asked.arbiter.knows(set));
        sets.extend(known.map(|&set| set.to_owned()));
        let run = |seed| Run {
            series: asked.series,
            load: asked.load,
            seed,
            file: asked.file,
            text: Cow::Borrowed(asked.text),
            sets: sets.clone(),
            tables: asked.tables,
        };
        self.runs.extend((1..=u64::from(self.seeds)).map(run));
    }
}
