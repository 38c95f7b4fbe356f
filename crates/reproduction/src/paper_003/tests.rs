//! The files match the scenarios, and every claim can miss.

use netloom_experiment::Experiment;
use netloom_experiment::spec::{Request, load};
use netloom_fabric::{Allocation, FlowControl, QueueScheme, Thresholds};
use netloom_results::{
    ClassSummary, Frame, HistogramLine, HostLine, SeriesLine, Summary, Table as _,
};
use netloom_units::{Bytes, Sl};

use super::*;
use crate::{Outcome, Results, Run, Size, Table, Verdict};

/// The classes of S003-1 to S003-3, by service level.
const CLASSES: [&str; 5] = ["SL0", "SL1", "SL2", "SL3", "SL4"];
/// The class of the application.
const APPLICATION: &str = "search";

/// A table of S003-1 to S003-3.
struct Scenario {
    /// The weight of each service level.
    weights: [u16; 5],
    /// Expected share of each level under round robin, in percent of a link.
    oracle: [f64; 5],
}

const SCENARIOS: [Scenario; 3] = [
    Scenario {
        weights: [1; 5],
        oracle: [20.0; 5],
    },
    Scenario {
        weights: [5, 4, 3, 2, 1],
        oracle: [28.0, 28.0, 21.0, 15.0, 8.0],
    },
    Scenario {
        weights: [16, 8, 4, 2, 1],
        oracle: [40.0, 32.0, 16.0, 8.0, 4.0],
    },
];

impl Scenario {
    /// Returns the share of a service level by its table, in percent of a link.
    fn target(&self, class: usize) -> f64 {
        let sum: u16 = self.weights.iter().sum();
        100.0 * f64::from(self.weights[class]) / f64::from(sum)
    }
}

/// The experiments of S003-1 to S003-3.
const FILES: [&str; 3] = ["fair.toml", "step.toml", "2powers.toml"];

/// The load that each service level generates in them, in percent of a link.
const GENERATED: [[u32; 5]; 3] = [[20; 5], [35, 28, 21, 15, 8], [64, 32, 16, 8, 4]];

/// The weights of the tables of S003-4.
const SEARCH: [(&str, [u16; 3]); 3] = [
    ("fair", [1, 1, 1]),
    ("step", [3, 2, 1]),
    ("2powers", [4, 2, 1]),
];

/// Returns the entries of a table: service levels with weights in sixteenths of the paper's, so
/// that a weight can be divided among 16 entries. With latency tuning, the most urgent level has
/// every second entry, the next every fourth, and so on; the weight of a level is divided among its
/// entries.
fn entries(weights: &[u16], is_tuned: bool) -> Vec<(u8, u16)> {
    let ranks: Vec<usize> = match is_tuned {
        // Position p is 2^(r+1) apart from the next with the same r trailing ones in p.
        true => (0..(1usize << weights.len()) - 1)
            .map(|position| position.trailing_ones() as usize)
            .collect(),
        false => (0..weights.len()).collect(),
    };
    let entry = |&rank: &usize| {
        let n = ranks.iter().filter(|&&other| other == rank).count() as u16;
        (rank as u8, 16 * weights[rank] / n)
    };
    ranks.iter().map(entry).collect()
}

fn loaded(file: &str) -> Experiment {
    let loaded = load(&Request::new(file, PLAN.text(file)));
    let notes = netloom_experiment::render(&loaded.document, &loaded.notes, false);
    loaded
        .experiment
        .unwrap_or_else(|| panic!("{file}: {notes}"))
}

/// Returns the resolved arbiter of a file: kind, k, and the entries of its table.
fn arbiter_of(text: &str) -> (String, i64, Vec<(u8, u16)>) {
    let mut notes = netloom_catalog::Notes::new();
    let document = netloom_catalog::Document::parse("file", text, &mut notes);
    let arbiter = document
        .root
        .get("qos")
        .and_then(|qos| qos.get("arbiter"))
        .unwrap();
    let value = |key: &str| arbiter.get(key).unwrap();
    let table: Vec<netloom_arbitration::SlEntry> =
        netloom_catalog::FromToml::read(value("table"), &mut notes).unwrap();
    (
        value("kind").as_text().unwrap().to_owned(),
        netloom_catalog::FromToml::read(value("k"), &mut notes).unwrap(),
        table
            .iter()
            .map(|entry| (entry.sl.0, entry.weight))
            .collect(),
    )
}

#[test]
fn the_files_hold_the_fabric_of_the_paper() {
    for file in FILES.into_iter().chain(["search.toml"]) {
        let experiment = loaded(file);
        let plan = &experiment.fabric;
        assert_eq!(
            (plan.topology.n_nics(), plan.topology.n_switches()),
            (512, 32)
        );
        assert_eq!(
            (
                plan.switch.crossbar().speedup,
                plan.switch.crossbar().queues
            ),
            ((2, 1), QueueScheme::VoqSwitch)
        );
        assert_eq!(
            plan.switch.crossbar().allocation,
            Allocation::Islip { iterations: 1 }
        );
        for buffer in [
            &plan.switch.crossbar().input_buffer,
            &plan.switch.crossbar().output_buffer,
        ] {
            assert!(
                (0..usize::from(plan.n_vls)).all(|vl| buffer.most(vl) == 768),
                "{buffer:?}"
            );
        }
        // 1.28 ns, 25 ns, and 78 cycles of 1.28 ns are 99.84 ns.
        let nanos = |ticks: u64| experiment.timebase.nanos(ticks as f64);
        for link in &plan.links {
            assert_eq!((nanos(link.flit), nanos(link.delay)), (1.28, 25.0));
        }
        let stages = plan.switch.crossbar().pipeline;
        let period = plan.switch.period();
        assert!((nanos(period * stages.routing) - 99.84).abs() < 1e-9);
        assert!((nanos(period * stages.crossbar) - 99.84).abs() < 1e-9);
        assert_eq!(
            (
                stages.input,
                stages.allocation,
                stages.output,
                stages.credit
            ),
            (0, 0, 0, 1)
        );
    }
}

/// Two link delays of 25 ns are 40 flits. XOFF leaves room for these and two packets, the largest
/// that occur in the lane; XON is one such packet lower.
#[test]
fn g003_2_thresholds_of_pause() {
    for file in FILES.into_iter().chain(["search.toml"]) {
        let experiment = loaded(file);
        let FlowControl::Pfc(thresholds) = &experiment.fabric.flow_control else {
            panic!("{:?}", experiment.fabric.flow_control);
        };
        assert!(!thresholds.is_empty());
        for lanes in thresholds {
            assert_eq!(lanes.len(), usize::from(experiment.fabric.n_vls));
            for (lane, &largest) in lanes.iter().zip(&experiment.fabric.largest) {
                let xoff = 768 - 40 - 2 * u32::from(largest);
                let xon = xoff - u32::from(largest);
                assert_eq!(*lane, Thresholds { xoff, xon }, "{file}");
            }
        }
        // A packet of the MTU has 144 flits and a header of one.
        let is_search = file == "search.toml";
        assert_eq!(experiment.fabric.largest.contains(&145), is_search);
    }
}

#[test]
fn the_files_hold_the_tables_and_the_traffic() {
    for ((scenario, file), generated) in SCENARIOS.into_iter().zip(FILES).zip(GENERATED) {
        let (kind, k, table) = arbiter_of(PLAN.text(file));
        assert_eq!((kind.as_str(), k), ("bxi-deficit", 64));
        assert_eq!(table, entries(&scenario.weights, true), "{file}");
        let experiment = loaded(file);
        let names: Vec<&str> = experiment.classes.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, CLASSES);
        for (n, class) in experiment.classes.iter().enumerate() {
            let load = class.load.unwrap();
            assert!((load - f64::from(generated[n]) / 100.0).abs() < 1e-12);
            assert_eq!(class.sl, Sl(n as u8));
        }
        // Messages of 1 to 5 KiB are 16 to 80 flits, below the MTU, and have a header of one.
        assert_eq!(experiment.fabric.largest, [17, 33, 49, 65, 81]);
    }
    let (_, _, table) = arbiter_of(PLAN.text("search.toml"));
    assert_eq!(table, entries(&SEARCH[2].1, true));
}

/// Table 2 of the paper: the quanta of five tuned classes with the weights 5, 4, 3, 2, 1, in flits.
#[test]
fn tuned_tables_have_the_printed_quanta() {
    let table = entries(&[5, 4, 3, 2, 1], true);
    let quanta: Vec<u32> = table.iter().map(|e| u32::from(e.1) * 64).collect();
    assert_eq!(quanta[..8], [320, 512, 320, 768, 320, 512, 320, 1024]);
    let total = |sl: u8| {
        let own = table.iter().zip(&quanta).filter(|(entry, _)| entry.0 == sl);
        own.map(|(_, quantum)| quantum).sum::<u32>()
    };
    assert_eq!([0, 1, 2, 3, 4].map(total), [5120, 4096, 3072, 2048, 1024]);
}

/// Computes the shares under round robin: every level sends the same number of packets until it
/// sends all that it generates or the link is full (water filling).
fn water_filling(generated: [u32; 5]) -> [f64; 5] {
    let filled = |level: f64| -> [f64; 5] {
        std::array::from_fn(|sl| f64::from(generated[sl]).min(level * (sl + 1) as f64))
    };
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        match filled(middle).iter().sum::<f64>() > 100.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    filled(low)
}

#[test]
fn v003_21_water_filling_is_the_oracle() {
    for (scenario, generated) in SCENARIOS.into_iter().zip(GENERATED) {
        let filled = water_filling(generated);
        for (ours, oracle) in filled.iter().zip(scenario.oracle) {
            assert!((ours - oracle).abs() < 1e-6, "{filled:?}");
        }
    }
}

#[test]
fn v003_22_spacing_and_v003_23_sums() {
    let spacing = [
        [102.4, 204.8, 307.2, 409.6, 512.0],
        [58.51, 146.29, 292.57, 546.13, 1280.0],
        [32.0, 128.0, 384.0, 1024.0, 2560.0],
    ];
    let sums = [100, 107, 124];
    for (n, (spacing, sum)) in spacing.into_iter().zip(sums).enumerate() {
        assert_eq!(GENERATED[n].iter().sum::<u32>(), sum);
        let experiment = loaded(FILES[n]);
        for (class, expected) in experiment.classes.iter().zip(spacing) {
            let bytes = 1024.0 * f64::from(class.sl.0 + 1);
            let gap = bytes / 50.0 / class.load.unwrap();
            assert!((gap - expected).abs() < 0.006, "{gap} {expected}");
        }
    }
}

/// Returns the arbiter of a point: its kind, and the entries of its table.
fn arbiter_at(scenario: &crate::Scenario, name: &str) -> (String, Vec<(u8, u16)>) {
    let mut notes = netloom_catalog::Notes::new();
    let values = scenario.study.axes[0].values.iter();
    let mut own = values.filter(|value| value.label == name);
    let (_, arbiter) = &own.next().unwrap().sets[0];
    let Some(table) = arbiter.get("table") else {
        return (arbiter.as_text().unwrap().to_owned(), vec![]);
    };
    let table: Vec<netloom_arbitration::SlEntry> =
        netloom_catalog::FromToml::read(table, &mut notes).unwrap();
    let table = table.iter().map(|entry| (entry.sl.0, entry.weight));
    let kind = arbiter
        .get("kind")
        .and_then(netloom_catalog::Value::as_text);
    (kind.unwrap().to_owned(), table.collect())
}

#[test]
fn five_arbiters_and_seven_ways_to_search() {
    assert_eq!(PLAN.runs(Size::Paper, Some(3), None).len(), (3 * 5 + 7) * 3);
    let studies = PLAN.scenarios(Size::Paper, None, None);
    for (scenario, study) in SCENARIOS.into_iter().zip(&studies) {
        let is = |name: &str, kind: &str, is_tuned: bool| {
            let expected = (kind.to_owned(), entries(&scenario.weights, is_tuned));
            assert_eq!(arbiter_at(study, name), expected, "{} {name}", study.id);
        };
        assert_eq!(arbiter_at(study, "RR").0, "round-robin");
        is("basic", "bxi-table", false);
        is("basic tuned", "bxi-table", true);
        is("deficits", "bxi-deficit", false);
        is("deficits tuned", "bxi-deficit", true);
    }
    for (table, weights) in SEARCH {
        for (name, kind) in [("basic", "bxi-table"), ("deficits", "bxi-deficit")] {
            let expected = (kind.to_owned(), entries(&weights, true));
            assert_eq!(
                arbiter_at(&studies[3], &format!("{table} {name}")),
                expected
            );
        }
    }
    assert_eq!(arbiter_at(&studies[4], "RR").0, "round-robin");
}

#[test]
fn every_run_and_variation_loads() {
    for variation in PLAN.variations.iter().map(Some).chain([None]) {
        let n = match variation.map_or("", |own| own.name.as_str()) {
            "k-512" => 12,
            "k-2048" => 12 + 6,
            "mtu-pause" => 15,
            "burst-per-source" | "no-bursts" | "scale-8" | "scale-32" => 7,
            "load-40" | "load-45" | "load-50" | "load-70" => 7,
            _ => 22,
        };
        let found = PLAN.experiments(Size::Tiny, variation);
        assert_eq!(found.len(), n, "{variation:?}");
    }
}

/// The changes of an alternative reading apply to all its runs.
#[test]
fn variations_reach_those_whom_they_are_about() {
    use netloom_experiment::runner::run_id;
    let ours = PLAN.experiments(Size::Ci, None);
    for variation in &PLAN.variations {
        for (series, experiment) in PLAN.experiments(Size::Ci, Some(variation)) {
            let (_, before) = ours.iter().find(|(own, _)| *own == series).unwrap();
            let is_changed = run_id(before) != run_id(&experiment);
            // The setting has no effect on round robin.
            let is_same = variation.name == "nic-rr" && series.ends_with("RR");
            assert_ne!(is_changed, is_same, "{} {series}", variation.name);
        }
    }
}

/// Synthetic results of a run.
#[derive(Clone)]
struct MadeUp {
    /// Median over hosts for each class, in percent.
    shares: [f64; 5],
    /// Interquartile range, in points.
    range: f64,
    mean_us: [f64; 5],
    p99_us: [f64; 5],
    execution_ms: f64,
    /// 50, 75, 90 and 99 %.
    fct_us: [f64; 4],
    depth: f64,
    is_done: bool,
}

/// Returns the values of the paper.
fn as_printed(run: &Run) -> MadeUp {
    let (scenario, arbiter) = run.series.split_once(' ').unwrap();
    let synthetic = |n: usize| {
        let (targets, oracle) = (
            std::array::from_fn(|class| SCENARIOS[n].target(class)),
            SCENARIOS[n].oracle,
        );
        let mut basic: [f64; 5] = targets;
        basic[4] -= 1.5;
        match arbiter {
            "RR" if n == 0 => [18.0, 20.0, 20.0, 20.0, 20.0],
            "RR" => oracle,
            "basic" | "basic tuned" => basic,
            _ => targets,
        }
    };
    let latency = |n: usize| -> [f64; 5] {
        match (arbiter, n) {
            ("RR", 2) => [500.0, 5.0, 5.0, 5.0, 5.0],
            ("RR", _) => [50.0, 5.0, 5.0, 5.0, 5.0],
            ("basic", _) => [2.0, 2.1, 2.2, 2.3, 80.0],
            ("basic tuned", _) => [2.0, 2.1, 2.2, 2.3, 10.0],
            ("deficits", _) => [4.0, 4.5, 5.0, 5.5, 6.0],
            _ => [3.0, 3.5, 4.0, 5.5, 6.0],
        }
    };
    let number: usize = scenario.rsplit('-').next().unwrap().parse().unwrap();
    let n = number.min(3) - 1;
    let (execution_ms, fct_us, depth) = match arbiter {
        "fair basic" => (5.72, [150.29, 827.86, 1580.0, 5080.0], 0.5),
        "fair deficits" => (5.56, [123.8, 710.22, 1480.0, 4980.0], 0.49),
        "step basic" => (4.98, [54.05, 424.35, 1000.0, 4410.0], 0.3),
        "step deficits" => (4.94, [47.88, 365.94, 900.7, 4360.0], 0.29),
        "2powers basic" => (4.54, [31.84, 228.94, 665.34, 4010.0], 0.1),
        "2powers deficits" => (4.45, [28.85, 197.92, 618.22, 3890.0], 0.09),
        _ => (7.19, [1220.0, 2560.0, 3400.0, 6530.0], 0.8),
    };
    let mean_us = latency(n);
    MadeUp {
        shares: synthetic(n),
        range: if arbiter.ends_with("tuned") { 0.4 } else { 0.2 },
        mean_us,
        p99_us: match arbiter {
            "deficits tuned" => mean_us.map(|us| 2.0 * us),
            _ => mean_us.map(|us| 4.0 * us),
        },
        execution_ms,
        fct_us,
        depth,
        is_done: true,
    }
}

fn hosts(made: &MadeUp, wobble: f64) -> Frame {
    let mut hosts = Frame::of::<HostLine>();
    for (class, share) in CLASSES.iter().zip(made.shares) {
        for step in [-1.0, -0.5, 0.0, 0.5, 1.0] {
            let line = HostLine {
                class: (*class).to_owned(),
                injected_load: (share + step * made.range) * wobble / 100.0,
                ..HostLine::default()
            };
            hosts.push(line.data());
        }
    }
    hosts
}

fn histograms(made: &MadeUp, wobble: f64) -> Frame {
    let mut histograms = Frame::of::<HistogramLine>();
    let [p50, p75, p90, p99] = made.fct_us;
    let below = (p50 / 2.0).min(500.0);
    for (us, count) in [
        (below, 45),
        (p50, 5),
        (p75, 25),
        (p90, 15),
        (p99, 9),
        (2.0 * p99, 1),
    ] {
        let line = HistogramLine {
            class: APPLICATION.to_owned(),
            latency: "message".to_owned(),
            from_ns: 1000.0 * us * wobble,
            to_ns: 1000.0 * us * wobble,
            count,
            ..HistogramLine::default()
        };
        histograms.push(line.data());
    }
    histograms
}

/// Returns a series with bursts every ten epochs; the application generates load for thirty.
fn series(made: &MadeUp, wobble: f64) -> Frame {
    let mut series = Frame::of::<SeriesLine>();
    for epoch in 0..40 {
        let dip = if epoch % 10 == 2 {
            made.depth * wobble
        } else {
            0.0
        };
        let is_generating = epoch < 30;
        for (class, offered, delivered) in [
            (
                APPLICATION,
                if is_generating { 0.6 } else { 0.0 },
                0.6 * (1.0 - dip),
            ),
            ("burst", if epoch % 10 == 0 { 0.1 } else { 0.0 }, 0.01),
        ] {
            let line = SeriesLine {
                time_ns: f64::from(epoch + 1) * 1000.0,
                class: class.to_owned(),
                offered_load: offered,
                delivered_load: delivered,
                ..SeriesLine::default()
            };
            series.push(line.data());
        }
    }
    series
}

/// Returns results with the values of the paper except for a change, with small differences between
/// seeds.
fn made_up(change: impl Fn(&Run, &mut MadeUp)) -> Results {
    let outcome = |run: Run| {
        let wobble = 1.0 + 0.001 * (run.seed as f64 - 2.0);
        let mut made = as_printed(&run);
        change(&run, &mut made);
        let synthetic = |(n, name): (usize, &&str)| ClassSummary {
            class: (*name).to_owned(),
            sl: n as u8,
            asked_load: None,
            summary: Summary {
                packet_latency_mean_ns: Some(1000.0 * made.mean_us[n] * wobble),
                packet_latency_p99_ns: Some(1000.0 * made.p99_us[n] * wobble),
                ..Summary::default()
            },
        };
        let mut classes: Vec<ClassSummary> = CLASSES.iter().enumerate().map(synthetic).collect();
        if run.load == 0.8 {
            classes = vec![ClassSummary {
                class: APPLICATION.to_owned(),
                sl: 0,
                asked_load: None,
                summary: Summary {
                    offered_messages: 100,
                    delivered_messages: if made.is_done { 100 } else { 99 },
                    last_delivery_ns: Some(1e6 * made.execution_ms * wobble),
                    latency_p50_ns: Some(1e3 * made.fct_us[0] * wobble),
                    latency_p75_ns: Some(1e3 * made.fct_us[1] * wobble),
                    latency_p90_ns: Some(1e3 * made.fct_us[2] * wobble),
                    latency_p99_ns: Some(1e3 * made.fct_us[3] * wobble),
                    ..Summary::default()
                },
            }];
        }
        let tables = [
            ("hosts", hosts(&made, wobble)),
            ("histograms", histograms(&made, wobble)),
            ("series", series(&made, wobble)),
        ];
        Outcome {
            result: crate::results::made_up(run.seed, classes),
            tables: tables
                .map(|(name, frame)| (name.to_owned(), frame))
                .to_vec(),
            run,
        }
    };
    Results {
        outcomes: PLAN
            .runs(Size::Ci, Some(3), None)
            .into_iter()
            .map(outcome)
            .collect(),
        ..Results::default()
    }
}

/// Returns results with the values of the paper.
pub(crate) fn printed() -> Results {
    made_up(|_, _| {})
}

/// Returns the claims with a verdict.
fn with(verdict: Verdict, results: &Results) -> Vec<String> {
    Table::new(&PAPER, results).claims_with(verdict)
}

#[test]
fn what_the_paper_prints_holds() {
    let results = made_up(|_, _| {});
    assert_eq!(with(Verdict::Misses, &results), [""; 0]);
    assert_eq!(with(Verdict::NotRun, &results), [""; 0]);
    assert_eq!(with(Verdict::Holds, &results).len(), 29);
}

#[test]
fn an_application_that_is_not_done_says_nothing() {
    let results = made_up(|run, made| made.is_done = run.series != "S003-5 RR");
    let not_judged = with(Verdict::NotJudged, &results);
    let is_there = |claim: &str| not_judged.contains(&claim.to_owned());
    assert!(
        is_there("C003-9 order") && !is_there("C003-1"),
        "{not_judged:?}"
    );
}

#[test]
fn what_lacks_a_run_is_not_judged() {
    let mut results = made_up(|_, _| {});
    results.lacking.push(("S003-1 basic".to_owned(), 1.0));
    let not_run = with(Verdict::NotRun, &results);
    assert_eq!(
        not_run,
        [
            "C003-3 SL4",
            "C003-3 spread",
            "C003-4 basic",
            "C003-4 basic tuned"
        ]
    );
}

#[test]
fn one_seed_orders_nothing() {
    let mut results = made_up(|_, _| {});
    results.outcomes.retain(|outcome| outcome.run.seed == 1);
    let held = with(Verdict::Holds, &results);
    // Quantities are judged, orders are not.
    let expected = ["C003-1", "C003-5", "C003-8 RR shares", "C003-8 deficits"];
    assert!(
        expected
            .iter()
            .all(|claim| held.contains(&(*claim).to_owned())),
        "{held:?}"
    );
    assert!(!held.contains(&"C003-2".to_owned()) && !held.contains(&"C003-17".to_owned()));
}

#[test]
fn tables_have_a_line_for_each_host_box_and_run() {
    let results = made_up(|_, _| {});
    let lines = |name: &str| {
        let tables = crate::paper("003").unwrap().tables(&results);
        let (_, text) = tables.into_iter().find(|(own, _)| own == name).unwrap();
        text.lines().count() - 1
    };
    assert_eq!(lines("throughput"), 15 * 3 * 5);
    assert_eq!(lines("completion"), 7 * 3);
    // The application and the bursts.
    assert_eq!(lines("efficiency"), 2 * 7 * 40);
    assert_eq!(lines("latency"), 15 * 3 * 5 + 7 * 3);
}

/// The file sets the flit and the MTU of the reading.
#[test]
fn g003_1_flit_and_mtu() {
    let experiment = loaded("search.toml");
    let segmentation = experiment.fabric.segmentation.of(Sl(0));
    assert_eq!(
        (segmentation.flit, segmentation.mtu),
        (Bytes(64), Some(Bytes(9216)))
    );
    // 144 flits, and one of header.
    assert_eq!(experiment.fabric.largest, [145; 3]);
}
