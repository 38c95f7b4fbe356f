//! Runs an experiment and a study, compares two variants and plans a port, all in memory: no file
//! is read or written.

use std::sync::Arc;

use netloom::experiment::spec::{open, read_plan};
use netloom::results::compare::Metric;
use netloom::study::running::Options;
use netloom::{
    Collection, Control, Experiment, Files, MemoryFiles, MemoryStore, Request, RunOptions, Study,
    compare_by, load, plan, render, run,
};

/// Two classes share the output to NIC 0. Without weights, bulk traffic takes half of it.
const EXPERIMENT: &str = r#"
netloom = 1
name = "shared-output"

[topology]
kind = "single-switch"
ports = 4

[switch]
speedup = 2

[qos]
vls = 2

[[traffic]]
name = "control"
sl = 0
load = 0.6
message = "256 B"
pattern = { kind = "pairs", pairs = [[1, 0]] }

[[traffic]]
name = "bulk"
sl = 1
load = 0.3
message = "4 KiB"
pattern = { kind = "pairs", pairs = [[2, 0]] }

[measure]
length = "300 us"
repeat = 5
"#;

/// The same experiment with two arbiters.
const VARIANTS: &str = r#"
[[study.variant]]
name = "turns"
set = { "qos.arbiter" = "round-robin" }

[[study.variant]]
name = "weights"
set = { "qos.arbiter" = { kind = "wfq", weights = [[0, 3], [1, 1]] } }
"#;

/// What two classes need of a port of an InfiniBand switch.
const NEEDS: &str = r#"
[plan]
entries = 8

[[plan.class]]
name = "control"
share = 0.05
packet = "256 B"
deadline = "5 us"

[[plan.class]]
name = "bulk"
share = 0.95
"#;

/// Public for the test that runs it where nothing can be written.
pub fn main() {
    let result = one_run();
    print("one run", &result);
    let study = two_variants();
    print("two variants", &study);
    compare_variants(&study);
    plan_port();
}

/// Runs one experiment, with five seeds.
fn one_run() -> Collection {
    let loaded = load(&Request::new("shared-output.toml", EXPERIMENT));
    let experiment: Experiment = loaded
        .experiment
        .unwrap_or_else(|| panic!("{}", render(&loaded.document, &loaded.notes, false)));
    let result = run(&experiment, &RunOptions::default(), &mut |_| {
        Control::Continue
    });
    result.collection(&experiment)
}

/// Runs all points and seeds of a study, on all cores.
fn two_variants() -> Collection {
    let text = [EXPERIMENT, VARIANTS].concat();
    let opened = Study::open(&Request::new("shared-output.toml", &text));
    let study = opened
        .study
        .unwrap_or_else(|| panic!("{}", render(&opened.document, &opened.notes, false)));
    let store = MemoryStore::new();
    let finished = study
        .run(&store, &Options::default(), &|_| Control::Continue)
        .expect("memory can be written");
    assert!(finished.failed.is_empty(), "{:?}", finished.failed);
    study.collection(&store, false).expect("all runs are done")
}

/// Prints the latency of every class at every point.
fn print(title: &str, results: &Collection) {
    println!("{title}:");
    let points = results.table("points").expect("there are points");
    let text = |line, column: &str| match points.column(column) {
        Some(column) => column.values.datum(line).to_string(),
        None => String::new(),
    };
    for line in (0..points.len()).filter(|&line| text(line, "scope") == "class") {
        let [variant, class, p99] =
            ["variant", "class", "latency_p99_ns"].map(|name| text(line, name));
        println!("  {variant:<8} {class:<8} {p99} ns");
    }
}

/// Prints the significant differences between the variants.
fn compare_variants(study: &Collection) {
    let compared = compare_by(study, "variant", &Metric::usual(), &[]).expect("two variants");
    for comparison in compared {
        println!("{}", comparison.text(false, Some(100)));
    }
}

/// Computes tables that give both classes what they need, and prints them.
fn plan_port() {
    let mut opened = open(&Request::new("port.toml", NEEDS));
    let no_files: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    let request = read_plan(&opened.document, &no_files, &mut opened.notes);
    let plan = plan(&request.expect("no mistakes")).expect("tables that meet all needs");
    println!("{plan}");
}
