//! The table of all points and classes with their intervals.

use netloom_results::described;
use netloom_results::view::number::{self, TimeUnit};
use netloom_results::view::{Line, Study};

use crate::signs::sign;
use crate::table::{Cell, Head, Table};

/// The metric of finite work.
const COMPLETION: &str = "completion_time_ns";

/// Columns of times. Completion times are shown only for finite work.
const TIMES: [&str; 6] = [
    COMPLETION,
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "jitter_mean_ns",
];

/// Further columns of jobs, shown only if a class has them.
const OF_JOBS: [&str; 4] = [
    "algorithm_bandwidth",
    "bus_bandwidth",
    "rank_imbalance",
    "slowdown",
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
    let is_shown = |metric: &&str| *metric != COMPLETION || has_any(metric);
    let times: Vec<&str> = TIMES.into_iter().filter(is_shown).collect();
    let of_jobs: Vec<&str> = OF_JOBS
        .into_iter()
        .filter(|metric| has_any(metric))
        .collect();
    let units: Vec<TimeUnit> = times
        .iter()
        .map(|metric| TimeUnit::of_column(lines().filter_map(|line| line.mean(metric))))
        .collect();
    let mut heads: Vec<Head> = vec![Head::text("Series")];
    let has_loads = study.load_axis.is_some();
    if has_loads {
        heads.push(Head::number("Load", "load"));
    }
    heads.push(Head::text("Class"));
    heads.push(Head::text("State"));
    heads.push(Head::column("offered_load", ""));
    heads.push(Head::column("delivered_load", ""));
    for (metric, unit) in times.iter().zip(&units) {
        heads.push(Head::column(metric, unit.sign));
    }
    for metric in &of_jobs {
        let unit = described(metric).map_or("", |column| column.unit);
        heads.push(Head::column(metric, unit));
    }
    heads.push(Head::column("fairness_jain", ""));
    let mut table = Table {
        id: "classes",
        caption:
            "Message latencies are from creation to the last flit; ± is the half width of the 95 % \
             interval over seeds. Loads are fractions of the NIC links."
                .into(),
        heads,
        lines: vec![],
    };
    for point in study.in_order() {
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
            for (metric, unit) in times.iter().zip(&units) {
                cells.push(Cell::Estimate(line.get(metric), unit.ns));
            }
            for metric in &of_jobs {
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
