//! The measured points as CSV: what a figure is drawn from.

use netloom_results::{Cell, Column, Csv};

use crate::{Measured, Results};

/// The columns of `points.csv`.
const POINT: &[Column] = &[
    Column::new("series", "", "Scenario and variant."),
    Column::new(
        "load",
        "fraction",
        "Offered by all classes together, nominal.",
    ),
    Column::new("class", "", "The traffic class."),
    Column::new("seeds", "", "How many runs the means are over."),
    Column::new("offered_load", "fraction", "What the workload created."),
    Column::new("delivered_load", "fraction", "What was received."),
    Column::new("share", "fraction", "Delivered over offered."),
    Column::new(
        "share_half_width",
        "fraction",
        "Half width of its 95 % interval over seeds.",
    ),
    Column::new(
        "latency_mean_ns",
        "ns",
        "From the creation of a message to its last flit.",
    ),
    Column::new(
        "latency_half_width_ns",
        "ns",
        "Half width of its 95 % interval over seeds.",
    ),
    Column::new("latency_p99_ns", "ns", "99 % quantile, mean over seeds."),
    Column::new(
        "network_latency_mean_ns",
        "ns",
        "From the first flit leaving the NIC to the last received.",
    ),
];

/// The table `points.csv`: a line for each series, load and class.
pub fn points_csv(results: &Results) -> String {
    let mut csv = Csv::new(&[POINT]);
    for name in results.names() {
        for point in results.series(name).points {
            for class in &point.runs[0].classes {
                let class = class.class.as_str();
                let mean = |values: Option<Vec<f64>>| {
                    values
                        .and_then(|values| Measured::over(&values))
                        .map(|m| m.mean)
                };
                let (share, latency) = (point.share(class), point.latency(class));
                csv.line([
                    name.to_owned(),
                    point.load.cell(),
                    class.to_owned(),
                    point.runs.len().to_string(),
                    mean(point.values(class, |s| Some(s.offered_load))).cell(),
                    mean(point.values(class, |s| Some(s.delivered_load))).cell(),
                    share.map(|m| m.mean).cell(),
                    share.and_then(|m| m.half_width).cell(),
                    latency.map(|m| m.mean).cell(),
                    latency.and_then(|m| m.half_width).cell(),
                    mean(point.values(class, |s| s.latency_p99_ns)).cell(),
                    mean(point.values(class, |s| s.network_latency_mean_ns)).cell(),
                ]);
            }
        }
    }
    csv.finish()
}

/// The columns of `runs.csv`.
const RUN: &[Column] = &[
    Column::new("series", "", "Scenario and variant."),
    Column::new(
        "load",
        "fraction",
        "Offered by all classes together, nominal.",
    ),
    Column::new("seed", "", "The seed of the run."),
    Column::new("status", "", "How it ended."),
    Column::new("digest", "", "Digest of all deliveries."),
    Column::new(
        "packet_hops",
        "",
        "Packets that crossed a switch, once for each switch.",
    ),
    Column::new(
        "waiting_messages",
        "",
        "Messages that had not wholly left their NIC at the end.",
    ),
    Column::new(
        "input_buffer_mean_flits",
        "flits",
        "Mean content of an input buffer.",
    ),
    Column::new(
        "input_buffer_fullest_mean_flits",
        "flits",
        "Mean content of the fullest one.",
    ),
    Column::new(
        "output_buffer_mean_flits",
        "flits",
        "Mean content of an output buffer.",
    ),
];

/// The table `runs.csv`: a line for each run, by which it can be recognised.
pub fn runs_csv(results: &Results) -> String {
    let mut csv = Csv::new(&[RUN]);
    for outcome in &results.outcomes {
        let (run, result) = (&outcome.run, &outcome.result);
        csv.line([
            run.series.to_owned(),
            run.load.cell(),
            run.seed.cell(),
            result.status.word().to_owned(),
            result.digest.clone(),
            result.counters.packet_hops.cell(),
            result.counters.waiting_messages.cell(),
            result.links.input_buffer_mean_flits.cell(),
            result.links.input_buffer_fullest_mean_flits.cell(),
            result.links.output_buffer_mean_flits.cell(),
        ]);
    }
    csv.finish()
}
