//! What a study prints at its end.

use std::collections::BTreeMap;

use netloom_results::view::Lines;
use netloom_results::{Datum, Frame, Status, Verdict};
use netloom_study::Study;
use netloom_study::running::Merged;
use serde_json::{Map, Value};

use super::super::table::{Table, marked, maybe_nanos, painted, title, width};

/// Number of points up to which all are listed; above it, only series are.
const MOST_POINTS: usize = 40;

/// Counts the points of each verdict.
pub(super) fn verdicts(points: &Frame) -> BTreeMap<Verdict, usize> {
    let mut verdicts = BTreeMap::new();
    let lines = Lines::of(points);
    for line in lines.about("total") {
        *verdicts.entry(lines.verdict(line)).or_default() += 1;
    }
    verdicts
}

/// Returns tables of the points, or of where each series saturates if there are many.
pub(super) fn for_people(study: &Study, merged: &Merged, is_coloured: bool) -> String {
    let mut counts: Vec<String> = verdicts(&merged.table)
        .into_iter()
        .map(|(verdict, n)| painted(&format!("{n} {verdict}"), Some(verdict), is_coloured))
        .collect();
    let deadlock = Status::Deadlock.word();
    if let Some(n) = merged.by_status.get(deadlock) {
        let runs = if *n == 1 { "run" } else { "runs" };
        counts.push(painted(
            &format!("{n} {runs} {deadlock}"),
            None,
            is_coloured,
        ));
    }
    let mut text = format!(
        "{}: {} points ({}), {} runs\n\n",
        study.name,
        merged.points,
        counts.join(", "),
        merged.runs
    );
    let table = Points::new(study, &merged.table, is_coloured);
    if merged.points <= MOST_POINTS {
        text.push_str(&table.all());
    }
    if let Some(jobs) = table.jobs().filter(|_| merged.points <= MOST_POINTS) {
        text.push('\n');
        text.push_str(&jobs);
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
    table: Lines<'a>,
    columns: Vec<&'a str>,
    /// Lines of the total, one per point.
    lines: Vec<usize>,
    is_coloured: bool,
}

impl<'a> Points<'a> {
    fn new(study: &'a Study, frame: &'a Frame, is_coloured: bool) -> Points<'a> {
        Points {
            table: Lines::of(frame),
            columns: study.columns().collect(),
            lines: Lines::of(frame).about("total").collect(),
            is_coloured,
        }
    }

    fn number(&self, name: &str, line: usize) -> Option<f64> {
        self.table.table.column(name)?.number(line)
    }

    fn label(&self, name: &str, line: usize) -> String {
        let column = self.table.table.column(name);
        column.map_or(String::new(), |column| {
            column.values.datum(line).to_string()
        })
    }

    fn mark(&self, line: usize) -> String {
        let count = |name| self.number(name, line).unwrap_or(0.0);
        let (seeds, saturated) = (count("seeds"), count("saturated_seeds"));
        let verdict = self.table.verdict(line);
        let mark = marked(verdict, self.is_coloured);
        let is_saturated = verdict == Verdict::Saturated;
        match saturated > 0.0 && saturated < seeds {
            true if is_saturated => format!("{mark} ({saturated} of {seeds} seeds)"),
            true => format!("{mark} ({saturated} of {seeds} seeds saturated)")
                .trim_start()
                .to_owned(),
            false => mark,
        }
    }

    /// Returns a line per point. In a table that is too wide, the first axis becomes headings.
    fn all(&self) -> String {
        let table = self.points(false);
        match table.fits(width()) || self.columns.len() < 2 {
            true => table.text(width()),
            false => self.points(true).text(width()),
        }
    }

    fn points(&self, is_grouped: bool) -> Table {
        // Only finite work has a completion time.
        let completion = |line: usize| self.number("completion_time_ns", line);
        let ends = self.lines.iter().any(|line| completion(*line).is_some());
        let axes = &self.columns[usize::from(is_grouped)..];
        let mut table = Table::numbers()
            .left([axes.len() + 5 + usize::from(ends)])
            .keys(axes.len());
        let above = vec![""; axes.len() + 2];
        table.line(above.into_iter().chain(["latency"]));
        let mut head: Vec<String> = axes.iter().map(|&axis| axis.to_owned()).collect();
        head.extend(["offered_load", "delivered_load", "latency_mean_ns"].map(title));
        head.extend(["±95%".to_owned(), title("latency_p99_ns")]);
        head.extend(ends.then(|| title("completion_time_ns")));
        head.push(String::new());
        table.line(head);
        let mut group = None;
        for &line in &self.lines {
            if is_grouped {
                let (axis, value) = (self.columns[0], self.label(self.columns[0], line));
                if group.as_ref() != Some(&value) {
                    table.heading(format!("{axis} = {value}"));
                    group = Some(value);
                }
            }
            let mut cells: Vec<String> = axes.iter().map(|name| self.label(name, line)).collect();
            let load = |name| format!("{:.3}", self.number(name, line).unwrap_or(0.0));
            cells.extend([
                load("offered_load"),
                load("delivered_load"),
                maybe_nanos(self.number("latency_mean_ns", line)),
                maybe_nanos(self.number("latency_mean_half_width_ns", line)),
                maybe_nanos(self.number("latency_p99_ns", line)),
            ]);
            cells.extend(ends.then(|| maybe_nanos(completion(line))));
            cells.push(self.mark(line));
            table.line(cells);
        }
        table
    }

    /// Returns the classes of all points, if one of them is a job: what others pay for its time.
    fn jobs(&self) -> Option<String> {
        let lines: Vec<usize> = self.table.about("class").collect();
        let has = |name: &str| {
            let mut numbers = lines.iter().map(|&line| self.number(name, line));
            numbers.any(|number| number.is_some())
        };
        if !has("completion_time_ns") {
            return None;
        }
        let keys = self.columns.len() + 1;
        let mut table = Table::numbers().keys(keys).left([keys - 1]);
        let mut head: Vec<String> = self.columns.iter().map(|&name| name.to_owned()).collect();
        head.push("class".to_owned());
        head.extend(["delivered_load", "latency_p99_ns", "completion_time_ns"].map(title));
        let columns = ["slowdown", "bus_bandwidth"];
        let more: Vec<&str> = columns.into_iter().filter(|name| has(name)).collect();
        head.extend(more.iter().map(|name| match *name {
            "bus_bandwidth" => "bus GB/s".to_owned(),
            name => title(name),
        }));
        table.line(head);
        for line in lines {
            let axes = self.columns.iter();
            let mut cells: Vec<String> = axes.map(|name| self.label(name, line)).collect();
            cells.extend([
                self.label("class", line),
                format!("{:.3}", self.number("delivered_load", line).unwrap_or(0.0)),
                maybe_nanos(self.number("latency_p99_ns", line)),
                maybe_nanos(self.number("completion_time_ns", line)),
            ]);
            cells.extend(more.iter().map(|name| match self.number(name, line) {
                Some(number) => format!("{number:.2}"),
                None => "-".to_owned(),
            }));
            table.line(cells);
        }
        Some(table.text(width()))
    }

    /// Returns where each series saturates along the axis whose name ends in `load`.
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
        let mut table = Table::numbers().keys(others.len());
        let mut head: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        let axis = self.columns[along];
        head.extend([
            format!("steady up to {axis}"),
            title("delivered_load"),
            title("latency_p99_ns"),
            "first saturated".to_owned(),
        ]);
        table.line(head);
        for (key, mut lines) in found {
            let value = |line: usize| self.number(axis, line).unwrap_or(f64::INFINITY);
            lines.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            let is = |verdict| move |line: &usize| self.table.verdict(*line) == verdict;
            let first = lines.iter().position(is(Verdict::Saturated));
            let below = &lines[..first.unwrap_or(lines.len())];
            let last = below.iter().copied().rfind(is(Verdict::Ok));
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
        Some(table.text(width()))
    }
}

/// Returns the table as one JSON document.
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
        "verdicts": verdicts(&merged.table)
            .into_iter()
            .map(|(verdict, n)| (verdict.word(), n))
            .collect::<BTreeMap<_, _>>(),
        "statuses": merged.by_status,
        "warnings": merged.warnings,
        "table": (0..merged.table.len()).map(object).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)?)
}
