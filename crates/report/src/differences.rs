//! The differences between folders at common points.

use netloom_results::view::number::{self, TimeUnit};
use netloom_results::view::{Estimate, Line, Point, Study};
use netloom_results::{Setting, Verdict, differ};

use crate::table::{Cell, Head, Table};

/// Compares the first folder with every other.
pub(crate) fn table(labels: &[String], studies: &[Study]) -> Option<Table> {
    let (first, others) = studies.split_first()?;
    let lines = || studies.iter().flat_map(|study| study.points.iter());
    let unit = TimeUnit::of_column(lines().filter_map(|point| point.total.mean("latency_p99_ns")));
    let sign = unit.sign;
    let mut table = Table {
        id: "differences",
        caption: format!(
            "Points that {} (before) has in common with the others (after). Bold: the two 95 % \
             intervals do not overlap. Latencies of saturated points are not compared. Percentiles \
             that differ by less than a histogram bucket (1.6 %) count as equal.",
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

/// Returns pairs of points that agree on all axes of both studies. Ambiguous points are not
/// compared.
fn common<'a>(first: &'a Study, other: &'a Study) -> Vec<(String, &'a Point, &'a Point)> {
    let is_common = |axis: &&String| other.varied_axes.contains(axis);
    let axes = first.varied_axes.iter().filter(is_common);
    let axes: Vec<String> = axes.cloned().collect();
    let (mine, theirs) = (first.by_settings(&axes), other.by_settings(&axes));
    let pair = |(settings, mine): &(Vec<Setting>, Vec<usize>)| {
        let (&[mine], &[their]) = (mine.as_slice(), theirs.get(settings)?) else {
            return None;
        };
        let (mine, their) = (&first.points[mine], &other.points[their]);
        Some((first.name(mine), mine, their))
    };
    let mut pairs: Vec<_> = mine.all.iter().filter_map(pair).collect();
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
