//! Distributions of latency: shares of messages up to and beyond a latency.

use std::collections::BTreeMap;

use netloom_results::view::number::TimeUnit;
use netloom_results::view::{Lines, Numbers, words};

use crate::axis::{Quantity, fitted};
use crate::detail::{ByPoint, Details};
use crate::model::{Axis, Chart, Figure, Mark, Panel, Point, Scale};
use crate::ticks::round_log_ends;

/// Approximate number of steps of a line; more would not be visible.
const STEPS: f64 = 100.0;

/// Lower end and count of buckets, by upper end (the bits of positive numbers have the same order).
type Buckets = BTreeMap<u64, (f64, u64)>;

pub(crate) fn distributions(details: &Details<'_, '_>) -> Vec<Figure> {
    let Some(found) = buckets(details) else {
        return vec![];
    };
    let largest = found
        .values()
        .filter_map(|buckets| buckets.keys().next_back());
    let largest = largest
        .map(|bits| f64::from_bits(*bits))
        .fold(0.0, f64::max);
    if largest <= 0.0 {
        return vec![];
    }
    let TimeUnit {
        sign: unit,
        ns: divisor,
        ..
    } = TimeUnit::of(largest);
    let cdf = figure(details, &found, (unit, divisor), false);
    let ccdf = figure(details, &found, (unit, divisor), true);
    [cdf, ccdf].into_iter().flatten().collect()
}

/// Returns the histograms of message latency of the selected points, over all seeds.
fn buckets(details: &Details<'_, '_>) -> Option<BTreeMap<(u64, usize), Buckets>> {
    let table = details.study.collection.table("histograms")?;
    let latency = words(table, "latency")?;
    let from = Numbers::of(table, "from_ns")?;
    let to = Numbers::of(table, "to_ns")?;
    let count = Numbers::of(table, "count")?;
    let lines = Lines::of(table);
    let groups = details.study.groups.reader(table);
    let mut found: BTreeMap<(u64, usize), Buckets> = BTreeMap::new();
    for line in 0..table.len() {
        let number = lines.point(line);
        if latency.get(line) != Some("message") || !details.is_chosen(number) {
            continue;
        }
        let read = (
            groups.get(line),
            from.get(line),
            to.get(line),
            count.get(line),
        );
        let (Some(group), Some(from), Some(to), Some(count)) = read else {
            continue;
        };
        let buckets = found.entry((number, group)).or_default();
        let own = &mut buckets.entry(to.max(0.0).to_bits()).or_insert((from, 0)).1;
        // A sum over all lines of a table, at most 2^26, fits into 64 bits.
        *own = own.saturating_add(count as u64).min(u64::MAX >> 27);
    }
    Some(found)
}

fn figure(
    details: &Details<'_, '_>,
    found: &BTreeMap<(u64, usize), Buckets>,
    (unit, divisor): (&str, f64),
    beyond: bool,
) -> Option<Figure> {
    let stairs: ByPoint = found
        .iter()
        .map(|(key, buckets)| (*key, steps(buckets, divisor, beyond)))
        .collect();
    let all = || stairs.values().flatten();
    let lowest = all()
        .map(|point| point.x)
        .filter(|x| *x > 0.0)
        .fold(f64::INFINITY, f64::min);
    let highest = all().map(|point| point.x).fold(0.0, f64::max);
    let is_log = beyond || highest > 20.0 * lowest;
    let ends = match is_log {
        true => round_log_ends(lowest, highest),
        false => {
            let axis = fitted("", Quantity::Index, [highest].into_iter()).axis;
            (axis.low, axis.high)
        }
    };
    let x = Axis {
        label: "Message latency".to_owned(),
        unit: unit.to_owned(),
        scale: if is_log { Scale::Log } else { Scale::Linear },
        low: ends.0,
        high: ends.1,
    };
    let least = all()
        .map(|point| point.y)
        .filter(|y| *y > 0.0)
        .fold(1.0, f64::min);
    let y = Axis {
        label: if beyond {
            "Share of slower messages"
        } else {
            "Share of messages"
        }
        .to_owned(),
        unit: String::new(),
        scale: if beyond { Scale::Log } else { Scale::Linear },
        low: if beyond {
            round_log_ends(least, 1.0).0.min(0.1)
        } else {
            0.0
        },
        high: 1.0,
    };
    let arranged = details.arranged(&stairs);
    let panels = arranged.panels.into_iter().map(|(title, lines)| Panel {
        title,
        chart: Chart::Steps(lines),
        references: vec![],
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        return None;
    }
    let what = match beyond {
        true => {
            "Share of messages with a latency above a value (CCDF over all seeds). Both axes are \
             logarithmic."
        }
        false => "Share of messages with a latency up to a value (CDF over all seeds).",
    };
    Some(Figure {
        id: if beyond {
            "latency-ccdf"
        } else {
            "latency-cdf"
        }
        .to_owned(),
        title: if beyond {
            "Tail of message latency"
        } else {
            "Distribution of message latency"
        }
        .to_owned(),
        caption: format!("{what}{}", details.sentence()),
        x,
        y,
        series: arranged.series,
        heat: None,
        panels,
        columns: arranged.columns,
    })
}

/// Returns the steps of a histogram; a bucket ends at its upper end.
fn steps(buckets: &Buckets, divisor: f64, beyond: bool) -> Vec<Point> {
    let total: u64 = buckets.values().map(|(_, count)| count).sum();
    if total == 0 {
        return vec![];
    }
    let at = |x: f64, y: f64| Point {
        x: x / divisor,
        y,
        low: None,
        high: None,
        mark: Mark::Ok,
    };
    let full = buckets.iter().filter(|(_, (_, count))| *count > 0);
    let full: Vec<(f64, f64, u64)> = full
        .map(|(to, (from, count))| (f64::from_bits(*to), *from, *count))
        .collect();
    let (first, last) = (full[0].1, full[full.len() - 1].0);
    let mut points = vec![at(first, if beyond { 1.0 } else { 0.0 })];
    let mut below = 0;
    // Skip steps that are very close to the previous one, but keep the last of a sequence.
    let height = |y: f64| {
        if beyond {
            y.max(1e-300).log10() / (total as f64).log10().max(1.0)
        } else {
            y
        }
    };
    let width = |x: f64| {
        if beyond {
            x.max(1e-300).ln() / (last / first.max(1e-9)).ln().max(0.1)
        } else {
            x / last
        }
    };
    for (n, (to, _, count)) in full.iter().enumerate() {
        below += count;
        let y = if beyond { total - below } else { below } as f64 / total as f64;
        if beyond && below == total {
            // The steps end at the largest latency, since a logarithmic axis has no zero.
            points.push(Point {
                y: points[points.len() - 1].y,
                ..at(*to, 0.0)
            });
            break;
        }
        let next = at(*to, y);
        let before = points[points.len() - 1];
        let is_far = (height(next.y) - height(before.y)).abs() > 1.0 / STEPS
            || (width(*to) - width(before.x * divisor)).abs() > 1.0 / STEPS;
        if is_far || n + 1 == full.len() || n == 0 {
            points.push(next);
        }
    }
    points
}
