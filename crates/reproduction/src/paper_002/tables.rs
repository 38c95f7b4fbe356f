//! The data of the figures.

use netloom_design::cost::buffers::{PortGroup, cable_delay, idle_buffer};
use netloom_results::{Cell, Column, Csv};
use netloom_units::{Bytes, Rate, Ratio};

use super::applications::{APPLICATIONS, execution_ns};
use super::scenarios::{BURSTS, HISTOGRAMS, ONSET, PROGRAMS, UNIFORM};
use super::series::whole;
use super::switches::Switch::{Baseline, Full, Half, Quarter};
use super::{bursts, onset, uniform};
use crate::order::mean;
use crate::{Outcome, Results, points_csv};

/// Returns all tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("points", points_csv(results)),
        ("uniform", uniform(results)),
        ("applications", applications(results)),
        ("onset", onset(results)),
        ("distribution", distribution(results)),
        ("bursts", bursts(results)),
        ("buffers", buffers()),
    ]
}

const SERIES: Column = Column::new("series", "", "Scenario, machine and switch.");
const SEEDS: Column = Column::new("seeds", "", "Number of runs in the means.");

/// The columns of `uniform.csv`.
const CURVE: &[Column] = &[
    SERIES,
    Column::new("load", "fraction", "Nominal offered load."),
    SEEDS,
    Column::new("offered_load", "fraction", "Load created by the workload."),
    Column::new("accepted_load", "fraction", "Load received."),
    Column::new("latency_mean_ns", "ns", "Mean latency of a packet."),
    Column::new(
        "round_trip_ns",
        "ns",
        "Mean lifetime of a copy; empty without copies.",
    ),
    Column::new(
        "little_load",
        "fraction",
        "Load that Little's law allows with this round trip and capacity.",
    ),
];

/// Figure 5.
fn uniform(results: &Results) -> String {
    let mut csv = Csv::new(&[CURVE]);
    for scenario in UNIFORM {
        for switch in [Baseline, Full, Half, Quarter] {
            let Ok(points) = uniform::curve(results, scenario, switch) else {
                continue;
            };
            for point in points {
                let round_trip = point.round_trip_ns.as_deref().map(mean);
                let little = |ns| scenario.machine.little(switch.capacity(), ns);
                csv.line([
                    scenario.series(switch).to_owned(),
                    point.load.cell(),
                    point.accepted.len().to_string(),
                    mean(&point.offered).cell(),
                    mean(&point.accepted).cell(),
                    mean(&point.latency_ns).cell(),
                    round_trip.cell(),
                    round_trip.map(little).cell(),
                ]);
            }
        }
    }
    csv.finish()
}

/// The columns of `applications.csv`.
const EXECUTION: &[Column] = &[
    Column::new("series", "", "Scenario, machine, application and switch."),
    Column::new("application", "", "Name of the application in the paper."),
    Column::new("switch", "", "Switch."),
    SEEDS,
    Column::new(
        "execution_us",
        "us",
        "Time until the last message was received.",
    ),
    Column::new(
        "ratio",
        "",
        "Execution time divided by that of the baseline, mean over seeds; empty without a \
         baseline.",
    ),
];

/// Figure 6.
fn applications(results: &Results) -> String {
    let mut csv = Csv::new(&[EXECUTION]);
    for scenario in PROGRAMS {
        for application in &APPLICATIONS {
            let cases = application.cases(scenario.machine);
            let times = |series: &str| -> Option<Vec<f64>> {
                let all = whole(results, series).ok()?;
                all.into_iter().map(execution_ns).collect()
            };
            let baseline = times(cases[0].series);
            for case in cases {
                let Some(own) = times(case.series) else {
                    continue;
                };
                let ratio = baseline.as_ref().map(|baseline| {
                    let both = own.iter().zip(baseline);
                    mean(&both.map(|(own, other)| own / other).collect::<Vec<_>>())
                });
                csv.line([
                    case.series.to_owned(),
                    application.name.to_owned(),
                    case.switch.word().to_owned(),
                    own.len().to_string(),
                    (mean(&own) / 1000.0).cell(),
                    ratio.cell(),
                ]);
            }
        }
    }
    csv.finish()
}

/// The columns of `onset.csv`.
const COURSE: &[Column] = &[
    SERIES,
    Column::new("time_us", "us", "End of the bin."),
    SEEDS,
    Column::new(
        "victim_latency_ns",
        "ns",
        "Mean latency of the victims' packets received in the bin.",
    ),
    Column::new(
        "victim_accepted",
        "fraction",
        "Load received by victims, as a fraction of their links.",
    ),
    Column::new(
        "watched_flits_per_cycle",
        "flits/cycle",
        "Load sent by aggressors to one hot spot.",
    ),
    Column::new(
        "watched_stash_flits",
        "flits",
        "Occupancy of the stashes of its switch at the end of the bin.",
    ),
    Column::new(
        "watched_stash_share",
        "fraction",
        "Occupancy of these stashes as a fraction of their capacity; empty without stashes.",
    ),
];

/// Figures 7a and 8.
fn onset(results: &Results) -> String {
    let mut csv = Csv::new(&[COURSE]);
    for scenario in ONSET {
        for case in scenario.cases {
            let Ok(all) = whole(results, case.series) else {
                continue;
            };
            let courses = all.into_iter().map(|one| onset::course(scenario, one));
            let Some(courses) = courses.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let capacity = case.switch.capacity() * scenario.machine.stash_bytes() / 10.0;
            for (at, bin) in courses[0].iter().enumerate() {
                let over = |of: fn(&onset::Bin) -> f64| {
                    let own = courses.iter().filter_map(|bins| bins.get(at));
                    mean(&own.map(of).collect::<Vec<_>>())
                };
                let held = over(|bin| bin.held_flits);
                csv.line([
                    case.series.to_owned(),
                    bin.end_us.cell(),
                    courses.len().to_string(),
                    over(|bin| bin.latency_ns).cell(),
                    over(|bin| bin.accepted).cell(),
                    over(|bin| bin.watched).cell(),
                    held.cell(),
                    (capacity > 0.0).then(|| held / capacity).cell(),
                ]);
            }
        }
    }
    csv.finish()
}

/// The columns of `distribution.csv`.
const DISTRIBUTION: &[Column] = &[
    SERIES,
    Column::new("latency_ns", "ns", "Latency: the upper end of a bucket."),
    Column::new(
        "share",
        "fraction",
        "Share of the victims' packets received after the onset with at most this latency, over \
         all seeds.",
    ),
];

/// Returns bucket ends and counts of the victims' packets.
fn buckets(outcome: &Outcome) -> Option<Vec<(f64, f64)>> {
    let table = outcome.table(HISTOGRAMS)?;
    let (class, latency) = (table.column("class")?, table.column("latency")?);
    let (to, count) = (table.column("to_ns")?, table.column("count")?);
    let own = |&line: &usize| {
        class.text(line) == Some(onset::VICTIM) && latency.text(line) == Some("packet")
    };
    let bucket = |line| Some((to.number(line)?, count.number(line)?));
    (0..table.len()).filter(own).map(bucket).collect()
}

/// Figure 7b.
fn distribution(results: &Results) -> String {
    let mut csv = Csv::new(&[DISTRIBUTION]);
    for scenario in ONSET {
        for case in scenario.cases {
            let Ok(all) = whole(results, case.series) else {
                continue;
            };
            let mut counts: Vec<(f64, f64)> =
                all.into_iter().filter_map(buckets).flatten().collect();
            counts.sort_by(|a, b| a.0.total_cmp(&b.0));
            let total: f64 = counts.iter().map(|bucket| bucket.1).sum();
            let mut below = 0.0;
            for (at, (end, count)) in counts.iter().enumerate() {
                below += count;
                // Seeds have the same buckets.
                if counts.get(at + 1).is_none_or(|next| next.0 > *end) {
                    let share = below / total;
                    csv.line([case.series.to_owned(), end.cell(), share.cell()]);
                }
            }
        }
    }
    csv.finish()
}

/// The columns of `bursts.csv`.
const BURST: &[Column] = &[
    SERIES,
    Column::new("packets", "", "Packets per message of an aggressor."),
    SEEDS,
    Column::new(
        "victim_p90_ns",
        "ns",
        "90 % quantile of the victims' latency.",
    ),
    Column::new(
        "victim_accepted",
        "fraction",
        "Load received by victims, as a fraction of their links.",
    ),
];

/// Figure 9.
fn bursts(results: &Results) -> String {
    let mut csv = Csv::new(&[BURST]);
    for scenario in BURSTS {
        for case in scenario.cases {
            let Ok(points) = bursts::curve(results, scenario, case.switch) else {
                continue;
            };
            for point in points {
                csv.line([
                    case.series.to_owned(),
                    point.packets.cell(),
                    point.p90_ns.len().to_string(),
                    mean(&point.p90_ns).cell(),
                    mean(&point.accepted).cell(),
                ]);
            }
        }
    }
    csv.finish()
}

/// The columns of `buffers.csv`.
const BUFFER: &[Column] = &[
    Column::new("ports", "", "Kind of ports: end, local, global, or all."),
    Column::new("ports_share", "fraction", "Share of the ports of a switch."),
    Column::new("cable_m", "m", "Length of their cables."),
    Column::new(
        "unused",
        "fraction",
        "Fraction of their buffers that is never used.",
    ),
];

/// Table I (S002-8): computed, independent of runs.
fn buffers() -> String {
    const PORTS: [(&str, u64, u64); 3] = [("end", 5, 1), ("local", 10, 5), ("global", 5, 100)];
    let group = |(name, n_ports, metres): (&str, u64, u64)| PortGroup {
        name: name.to_owned(),
        n_ports,
        delay: cable_delay(Ratio::whole(metres)),
    };
    let buffer = Bytes(10_000);
    let idle = idle_buffer(&PORTS.map(group), Rate(80_000_000_000), buffer, 2);
    let mut csv = Csv::new(&[BUFFER]);
    for ((name, n_ports, metres), group) in PORTS.into_iter().zip(&idle.groups) {
        csv.line([
            name.to_owned(),
            (n_ports as f64 / 20.0).cell(),
            metres.cell(),
            (group.idle.0 as f64 / buffer.0 as f64).cell(),
        ]);
    }
    let all = idle.idle.0 as f64 / idle.total.0 as f64;
    csv.line(["all".to_owned(), 1.0.cell(), String::new(), all.cell()]);
    csv.finish()
}
