//! The table of all points and classes with their intervals.

use netloom_results::view::Line;
use netloom_results::view::number::{self, TimeUnit};

use crate::points::{Study, sign};
use crate::table::{Cell, Head, Table};

/// The metric of finite work.
const COMPLETION: &str = "completion_time_ns";

/// Columns of times: names in files, and titles. Completion times are shown only for finite work.
const TIMES: [(&str, &str); 6] = [
    (COMPLETION, "Completion"),
    ("latency_mean_ns", "Mean"),
    ("latency_p50_ns", "p50"),
    ("latency_p99_ns", "p99"),
    ("latency_p999_ns", "p99.9"),
    ("jitter_mean_ns", "Jitter"),
];

/// Further columns of jobs, shown only if a class has them.
const OF_JOBS: [(&str, &str); 4] = [
    ("algorithm_bandwidth", "Algorithm bandwidth (GB/s)"),
    ("bus_bandwidth", "Bus bandwidth (GB/s)"),
    ("rank_imbalance", "Slowest rank / mean"),
    ("slowdown", "Slowdown"),
];

/// Creates the table: a line for the total of each point, then one per class.
pub(crate) fn table(study: &Study) -> Table {
    let lines = || {
        study
            .points
            .iter()
            .flat_map(|point| std::iter::once(&point.total).chain(&point.classes))
    };
    let has_any = |metric: &str| lines().any(|line| line.mean(metric).is_some());
    let is_shown = |(metric, _): &(&str, &str)| *metric != COMPLETION || has_any(metric);
    let times: Vec<(&str, &str)> = TIMES.into_iter().filter(is_shown).collect();
    let of_jobs: Vec<(&str, &str)> = OF_JOBS
        .into_iter()
        .filter(|(metric, _)| has_any(metric))
        .collect();
    let units: Vec<TimeUnit> = times
        .iter()
        .map(|(metric, _)| TimeUnit::of_column(lines().filter_map(|line| line.mean(metric))))
        .collect();
    let mut heads: Vec<Head> = vec![Head::text("Series")];
    let has_loads = study.load_axis.is_some();
    if has_loads {
        heads.push(Head::number("Load", "load"));
    }
    heads.push(Head::text("Class"));
    heads.push(Head::text("State"));
    heads.push(Head::number("Offered", "offered_load"));
    heads.push(Head::number("Delivered", "delivered_load"));
    for ((metric, title), unit) in times.iter().zip(&units) {
        heads.push(Head::number(&format!("{title} ({})", unit.sign), metric));
    }
    for (metric, title) in &of_jobs {
        heads.push(Head::number(title, metric));
    }
    heads.push(Head::number("Fairness", "fairness_jain"));
    let mut table = Table {
        id: "classes",
        caption:
            "Message latencies are from creation to the last flit; ± is the half width of the 95 % \
             interval over seeds. Loads are fractions of the NIC links."
                .into(),
        heads,
        lines: vec![],
    };
    for point in &study.points {
        let (sign, style, words) = sign(point.verdict);
        let state = format!(
            "<span class=\"{style}\" title=\"{words}\"><span class=\"sign\">{sign}</span><span \
             class=\"unseen\"> {words}</span></span>"
        );
        let mut add = |line: &Line, class: Cell| {
            let mut cells = vec![Cell::Name(study.series[point.series].clone())];
            if has_loads {
                let load = point.load.map(number::plain).unwrap_or_default();
                cells.push(Cell::Number(point.load, load));
            }
            cells.push(class);
            cells.push(Cell::Html(state.clone()));
            cells.push(Cell::Load(line.get("offered_load")));
            cells.push(Cell::Load(line.get("delivered_load")));
            for ((metric, _), unit) in times.iter().zip(&units) {
                cells.push(Cell::Estimate(line.get(metric), unit.ns));
            }
            for (metric, _) in &of_jobs {
                cells.push(Cell::Estimate(line.get(metric), 1.0));
            }
            cells.push(Cell::Load(line.get("fairness_jain")));
            table.lines.push(cells);
        };
        add(&point.total, Cell::Html("<em>total</em>".into()));
        for line in &point.classes {
            add(line, Cell::Name(line.class.clone()));
        }
    }
    table
}
