//! Figures over all points: latency, delivered load, jitter, fairness, and times of jobs.

use std::collections::BTreeMap;

use netloom_results::view::{Estimate, Lines, Numbers};

use crate::axis::fitted_to;
use crate::model::{Chart, Figure, Line, Mark, Panel, Point, Reference, Scale};
use crate::statistics;
use crate::study::Study;
use crate::style::Style;

/// A figure over all points.
struct Curve {
    id: &'static str,
    /// Title without the x axis, which depends on the study.
    title: &'static str,
    /// The column of `points`.
    metric: &'static str,
    what: What,
    /// Whether values beyond saturation are meaningless, so that lines along the load end at the
    /// first saturated point.
    ends_at_saturation: bool,
    /// Title if the x axis is the load offered by the same scope, with a line of equality.
    against_offered: Option<&'static str>,
    caption: &'static str,
}

/// The scope of a figure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Total,
    Groups,
    /// Only if there are several groups.
    SeveralGroups,
}

const CURVES: &[Curve] = &[
    Curve {
        id: "latency",
        title: "Mean latency",
        metric: "latency_mean_ns",
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: None,
        caption: "Mean message latency, from creation to the last flit",
    },
    Curve {
        id: "latency-p99",
        title: "Latency of the slowest 1 %",
        metric: "latency_p99_ns",
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: None,
        caption: "99 % quantile of message latency",
    },
    Curve {
        id: "throughput",
        title: "Delivered load",
        metric: "delivered_load",
        what: What::Total,
        ends_at_saturation: false,
        against_offered: Some("Delivered against offered load"),
        caption: "Load received by the NICs against load created by the workloads",
    },
    Curve {
        id: "throughput-by-class",
        title: "Delivered load of each class",
        metric: "delivered_load",
        what: What::SeveralGroups,
        ends_at_saturation: false,
        against_offered: Some("Delivered against offered load of each class"),
        caption: "Received load of a class against its offered load",
    },
    Curve {
        id: "jitter",
        title: "Jitter",
        metric: "jitter_mean_ns",
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: None,
        caption: "Mean change of latency between consecutive messages at a receiver",
    },
    Curve {
        id: "fairness",
        title: "Fairness",
        metric: "fairness_jain",
        what: What::Total,
        ends_at_saturation: false,
        against_offered: None,
        caption: "Jain's index of the load injected per NIC: 1 if all are equal",
    },
    // Only jobs have values of these.
    Curve {
        id: "completion",
        title: "Completion time",
        metric: "completion_time_ns",
        what: What::Groups,
        ends_at_saturation: false,
        against_offered: None,
        caption: "Time of a job from its first message to the last flit of its last one",
    },
    Curve {
        id: "bus-bandwidth",
        title: "Bus bandwidth",
        metric: "bus_bandwidth",
        what: What::Groups,
        ends_at_saturation: false,
        against_offered: None,
        caption: "Bandwidth of collective operations, as nccl-tests counts it",
    },
    Curve {
        id: "slowdown",
        title: "Slowdown",
        metric: "slowdown",
        what: What::Groups,
        ends_at_saturation: false,
        against_offered: None,
        caption: "Completion time of a job divided by its time in the variant alone",
    },
];

/// Figures with more panels are split.
const PANELS: usize = 12;

pub(crate) fn curves(study: &Study<'_>) -> Vec<Figure> {
    let mut figures = vec![];
    if study.is_side_by_side() {
        figures.extend(statistics::by_point(study, &statistics::LATENCIES));
        figures.extend(statistics::by_point(study, &statistics::LOADS));
        let others = CURVES
            .iter()
            .filter(|curve| !statistics::shows(curve.metric));
        figures.extend(others.flat_map(|curve| over_points(study, curve)));
    } else if study.is_sweep() {
        figures.extend(CURVES.iter().flat_map(|curve| over_points(study, curve)));
    } else {
        figures.extend(statistics::by_class(study, &statistics::LATENCIES));
        figures.extend(statistics::by_class(study, &statistics::LOADS));
    }
    figures
}

/// The values of one scope along one series, in stored units.
type Values = Vec<Point>;

/// The values by facet, group and series.
fn values(study: &Study<'_>, curve: &Curve) -> Option<BTreeMap<(usize, usize, usize), Values>> {
    let lines = study.lines;
    let metric = lines.metric(curve.metric)?;
    let offered = Numbers::of(lines.table, "offered_load");
    let groups = study.groups.reader(lines.table);
    let of_total = curve.what == What::Total;
    let scope = if of_total {
        "total"
    } else {
        study.groups.scope()
    };
    let batches = BatchIntervals::new(study, curve.metric);
    let mut found: BTreeMap<_, Values> = BTreeMap::new();
    for line in lines.about(scope) {
        let number = lines.point(line);
        let group = if of_total { Some(0) } else { groups.get(line) };
        let Some((group, point)) = group.zip(study.points.get(&number)) else {
            continue;
        };
        let Some(measured) = metric.get(line) else {
            continue;
        };
        let x = match offered.filter(|_| curve.against_offered.is_some() && study.is_load) {
            Some(offered) => offered.get(line)?,
            None => point.x,
        };
        let of_batches = || batches.as_ref()?.get(number, group);
        let measured = Estimate {
            half_width: measured.half_width.or_else(of_batches),
            ..measured
        };
        found
            .entry((point.facet, group, point.series))
            .or_default()
            .push(Point::measured(x, measured, lines.verdict(line)));
    }
    for points in found.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if curve.ends_at_saturation && study.is_load {
            let first = points
                .iter()
                .position(|point| point.mark == Mark::Saturated);
            points.truncate(first.map_or(points.len(), |first| first + 1));
        }
    }
    Some(found)
}

fn over_points(study: &Study<'_>, curve: &Curve) -> Vec<Figure> {
    let n_groups = study.groups.names.len();
    if curve.what == What::SeveralGroups && n_groups < 2 {
        return vec![];
    }
    let Some(mut found) = values(study, curve).filter(|found| !found.is_empty()) else {
        return vec![];
    };
    let seen = found.values().flatten();
    let ends = curve.ends_at_saturation && study.is_load;
    let calm = |point: &&Point| !ends || point.mark != Mark::Saturated;
    let reach = |p: &Point| [p.y, p.high.unwrap_or(p.y)];
    let mut shown: Vec<f64> = seen.clone().filter(calm).flat_map(reach).collect();
    if shown.is_empty() {
        shown = seen.flat_map(reach).collect();
    }
    let y = fitted_to(curve.metric, shown.into_iter());
    for point in found.values_mut().flatten() {
        point.y /= y.divisor;
        point.low = point.low.map(|low| low / y.divisor);
        point.high = point.high.map(|high| high / y.divisor);
    }
    let mut x = study.x.clone();
    let against_offered = curve.against_offered.filter(|_| study.is_load);
    if against_offered.is_some() {
        let xs = found.values().flatten().map(|point| point.x);
        x = fitted_to("offered_load", xs).axis;
    }
    let reference = against_offered.map(|_| {
        let end = x.high.min(y.axis.high);
        Reference {
            label: "delivered = offered".to_owned(),
            points: vec![(0.0, 0.0), (end, end)],
        }
    });
    let by_series = study.series.len() > 1;
    let of_groups = curve.what != What::Total;
    let panel = |title: String, lines: Vec<Line>| Panel {
        title,
        chart: Chart::Lines(lines),
        references: reference.clone().into_iter().collect(),
    };
    let line = |name: &str, style: Style, key: (usize, usize, usize)| {
        let points = found.get(&key)?.clone();
        let joined = study.is_numeric;
        Some(Line {
            name: name.to_owned(),
            style,
            joined,
            marked: true,
            points,
        })
    };
    let n_groups = if of_groups { n_groups } else { 1 };
    let mut panels = vec![];
    for (facet, facet_name) in study.facets.iter().enumerate() {
        if by_series || n_groups == 1 {
            for group in 0..n_groups {
                let group_name = study.groups.names.get(group).filter(|_| n_groups > 1);
                let title = [Some(facet_name), group_name].into_iter().flatten();
                let title: Vec<&str> = title
                    .filter(|t| !t.is_empty())
                    .map(String::as_str)
                    .collect();
                let named = |series: usize| match by_series {
                    true => line(
                        &study.series[series],
                        study.series_style(series),
                        (facet, group, series),
                    ),
                    false => line(
                        only_name(study, of_groups),
                        Style::nth(0),
                        (facet, group, series),
                    ),
                };
                let lines: Vec<Line> = (0..study.series.len()).filter_map(named).collect();
                panels.push(panel(title.join(", "), lines));
            }
        } else {
            let named = |group: usize| {
                line(
                    &study.groups.names[group],
                    study.groups.style(group),
                    (facet, group, 0),
                )
            };
            panels.push(panel(
                facet_name.clone(),
                (0..n_groups).filter_map(named).collect(),
            ));
        }
    }
    panels.retain(|panel| !matches!(&panel.chart, Chart::Lines(lines) if lines.is_empty()));
    let series = match (by_series, n_groups > 1) {
        (true, _) => study.series_title.clone(),
        (false, true) => study.groups.title().to_owned(),
        (false, false) => String::new(),
    };
    let figure = Figure {
        id: curve.id.to_owned(),
        title: against_offered.map_or_else(|| study.titled(curve.title), str::to_owned),
        caption: String::new(),
        x,
        y: y.axis,
        series,
        heat: None,
        panels,
        columns: None,
    };
    cut(figure)
        .into_iter()
        .map(|figure| captioned(figure, curve, study))
        .collect()
}

/// Returns the name of the only series of a figure.
fn only_name<'s>(study: &'s Study<'_>, of_groups: bool) -> &'s str {
    let name = study
        .groups
        .names
        .first()
        .filter(|_| of_groups || study.groups.names.len() == 1);
    name.map_or("all", String::as_str)
}

/// Splits a figure with too many panels.
fn cut(figure: Figure) -> Vec<Figure> {
    if figure.panels.len() <= PANELS {
        return vec![figure];
    }
    let parts = figure.panels.chunks(PANELS).zip(1..);
    let part = |(panels, n): (&[Panel], usize)| Figure {
        id: format!("{}-{n}", figure.id),
        title: format!("{} (part {n})", figure.title),
        panels: panels.to_vec(),
        ..figure.clone()
    };
    parts.map(part).collect()
}

fn captioned(mut figure: Figure, curve: &Curve, study: &Study<'_>) -> Figure {
    let mut caption = format!("{}.", curve.caption);
    let lines = figure.panels.iter().filter_map(|panel| match &panel.chart {
        Chart::Lines(lines) => Some(lines),
        _ => None,
    });
    let mut points = lines.flatten().flat_map(|line| &line.points);
    let has_band = points.any(|point| point.low.is_some());
    if has_band {
        caption += match study.has_several_seeds {
            true => " Bands are 95 % intervals over seeds.",
            false => " Bands are 95 % intervals from batch means of one run.",
        };
    }
    if figure.has_mark(Mark::Saturated) {
        caption += match (curve.ends_at_saturation, study.is_load) {
            (true, true) => {
                " Lines end at the first saturated load (hollow), where latency grows with the \
                 length of the run."
            }
            (true, false) => statistics::SATURATED,
            (false, _) => " Hollow points are saturated.",
        };
    }
    if figure.has_mark(Mark::Unsure) {
        caption +=
            " Pale points are too short to tell, not stationary or less exact than requested.";
    }
    if figure.y.scale == Scale::Log {
        caption += " The vertical axis is logarithmic.";
    }
    figure.caption = caption;
    figure
}

/// Intervals from batch means of single runs, used for points with one seed.
struct BatchIntervals(BTreeMap<(u64, usize), f64>);

impl BatchIntervals {
    fn new(study: &Study<'_>, metric: &str) -> Option<BatchIntervals> {
        let table = study
            .collection
            .table("results")
            .filter(|_| metric == "latency_mean_ns")?;
        let half = Numbers::of(table, "latency_half_width_ns")?;
        if study.has_several_seeds {
            return None;
        }
        let lines = Lines::of(table);
        let groups = study.groups.reader(table);
        let found = lines
            .about(study.groups.scope())
            .filter_map(|line| Some(((lines.point(line), groups.get(line)?), half.get(line)?)));
        Some(BatchIntervals(found.collect()))
    }

    fn get(&self, point: u64, group: usize) -> Option<f64> {
        self.0.get(&(point, group)).copied()
    }
}
