//! A comparison as a table for people, a table for a pull request, and a document for machines.

use netloom_results::RunId;
use serde::Serialize;

use super::pairs::Line;
use super::verdict::{Difference, percent, signed_percent, value};
use crate::cli::table::Columns;

/// Everything that a comparison found.
#[derive(Serialize)]
pub(super) struct Comparison {
    pub(super) a: Side,
    pub(super) b: Side,
    /// The seeds that both have.
    pub(super) seeds: Vec<u64>,
    pub(super) warnings: Vec<String>,
    pub(super) lines: Vec<Compared>,
    pub(super) limits: Vec<Judged>,
}

/// One of the folders.
#[derive(Serialize)]
pub(super) struct Side {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) run_id: RunId,
    /// Classes that the other does not have.
    pub(super) own_classes: Vec<String>,
}

/// A line of the comparison.
#[derive(Serialize)]
pub(super) struct Compared {
    /// The class; null for the total.
    class: Option<String>,
    metric: &'static str,
    unit: &'static str,
    /// From how many seeds; zero if there is none where both have a value, and then no numbers.
    seeds: usize,
    mean_a: Option<f64>,
    mean_b: Option<f64>,
    /// Mean of B minus A over seeds.
    difference: Option<f64>,
    /// Half width of its 95 % interval; null for a single seed.
    half_width: Option<f64>,
    /// The difference as part of A, and the ends of its interval.
    relative: Option<f64>,
    relative_low: Option<f64>,
    relative_high: Option<f64>,
    pub(super) verdict: String,
    #[serde(skip)]
    cells: [String; 7],
}

/// A limit and who broke it.
#[derive(Serialize)]
pub(super) struct Judged {
    pub(super) limit: String,
    /// Classes, or `total`, whose whole interval lies beyond the limit.
    pub(super) broken_by: Vec<String>,
    /// Classes, or `total`, that have no values to judge.
    pub(super) without_values: Vec<String>,
    /// How many were judged.
    pub(super) judged: usize,
}

const HEAD: [&str; 7] = ["class", "metric", "A", "B", "B - A", "±95%", "change"];

impl Compared {
    pub(super) fn new(line: &Line, difference: Option<&Difference>) -> Compared {
        let (metric, column) = (line.metric, line.metric.column);
        let of = |number: fn(&Difference) -> f64| difference.map(number);
        let mean = of(|d| d.mean);
        let half_width = difference.and_then(|d| d.half_width);
        let relative = difference.and_then(|d| d.relative(d.mean));
        let has_interval = |d: &&Difference| d.half_width.is_some();
        let ends = difference.filter(has_interval);
        let verdict = match difference {
            Some(difference) => difference.verdict(metric),
            None => "no seed with a value in both".to_owned(),
        };
        let shown = |number: Option<f64>| match number {
            Some(number) => value(metric, number),
            None => "-".to_owned(),
        };
        let (mean_a, mean_b) = (of(|d| d.mean_a), of(|d| d.mean_b));
        Compared {
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
                shown(mean_a),
                shown(mean_b),
                shown(mean),
                shown(half_width),
                relative.map_or_else(|| "-".to_owned(), signed_percent),
            ],
        }
    }

    /// By how much, for a message.
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

impl Judged {
    fn sentence(&self) -> String {
        let mut text = match (self.broken_by.len(), self.judged) {
            (0, 0) => "could not be judged".to_owned(),
            (0, _) => "kept".to_owned(),
            _ => format!("broken by {}", self.broken_by.join(", ")),
        };
        if !self.without_values.is_empty() {
            let without = self.without_values.join(", ");
            text.push_str(&format!("; no values for {without}"));
        }
        text
    }
}

impl Comparison {
    fn title(&self, mark: &str) -> String {
        let seeds = match self.seeds.len() {
            1 => "one common seed, so no intervals".to_owned(),
            n => format!("{n} common seeds, 95 % intervals of paired differences"),
        };
        format!(
            "B = {mark}{}{mark} against A = {mark}{}{mark}: {seeds}",
            self.b.folder, self.a.folder
        )
    }

    pub(super) fn human(&self) -> String {
        let width = |text: fn(&Compared) -> &str, head: &str| {
            let lines = self.lines.iter().map(text).chain([head]);
            lines.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        // Words to the left among numbers to the right.
        let metric = width(|line| line.metric, HEAD[1]);
        let verdict = width(|line| &line.verdict, "");
        let mut table = Columns::numbers();
        let mut line = |cells: [&str; 7], sentence: &str| {
            let mut cells = cells.map(str::to_owned).to_vec();
            cells[1] = format!("{:<metric$}", cells[1]);
            cells.push(format!("{sentence:<verdict$}"));
            table.line(cells);
        };
        line(HEAD, "");
        for compared in &self.lines {
            line(
                compared.cells.each_ref().map(String::as_str),
                &compared.verdict,
            );
        }
        let mut text = format!("{}\n\n{}", self.title(""), table.print());
        if !self.limits.is_empty() {
            text.push('\n');
        }
        for limit in &self.limits {
            text.push_str(&format!("  {}: {}\n", limit.limit, limit.sentence()));
        }
        text
    }

    pub(super) fn markdown(&self) -> String {
        let row = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("{}\n\n", self.title("`"));
        text.push_str(&row(&mut HEAD.into_iter().chain(["verdict"])));
        text.push_str("|---|---|--:|--:|--:|--:|--:|---|\n");
        for line in &self.lines {
            let cells = line.cells.iter().map(String::as_str);
            text.push_str(&row(&mut cells.chain([line.verdict.as_str()])));
        }
        let limits = self.limits.iter().map(|limit| {
            let mark = if limit.broken_by.is_empty() { "" } else { "**" };
            format!("- `{}`: {mark}{}{mark}\n", limit.limit, limit.sentence())
        });
        let warnings = self.warnings.iter().map(|w| format!("- warning: {w}\n"));
        let remarks: String = limits.chain(warnings).collect();
        if !remarks.is_empty() {
            text.push_str(&format!("\n{remarks}"));
        }
        text
    }
}
