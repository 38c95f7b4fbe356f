//! Punctuality of admitted connections: delay and jitter in inter-arrival times (paper 004).
//!
//! One panel shows all connections of each service level, one the best and one the worst, at the
//! last selected point and for its first seed.

use netloom_results::view::{Lines, Numbers, words};

use crate::detail::Details;
use crate::model::{Axis, Chart, Figure, Line, Mark, Panel, Point, Scale};
use crate::style::Style;

/// Columns of `punctuality`, with the longest delay that they count, in inter-arrival times.
const DELAYS: [(&str, f64); 7] = [
    ("in_time_1_32", 1.0 / 32.0),
    ("in_time_1_16", 1.0 / 16.0),
    ("in_time_1_8", 1.0 / 8.0),
    ("in_time_1_4", 1.0 / 4.0),
    ("in_time_1_2", 1.0 / 2.0),
    ("in_time_3_4", 3.0 / 4.0),
    ("in_time_1", 1.0),
];

/// Columns of jitter, with the middle of their interval in eighths of an inter-arrival time.
const JITTER: [(&str, f64); 16] = [
    ("jitter_m8", -7.5),
    ("jitter_m7", -6.5),
    ("jitter_m6", -5.5),
    ("jitter_m5", -4.5),
    ("jitter_m4", -3.5),
    ("jitter_m3", -2.5),
    ("jitter_m2", -1.5),
    ("jitter_m1", -0.5),
    ("jitter_p0", 0.5),
    ("jitter_p1", 1.5),
    ("jitter_p2", 2.5),
    ("jitter_p3", 3.5),
    ("jitter_p4", 4.5),
    ("jitter_p5", 5.5),
    ("jitter_p6", 6.5),
    ("jitter_p7", 7.5),
];

/// Scopes, with the titles of their panels.
const SCOPES: [(&str, &str); 3] = [
    ("all", "all connections"),
    ("best", "best connection"),
    ("worst", "worst connection"),
];

pub(crate) fn punctuality(details: &Details<'_, '_>) -> Vec<Figure> {
    let delays = Axis {
        label: "Delay".to_owned(),
        unit: "inter-arrival times".to_owned(),
        scale: Scale::Log,
        low: DELAYS[0].1,
        high: 1.0,
    };
    let jitter = Axis {
        label: "Jitter".to_owned(),
        unit: "inter-arrival times".to_owned(),
        scale: Scale::Linear,
        low: -1.0,
        high: 1.0,
    };
    let eighths = JITTER.map(|(column, eighths)| (column, eighths / 8.0));
    let figures = [
        figure(
            details,
            &DELAYS,
            delays,
            (
                "punctuality",
                "Packets in time",
                "Share of packets with at most this delay, in inter-arrival times of their \
                 connection.",
            ),
        ),
        figure(
            details,
            &eighths,
            jitter,
            (
                "connection-jitter",
                "Jitter of connections",
                "Share of gaps between packets, by their difference from the inter-arrival time.",
            ),
        ),
    ];
    figures.into_iter().flatten().collect()
}

fn figure(
    details: &Details<'_, '_>,
    columns: &[(&str, f64)],
    x: Axis,
    (id, title, caption): (&str, &str, &str),
) -> Option<Figure> {
    let table = details.study.collection.table("punctuality")?;
    let lines = Lines::of(table);
    let (scopes, classes) = (words(table, "scope")?, words(table, "class")?);
    let seeds = Numbers::of(table, "seed")?;
    let point = details.points.last()?;
    let is_of_it = |line: &usize| lines.point(*line) == point.number;
    let first = (0..table.len()).find(is_of_it)?;
    let chosen: Vec<usize> = (0..table.len())
        .filter(is_of_it)
        .filter(|&line| seeds.get(line) == seeds.get(first))
        .collect();
    let values: Vec<(Numbers<'_>, f64)> = columns
        .iter()
        .filter_map(|(column, x)| Some((Numbers::of(table, column)?, *x)))
        .collect();
    let panel = |(scope, title): (&str, &str)| {
        let own = chosen
            .iter()
            .filter(|&&line| scopes.get(line) == Some(scope));
        let line = |(nth, &line): (usize, &usize)| Line {
            name: classes.get(line).unwrap_or_default().to_owned(),
            style: Style::nth(nth),
            joined: true,
            marked: true,
            points: values
                .iter()
                .filter_map(|(column, x)| Some((*x, column.get(line)?)))
                .map(|(x, y)| Point {
                    x,
                    y,
                    low: None,
                    high: None,
                    mark: Mark::Ok,
                })
                .collect(),
        };
        let lines: Vec<Line> = own.enumerate().map(line).collect();
        let has_any = lines.iter().any(|line| !line.points.is_empty());
        has_any.then(|| Panel {
            title: title.to_owned(),
            chart: Chart::Lines(lines),
            references: vec![],
        })
    };
    let panels: Vec<Panel> = SCOPES.into_iter().filter_map(panel).collect();
    let place = match details.study.is_sweep() {
        true => format!(" {}.", details.study.point_text(point)),
        false => String::new(),
    };
    (!panels.is_empty()).then(|| Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: format!("{caption}{place}"),
        x,
        y: Axis {
            label: "Share".to_owned(),
            unit: String::new(),
            scale: Scale::Linear,
            low: 0.0,
            high: 1.0,
        },
        series: "class".to_owned(),
        heat: None,
        panels,
        columns: None,
    })
}
