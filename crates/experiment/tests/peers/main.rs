//! Comparisons with other simulators.
//!
//! A line of `peers.csv` has a figure of another simulator: its configuration, the equivalent keys
//! of netloom over `machine.toml`, the number of seeds and the window of netloom's runs, the
//! quantity, the figure, and the relative tolerance. If both are known to differ, the line has the
//! relative difference of netloom and its cause; the tolerance then applies around that difference.
//! Beyond saturation only accepted load is compared, since latency then depends on the length of
//! the run.
//!
//! Lines marked `long` take minutes. `NETLOOM_PEERS=all` runs them too, and every line with all of
//! its seeds. Otherwise the other lines run with seed 1.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};
use netloom_results::Run;

const MACHINE: &str = include_str!("machine.toml");
const PEERS: &str = include_str!("peers.csv");

/// A cycle in nanoseconds.
const CYCLE: f64 = 5.12;

/// BookSim2 counts a cycle at the NIC before a packet is on its link.
const CYCLE_AT_THE_NIC: f64 = 1.0;

struct Figure {
    peer: String,
    configuration: String,
    keys: Vec<String>,
    seeds: u64,
    window: String,
    quantity: String,
    value: f64,
    tolerance: f64,
    /// The known relative difference of netloom; otherwise 0.
    difference: f64,
    cause: String,
    is_long: bool,
}

/// The fields of a line: those in quotation marks may have commas, and a doubled mark is one.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let field = fields.last_mut().expect("there is one");
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

fn figures() -> Vec<Figure> {
    let mut lines = PEERS.lines();
    let header = "peer,version,configuration,keys,seeds,window,quantity,value,tolerance,\
                  difference,cause,when";
    assert_eq!(lines.next(), Some(header));
    lines
        .map(|line| {
            let fields: [String; 12] = fields(line).try_into().expect("twelve fields");
            let [
                peer,
                version,
                configuration,
                keys,
                seeds,
                window,
                quantity,
                value,
                tolerance,
                difference,
                cause,
                when,
            ] = fields;
            Figure {
                peer: format!("{peer} {version}"),
                configuration,
                keys: keys
                    .split("; ")
                    .filter(|key| !key.is_empty())
                    .map(String::from)
                    .collect(),
                seeds: seeds.parse().expect("a number of seeds"),
                window,
                quantity,
                value: value.parse().expect("a figure"),
                tolerance: tolerance.parse().expect("a tolerance"),
                difference: match difference.as_str() {
                    "" => 0.0,
                    difference => difference.parse().expect("a relative difference"),
                },
                cause,
                is_long: match when.as_str() {
                    "" => false,
                    "long" => true,
                    other => panic!("expected nothing or `long`, found {other}"),
                },
            }
        })
        .collect()
}

/// Returns a run, and a description of its window.
fn run_of(figure: &Figure, seed: u64) -> (Run, String) {
    let loaded = load(&Request {
        sets: &figure.keys,
        seed: Some(seed),
        ..Request::new("machine.toml", MACHINE)
    });
    let messages = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{messages}"));
    let options = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let run = run(&experiment, &options, &mut |_| Control::Continue)
        .document
        .run;
    // Windows end with epochs, which are a few cycles longer than a round time.
    let window = format!(
        "{:.0} us to {:.0} us",
        run.warmup_ns / 1000.0,
        run.length_ns / 1000.0
    );
    (run, window)
}

fn measured(figure: &Figure, run: &Run) -> f64 {
    let total = &run.total;
    let switches = total.switches_mean.expect("packets");
    let latency = total.latency_mean_ns.expect("messages") / CYCLE;
    match figure.quantity.as_str() {
        "accepted" => total.delivered_load,
        "switches" => switches,
        "latency" if figure.peer.starts_with("BookSim2") => latency + CYCLE_AT_THE_NIC,
        "latency" => latency,
        // For a packet of one flit: the time beyond three cycles per switch and one for the last
        // link.
        "wait" => latency - (3.0 * switches + 1.0),
        other => panic!("unknown quantity {other}"),
    }
}

/// Every known difference has a cause, and the band around it does not contain agreement.
#[test]
fn known_differences_have_a_cause() {
    for figure in figures() {
        let name = &figure.configuration;
        assert!(figure.tolerance > 0.0, "{name}");
        assert_eq!(figure.difference == 0.0, figure.cause.is_empty(), "{name}");
        let is_known = figure.difference == 0.0 || figure.difference.abs() > figure.tolerance;
        assert!(is_known, "{name}");
    }
}

#[test]
fn figures_of_other_simulators_are_met() {
    let is_all = std::env::var("NETLOOM_PEERS").is_ok_and(|which| which == "all");
    let mut wrong = vec![];
    for figure in figures() {
        if figure.is_long && !is_all {
            continue;
        }
        let n_seeds = if is_all { figure.seeds } else { 1 };
        let mut here = 0.0;
        let mut windows = vec![];
        for seed in 1..=n_seeds {
            let (run, window) = run_of(&figure, seed);
            here += measured(&figure, &run) / n_seeds as f64;
            windows.push(window);
        }
        let off = here / figure.value - 1.0;
        let line = format!(
            "{}, {}: {} {} there, {here:.4} here, {:+.2} %",
            figure.peer,
            figure.configuration,
            figure.quantity,
            figure.value,
            100.0 * off
        );
        println!("{line}");
        let is_right = (off - figure.difference).abs() <= figure.tolerance;
        let window = windows.iter().find(|window| **window != figure.window);
        if !is_right || window.is_some() {
            let (expected, band) = (100.0 * figure.difference, 100.0 * figure.tolerance);
            wrong.push(format!(
                "{line}, expected {expected:+.1} % within {band:.1} % (windows {windows:?})"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
