//! A comparison as a text table, a Markdown table, and a JSON document.

use netloom_results::{Level, Setting};
use serde::Serialize;

use super::overall::Overall;
use super::pairs::Line;
use super::points::label;
use super::verdict::{Difference, both, percent, signed_percent, value};
use crate::table::Columns;

/// The result of a comparison.
#[derive(Serialize)]
pub(super) struct Comparison {
    pub(super) a: Side,
    pub(super) b: Side,
    /// The common axes.
    pub(super) axes: Vec<String>,
    /// The common seeds of any point.
    pub(super) seeds: Vec<u64>,
    /// The summary of all points; null for single runs.
    pub(super) overall: Option<Overall>,
    pub(super) warnings: Vec<String>,
    pub(super) lines: Vec<Compared>,
    pub(super) limits: Vec<Judged>,
}

/// One of the folders.
#[derive(Serialize)]
pub(super) struct Side {
    pub(super) folder: String,
    pub(super) name: String,
    /// Only for single runs.
    pub(super) run_id: Option<String>,
    /// Classes that the other does not have.
    pub(super) own_classes: Vec<String>,
}

/// A line of the comparison.
#[derive(Serialize)]
pub(super) struct Compared {
    /// Values of the point on the common axes.
    point: serde_json::Map<String, serde_json::Value>,
    /// Null for the total.
    class: Option<String>,
    metric: &'static str,
    unit: &'static str,
    /// Number of seeds with a value in both. With zero, there are no numbers.
    seeds: usize,
    mean_a: Option<f64>,
    mean_b: Option<f64>,
    /// Mean of B minus A over seeds.
    difference: Option<f64>,
    /// Half width of its 95 % interval; null for a single seed.
    half_width: Option<f64>,
    /// The difference as a fraction of A, and the ends of its interval.
    relative: Option<f64>,
    relative_low: Option<f64>,
    relative_high: Option<f64>,
    /// Probability of such a difference by chance; null without an interval.
    by_chance: Option<f64>,
    pub(super) verdict: String,
    /// Whether the difference is significant.
    #[serde(skip)]
    differs: bool,
    /// The values of the axes.
    #[serde(skip)]
    place: Vec<String>,
    #[serde(skip)]
    cells: [String; 7],
}

/// A limit and the lines that break it.
#[derive(Serialize)]
pub(super) struct Judged {
    pub(super) limit: String,
    /// Classes, or `total`, whose whole interval lies beyond the limit, with their points.
    pub(super) broken_by: Vec<String>,
    /// Classes, or `total`, that have no values to judge, with their points.
    pub(super) without_values: Vec<String>,
    /// Number of judged lines.
    pub(super) judged: usize,
    /// The lines that break it and by how much, as text.
    #[serde(skip)]
    pub(super) sentences: Vec<String>,
}

const HEAD: [&str; 7] = ["class", "metric", "A", "B", "B - A", "±95%", "change"];

impl Compared {
    pub(super) fn new(
        settings: &[Setting],
        line: &Line,
        difference: Option<&Difference>,
    ) -> Compared {
        let (metric, column) = (line.metric, line.metric.column);
        let of = |number: fn(&Difference) -> f64| difference.map(number);
        let mean = of(|d| d.mean);
        let half_width = difference.and_then(|d| d.half_width);
        let relative = difference.and_then(|d| d.relative(d.mean));
        let has_interval = |d: &&Difference| d.half_width.is_some();
        let ends = difference.filter(has_interval);
        let verdict = match difference {
            Some(difference) => difference.verdict(),
            None => "no seed with a value in both".to_owned(),
        };
        let shown = |number: Option<f64>| match number {
            Some(number) => value(metric, number),
            None => "-".to_owned(),
        };
        let (mean_a, mean_b) = (of(|d| d.mean_a), of(|d| d.mean_b));
        let (shown_a, shown_b) = match difference {
            Some(difference) => both(metric, difference.mean_a, difference.mean_b),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let of_point = |setting: &Setting| {
            let value = match &setting.value {
                Level::Number(x) => (*x).into(),
                Level::Text(text) => text.as_str().into(),
            };
            (setting.column.clone(), value)
        };
        Compared {
            point: settings.iter().map(of_point).collect(),
            place: settings.iter().map(|s| s.value.to_string()).collect(),
            by_chance: difference.and_then(Difference::by_chance),
            differs: difference.is_some_and(|difference| difference.side() != 0),
            class: line.class.clone(),
            metric: column.name,
            unit: column.unit,
            seeds: line.pairs.len(),
            mean_a,
            mean_b,
            difference: mean,
            half_width,
            relative,
            relative_low: ends.and_then(|d| d.relative(d.low())),
            relative_high: ends.and_then(|d| d.relative(d.high())),
            verdict,
            cells: [
                line.scope().to_owned(),
                column.name.to_owned(),
                shown_a,
                shown_b,
                shown(mean),
                shown(half_width),
                relative.map_or_else(|| "-".to_owned(), signed_percent),
            ],
        }
    }

    /// Formats the change for a message.
    pub(super) fn change(&self, difference: &Difference) -> String {
        let part = |number: f64| difference.relative(number).map(percent);
        let own = &self.cells;
        match (part(difference.low()), part(difference.high())) {
            (Some(low), Some(high)) if self.half_width.is_some() => {
                format!("{} or {} ({low} to {high})", own[4], own[6])
            }
            (Some(_), _) => format!("{} or {}", own[4], own[6]),
            (None, _) => own[4].clone(),
        }
    }
}

/// Formats a class, or in a study a class and a point: `bulk at traffic.load = 0.4`.
pub(super) fn about(line: &Line, settings: &[Setting]) -> String {
    match settings {
        [] => line.scope().to_owned(),
        _ => format!("{} at {}", line.scope(), label(settings)),
    }
}

/// Most lines to name for a limit.
const NAMED: usize = 5;

fn several_of(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl Judged {
    fn sentence(&self) -> String {
        let mut text = match (self.broken_by.len(), self.judged) {
            (0, 0) => "cannot be judged".to_owned(),
            (0, _) => "kept".to_owned(),
            _ => format!("broken by {}", several_of(&self.broken_by)),
        };
        if !self.without_values.is_empty() {
            let without = several_of(&self.without_values);
            text.push_str(&format!("; no values for {without}"));
        }
        text
    }
}

/// Forms of the table, from wide to narrow.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// All columns.
    Whole,
    /// Without the difference, which follows from other columns.
    Narrow,
    /// Also with a heading per point instead of columns of the axes.
    Grouped,
}

impl Comparison {
    fn title(&self, mark: &str) -> String {
        let seeds = match self.seeds.len() {
            1 => "one common seed, so no intervals".to_owned(),
            n => format!("{n} common seeds, 95 % intervals of paired differences"),
        };
        let points = match &self.overall {
            Some(overall) => format!("{} common points, ", overall.points),
            None => String::new(),
        };
        format!(
            "B = {mark}{}{mark} against A = {mark}{}{mark}: {points}{seeds}",
            self.b.folder, self.a.folder
        )
    }

    /// Returns the head of the table.
    fn head(&self) -> Vec<&str> {
        let axes = self.axes.iter().map(String::as_str);
        axes.chain(HEAD).chain(["verdict"]).collect()
    }

    /// Returns a line of the table.
    fn row<'a>(&self, line: &'a Compared) -> Vec<&'a str> {
        let place = line.place.iter().chain(&line.cells);
        let cells = place.map(String::as_str);
        cells.chain([line.verdict.as_str()]).collect()
    }

    fn sentences(&self) -> &[String] {
        self.overall
            .as_ref()
            .map_or(&[], |overall| &overall.sentences)
    }

    /// Returns the lines to show: those that differ, or all.
    fn shown(&self, all: bool) -> Vec<&Compared> {
        let lines = self.lines.iter();
        lines.filter(|line| all || line.differs).collect()
    }

    /// Returns a sentence about the lines that are not shown.
    fn rest(&self, all: bool) -> Option<String> {
        let (n, of) = (self.lines.len() - self.shown(all).len(), self.lines.len());
        (n > 0).then(|| format!("{n} of {of} lines show no difference; --all shows them"))
    }

    /// Returns the table of these lines, with a heading per point or with columns of the axes.
    fn table(&self, shown: &[&Compared], form: Form) -> Columns {
        let axes = match form {
            Form::Grouped => 0,
            Form::Whole | Form::Narrow => self.axes.len(),
        };
        let without = &HEAD[4];
        let kept = |row: Vec<&str>| -> Vec<String> {
            let names = self.head();
            let cells = row.into_iter().zip(names).skip(self.axes.len() - axes);
            let cells = cells.filter(|(_, name)| form == Form::Whole || name != without);
            cells.map(|(cell, _)| cell.to_owned()).collect()
        };
        let mut head = kept(self.head());
        // The verdict has no heading.
        let last = head.len() - 1;
        head[last].clear();
        // Words are left-aligned, numbers right-aligned.
        let words = (0..axes + 2).chain([last]);
        let mut table = Columns::numbers().left(words).keys(axes + 2);
        table.line(head);
        let mut point = None;
        for line in shown {
            if form == Form::Grouped && point != Some(&line.place) {
                let values = self.axes.iter().zip(&line.place);
                let values: Vec<String> = values.map(|(axis, x)| format!("{axis} = {x}")).collect();
                table.heading(values.join(", "));
                point = Some(&line.place);
            }
            table.line(kept(self.row(line)));
        }
        table
    }

    pub(super) fn human(&self, all: bool) -> String {
        let shown = self.shown(all);
        let forms = match self.axes.is_empty() {
            true => vec![Form::Whole, Form::Narrow],
            false => vec![Form::Whole, Form::Narrow, Form::Grouped],
        };
        let mut tables = forms.into_iter().map(|form| self.table(&shown, form));
        let mut text = format!("{}\n\n", self.title(""));
        for sentence in self.sentences() {
            text.push_str(&format!("  {sentence}\n"));
        }
        if !self.sentences().is_empty() {
            text.push('\n');
        }
        if !shown.is_empty() {
            // The first form that fits the terminal, or the last one.
            let last = tables.next_back();
            let table = tables.find(Columns::fits).or(last);
            text.push_str(&table.map(|table| table.print()).unwrap_or_default());
        }
        if let Some(rest) = self.rest(all) {
            text.push_str(&format!("  {rest}\n"));
        }
        if !self.limits.is_empty() {
            text.push('\n');
        }
        for limit in &self.limits {
            text.push_str(&format!("  {}: {}\n", limit.limit, limit.sentence()));
        }
        text
    }

    pub(super) fn markdown(&self, all: bool) -> String {
        let row = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("{}\n\n", self.title("`"));
        for sentence in self.sentences() {
            text.push_str(&format!("- {sentence}\n"));
        }
        if !self.sentences().is_empty() {
            text.push('\n');
        }
        let shown = self.shown(all);
        if !shown.is_empty() {
            text.push_str(&row(&mut self.head().into_iter()));
            let words = "---|".repeat(self.axes.len() + 2);
            text.push_str(&format!("|{words}--:|--:|--:|--:|--:|---|\n"));
        }
        for line in shown {
            text.push_str(&row(&mut self.row(line).into_iter()));
        }
        let limits = self.limits.iter().map(|limit| {
            let mark = if limit.broken_by.is_empty() { "" } else { "**" };
            format!("- `{}`: {mark}{}{mark}\n", limit.limit, limit.sentence())
        });
        let warnings = self.warnings.iter().map(|w| format!("- warning: {w}\n"));
        let rest = self.rest(all).map(|rest| format!("- {rest}\n"));
        let remarks: String = rest.into_iter().chain(limits).chain(warnings).collect();
        if !remarks.is_empty() {
            text.push_str(&format!("\n{remarks}"));
        }
        text
    }
}
