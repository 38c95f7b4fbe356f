//! What differs between folders, at the points they have in common.

use std::collections::BTreeMap;

use netloom_results::{Verdict, differ};

use crate::number::{self, time_unit};
use crate::points::{Estimate, Line, Point, Study};
use crate::table::{Cell, Head, Table};

/// The first folder against every other.
pub(crate) fn table(labels: &[String], studies: &[Study]) -> Option<Table> {
    let (first, others) = studies.split_first()?;
    let lines = || studies.iter().flat_map(|study| study.points.iter());
    let unit = time_unit(lines().filter_map(|point| point.total.mean("latency_p99_ns")));
    let sign = unit.sign;
    let mut table = Table {
        id: "differences",
        caption: format!(
            "Common points of {} (before) and the others (after), and what changed. Bold: the 95 % intervals of the two do not touch. \
             Latencies of saturated points are not compared; percentiles nearer than a bucket of their histogram (1.6 %) do not differ.",
            labels[0]
        ),
        heads: vec![
            Head::text("Folder"),
            Head::text("Point"),
            Head::text("Class"),
            Head::number(&format!("p99 before ({sign})"), "latency_p99_before_ns"),
            Head::number(&format!("after ({sign})"), "latency_p99_after_ns"),
            Head::number("change", "latency_p99_change"),
            Head::number(&format!("Mean before ({sign})"), "latency_mean_before_ns"),
            Head::number(&format!("after ({sign})"), "latency_mean_after_ns"),
            Head::number("change", "latency_mean_change"),
            Head::number("Delivered before", "delivered_load_before"),
            Head::number("after", "delivered_load_after"),
            Head::number("change", "delivered_load_change"),
        ],
        lines: vec![],
    };
    for (label, other) in labels.iter().skip(1).zip(others) {
        for (name, before, after) in common(first, other) {
            let is_saturated = [before, after]
                .iter()
                .any(|point| point.verdict == Verdict::Saturated);
            for (class, a, b) in same_classes(before, after) {
                let mut cells = vec![
                    Cell::Name(label.clone()),
                    Cell::Name(name.clone()),
                    class.map_or(Cell::Html("<em>total</em>".into()), |class| {
                        Cell::Name(class.to_owned())
                    }),
                ];
                for metric in ["latency_p99_ns", "latency_mean_ns"] {
                    let (a, b) = (a.get(metric), b.get(metric));
                    cells.push(Cell::Estimate(a, unit.ns));
                    cells.push(Cell::Estimate(b, unit.ns));
                    cells.push(if is_saturated {
                        Cell::Number(None, "saturated".into())
                    } else {
                        change(metric, a, b)
                    });
                }
                let (a, b) = (a.get("delivered_load"), b.get("delivered_load"));
                cells.extend([Cell::Load(a), Cell::Load(b), change("delivered_load", a, b)]);
                table.lines.push(cells);
            }
        }
    }
    (!table.lines.is_empty()).then_some(table)
}

/// Points that agree on every axis both studies have; where several do, none of them is compared.
fn common<'a>(first: &'a Study, other: &'a Study) -> Vec<(String, &'a Point, &'a Point)> {
    let axes: Vec<&String> = first
        .axes
        .iter()
        .filter(|axis| other.axes.contains(axis))
        .collect();
    let keyed = |study: &'a Study| {
        let mut points: BTreeMap<Vec<String>, Vec<&'a Point>> = BTreeMap::new();
        for point in &study.points {
            let value = |axis: &&String| {
                let at = study.axes.iter().position(|other| other == *axis);
                at.map_or(String::new(), |at| point.values[at].clone())
            };
            let key = axes.iter().map(value).collect();
            points.entry(key).or_default().push(point);
        }
        points
    };
    let others = keyed(other);
    let mut pairs: Vec<(String, &Point, &Point)> = keyed(first)
        .into_iter()
        .filter_map(
            |(key, mine)| match (mine.as_slice(), others.get(&key)?.as_slice()) {
                ([mine], [theirs]) => Some((first.name(mine), *mine, *theirs)),
                _ => None,
            },
        )
        .collect();
    pairs.sort_by(|a, b| {
        let load = |point: &Point| point.load.unwrap_or(0.0);
        (a.1.series.cmp(&b.1.series)).then(load(a.1).total_cmp(&load(b.1)))
    });
    pairs
}

type Pair<'a> = (Option<&'a str>, &'a Line, &'a Line);

fn same_classes<'a>(before: &'a Point, after: &'a Point) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = vec![(None, &before.total, &after.total)];
    for line in &before.classes {
        if let Some(other) = after.classes.iter().find(|other| other.class == line.class) {
            pairs.push((Some(&line.class), line, other));
        }
    }
    pairs
}

fn change(metric: &str, before: Option<Estimate>, after: Option<Estimate>) -> Cell {
    let (Some(a), Some(b)) = (before, after) else {
        return Cell::Number(None, "–".into());
    };
    if a.mean == 0.0 {
        return Cell::Number(None, "–".into());
    }
    if !differ(metric, a.mean, b.mean) {
        return Cell::Number(Some(0.0), "none".into());
    }
    let change = b.mean / a.mean - 1.0;
    let sign = if change > 0.0 { "+" } else { "" };
    let words = format!("{sign}{} %", number::short(100.0 * change));
    let is_clear = match (a.half_width, b.half_width) {
        (Some(wa), Some(wb)) => (a.mean - b.mean).abs() > wa + wb,
        _ => false,
    };
    if is_clear {
        Cell::Strong(change, words)
    } else {
        Cell::Number(Some(change), words)
    }
}
