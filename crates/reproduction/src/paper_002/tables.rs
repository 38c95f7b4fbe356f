//! The data of the figures that `claims.toml` does not write.

use netloom_design::cost::buffers::{PortGroup, cable_delay, idle_buffer};
use netloom_results::{Cell, Column, Csv};
use netloom_units::{Bytes, Rate, Ratio};

use crate::{Outcome, Results, points_csv};

/// Returns these tables by name.
pub(super) fn tables(results: &Results) -> Vec<(&'static str, String)> {
    vec![
        ("points", points_csv(results)),
        ("distribution", distribution(results)),
        ("buffers", buffers()),
    ]
}

/// The part of the names of series for each machine.
const MACHINES: [&str; 2] = ["", "72 nodes "];

/// The series around the onset of aggressors.
const ONSET: [&str; 5] = [
    "S002-4 {}baseline",
    "S002-4 {}100 %",
    "S002-4 {}50 %",
    "S002-5 {}alone",
    "S002-4 {}without ECN",
];

/// The columns of `distribution.csv`.
const DISTRIBUTION: &[Column] = &[
    Column::new("series", "", "Scenario, machine and switch."),
    Column::new("latency_ns", "ns", "Latency: the upper end of a bucket."),
    Column::new(
        "share",
        "fraction",
        "Share of the victims' packets received after the onset with at most this network latency, over \
         all seeds.",
    ),
];

/// Returns bucket ends and counts of the victims' packets.
fn buckets(outcome: &Outcome) -> Option<Vec<(f64, f64)>> {
    let table = outcome.table("histograms")?;
    let (class, latency) = (table.column("class")?, table.column("latency")?);
    let (to, count) = (table.column("to_ns")?, table.column("count")?);
    let own =
        |&line: &usize| class.text(line) == Some("victim") && latency.text(line) == Some("network");
    let bucket = |line| Some((to.number(line)?, count.number(line)?));
    (0..table.len()).filter(own).map(bucket).collect()
}

/// Figure 7b.
fn distribution(results: &Results) -> String {
    let mut csv = Csv::new(&[DISTRIBUTION]);
    for part in MACHINES {
        for case in ONSET {
            let series = case.replace("{}", part);
            let is_own = |own: &str| own == series;
            if results.lacking.iter().any(|(own, _)| is_own(own)) {
                continue;
            }
            let own = results
                .outcomes
                .iter()
                .filter(|own| is_own(&own.run.series));
            let mut counts: Vec<(f64, f64)> = own.filter_map(buckets).flatten().collect();
            counts.sort_by(|a, b| a.0.total_cmp(&b.0));
            let total: f64 = counts.iter().map(|bucket| bucket.1).sum();
            let mut below = 0.0;
            for (at, (end, count)) in counts.iter().enumerate() {
                below += count;
                // Seeds have the same buckets.
                if counts.get(at + 1).is_none_or(|next| next.0 > *end) {
                    let share = below / total;
                    csv.line([series.clone(), end.cell(), share.cell()]);
                }
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
