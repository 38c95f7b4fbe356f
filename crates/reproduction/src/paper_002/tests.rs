//! The runs match the paper, claims hold on what it prints, and the switch is that of the paper.

use netloom_experiment::Experiment;
use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_experiment::spec::{Request, load};
use netloom_fabric::{Sizes, StashUse, Tiled};
use netloom_results::{
    ClassSummary, Frame, HistogramLine, ProtocolSummary, SeriesLine, StashLine, Summary, Table as _,
};

use super::*;
use crate::{Outcome, Results, Run, Size, Table, Verdict};

fn series_of<'a>(runs: &'a [Run], scenario: &str) -> Vec<&'a str> {
    let own = runs.iter().filter(|run| run.scenario() == scenario);
    let mut series: Vec<&str> = own.map(|run| run.series.as_str()).collect();
    series.dedup();
    series
}

#[test]
fn every_figure_is_covered() {
    let runs = PLAN.runs(Size::Paper, None, None);
    let n = |scenario: &str| series_of(&runs, scenario).len();
    assert_eq!(
        ["S002-1", "S002-3", "S002-4", "S002-5", "S002-7"].map(n),
        [4, 24, 4, 1, 3]
    );
    let count = |series: &str| runs.iter().filter(|run| run.series == series).count();
    // Eight loads and six lengths of messages, five seeds or three.
    assert_eq!(count("S002-1 25 %"), 8 * 5);
    assert_eq!(count("S002-1 baseline"), 8 * 5);
    assert_eq!(count("S002-4 100 %"), 5);
    assert_eq!(count("S002-7 50 %"), 6 * 3);
    assert_eq!(count("S002-3 BIGFFT 25 %"), 3);
    let scenarios = PLAN.scenarios(Size::Paper, None, None);
    let of = |id: &str| scenarios.iter().find(|own| own.id == id).unwrap();
    assert_eq!(of("S002-4").tables, ["series", "histograms", "stashes"]);
    assert_eq!(of("S002-5").tables, ["series", "histograms"]);
}

#[test]
fn every_run_and_variation_loads() {
    for variation in PLAN.variations.iter().map(Some).chain([None]) {
        let found = PLAN.experiments(Size::Tiny, variation);
        assert!(found.len() >= 4, "{variation:?}");
    }
    assert_eq!(PLAN.experiments(Size::Paper, None).len(), 36);
    // Loading the paper's machine is slow, so each alternative reading is loaded once per scenario.
    for variation in &PLAN.variations {
        for scenario in PLAN.scenarios(Size::Paper, Some(1), Some(variation)) {
            let point = scenario.study.points().next().unwrap();
            let loaded = scenario.study.load(&point, 1);
            assert!(loaded.experiment.is_some(), "{variation:?} {}", scenario.id);
        }
    }
}

/// Alternative readings run only where they matter, and do not add congestion control.
#[test]
fn other_readings_concern_some_scenarios() {
    let own = |name: &str| {
        let runs = PLAN.runs(Size::Ci, None, Some(PLAN.variation(name)));
        let mut scenarios: Vec<String> = runs.iter().map(|run| run.scenario().to_owned()).collect();
        scenarios.dedup();
        scenarios
    };
    assert_eq!(
        own("t24"),
        ["S002-1", "S002-3", "S002-4", "S002-5", "S002-7"]
    );
    assert_eq!(own("slow-switch"), ["S002-1", "S002-3"]);
    let congested = ["S002-4", "S002-5", "S002-7"];
    assert_eq!(own("once"), congested);
    assert_eq!(own("victims-to-all"), congested);
    let variation = PLAN.variation("once");
    for run in PLAN.runs(Size::Ci, None, Some(variation)) {
        assert!(run.seed <= 2);
    }
    for (series, experiment) in PLAN.experiments(Size::Ci, Some(variation)) {
        let has_control = experiment.fabric.endpoints.control.is_some();
        let is_without = series == "S002-4 72 nodes without ECN";
        assert_eq!(has_control, !is_without, "{series}");
    }
}

/// The switch of an experiment.
fn tiled(experiment: &Experiment) -> Tiled {
    experiment.fabric.switch.tiled().expect("tiled").clone()
}

fn capacity(sizes: &Sizes) -> u32 {
    match sizes {
        Sizes::Pool { capacity, .. } => *capacity,
        other => panic!("{other:?}"),
    }
}

/// Buffers of end, local and global ports as simulated; half a flit of 437.5 is dropped.
#[test]
fn v002_15_port_buffers_in_the_files() {
    let all = PLAN.experiments(Size::Paper, None);
    let own = |series: &str| &all.iter().find(|(own, _)| own == series).unwrap().1;
    let plan = |series: &str| tiled(own(series));
    let fabric = |series: &str| own(series).fabric.clone();
    assert_eq!(fabric("S002-5 alone").topology.n_nics(), 3080);
    for (switch, stash) in [
        ("100 %", [1750, 1500, 0]),
        ("50 %", [875, 750, 0]),
        ("25 %", [437, 375, 0]),
    ] {
        let series = format!("S002-1 {switch}");
        let plan = plan(&series);
        let ports = &plan.ports;
        assert_eq!(ports.iter().map(|p| p.stash).collect::<Vec<_>>(), stash);
        let normal: Vec<u32> = ports.iter().map(|port| capacity(&port.input)).collect();
        assert_eq!(normal, [125, 250, 1000], "for any capacity");
        assert!(matches!(plan.stash, Some(StashUse::Reliability { .. })));
        assert_eq!((plan.rows, plan.columns), (4, 4));
        assert_eq!((plan.inputs, plan.outputs), (5, 5));
        assert_eq!((plan.row_buffer, plan.column_buffer), (96, 96));
        let fabric = fabric(&series);
        assert_eq!(fabric.endpoints.acknowledgement, Some(1));
        assert!(fabric.endpoints.control.is_none());
    }
    let baseline = plan("S002-4 baseline");
    assert!(baseline.stash.is_none());
    let inputs = baseline.ports.iter().map(|port| capacity(&port.input));
    assert!(inputs.into_iter().all(|input| input == 1000));
    let with_marks = fabric("S002-4 baseline");
    assert_eq!(with_marks.marks_above, [Some(500); 3]);
    let control = with_marks.endpoints.control.as_ref().unwrap();
    let window = control.window().unwrap();
    assert_eq!((window.most, window.least), (4096, 24));
    let full = plan("S002-4 100 %");
    // An input is congested above half of its normal part.
    let marks = fabric("S002-4 100 %").marks_above;
    assert_eq!(marks, [Some(62), Some(125), Some(500)]);
    assert!(matches!(full.stash, Some(StashUse::Congestion)));
    // A baseline without congestion control still acknowledges.
    let plain = fabric("S002-1 baseline");
    assert_eq!(plain.endpoints.acknowledgement, Some(1));
    assert!(fabric("S002-4 without ECN").endpoints.control.is_none());
}

#[test]
fn the_small_machine_has_switches_of_eight_ports() {
    let all = PLAN.experiments(Size::Ci, None);
    let (_, experiment) = &all[0];
    assert_eq!(experiment.fabric.topology.n_nics(), 72);
    let plan = tiled(experiment);
    assert_eq!((plan.rows, plan.columns), (2, 2));
    assert_eq!((plan.inputs, plan.outputs), (4, 4));
}

/// A packet of 24 flits is acknowledged by one flit, so data fills at most 24/25 of a link.
#[test]
fn v002_11_acknowledgements_take_a_25th() {
    let text = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
        [link]\nrate = \"80 Gb/s\"\nflit = \"10 B\"\nmtu = \"240 B\"\nheader = \"0 B\"\n\
        delay = \"5 ns\"\n\
        [switch]\nkind = \"tiled\"\nrows = 2\ncolumns = 2\n\
        [[traffic]]\nload = 1.0\nmessage = \"240 B\"\n\
        pattern = { kind = \"pairs\", pairs = [[0, 1], [1, 0], [2, 3], [3, 2]] }\n\
        [measure]\nwarmup = \"10 us\"\nlength = \"60 us\"\n";
    let loaded = load(&Request::new("test.toml", text));
    let experiment = loaded.experiment.expect("a sound experiment");
    let result = runner::run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    let accepted = result.document.run.total.delivered_load;
    assert!((0.955..=0.9605).contains(&accepted), "{accepted}");
}

/// Synthetic results of a run.
#[derive(Clone, Debug)]
struct MadeUp {
    /// Uniform: accepted at most, latency, and how long a copy is kept.
    accepted: f64,
    latency_ns: f64,
    round_trip_ns: f64,
    /// Applications.
    execution_us: f64,
    is_done: bool,
    /// Onset: victims' latency before, at the peak and from when it is normal again; slowest
    /// packets.
    peak_ns: f64,
    back_us: f64,
    p999_us: f64,
    max_us: f64,
    victims: f64,
    /// Flits per cycle at first, when they drop, and in the end.
    first: f64,
    drop_us: f64,
    last: f64,
    stash: [u64; 2],
    /// Bursts.
    p90_us: f64,
}

/// Returns the values of the paper.
fn as_printed(run: &Run) -> MadeUp {
    let is = |word: &str| run.series.ends_with(word);
    let switches = ["baseline", "100 %", "50 %", "25 %"];
    // Runs without aggressors or congestion control are those of the last, whose values claims do
    // not use.
    let switch = switches.into_iter().position(is).unwrap_or(3);
    let is_bound = run.series.contains("BIGFFT") || run.series.contains("FillBoundary");
    let is_alone = is("alone");
    let is_severe = is("without ECN");
    let of = |all: [f64; 4]| all[switch];
    MadeUp {
        accepted: of([0.9, 0.9, 0.9, 0.78]),
        latency_ns: 600.0 + 200.0 * run.load.min(1.0),
        round_trip_ns: 1522.0,
        execution_us: match switch {
            3 if is_bound => 130.0,
            1 if run.series.contains("AMR") => 99.0,
            _ => 100.0,
        },
        is_done: true,
        // Without congestion control, only what is accepted makes the claim hold.
        peak_ns: if is_severe {
            3000.0
        } else {
            of([1500.0, 900.0, 1100.0, 0.0])
        },
        back_us: if is_severe { 100.0 } else { 60.0 },
        p999_us: of([20.0, 3.0, 6.0, 0.0]),
        max_us: if is_alone {
            2.0
        } else {
            of([50.0, 6.0, 12.0, 0.0])
        },
        victims: if is_severe { 0.3 } else { 0.4 },
        first: 3.95,
        drop_us: 12.0,
        last: 1.0,
        stash: [12_000, 100],
        p90_us: match switch {
            0 => 1.5 + 10.0 * f64::exp(-((run.load.log2() - 8.0).abs())),
            _ => 1.0 + 0.1 * f64::exp(-((run.load.log2() - 8.0).abs())),
        },
    }
}

fn class(name: &str, summary: Summary) -> ClassSummary {
    ClassSummary {
        class: name.to_owned(),
        sl: 0,
        asked_load: None,
        summary,
    }
}

/// Returns the tables of a run around the onset of aggressors.
fn onset_tables(run: &Run, made: &MadeUp, wobble: f64) -> Vec<(String, Frame)> {
    let is_small = run.series.contains("72 nodes");
    let (nics, victims, end) = if is_small {
        (72.0, 62.0, 80)
    } else {
        (3080.0, 3020.0, 100)
    };
    let mut series = Frame::of::<SeriesLine>();
    let mut stashes = Frame::of::<StashLine>();
    for bin in 1..=end {
        let time_us = f64::from(bin);
        let latency = match time_us {
            ..=20.0 => 700.0,
            _ if time_us < made.back_us => made.peak_ns * wobble,
            _ => 705.0,
        };
        let flits = match time_us - 20.0 {
            ..=0.0 => 0.0,
            since if since < made.drop_us => made.first,
            since if since < 40.0 => 0.5,
            _ => made.last,
        };
        let line = |class: &str, injected_load, delivered_load| SeriesLine {
            seed: run.seed,
            time_ns: 1000.0 * time_us,
            class: class.to_owned(),
            sl: 0,
            offered_load: 0.4,
            injected_load,
            delivered_load,
            latency_mean_ns: Some(latency),
            network_latency_mean_ns: Some(latency),
        };
        let victim = made.victims * wobble * victims / nics;
        series.push(line("victim", 0.4, victim).data());
        series.push(line("watched", flits / nics, 0.1).data());
        let held = match bin {
            21..=50 => made.stash[0],
            60..=75 => made.stash[1],
            _ => 0,
        };
        for (switch, held_flits) in [("s0", held), ("s1", 20_000)] {
            let line = StashLine {
                seed: run.seed,
                time_ns: 1000.0 * time_us,
                switch: switch.to_owned(),
                held_flits,
            };
            stashes.push(line.data());
        }
    }
    let mut histograms = Frame::of::<HistogramLine>();
    for (latency, from_ns, count) in [
        ("network", 600.0, 90),
        ("network", 900.0, 10),
        ("message", 1.0, 5),
    ] {
        let line = HistogramLine {
            seed: run.seed,
            class: "victim".to_owned(),
            sl: 0,
            latency: latency.to_owned(),
            from_ns,
            to_ns: from_ns + 99.0,
            count,
        };
        histograms.push(line.data());
    }
    let all = [
        ("series", series),
        ("histograms", histograms),
        ("stashes", stashes),
    ];
    let is_made = |name: &str| name != "stashes" || run.series.ends_with('%');
    let own = all.into_iter().filter(|(name, _)| is_made(name));
    own.map(|(name, frame)| (name.to_owned(), frame)).collect()
}

/// Returns results with the values of the paper except for a change, with small differences between
/// seeds.
fn made_up(size: Size, seeds: u32, change: impl Fn(&Run, &mut MadeUp)) -> Results {
    let outcome = |run: Run| {
        let wobble = 1.0 + 0.001 * (run.seed as f64 - 2.0);
        let mut made = as_printed(&run);
        change(&run, &mut made);
        let us = |us: f64| Some(1000.0 * us * wobble);
        let classes = match run.scenario() {
            "S002-1" => vec![class(
                "uniform",
                Summary {
                    offered_load: run.load,
                    delivered_load: run.load.min(made.accepted),
                    latency_mean_ns: Some(made.latency_ns * wobble),
                    network_latency_mean_ns: Some(made.latency_ns * wobble),
                    ..Summary::default()
                },
            )],
            "S002-3" => vec![class(
                "application",
                Summary {
                    last_delivery_ns: us(made.execution_us),
                    ..Summary::default()
                },
            )],
            "S002-7" => {
                // Half of the endpoints are victims, on either machine.
                let part = 0.5;
                vec![class(
                    "victim",
                    Summary {
                        delivered_load: made.victims * part,
                        latency_p90_ns: us(made.p90_us),
                        ..Summary::default()
                    },
                )]
            }
            _ => vec![class(
                "victim",
                Summary {
                    latency_p999_ns: us(made.p999_us),
                    latency_max_ns: us(made.max_us),
                    network_latency_p999_ns: us(made.p999_us),
                    network_latency_max_ns: us(made.max_us),
                    ..Summary::default()
                },
            )],
        };
        let mut result = crate::results::made_up(run.seed, classes);
        if run.scenario() == "S002-1" && !run.series.ends_with("baseline") {
            result.protocol = Some(ProtocolSummary {
                copy_time_mean_ns: Some(made.round_trip_ns),
                ..ProtocolSummary::default()
            });
        }
        result.counters.in_flight_packets = u64::from(!made.is_done);
        let tables = match run.scenario() {
            "S002-4" | "S002-5" => onset_tables(&run, &made, wobble),
            _ => vec![],
        };
        Outcome {
            run,
            result,
            tables,
        }
    };
    Results {
        outcomes: PLAN
            .runs(size, Some(seeds), None)
            .into_iter()
            .map(outcome)
            .collect(),
        ..Results::default()
    }
}

/// Returns results with the values of the paper.
pub(crate) fn printed() -> Results {
    made_up(Size::Paper, 4, |_, _| {})
}

/// Returns the claims with a verdict.
fn with(verdict: Verdict, results: &Results) -> Vec<String> {
    Table::new(&PAPER, results).claims_with(verdict)
}

#[test]
fn what_the_paper_prints_holds() {
    let results = printed();
    assert_eq!(with(Verdict::Misses, &results), [""; 0]);
    assert_eq!(with(Verdict::NotRun, &results), [""; 0]);
    assert_eq!(with(Verdict::Holds, &results).len(), 28);
    assert_eq!(
        with(Verdict::Calibrated, &results),
        ["C002-1 baseline", "C002-1 plateau"]
    );
}

/// At CI size, only orders and Little's law are judged.
#[test]
fn quantities_are_of_the_papers_machine() {
    let results = made_up(Size::Ci, 3, |_, made| {
        // 10 KB per endpoint under way.
        made.round_trip_ns = 10_000.0 / 10.0 / 0.78;
    });
    assert_eq!(with(Verdict::Misses, &results), [""; 0]);
    let held = [
        "C002-2 Little",
        "C002-4 100 %",
        "C002-4 50 %",
        "C002-6 bandwidth",
        "C002-6 others",
        "C002-7",
        "C002-8 peak",
        "C002-8 area",
        "C002-10 99.9 %",
        "C002-13 100 %",
        "C002-13 50 %",
        "C002-13 range 100 %",
        "C002-13 range 50 %",
        "C002-14",
    ];
    assert_eq!(with(Verdict::Holds, &results), held);
}

#[test]
fn what_does_not_saturate_has_no_level() {
    let results = made_up(Size::Paper, 2, |_, made| made.accepted = 1.0);
    let not_judged = with(Verdict::NotJudged, &results);
    assert_eq!(
        not_judged,
        [
            "C002-1 baseline",
            "C002-1 plateau",
            "C002-1 level",
            "C002-1 alike", // tidy: allow the name of a part of a claim
            "C002-2 level",
            "C002-2 Little"
        ]
    );
}

#[test]
fn an_application_that_is_not_done_says_nothing() {
    let series = "S002-3 FillBoundary baseline";
    let results = made_up(Size::Paper, 2, |run, made| {
        made.is_done = run.series != series;
    });
    assert_eq!(
        with(Verdict::NotJudged, &results),
        ["C002-5 100 %", "C002-5 50 %", "C002-6 bandwidth", "C002-7"]
    );
}

#[test]
fn what_lacks_a_run_is_not_judged() {
    let mut results = made_up(Size::Paper, 4, |_, _| {});
    results.lacking.push(("S002-4 50 %".to_owned(), 0.4));
    results.lacking.push(("S002-7 50 %".to_owned(), 16.0));
    assert_eq!(
        with(Verdict::NotRun, &results),
        [
            "C002-8 peak",
            "C002-8 area",
            "C002-10 99.9 %",
            "C002-12",
            "C002-13 50 %",
            "C002-13 range 50 %"
        ]
    );
}

#[test]
fn one_seed_of_the_small_machine_orders_nothing() {
    let results = made_up(Size::Ci, 1, |_, made| {
        made.round_trip_ns = 10_000.0 / 10.0 / 0.78;
    });
    assert_eq!(with(Verdict::Holds, &results), ["C002-2 Little"]);
    assert_eq!(with(Verdict::Misses, &results), [""; 0]);
}

#[test]
fn one_seed_orders_nothing() {
    let results = made_up(Size::Paper, 1, |_, _| {});
    assert_eq!(
        with(Verdict::NotJudged, &results),
        [
            "C002-4 100 %",
            "C002-4 50 %",
            "C002-6 bandwidth",
            "C002-6 others",
            "C002-7",
            "C002-8 peak",
            "C002-8 area",
            "C002-10 99.9 %",
            "C002-13 100 %",
            "C002-13 50 %",
            "C002-13 range 100 %",
            "C002-13 range 50 %",
            "C002-14"
        ]
    );
}

#[test]
fn tables_have_a_line_for_each_point() {
    let results = made_up(Size::Paper, 2, |_, _| {});
    let tables = crate::paper("002").unwrap().tables(&results);
    let text = |name: &str| &tables.iter().find(|(own, _)| own == name).unwrap().1;
    let lines = |name: &str| text(name).lines().count() - 1;
    assert_eq!(lines("uniform"), 4 * 8);
    assert_eq!(lines("applications"), 6 * 4);
    assert_eq!(lines("onset"), 5 * 100);
    assert_eq!(lines("distribution"), 5 * 2);
    assert_eq!(lines("bursts"), 3 * 6);
    // Table I.
    assert_eq!(lines("buffers"), 4);
    let unused: Vec<&str> = text("buffers")
        .lines()
        .skip(1)
        .filter_map(|line| line.rsplit(',').next())
        .collect();
    assert_eq!(unused, ["0.99", "0.95", "0", "0.7225"]);
    let shares: Vec<&str> = text("distribution")
        .lines()
        .filter(|line| line.starts_with("S002-5 alone"))
        .collect();
    let expected = ["699,0.9", "999,1"].map(|end| format!("S002-5 alone,{end}"));
    assert_eq!(shares, expected);
}
