//! Runs over several seeds, and their deviation from theory.

use netloom_experiment::render;
use netloom_experiment::runner::{Control, RunOptions, run};
use netloom_experiment::spec::{Request, load};
use netloom_metrics::over_seeds;
use netloom_results::Run;

/// A cycle in nanoseconds.
pub(crate) const CYCLE: f64 = 5.12;

/// Links without length and a switch of three cycles: a flit on the link, a cycle of routing, one
/// over the crossbar. A packet of S flits without other traffic on its path over H switches takes 3
/// H + 1 + (S - 1) cycles: three for each switch and its input link, one for the last link, and one
/// for every flit after the header.
pub(crate) const MACHINE: &str = "\
netloom = 1
[link]
delay = \"0 ns\"
[switch.pipeline]
input = 0
routing = 1
allocation = 0
crossbar = 1
output = 0
credit = 1
";

/// That time.
pub(crate) fn unloaded(switches: f64, flits: u32) -> f64 {
    3.0 * switches + 1.0 + f64::from(flits - 1)
}

/// The runs of [`MACHINE`] with further lines, one for each seed from 1 on.
pub(crate) fn runs(more: &str, seeds: u32, length: &str) -> Vec<Run> {
    let text = format!(
        "{MACHINE}{more}[measure]\nrepeat = {seeds}\nwarmup = \"20 us\"\nlength = \"{length}\"\n"
    );
    let loaded = load(&Request::new("theory.toml", &text));
    let messages = render(&loaded.document, &loaded.notes, false);
    let experiment = loaded.experiment.unwrap_or_else(|| panic!("{messages}"));
    let options = RunOptions {
        tables: false,
        ..RunOptions::default()
    };
    let result = run(&experiment, &options, &mut |_| Control::Continue);
    result.document.runs().cloned().collect()
}

/// Mean message latency of a run, in cycles.
pub(crate) fn latency(run: &Run) -> f64 {
    run.total.latency_mean_ns.expect("messages") / CYCLE
}

/// The same of one class.
pub(crate) fn class_latency(run: &Run, class: usize) -> f64 {
    let summary = &run.classes[class].summary;
    summary.latency_mean_ns.expect("messages") / CYCLE
}

/// Checks that the mean over seeds is within `tolerance` of theory, and so is the half width of its
/// 95 % interval: a mean that is right by chance does not count.
#[track_caller]
pub(crate) fn assert_near(what: &str, values: &[f64], theory: f64, tolerance: f64) {
    let interval = over_seeds(values).expect("several seeds");
    println!(
        "{what}: {:.4} ± {:.4}, theory {theory:.4}",
        interval.mean, interval.half_width
    );
    assert!(
        (interval.mean - theory).abs() <= tolerance && interval.half_width <= tolerance,
        "{what}: {:.4} ± {:.4} over {} seeds, theory says {theory:.4} ± {tolerance}",
        interval.mean,
        interval.half_width,
        values.len(),
    );
}
