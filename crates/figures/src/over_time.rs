//! Figures over time: offered and delivered load and latency per epoch.

use std::collections::BTreeMap;

use netloom_results::axis_label;
use netloom_results::view::number::TimeUnit;
use netloom_results::view::{Lines, Numbers};

use crate::axis::fitted_to;
use crate::detail::{ByPoint, Details};
use crate::model::{Axis, Chart, Figure, Mark, Panel, Point, Scale};
use crate::study::ordered_bits;
use crate::ticks::round_ends;

/// Maximum number of points of a line; if there are more epochs, neighbours are averaged.
const POINTS: usize = 120;

/// The sums of an epoch.
#[derive(Default, Clone, Copy)]
struct Epoch {
    offered: f64,
    delivered: f64,
    /// Latency weighted by delivered load, and the weights.
    latency: (f64, f64),
}

pub(crate) fn over_time(details: &Details<'_, '_>) -> Vec<Figure> {
    let Some(found) = epochs(details) else {
        return vec![];
    };
    let offered = |epoch: &Epoch| Some(epoch.offered);
    let delivered = |epoch: &Epoch| Some(epoch.delivered);
    let latency =
        |epoch: &Epoch| (epoch.latency.1 > 0.0).then(|| epoch.latency.0 / epoch.latency.1);
    let figures = [
        (
            "offered",
            "Offered load",
            "offered_load",
            lines(&found, offered),
        ),
        (
            "delivered",
            "Delivered load",
            "delivered_load",
            lines(&found, delivered),
        ),
        (
            "latency",
            "Latency",
            "latency_mean_ns",
            lines(&found, latency),
        ),
    ];
    let figures = figures
        .iter()
        .map(|(id, title, column, lines)| figure(details, lines, (id, title, column)));
    figures.flatten().collect()
}

type Epochs = BTreeMap<(u64, usize), BTreeMap<u64, (f64, Epoch)>>;

/// Returns the epochs of the first seed of every selected point.
fn epochs(details: &Details<'_, '_>) -> Option<Epochs> {
    let table = details.study.collection.table("series")?;
    let time = Numbers::of(table, "time_ns")?;
    let offered = Numbers::of(table, "offered_load");
    let delivered = Numbers::of(table, "delivered_load")?;
    let latency = Numbers::of(table, "latency_mean_ns");
    let seed = Numbers::of(table, "seed");
    let lines = Lines::of(table);
    let groups = details.study.groups.reader(table);
    let mut seeds: BTreeMap<u64, Option<f64>> = BTreeMap::new();
    let mut found = Epochs::new();
    for line in 0..table.len() {
        let number = lines.point(line);
        if !details.is_chosen(number) {
            continue;
        }
        let seed = seed.and_then(|seed| seed.get(line));
        if *seeds.entry(number).or_insert(seed) != seed {
            continue;
        }
        let (Some(group), Some(time)) = (groups.get(line), time.get(line)) else {
            continue;
        };
        let times = found.entry((number, group)).or_default();
        let epoch = &mut times
            .entry(ordered_bits(time))
            .or_insert((time, Epoch::default()))
            .1;
        let load = delivered.get(line).unwrap_or(0.0);
        epoch.offered += offered.and_then(|offered| offered.get(line)).unwrap_or(0.0);
        epoch.delivered += load;
        if let Some(latency) = latency.and_then(|latency| latency.get(line)) {
            epoch.latency.0 += latency * load;
            epoch.latency.1 += load;
        }
    }
    Some(found)
}

/// Returns one value per epoch, or per group of epochs if there are many.
fn lines(found: &Epochs, value: impl Fn(&Epoch) -> Option<f64>) -> ByPoint {
    let mut lines = ByPoint::new();
    for (key, epochs) in found {
        let values: Vec<(f64, f64)> = epochs
            .values()
            .filter_map(|(time, epoch)| Some((*time, value(epoch)?)))
            .collect();
        let run = values.len().div_ceil(POINTS).max(1);
        let points = values.chunks(run).map(|chunk| {
            let n = chunk.len() as f64;
            Point {
                x: chunk[chunk.len() - 1].0,
                y: chunk.iter().map(|(_, y)| y).sum::<f64>() / n,
                low: None,
                high: None,
                mark: Mark::Ok,
            }
        });
        lines.insert(*key, points.collect());
    }
    lines
}

fn figure(
    details: &Details<'_, '_>,
    lines: &ByPoint,
    (id, title, column): (&str, &str, &str),
) -> Option<Figure> {
    // A single epoch shows nothing over time.
    if lines.values().all(|points| points.len() < 2) {
        return None;
    }
    let all = || lines.values().flatten();
    let y = fitted_to(column, all().map(|point| point.y));
    let label = &y.axis.label;
    let last = all().map(|point| point.x).fold(0.0, f64::max);
    let TimeUnit {
        sign: unit,
        ns: divisor,
        ..
    } = TimeUnit::of(last);
    let (low, high) = round_ends(0.0, last / divisor);
    let scaled: ByPoint = lines
        .iter()
        .map(|(key, points)| {
            let scale = |p: &Point| Point {
                x: p.x / divisor,
                y: p.y / y.divisor,
                ..*p
            };
            (*key, points.iter().map(scale).collect())
        })
        .collect();
    let arranged = details.arranged(&scaled);
    let panels = arranged.panels.into_iter().map(|(title, lines)| Panel {
        title,
        chart: Chart::Lines(lines),
        references: vec![],
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        return None;
    }
    let log = if y.axis.scale == Scale::Log {
        " The vertical axis is logarithmic."
    } else {
        ""
    };
    Some(Figure {
        id: format!("{id}-over-time"),
        title: format!("{title} over time"),
        caption: format!(
            "{label} per epoch of the run with the first seed, including the warm-up.{}{log}",
            details.sentence()
        ),
        x: Axis {
            label: axis_label("time_ns"),
            unit: unit.to_owned(),
            scale: Scale::Linear,
            low,
            high,
        },
        y: y.axis,
        series: arranged.series,
        heat: None,
        panels,
        columns: arranged.columns,
    })
}
