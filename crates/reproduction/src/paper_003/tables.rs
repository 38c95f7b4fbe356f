//! The data of the figures as CSV.

use netloom_results::{Cell, Column, Csv};

use super::arbiters::Arbiter;
use super::completion::{Metric, value};
use super::efficiency::epochs;
use super::scenarios::{CLASSES, SCENARIOS};
use super::search::VARIANTS;
use super::throughput::{HOSTS, Quartiles, samples};
use crate::{Results, points_csv};

/// Returns all tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("points", points_csv(results)),
        ("throughput", throughput(results)),
        ("latency", latency(results)),
        ("completion", completion(results)),
        ("efficiency", efficiency(results)),
    ]
}

const RUN: &[Column] = &[
    Column::new("series", "", "Scenario and arbiter."),
    Column::new("seed", "", "Seed of the run."),
    Column::new("class", "", "Traffic class."),
];

/// The columns of `throughput.csv`.
const THROUGHPUT: &[Column] = &[
    Column::new("target_percent", "%", "Share by the table, of a link."),
    Column::new(
        "least_percent",
        "%",
        "Minimum over hosts of the injected load, of a host's link.",
    ),
    Column::new("low_percent", "%", "First quartile over hosts."),
    Column::new("median_percent", "%", "Median over hosts."),
    Column::new("high_percent", "%", "Third quartile over hosts."),
    Column::new("most_percent", "%", "Maximum over hosts."),
    Column::new("mean_percent", "%", "Mean over hosts."),
];

/// Returns the boxes of Figures 11, 14 and 17.
fn throughput(results: &Results) -> String {
    let mut csv = Csv::new(&[RUN, THROUGHPUT]);
    for scenario in SCENARIOS {
        for arbiter in Arbiter::ALL {
            for outcome in scenario.outcomes(results, arbiter).unwrap_or_default() {
                for (n, class) in CLASSES.iter().enumerate() {
                    let own = outcome.table(HOSTS).and_then(|hosts| samples(hosts, class));
                    let Some(own) = own else { continue };
                    let Some(quartiles) = Quartiles::of(own.clone()) else {
                        continue;
                    };
                    let fold = |of: fn(f64, f64) -> f64| own.iter().copied().reduce(of);
                    csv.line([
                        outcome.run.series.to_owned(),
                        outcome.run.seed.cell(),
                        (*class).to_owned(),
                        scenario.target(n).cell(),
                        fold(f64::min).cell(),
                        quartiles.low.cell(),
                        quartiles.median.cell(),
                        quartiles.high.cell(),
                        fold(f64::max).cell(),
                        (own.iter().sum::<f64>() / own.len() as f64).cell(),
                    ]);
                }
            }
        }
    }
    csv.finish()
}

/// The columns of `latency.csv`.
const LATENCY: &[Column] = &[
    Column::new(
        "packet_mean_ns",
        "ns",
        "Mean time from generation to arrival.",
    ),
    Column::new("packet_p99_ns", "ns", "99 % quantile of that time."),
    Column::new(
        "network_mean_ns",
        "ns",
        "Mean time from injection to arrival.",
    ),
    Column::new("network_p99_ns", "ns", "99 % quantile of that time."),
];

/// Figures 12, 13, 15, 16, 18 and 19.
fn latency(results: &Results) -> String {
    let mut csv = Csv::new(&[RUN, LATENCY]);
    for outcome in &results.outcomes {
        for class in &outcome.result.classes {
            csv.line([
                outcome.run.series.to_owned(),
                outcome.run.seed.cell(),
                class.class.clone(),
                class.summary.packet_latency_mean_ns.cell(),
                class.summary.packet_latency_p99_ns.cell(),
                class.summary.network_latency_mean_ns.cell(),
                class.summary.network_latency_p99_ns.cell(),
            ]);
        }
    }
    csv.finish()
}

/// The columns of `completion.csv`.
const COMPLETION: &[Column] = &[
    Column::new("series", "", "Table and arbiter."),
    Column::new("seed", "", "Seed of the run."),
    Column::new(
        "execution_ns",
        "ns",
        "Time of the application's last delivery.",
    ),
    Column::new("fct_mean_ns", "ns", "Mean flow completion time."),
    Column::new("fct_p50_ns", "ns", "Median flow completion time."),
    Column::new("fct_p75_ns", "ns", "75 % quantile."),
    Column::new("fct_p90_ns", "ns", "90 % quantile."),
    Column::new("fct_p99_ns", "ns", "99 % quantile."),
    Column::new(
        "below_1_ms",
        "fraction",
        "Share of flows that complete in less than 1 ms.",
    ),
];

/// Figures 20 and 21, Table 9; empty if the application did not finish.
fn completion(results: &Results) -> String {
    let mut csv = Csv::new(&[COMPLETION]);
    for variant in VARIANTS {
        for outcome in variant.outcomes(results).unwrap_or_default() {
            let mean = outcome.result.classes.first();
            let mut cells = vec![
                outcome.run.series.to_owned(),
                outcome.run.seed.cell(),
                value(outcome, Metric::Execution).cell(),
                mean.and_then(|class| class.summary.latency_mean_ns).cell(),
            ];
            for metric in [Metric::Median, Metric::P75, Metric::P90, Metric::P99] {
                cells.push(value(outcome, metric).cell());
            }
            cells.push(value(outcome, Metric::BelowMillisecond).cell());
            csv.line(cells);
        }
    }
    csv.finish()
}

/// The columns of `efficiency.csv`.
const EFFICIENCY: &[Column] = &[
    Column::new("time_ns", "ns", "End of the epoch."),
    Column::new("offered_load", "fraction", "Load generated in the epoch."),
    Column::new("delivered_load", "fraction", "Load delivered in the epoch."),
];

/// Figures 1 and 22, of the first seed.
fn efficiency(results: &Results) -> String {
    let mut csv = Csv::new(&[RUN, EFFICIENCY]);
    for variant in VARIANTS {
        let Some(first) = variant
            .outcomes(results)
            .and_then(|all| all.first().copied())
        else {
            continue;
        };
        for class in &first.result.classes {
            for epoch in epochs(first, &class.class).unwrap_or_default() {
                csv.line([
                    variant.series.to_owned(),
                    first.run.seed.cell(),
                    class.class.clone(),
                    epoch.end_ns.cell(),
                    epoch.offered.cell(),
                    epoch.delivered.cell(),
                ]);
            }
        }
    }
    csv.finish()
}
