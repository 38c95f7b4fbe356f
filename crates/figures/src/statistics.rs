//! Several statistics side by side: for the classes of one run, or for a few named runs.

use crate::axis::{Quantity, fitted};
use crate::model::{Axis, Chart, Figure, Line, Mark, Panel, Point, Scale};
use crate::study::{Study, category_axis};
use crate::style::Style;

/// Statistics that share an axis.
pub(crate) struct Statistics {
    /// Identifier of the figure over points, and of the one over classes.
    id: &'static str,
    id_by_class: &'static str,
    title: &'static str,
    caption: &'static str,
    label: &'static str,
    /// Names and columns of `points`.
    metrics: &'static [(&'static str, &'static str)],
    /// Whether their values depend on the length of a saturated run.
    is_latency: bool,
}

pub(crate) const LATENCIES: Statistics = Statistics {
    id: "latency",
    id_by_class: "latency-by-class",
    title: "Latency",
    caption: "Message latency, from creation to the last flit: mean and quantiles.",
    label: "Latency",
    metrics: &[
        ("mean", "latency_mean_ns"),
        ("median", "latency_p50_ns"),
        ("99 %", "latency_p99_ns"),
        ("99.9 %", "latency_p999_ns"),
    ],
    is_latency: true,
};

pub(crate) const LOADS: Statistics = Statistics {
    id: "throughput",
    id_by_class: "load-by-class",
    title: "Offered and delivered load",
    caption: "Load created by the workloads and load received by the NICs.",
    label: "Load",
    metrics: &[("offered", "offered_load"), ("delivered", "delivered_load")],
    is_latency: false,
};

/// The sentence of a caption about saturated latencies.
pub(crate) const SATURATED: &str =
    " Hollow points are saturated: their latency grows with the length of the run.";

/// Whether a metric is in one of these figures.
pub(crate) fn shows(metric: &str) -> bool {
    let all = LATENCIES.metrics.iter().chain(LOADS.metrics);
    all.into_iter().any(|(_, column)| *column == metric)
}

/// Draws the classes of the only point side by side; returns `None` for a single class.
pub(crate) fn by_class(study: &Study<'_>, statistics: &Statistics) -> Option<Figure> {
    if study.groups.names.len() < 2 {
        return None;
    }
    let groups = study.groups.reader(study.lines.table);
    let lines = study.lines.about(study.groups.scope());
    let places = lines.filter_map(|line| Some((line, groups.get(line)?)));
    let panel = (String::new(), places.collect());
    let mut figure = drawn(
        study,
        statistics,
        category_axis("", study.groups.names.clone()),
        vec![panel],
    )?;
    figure.id = statistics.id_by_class.to_owned();
    figure.title = format!("{} of each class", statistics.title);
    Some(figure)
}

/// Draws a few points side by side, one panel per class.
pub(crate) fn by_point(study: &Study<'_>, statistics: &Statistics) -> Option<Figure> {
    let groups = study.groups.reader(study.lines.table);
    let names = &study.groups.names;
    let mut panels: Vec<(String, Vec<(usize, usize)>)> = match names.len() {
        0 | 1 => vec![(String::new(), vec![])],
        _ => names.iter().map(|name| (name.clone(), vec![])).collect(),
    };
    for line in study.lines.about(study.groups.scope()) {
        let point = study.points.get(&study.lines.point(line));
        if let Some((group, point)) = groups.get(line).zip(point) {
            panels[group].1.push((line, point.x as usize));
        }
    }
    let mut figure = drawn(study, statistics, study.x.clone(), panels)?;
    figure.title = study.titled(statistics.title);
    Some(figure)
}

/// Draws lines of `points` in panels.
fn drawn(
    study: &Study<'_>,
    statistics: &Statistics,
    x: Axis,
    panels: Vec<(String, Vec<(usize, usize)>)>,
) -> Option<Figure> {
    let lines = study.lines;
    let line_of = |n: usize, name: &str, metric: &str, places: &[(usize, usize)]| {
        let column = lines.metric(metric)?;
        let point = |&(line, place): &(usize, usize)| {
            let measured = column.get(line)?;
            Some(Point::measured(place as f64, measured, lines.verdict(line)))
        };
        let mut points: Vec<Point> = places.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        (!points.is_empty()).then(|| Line {
            name: name.to_owned(),
            style: Style::nth(n),
            joined: false,
            marked: true,
            points,
        })
    };
    let mut panels: Vec<(String, Vec<Line>)> = panels
        .into_iter()
        .map(|(title, places)| {
            let metrics = statistics.metrics.iter().enumerate();
            let lines = metrics.filter_map(|(n, (name, metric))| line_of(n, name, metric, &places));
            (title, lines.collect())
        })
        .filter(|(_, lines): &(String, Vec<Line>)| !lines.is_empty())
        .collect();
    let points = panels.iter().flat_map(|(_, lines)| lines);
    let points = points.flat_map(|line| &line.points);
    let reach = points.flat_map(|p| [p.y, p.high.unwrap_or(p.y)]);
    let reach: Vec<f64> = reach.collect();
    if reach.is_empty() {
        return None;
    }
    let quantity = Quantity::of(statistics.metrics[0].1, "");
    let y = fitted(statistics.label, quantity, reach.into_iter());
    let points = panels.iter_mut().flat_map(|(_, lines)| lines);
    for point in points.flat_map(|line| &mut line.points) {
        point.y /= y.divisor;
        point.low = point.low.map(|low| low / y.divisor);
        point.high = point.high.map(|high| high / y.divisor);
    }
    let panels = panels.into_iter().map(|(title, lines)| Panel {
        title,
        chart: Chart::Lines(lines),
        references: vec![],
    });
    let mut figure = Figure {
        id: statistics.id.to_owned(),
        title: statistics.title.to_owned(),
        caption: statistics.caption.to_owned(),
        x,
        y: y.axis,
        series: "statistic".to_owned(),
        heat: None,
        panels: panels.collect(),
        columns: None,
    };
    if figure.has_mark(Mark::Saturated) {
        figure.caption += match statistics.is_latency {
            true => SATURATED,
            false => " Hollow points are saturated.",
        };
    }
    if figure.has_mark(Mark::Unsure) {
        figure.caption +=
            " Pale points are too short to tell, not stationary or less exact than requested.";
    }
    if figure.y.scale == Scale::Log {
        figure.caption += " The vertical axis is logarithmic.";
    }
    Some(figure)
}
