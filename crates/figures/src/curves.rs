//! What was measured against load: latency, delivered load, jitter, fairness.

use std::collections::BTreeMap;

use netloom_results::half_width_of;

use crate::axis::{Quantity, fitted};
use crate::columns::{Numbers, PointOf};
use crate::model::{Chart, Figure, Line, Mark, Panel, Point, Reference, Scale};
use crate::study::{Study, category_axis, lines_of_scope, mark};
use crate::style::Style;

/// A figure over all points.
struct Curve {
    id: &'static str,
    title: &'static str,
    /// The column of `points`.
    metric: &'static str,
    label: &'static str,
    quantity: Quantity,
    what: What,
    /// Whether values beyond saturation mean nothing, so that lines end at the first such point.
    ends_at_saturation: bool,
    /// Whether the x axis is what this very scope offered, with the line of equality.
    against_offered: bool,
    caption: &'static str,
}

/// Whose values a figure shows.
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
        title: "Mean latency against load",
        metric: "latency_mean_ns",
        label: "Mean latency",
        quantity: Quantity::Time,
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: false,
        caption: "Mean message latency, from creation to the last flit",
    },
    Curve {
        id: "latency-p99",
        title: "Latency of the slowest 1 % against load",
        metric: "latency_p99_ns",
        label: "99 % latency",
        quantity: Quantity::Time,
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: false,
        caption: "99 % quantile of message latency",
    },
    Curve {
        id: "throughput",
        title: "Delivered against offered load",
        metric: "delivered_load",
        label: "Delivered load",
        quantity: Quantity::Load,
        what: What::Total,
        ends_at_saturation: false,
        against_offered: true,
        caption: "What NICs received, against what the workloads created",
    },
    Curve {
        id: "throughput-by-class",
        title: "Delivered against offered load of each class",
        metric: "delivered_load",
        label: "Delivered load",
        quantity: Quantity::Load,
        what: What::SeveralGroups,
        ends_at_saturation: false,
        against_offered: true,
        caption: "What NICs received of a class, against what it offered",
    },
    Curve {
        id: "jitter",
        title: "Jitter against load",
        metric: "jitter_mean_ns",
        label: "Mean jitter",
        quantity: Quantity::Time,
        what: What::Groups,
        ends_at_saturation: true,
        against_offered: false,
        caption: "Mean change of latency between consecutive messages at a receiver",
    },
    Curve {
        id: "fairness",
        title: "Fairness against load",
        metric: "fairness_jain",
        label: "Jain's index",
        quantity: Quantity::Index,
        what: What::Total,
        ends_at_saturation: false,
        against_offered: false,
        caption: "Jain's index of what NICs injected: 1 if all injected the same",
    },
];

/// Figures with more panels are cut into several.
const PANELS: usize = 12;

pub(crate) fn curves(study: &Study<'_>) -> Vec<Figure> {
    let mut figures = vec![];
    if study.is_sweep() {
        for curve in CURVES {
            figures.extend(over_points(study, curve));
        }
    } else {
        figures.extend(by_class(study, &LATENCIES));
        figures.extend(by_class(study, &LOADS));
    }
    figures
}

/// The values of one scope along one series, in stored units.
type Values = Vec<Point>;

/// The values by facet, group and series.
fn values(study: &Study<'_>, curve: &Curve) -> Option<BTreeMap<(usize, usize, usize), Values>> {
    let table = study.table;
    let metric = Numbers::of(table, curve.metric)?;
    let half = Numbers::of(table, &half_width_of(curve.metric));
    let offered = Numbers::of(table, "offered_load");
    let point_of = PointOf::new(table);
    let groups = study.groups.reader(table);
    let of_total = curve.what == What::Total;
    let scope = if of_total {
        "total"
    } else {
        study.groups.scope()
    };
    let batches = BatchIntervals::new(study, curve.metric);
    let mut found: BTreeMap<_, Values> = BTreeMap::new();
    for line in lines_of_scope(table, scope) {
        let number = point_of.get(line);
        let group = if of_total { Some(0) } else { groups.get(line) };
        let Some((group, point)) = group.zip(study.points.get(&number)) else {
            continue;
        };
        let Some(y) = metric.get(line) else {
            continue;
        };
        let x = match offered.filter(|_| curve.against_offered && study.is_numeric) {
            Some(offered) => offered.get(line)?,
            None => point.x,
        };
        let half = half.and_then(|half| half.get(line));
        let half = half.or_else(|| batches.as_ref()?.get(number, group));
        found
            .entry((point.facet, group, point.series))
            .or_default()
            .push(Point {
                x,
                y,
                low: half.map(|half| (y - half).max(0.0)),
                high: half.map(|half| y + half),
                mark: mark(table, line),
            });
    }
    for points in found.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if curve.ends_at_saturation && study.is_numeric {
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
    let calm = |point: &&Point| !curve.ends_at_saturation || point.mark != Mark::Saturated;
    let ends = |p: &Point| [p.y, p.high.unwrap_or(p.y)];
    let mut shown: Vec<f64> = seen.clone().filter(calm).flat_map(ends).collect();
    if shown.is_empty() {
        shown = seen.flat_map(ends).collect();
    }
    let y = fitted(curve.label, curve.quantity, shown.into_iter());
    for point in found.values_mut().flatten() {
        point.y /= y.divisor;
        point.low = point.low.map(|low| low / y.divisor);
        point.high = point.high.map(|high| high / y.divisor);
    }
    let mut x = study.x.clone();
    if curve.against_offered && study.is_numeric {
        let xs = found.values().flatten().map(|point| point.x);
        x = fitted("Offered load", Quantity::Load, xs).axis;
    }
    let reference = (curve.against_offered && study.is_numeric).then(|| {
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
        title: curve.title.to_owned(),
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

/// The name of the only series of a figure.
fn only_name<'s>(study: &'s Study<'_>, of_groups: bool) -> &'s str {
    let name = study
        .groups
        .names
        .first()
        .filter(|_| of_groups || study.groups.names.len() == 1);
    name.map_or("all", String::as_str)
}

/// A figure of too many panels as several.
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
        let over_seeds = Numbers::of(study.table, "seeds")
            .is_some_and(|seeds| (0..study.table.len()).any(|line| seeds.get(line) > Some(1.0)));
        caption += match over_seeds {
            true => " Bands are 95 % intervals over seeds.",
            false => " Bands are 95 % intervals from batch means of one run.",
        };
    }
    if figure.has_mark(Mark::Saturated) {
        caption += match curve.ends_at_saturation && study.is_numeric {
            true => {
                " Lines end at the first saturated load (hollow), where latency grows with the length of the run."
            }
            false => " Hollow points are saturated.",
        };
    }
    if figure.has_mark(Mark::NotConverged) {
        caption += " Pale points are less exact than asked.";
    }
    if figure.y.scale == Scale::Log {
        caption += " The vertical axis is logarithmic.";
    }
    figure.caption = caption;
    figure
}

/// The intervals that single runs give from batch means: better than none for a point of one seed.
struct BatchIntervals(BTreeMap<(u64, usize), f64>);

impl BatchIntervals {
    fn new(study: &Study<'_>, metric: &str) -> Option<BatchIntervals> {
        let table = study
            .collection
            .table("results")
            .filter(|_| metric == "latency_mean_ns")?;
        let half = Numbers::of(table, "latency_half_width_ns")?;
        let seeds = Numbers::of(study.table, "seeds");
        if seeds.is_some_and(|seeds| (0..study.table.len()).any(|line| seeds.get(line) > Some(1.0)))
        {
            return None;
        }
        let point_of = PointOf::new(table);
        let groups = study.groups.reader(table);
        let lines = lines_of_scope(table, study.groups.scope()).into_iter();
        let found = lines
            .filter_map(|line| Some(((point_of.get(line), groups.get(line)?), half.get(line)?)));
        Some(BatchIntervals(found.collect()))
    }

    fn get(&self, point: u64, group: usize) -> Option<f64> {
        self.0.get(&(point, group)).copied()
    }
}

/// What one point says about every class.
struct ByClass {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    label: &'static str,
    quantity: Quantity,
    metrics: &'static [(&'static str, &'static str)],
}

const LATENCIES: ByClass = ByClass {
    id: "latency-by-class",
    title: "Latency of each class",
    caption: "Message latency, from creation to the last flit: mean and quantiles.",
    label: "Latency",
    quantity: Quantity::Time,
    metrics: &[
        ("mean", "latency_mean_ns"),
        ("median", "latency_p50_ns"),
        ("99 %", "latency_p99_ns"),
        ("99.9 %", "latency_p999_ns"),
    ],
};

const LOADS: ByClass = ByClass {
    id: "load-by-class",
    title: "Offered and delivered load of each class",
    caption: "What the workloads created and what NICs received.",
    label: "Load",
    quantity: Quantity::Load,
    metrics: &[("offered", "offered_load"), ("delivered", "delivered_load")],
};

fn by_class(study: &Study<'_>, figure: &ByClass) -> Option<Figure> {
    let table = study.table;
    let groups = study.groups.reader(table);
    let lines = lines_of_scope(table, study.groups.scope());
    let mut series: Vec<Line> = vec![];
    for (n, (name, metric)) in figure.metrics.iter().enumerate() {
        let Some(column) = Numbers::of(table, metric) else {
            continue;
        };
        let half = Numbers::of(table, &half_width_of(metric));
        let mut points: Vec<Point> = vec![];
        for &line in &lines {
            let Some((group, y)) = groups.get(line).zip(column.get(line)) else {
                continue;
            };
            let half = half.and_then(|half| half.get(line));
            points.push(Point {
                x: group as f64,
                y,
                low: half.map(|half| (y - half).max(0.0)),
                high: half.map(|half| y + half),
                mark: mark(table, line),
            });
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if !points.is_empty() {
            series.push(Line {
                name: (*name).to_owned(),
                style: Style::nth(n),
                joined: false,
                marked: true,
                points,
            });
        }
    }
    let all = series.iter().flat_map(|line| {
        line.points
            .iter()
            .flat_map(|p| [p.y, p.high.unwrap_or(p.y)])
    });
    let y = fitted(
        figure.label,
        figure.quantity,
        all.collect::<Vec<_>>().into_iter(),
    );
    if series.is_empty() {
        return None;
    }
    for point in series.iter_mut().flat_map(|line| &mut line.points) {
        point.y /= y.divisor;
        point.low = point.low.map(|low| low / y.divisor);
        point.high = point.high.map(|high| high / y.divisor);
    }
    let panel = Panel {
        title: String::new(),
        chart: Chart::Lines(series),
        references: vec![],
    };
    let mut made = Figure {
        id: figure.id.to_owned(),
        title: figure.title.to_owned(),
        caption: figure.caption.to_owned(),
        x: category_axis("", study.groups.names.clone()),
        y: y.axis,
        series: "statistic".to_owned(),
        heat: None,
        panels: vec![panel],
        columns: None,
    };
    if made.has_mark(Mark::Saturated) {
        made.caption += " Hollow points are of saturated classes.";
    }
    if made.has_mark(Mark::NotConverged) {
        made.caption += " Pale points are less exact than asked.";
    }
    Some(made)
}
