//! The measured points as CSV, the data of figures.

use netloom_results::{Cell, Column, Csv};

use crate::{Measured, Results};

/// The columns of `points.csv`.
const POINT: &[Column] = &[
    Column::new("series", "", "Scenario and variant."),
    Column::new(
        "load",
        "fraction",
        "Nominal load offered by all classes together.",
    ),
    Column::new("class", "", "Traffic class."),
    Column::new("seeds", "", "Number of runs in the means."),
    Column::new("offered_load", "fraction", "Load created by the workload."),
    Column::new("delivered_load", "fraction", "Load received."),
    Column::new(
        "share",
        "fraction",
        "Delivered load divided by offered load.",
    ),
    Column::new(
        "share_half_width",
        "fraction",
        "Half width of the 95 % interval over seeds.",
    ),
    Column::new(
        "latency_mean_ns",
        "ns",
        "Mean time from the creation of a message to its last flit.",
    ),
    Column::new(
        "latency_half_width_ns",
        "ns",
        "Half width of the 95 % interval over seeds.",
    ),
    Column::new("latency_p99_ns", "ns", "99 % quantile, mean over seeds."),
    Column::new(
        "network_latency_mean_ns",
        "ns",
        "Mean time from the first flit leaving the NIC to the last flit received.",
    ),
];

/// Returns the table `points.csv`: a line for each series, load and class.
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
        "Nominal load offered by all classes together.",
    ),
    Column::new("seed", "", "Seed of the run."),
    Column::new("status", "", "Status of the run."),
    Column::new("digest", "", "Digest of all deliveries."),
    Column::new(
        "packet_hops",
        "",
        "Packets forwarded by switches, counted once per switch.",
    ),
    Column::new(
        "waiting_messages",
        "",
        "Messages that had not completely left their NIC at the end.",
    ),
    Column::new(
        "input_buffer_mean_flits",
        "flits",
        "Mean occupancy of an input buffer.",
    ),
    Column::new(
        "input_buffer_fullest_mean_flits",
        "flits",
        "Mean occupancy of the fullest input buffer.",
    ),
    Column::new(
        "output_buffer_mean_flits",
        "flits",
        "Mean occupancy of an output buffer.",
    ),
];

/// Returns the table `runs.csv`: a line for each run, which identifies it.
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
