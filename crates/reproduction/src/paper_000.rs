//! Paper 000: InfiniBand against Omni-Path with a deficit table.
//!
//! Filled so far: S000-1, the InfiniBand switch on the 4-ary 3-tree (Figures 5a and 5b), in two variants:
//! the paper's crossbar (`1x`: one flit per cycle over each port), and one of twice that speed (`2x`), under
//! which queues form at the outputs, where the tables decide. With the paper's crossbar packets wait at the
//! inputs, which take their lanes round robin, a message each: at high load a round is 3 + 2 + 32 + 32 + 3 x 16
//! = 117 flits, and shares are those of a round and not those of the tables. Parts of claims that compare with Omni-Path are
//! not run.

use std::borrow::Cow;

use netloom_design::qos::dtable::{self, Needs};
use netloom_results::LinksSummary;

use crate::{
    Claim, Finding, Measured, Paper, Point, Reading, Results, Run, Series, Size, Span, Tier,
    Variation, points_csv,
};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "000",
    title: "IB vs OPA with DTable",
    effort: |size| span(size).effort(),
    runs,
    claims: CLAIMS,
    readings: READINGS,
    variations: VARIATIONS,
    tables: |results| vec![("points", points_csv(results))],
};

/// The scenario, as a person can run it.
const S000_1: &str = include_str!("../../../experiments/papers/000/s000_1.toml");

/// The paper's crossbar.
const ONE: &str = "S000-1 1x";
/// A crossbar of twice its speed.
const TWO: &str = "S000-1 2x";

/// Those with a guarantee.
const QOS: [&str; 4] = ["NC", "VO", "VI", "CL"];
/// Fixed connections.
const POINT_TO_POINT: [&str; 3] = ["VO", "VI", "CL"];
const BEST_EFFORT: [&str; 3] = ["EE", "BE", "BK"];

/// What the first four classes offer together, in ten-thousandths of a link.
const QOS_LOAD: u32 = 5360;
const FIRST: f64 = 0.5735;
const LAST: f64 = 0.9935;
const MIDDLE: f64 = 0.7;
const HIGH: f64 = 0.95;

/// The loads in ten-thousandths: 13 steps of 0.035, 0.70 where the paper prints numbers, and 0.95 where
/// C000-10 looks.
fn loads(size: Size) -> Vec<u32> {
    let steps = (0..13).map(|step| 5735 + 350 * step);
    let mut loads: Vec<u32> = match size {
        Size::Tiny => vec![5735, 9935],
        Size::Ci | Size::Paper => steps.collect(),
    };
    loads.extend([7000, 9500]);
    loads.sort_unstable();
    loads
}

fn span(size: Size) -> Span {
    match size {
        Size::Tiny => Span {
            warmup_us: 10,
            measured_us: 20,
            seeds: 2,
        },
        Size::Ci => Span {
            warmup_us: 50,
            measured_us: 100,
            seeds: 5,
        },
        // The paper gives no duration (G000-14); it averages 30 seeds.
        Size::Paper => Span {
            warmup_us: 100,
            measured_us: 400,
            seeds: 30,
        },
    }
}

fn runs(size: Size, seeds: u32, variation: Option<&'static Variation>) -> Vec<Run> {
    // Another reading is tried on the paper's switch only.
    let variants: &[(&'static str, u32)] = match variation {
        None => &[(ONE, 1), (TWO, 2)],
        Some(_) => &[(ONE, 1)],
    };
    let mut runs = vec![];
    for &(series, speedup) in variants {
        for load in loads(size) {
            let each = f64::from(load - QOS_LOAD) / (3.0 * 10_000.0);
            let mut sets = vec![format!("switch.speedup={speedup}")];
            sets.extend((4..7).map(|class| format!("traffic.{class}.load={each}")));
            sets.extend(span(size).sets());
            let varied = variation.iter().flat_map(|variation| variation.sets);
            sets.extend(varied.map(|&set| set.to_owned()));
            runs.extend((1..=u64::from(seeds)).map(|seed| Run {
                series,
                load: f64::from(load) / 10_000.0,
                seed,
                file: "s000_1.toml",
                text: Cow::Borrowed(S000_1),
                sets: sets.clone(),
                tables: &[],
            }));
        }
    }
    runs
}

const READINGS: &[Reading] = &[
    Reading {
        id: "1.1.2",
        words: "one flit per cycle over each crossbar port, whole messages, one queue per lane at an input",
    },
    Reading {
        id: "X000-1",
        words: "12.5 GB/s, not Gb/s: a cycle is 5.12 ns",
    },
    Reading {
        id: "X000-9",
        words: "CL is fixed connections like VO and VI, not uniform",
    },
    Reading {
        id: "X000-10",
        words: "which point-to-point classes fall short is not asked",
    },
    Reading {
        id: "X000-13",
        words: "the latency printed without unit is in ns",
    },
    Reading {
        id: "G000-1",
        words: "one cycle per stage, link delay two cycles, credits link plus one cycle",
    },
    Reading {
        id: "G000-2",
        words: "round robin at inputs and outputs of the crossbar",
    },
    Reading {
        id: "G000-3",
        words: "buffers are pools; 32 flits are kept for each lane",
    },
    Reading {
        id: "G000-4",
        words: "Valiant on a tree is a random up port at every hop up",
    },
    Reading {
        id: "G000-10",
        words: "connections are permutations without fixed points, random phase",
    },
    Reading {
        id: "G000-11",
        words: "exponential gaps of NC messages and of bursts",
    },
    Reading {
        id: "G000-12",
        words: "the table also decides in the NIC",
    },
    Reading {
        id: "G000-14",
        words: "100 us warm-up and 400 us measured, 13 loads",
    },
];

const VARIATIONS: &[Variation] = &[
    Variation {
        name: "long-pipeline",
        reading: "G000-1",
        words: "two cycles per stage, link delay four cycles",
        sets: &[
            "link.delay=\"20.48 ns\"",
            "switch.pipeline={ input = 2, routing = 2, allocation = 2, crossbar = 2, output = 2, credit = 2 }",
        ],
    },
    Variation {
        name: "random-dest",
        reading: "G000-10",
        words: "VO, VI and CL draw their destinations, several may draw the same",
        sets: &[
            "traffic.1.pattern=\"random-partner\"",
            "traffic.2.pattern=\"random-partner\"",
            "traffic.3.pattern=\"random-partner\"",
        ],
    },
    Variation {
        name: "uniform-cl",
        reading: "X000-9",
        words: "every message of CL draws its destination",
        sets: &["traffic.3.pattern=\"uniform\""],
    },
    Variation {
        name: "voq",
        reading: "1.1.2",
        words: "one queue per lane and output at an input: no head-of-line blocking",
        sets: &["switch.queues=\"voq\""],
    },
    Variation {
        name: "fast-crossbar",
        reading: "1.1.2",
        words: "two flits per cycle over each crossbar port (the runs of variant 2x)",
        sets: &["switch.speedup=2"],
    },
];

const OMNI_PATH: &str = "needs the Omni-Path switch";

fn needs_omni_path(_: &Results) -> Finding {
    Finding::not_run(OMNI_PATH)
}

const ELSEWHERE: &str = "only the 4-ary 3-tree is run so far (S000-1)";

fn needs_other_scenarios(_: &Results) -> Finding {
    Finding::not_run(ELSEWHERE)
}

/// What decides latencies of S000-1.
const LATENCY: &[&str] = &[
    "1.1.2", "G000-1", "G000-2", "G000-4", "G000-10", "G000-14", "X000-1", "X000-9",
];
/// What decides how much the crossbar carries.
const CARRIED: &[&str] = &[
    "1.1.2", "G000-2", "G000-3", "G000-4", "G000-10", "X000-9", "X000-10",
];

const CLAIMS: &[Claim] = &[
    Claim {
        id: "C000-1",
        part: "IB",
        tier: Tier::Q,
        statement: "NC latency at 0.70 on the 4-ary 3-tree",
        paper: "780.41 ns",
        band: "within 35 %: 507.27 to 1053.55 ns",
        readings: &[
            "1.1.2", "G000-1", "G000-2", "G000-4", "G000-10", "G000-11", "X000-1", "X000-13",
        ],
        judge: nc_latency,
    },
    Claim {
        id: "C000-1",
        part: "OPA",
        tier: Tier::Q,
        statement: "NC latency at 0.70 on the 4-ary 3-tree, and its ratio to IB",
        paper: "647.10 ns, ratio 0.829",
        band: "within 35 %, OPA < IB, ratio 0.70 to 0.95",
        readings: LATENCY,
        judge: needs_omni_path,
    },
    Claim {
        id: "C000-2",
        part: "",
        tier: Tier::Q,
        statement: "NC latency at 0.70 on the 24-ary 2-tree",
        paper: "604.01 / 446.87 ns",
        band: "each within 35 %, OPA < IB, ratio 0.60 to 0.90",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-3",
        part: "",
        tier: Tier::Q,
        statement: "NC latency at 0.70 on the 2D torus",
        paper: "840.95 / 758.10 ns",
        band: "each within 35 %, OPA < IB, ratio 0.75 to 0.98",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-4",
        part: "",
        tier: Tier::Q,
        statement: "NC latency at 0.70 on the 3D torus",
        paper: "1330.24 / 1115.85 ns",
        band: "each within 35 %, OPA < IB, ratio 0.70 to 0.95",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-5",
        part: "IB",
        tier: Tier::Q,
        statement: "NC latency grows from the first to the last load on the 4-ary 3-tree",
        paper: "55.78 ns",
        band: "the check compares with OPA (44.6 ns)",
        readings: LATENCY,
        judge: nc_growth,
    },
    Claim {
        id: "C000-6",
        part: "",
        tier: Tier::Q,
        statement: "the same on the 24-ary 2-tree",
        paper: "144.95 / 35.95 ns",
        band: "OPA < IB, ratio at least 2",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-7",
        part: "",
        tier: Tier::Q,
        statement: "the same on the 2D torus",
        paper: "267.66 / 69.45 ns",
        band: "OPA < IB, ratio at least 2",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-8",
        part: "",
        tier: Tier::Q,
        statement: "the same on the 3D torus",
        paper: "229.89 / 80.36 ns",
        band: "OPA < IB, ratio at least 1.5",
        readings: LATENCY,
        judge: needs_other_scenarios,
    },
    Claim {
        id: "C000-9",
        part: "IB",
        tier: Tier::O,
        statement: "point-to-point classes can exceed best-effort latency on IB",
        paper: "-",
        band: "at a load from 0.85: mean of VO, VI, CL > least of EE, BE, BK",
        readings: LATENCY,
        judge: point_to_point_above_best_effort,
    },
    Claim {
        id: "C000-9",
        part: "OPA",
        tier: Tier::O,
        statement: "VO, VI and CL are less penalised in OPA than in IB",
        paper: "-",
        band: "mean of VO, VI, CL at loads from 0.85 lower in OPA",
        readings: LATENCY,
        judge: needs_omni_path,
    },
    Claim {
        id: "C000-10",
        part: "",
        tier: Tier::O,
        statement: "VO and VI latency on IB rise sharply at the congestion point",
        paper: "-",
        band: "latency(0.95) > 2 x latency(0.70), VO and VI",
        readings: LATENCY,
        judge: sharp_rise,
    },
    Claim {
        id: "C000-11",
        part: "IB order",
        tier: Tier::O,
        statement: "BK has the largest latency of all, as its source queues grow",
        paper: "-",
        band: "BK > BE > EE at 0.9935",
        readings: &["1.1.2", "G000-2", "G000-11", "G000-12", "G000-14"],
        judge: best_effort_order,
    },
    Claim {
        id: "C000-11",
        part: "OPA",
        tier: Tier::O,
        statement: "best-effort latency rises earlier on IB than on OPA",
        paper: "-",
        band: "first load with BE > 2 x its minimum smaller on IB",
        readings: LATENCY,
        judge: best_effort_rise,
    },
    Claim {
        id: "C000-12",
        part: "",
        tier: Tier::E,
        statement: "8-bit counters never overflow with Table 4",
        paper: "-",
        band: "at most 255 (125 by arithmetic)",
        readings: &[],
        judge: registers,
    },
    Claim {
        id: "C000-13",
        part: "IB QoS",
        tier: Tier::Q,
        statement: "NC, VO, VI and CL keep their demand (the paper itself: VO and VI a little short on IB)",
        paper: "VO, VI short",
        band: "each at least 95 % of demand at every load",
        readings: CARRIED,
        judge: |results| keeps_demand(results, ONE),
    },
    Claim {
        id: "C000-13",
        part: "IB BK",
        tier: Tier::Q,
        statement: "BK is cut at high load",
        paper: "-",
        band: "BK below its demand at 0.9935",
        readings: CARRIED,
        judge: background_is_cut,
    },
    Claim {
        id: "C000-13",
        part: "OPA",
        tier: Tier::Q,
        statement: "NC, VO, VI and CL keep their demand on OPA trees; BK is cut",
        paper: "-",
        band: "QoS at least 95 % of demand, BK below it at 0.9935",
        readings: CARRIED,
        judge: needs_omni_path,
    },
    Claim {
        id: "C000-14",
        part: "",
        tier: Tier::O,
        statement: "latency follows slot distance at 0.70 in OPA",
        paper: "-",
        band: "Spearman at least 0.8",
        readings: LATENCY,
        judge: needs_omni_path,
    },
    // Not the paper's: its switch has a crossbar of link speed.
    Claim {
        id: "QOS-S000-1-2x",
        part: "ours",
        tier: Tier::Q,
        statement: "with a crossbar of twice the link speed NC, VO, VI and CL keep their demand",
        paper: "- (our own check)",
        band: "each at least 95 % of demand at every load",
        readings: CARRIED,
        judge: |results| keeps_demand(results, TWO),
    },
];

/// A point of the paper's switch, with its latencies.
fn point<'a>(results: &'a Results, load: f64) -> Option<Point<'a>> {
    results.series(ONE).at(load).cloned()
}

fn missing(load: f64) -> Finding {
    Finding::not_run(format!("no result at load {load}"))
}

const TOO_FEW: &str = "an order takes at least two seeds";

fn nc_latency(results: &Results) -> Finding {
    let Some(nc) = point(results, MIDDLE).and_then(|point| point.latency("NC")) else {
        return missing(MIDDLE);
    };
    let printed = 780.41;
    let is_near = (nc.mean - printed).abs() <= 0.35 * printed;
    Finding::checked(is_near, nc.words(1, "ns")).number("nc_latency_ns", nc.mean)
}

fn nc_growth(results: &Results) -> Finding {
    let nc = |load| point(results, load)?.values("NC", |summary| summary.latency_mean_ns);
    let (Some(first), Some(last)) = (nc(FIRST), nc(LAST)) else {
        return missing(LAST);
    };
    // The same seed sees the same NC and connections at both loads, so the growth is taken seed by seed.
    let growths: Vec<f64> = last
        .iter()
        .zip(&first)
        .map(|(last, first)| last - first)
        .collect();
    match Measured::over(&growths) {
        Some(growth) => Finding::not_run(format!("{}; OPA is not there", growth.words(1, "ns")))
            .number("nc_growth_ns", growth.mean),
        None => missing(LAST),
    }
}

/// The mean latency over classes, seed by seed.
fn mean_latency(point: &Point<'_>, classes: &[&str]) -> Option<Measured> {
    let each: Option<Vec<Vec<f64>>> = classes
        .iter()
        .map(|class| point.values(class, |summary| summary.latency_mean_ns))
        .collect();
    let each = each?;
    let mean =
        |seed: usize| each.iter().map(|values| values[seed]).sum::<f64>() / each.len() as f64;
    Measured::over(&(0..point.runs.len()).map(mean).collect::<Vec<_>>())
}

fn point_to_point_above_best_effort(results: &Results) -> Finding {
    let series = results.series(ONE);
    // The load at which the first is clearest above the second.
    let mut best: Option<(f64, Measured, Measured)> = None;
    for point in series.all_from(0.85) {
        let least = BEST_EFFORT.iter().filter_map(|class| point.latency(class));
        let least = least.min_by(|a, b| a.mean.total_cmp(&b.mean));
        let (Some(fixed), Some(least)) = (mean_latency(point, &POINT_TO_POINT), least) else {
            continue;
        };
        let lead = |fixed: Measured, least: Measured| fixed.ends().0 / least.ends().1;
        let is_better = |&(_, f, l): &(f64, Measured, Measured)| lead(fixed, least) > lead(f, l);
        if best.as_ref().is_none_or(is_better) {
            best = Some((point.load, fixed, least));
        }
    }
    let Some((load, fixed, least)) = best else {
        return missing(0.85);
    };
    if fixed.half_width.is_none() {
        return Finding::not_run(TOO_FEW);
    }
    let words = format!(
        "{} against {} at {load}",
        fixed.words(0, "ns"),
        least.words(0, "ns")
    );
    Finding::checked(fixed.is_above(1.0, least), words)
        .number("load", load)
        .number("point_to_point_ns", fixed.mean)
        .number("best_effort_ns", least.mean)
}

fn sharp_rise(results: &Results) -> Finding {
    let (Some(middle), Some(high)) = (point(results, MIDDLE), point(results, HIGH)) else {
        return missing(HIGH);
    };
    let mut finding = Finding::checked(true, "");
    let mut words = vec![];
    for class in ["VO", "VI"] {
        let (Some(before), Some(after)) = (middle.latency(class), high.latency(class)) else {
            return missing(HIGH);
        };
        if after.half_width.is_none() {
            return Finding::not_run(TOO_FEW);
        }
        if !after.is_above(2.0, before) {
            finding.verdict = crate::Verdict::Misses;
        }
        words.push(format!(
            "{class} {:.0} to {:.0} ns",
            before.mean, after.mean
        ));
        let class = class.to_lowercase();
        finding = finding
            .number(format!("{class}_at_0.70_ns"), before.mean)
            .number(format!("{class}_at_0.95_ns"), after.mean);
    }
    finding.measured = words.join(", ");
    finding
}

fn best_effort_order(results: &Results) -> Finding {
    let Some(point) = point(results, LAST) else {
        return missing(LAST);
    };
    let (Some(ee), Some(be), Some(bk)) = (
        point.latency("EE"),
        point.latency("BE"),
        point.latency("BK"),
    ) else {
        return missing(LAST);
    };
    if bk.half_width.is_none() {
        return Finding::not_run(TOO_FEW);
    }
    let holds = bk.is_above(1.0, be) && be.is_above(1.0, ee);
    let words = format!(
        "BK {}, BE {}, EE {}",
        bk.words(0, "ns"),
        be.words(0, "ns"),
        ee.words(0, "ns")
    );
    Finding::checked(holds, words)
        .number("bk_ns", bk.mean)
        .number("be_ns", be.mean)
        .number("ee_ns", ee.mean)
}

fn best_effort_rise(results: &Results) -> Finding {
    let series = results.series(ONE);
    let latency = |point: &Point<'_>| Some((point.load, point.latency("BE")?.mean));
    let latencies: Vec<(f64, f64)> = series.all().iter().filter_map(latency).collect();
    let least = latencies
        .iter()
        .map(|&(_, ns)| ns)
        .fold(f64::INFINITY, f64::min);
    match latencies.iter().find(|&&(_, ns)| ns > 2.0 * least) {
        Some(&(load, _)) => Finding::not_run(format!("IB from {load}; OPA is not there"))
            .number("first_load_ib", load),
        None => needs_omni_path(results),
    }
}

fn registers(_: &Results) -> Finding {
    match dtable::plan(&Needs::table_4_as_printed()) {
        Ok(plan) => {
            let most = plan.largest_accumulator;
            Finding::checked(most <= 255, most.to_string())
                .number("largest_accumulator", most as f64)
        }
        Err(refusals) => Finding::not_run(refusals[0].to_string()),
    }
}

/// The smallest share of each class with a guarantee, over all loads.
fn keeps_demand(results: &Results, series: &str) -> Finding {
    let series = results.series(series);
    let mut words = vec![];
    let mut finding = Finding::checked(true, "");
    for class in QOS {
        let share = |point: &Point<'_>| Some((point.load, point.share(class)?.mean));
        let shares = series.all().iter().filter_map(share);
        let Some((load, share)) = shares.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return missing(LAST);
        };
        if share < 0.95 {
            finding.verdict = crate::Verdict::Misses;
        }
        words.push(format!("{class} {:.1}", 100.0 * share));
        let class = class.to_lowercase();
        finding = finding
            .number(format!("{class}_least_share"), share)
            .number(format!("{class}_least_share_at_load"), load);
    }
    finding.measured = format!("{} %", words.join(", "));
    where_packets_wait(&series, finding)
}

/// Adds where packets wait at the last load. Tables decide at outputs: what waits at inputs is served round
/// robin, whatever the tables say.
fn where_packets_wait(series: &Series<'_>, mut finding: Finding) -> Finding {
    let Some(point) = series.at(LAST) else {
        return finding;
    };
    type Of = fn(&LinksSummary) -> Option<f64>;
    let places: [(&str, Of); 3] = [
        ("input_buffer_mean_flits", |l| {
            Some(l.input_buffer_mean_flits)
        }),
        ("output_buffer_mean_flits", |l| {
            Some(l.output_buffer_mean_flits)
        }),
        ("packets_chosen_by_tables", |l| l.choice_share),
    ];
    for (name, of) in places {
        let values: Option<Vec<f64>> = point.runs.iter().map(|run| of(&run.links)).collect();
        if let Some(mean) = values.and_then(|values| Measured::over(&values)) {
            finding = finding.number(format!("{name}_at_{LAST}"), mean.mean);
        }
    }
    finding
}

fn background_is_cut(results: &Results) -> Finding {
    let Some(share) = point(results, LAST).and_then(|point| point.share("BK")) else {
        return missing(LAST);
    };
    let words = format!("{:.1} % of demand", 100.0 * share.mean);
    Finding::checked(share.ends().1 < 1.0, words).number("bk_share", share.mean)
}

#[cfg(test)]
#[path = "paper_000_tests.rs"]
mod tests;
