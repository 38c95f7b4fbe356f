//! What a study says at its end.

use netloom_results::{Datum, Frame};
use netloom_study::Study;
use netloom_study::running::Merged;
use serde_json::{Map, Value};

use super::super::table::{Columns, maybe_nanos};

/// Beyond so many points only series are listed.
const MOST_POINTS: usize = 40;

/// Tables for people: the points, or where each series saturates if there are many.
pub(super) fn for_people(study: &Study, merged: &Merged) -> String {
    let statuses = merged.by_status.iter();
    let statuses: Vec<String> = statuses.map(|(word, n)| format!("{n} {word}")).collect();
    let mut text = format!(
        "{}: {} points, {} runs ({})\n\n",
        study.name,
        merged.points,
        merged.runs,
        statuses.join(", ")
    );
    let table = Points::new(study, &merged.table);
    if merged.points <= MOST_POINTS {
        text.push_str(&table.all());
    }
    if let Some(series) = table.series() {
        if merged.points <= MOST_POINTS {
            text.push('\n');
        }
        text.push_str(&series);
    } else if merged.points > MOST_POINTS {
        text.push_str(&format!(
            "  {} points are in results.csv and points.csv\n",
            merged.points
        ));
    }
    text
}

/// The totals of all points.
struct Points<'a> {
    frame: &'a Frame,
    columns: Vec<&'a str>,
    /// Lines about everything together, one per point.
    lines: Vec<usize>,
}

impl<'a> Points<'a> {
    fn new(study: &'a Study, frame: &'a Frame) -> Points<'a> {
        let is_total = |line: &usize| {
            let scope = frame.column("scope").and_then(|column| column.text(*line));
            scope == Some("total")
        };
        Points {
            frame,
            columns: study.columns().collect(),
            lines: (0..frame.len()).filter(is_total).collect(),
        }
    }

    fn number(&self, name: &str, line: usize) -> Option<f64> {
        self.frame.column(name)?.number(line)
    }

    fn label(&self, name: &str, line: usize) -> String {
        let column = self.frame.column(name);
        column.map_or(String::new(), |column| {
            column.values.datum(line).to_string()
        })
    }

    fn mark(&self, line: usize) -> String {
        let count = |name| self.number(name, line).unwrap_or(0.0);
        let (seeds, saturated) = (count("seeds"), count("saturated_seeds"));
        let converged = count("converged_seeds");
        match (saturated, converged) {
            (n, _) if n >= seeds => "saturated".to_owned(),
            (n, _) if n > 0.0 => format!("{n} of {seeds} saturated"),
            (_, n) if n < seeds => "not converged".to_owned(),
            _ => String::new(),
        }
    }

    fn all(&self) -> String {
        let mut table = Columns::numbers();
        let mut head: Vec<&str> = self.columns.clone();
        let above = vec![""; head.len() + 2];
        table.line(above.into_iter().chain(["latency"]));
        head.extend(["offered", "delivered", "mean", "±95%", "p99", ""]);
        table.line(head);
        for &line in &self.lines {
            let mut cells: Vec<String> = self
                .columns
                .iter()
                .map(|name| self.label(name, line))
                .collect();
            let load = |name| format!("{:.3}", self.number(name, line).unwrap_or(0.0));
            cells.extend([
                load("offered_load"),
                load("delivered_load"),
                maybe_nanos(self.number("latency_mean_ns", line)),
                maybe_nanos(self.number("latency_mean_half_width_ns", line)),
                maybe_nanos(self.number("latency_p99_ns", line)),
                self.mark(line),
            ]);
            table.line(cells);
        }
        table.print()
    }

    /// Where each series along the load saturates: the axis whose name ends in `load`.
    fn series(&self) -> Option<String> {
        let along = self
            .columns
            .iter()
            .position(|name| name.ends_with("load"))?;
        let others: Vec<&str> = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(at, name)| (at != along).then_some(*name))
            .collect();
        let mut found: Vec<(Vec<String>, Vec<usize>)> = vec![];
        for &line in &self.lines {
            let key: Vec<String> = others.iter().map(|name| self.label(name, line)).collect();
            match found.iter_mut().find(|(own, _)| *own == key) {
                Some((_, lines)) => lines.push(line),
                None => found.push((key, vec![line])),
            }
        }
        let mut table = Columns::numbers();
        let mut head: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        let axis = self.columns[along];
        head.extend([
            format!("last {axis} not saturated"),
            "delivered".to_owned(),
            "p99".to_owned(),
            "first saturated".to_owned(),
        ]);
        table.line(head);
        for (key, mut lines) in found {
            let value = |line: usize| self.number(axis, line).unwrap_or(f64::INFINITY);
            lines.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            let is_saturated = |line: &usize| {
                let count = |name| self.number(name, *line).unwrap_or(0.0);
                count("saturated_seeds") * 2.0 >= count("seeds")
            };
            let first = lines.iter().position(is_saturated);
            let last = match first {
                Some(0) => None,
                Some(at) => Some(lines[at - 1]),
                None => lines.last().copied(),
            };
            let mut cells = key;
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            cells.extend([
                or_none(last.map(|line| self.label(axis, line))),
                or_none(last.map(|line| {
                    let delivered = self.number("delivered_load", line);
                    format!("{:.3}", delivered.unwrap_or(0.0))
                })),
                maybe_nanos(last.and_then(|line| self.number("latency_p99_ns", line))),
                or_none(first.map(|at| self.label(axis, lines[at]))),
            ]);
            table.line(cells);
        }
        Some(table.print())
    }
}

/// The same as one JSON document.
pub(super) fn for_machines(study: &Study, merged: &Merged) -> anyhow::Result<String> {
    let object = |line: usize| {
        let values = merged.table.columns.iter().map(|column| {
            let value = match column.values.datum(line) {
                Datum::Nothing => Value::Null,
                Datum::Text(text) => Value::from(text),
                Datum::Whole(n) => Value::from(n),
                Datum::Number(x) => Value::from(x),
                Datum::Flag(is_so) => Value::from(is_so),
            };
            (column.name.clone(), value)
        });
        Value::Object(values.collect::<Map<_, _>>())
    };
    let document = serde_json::json!({
        "name": study.name,
        "study_id": study.id(),
        "points": merged.points,
        "runs": merged.runs,
        "statuses": merged.by_status,
        "warnings": merged.warnings,
        "table": (0..merged.table.len()).map(object).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)?)
}
