//! Comparisons with other simulators.
//!
//! A line of `peers.csv` has a figure of another simulator: its configuration, the equivalent keys
//! of netloom over `machine.toml`, the seed and window of netloom's run, the quantity, the figure,
//! and the relative tolerance. If both are known to differ, the line has the reason in place of a
//! tolerance, and the test checks that they still differ. Beyond saturation only accepted load is
//! compared, since latency then depends on the length of the run.

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

/// A figure counts as different if it is further away than this.
const NOTICEABLE: f64 = 0.03;

struct Figure {
    peer: String,
    configuration: String,
    keys: Vec<String>,
    seed: u64,
    window: String,
    quantity: String,
    value: f64,
    tolerance: Option<f64>,
    difference: String,
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
    let header = "peer,version,configuration,keys,seed,window,quantity,value,tolerance,difference";
    assert_eq!(lines.next(), Some(header));
    lines
        .map(|line| {
            let fields: [String; 10] = fields(line).try_into().expect("ten fields");
            let [
                peer,
                version,
                configuration,
                keys,
                seed,
                window,
                quantity,
                value,
                tolerance,
                difference,
            ] = fields;
            Figure {
                peer: format!("{peer} {version}"),
                configuration,
                keys: keys
                    .split("; ")
                    .filter(|key| !key.is_empty())
                    .map(String::from)
                    .collect(),
                seed: seed.parse().expect("a seed"),
                window,
                quantity,
                value: value.parse().expect("a figure"),
                tolerance: (!tolerance.is_empty()).then(|| tolerance.parse().expect("a tolerance")),
                difference,
            }
        })
        .collect()
}

/// The run, and a description of its window.
fn run_of(figure: &Figure) -> (Run, String) {
    let loaded = load(&Request {
        sets: &figure.keys,
        seed: Some(figure.seed),
        ..Request::new("machine.toml", MACHINE)
    });
    let said = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{said}"));
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

#[test]
fn figures_of_other_simulators_are_met() {
    let mut wrong = vec![];
    for figure in figures() {
        let (run, window) = run_of(&figure);
        let here = measured(&figure, &run);
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
        let is_right = match figure.tolerance {
            Some(tolerance) => off.abs() <= tolerance && figure.difference.is_empty(),
            None => off.abs() > NOTICEABLE && !figure.difference.is_empty(),
        };
        if !is_right || window != figure.window {
            wrong.push(format!("{line} (window {window})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
