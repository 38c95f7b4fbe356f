//! A comparison as text and as Markdown.

use std::fmt;

use netloom_text::number::{nanos, percent, prefixed, signed_percent};
use netloom_text::{Table, within};

use super::difference::Difference;
use super::points::label;
use super::{ComparedLine, Comparison, JudgedLimit, Metric};
use crate::differ;

const HEAD: [&str; 7] = ["class", "metric", "A", "B", "B - A", "±95%", "change"];

impl ComparedLine {
    /// Returns the cells of [`HEAD`].
    fn cells(&self) -> [String; 7] {
        let none = || "-".to_owned();
        let shown = |number: Option<f64>| number.map_or_else(none, |x| value(self.metric, x));
        let (a, b) = match self.mean_a.zip(self.mean_b) {
            Some((a, b)) => both(self.metric, a, b),
            None => (none(), none()),
        };
        [
            self.scope().to_owned(),
            self.metric.name().to_owned(),
            a,
            b,
            shown(self.difference),
            shown(self.half_width),
            self.relative.map_or_else(none, signed_percent),
        ]
    }
}

/// Formats the change for a message.
pub(super) fn change(metric: Metric, difference: &Difference) -> String {
    let part = |number: f64| difference.relative(number);
    let own = value(metric, difference.mean);
    let Some(mean) = part(difference.mean).map(signed_percent) else {
        return own;
    };
    match part(difference.low()).zip(part(difference.high())) {
        Some((low, high)) if difference.half_width.is_some() => {
            format!("{own} or {mean} ({} to {})", percent(low), percent(high))
        }
        _ => format!("{own} or {mean}"),
    }
}

/// Formats two values of a metric, with enough digits to distinguish them if they differ.
pub(super) fn both(metric: Metric, a: f64, b: f64) -> (String, String) {
    let (short_a, short_b) = (value(metric, a), value(metric, b));
    if short_a != short_b || !differ(metric.name(), a, b) {
        return (short_a, short_b);
    }
    let unit = match metric.column.unit {
        "ns" => " ns",
        _ => "",
    };
    let digits = (1..=15).find(|digits| format!("{a:.digits$e}") != format!("{b:.digits$e}"));
    // The digits of the exponential form, as decimals.
    let magnitude = a.abs().max(b.abs()).log10().floor() as i64;
    let decimals = (digits.unwrap_or(15) as i64 - magnitude).max(0) as usize;
    (
        format!("{a:.decimals$}{unit}"),
        format!("{b:.decimals$}{unit}"),
    )
}

/// Formats a value of a metric with its unit.
pub(super) fn value(metric: Metric, value: f64) -> String {
    match metric.column.unit {
        "ns" => nanos(value),
        "fraction" => format!("{value:.4}"),
        _ if value < 0.0 => format!("-{}", prefixed(-value)),
        _ => prefixed(value),
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

impl JudgedLimit {
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

    fn sentences(&self) -> &[String] {
        self.overall
            .as_ref()
            .map_or(&[], |overall| &overall.sentences)
    }

    /// Returns the lines to show: those that differ, or all.
    fn shown(&self, all: bool) -> Vec<&ComparedLine> {
        let lines = self.lines.iter();
        lines.filter(|line| all || line.is_significant).collect()
    }

    /// Returns a sentence about the lines that are not shown.
    fn rest(&self, all: bool) -> Option<String> {
        let (n, of) = (self.lines.len() - self.shown(all).len(), self.lines.len());
        (n > 0).then(|| format!("{n} of {of} lines show no difference; --all shows them"))
    }

    /// Returns the table of these lines, with a heading per point or with columns of the axes.
    fn table(&self, shown: &[&ComparedLine], form: Form, verdict: &str) -> Table {
        let n_axes = if form == Form::Grouped {
            0
        } else {
            self.axes.len()
        };
        let without_difference = |cells: [String; 7]| {
            let cells = cells.into_iter().enumerate();
            cells.filter_map(move |(at, cell)| {
                (form == Form::Whole || HEAD[at] != "B - A").then_some(cell)
            })
        };
        let mut head = self.axes[..n_axes].to_vec();
        head.extend(without_difference(HEAD.map(str::to_owned)));
        head.push(verdict.to_owned());
        // Words are left-aligned, numbers right-aligned.
        let words = (0..n_axes + 2).chain([head.len() - 1]);
        let mut table = Table::numbers().left(words).keys(n_axes + 2);
        table.line(head);
        let mut point = None;
        for line in shown {
            if form == Form::Grouped && point != Some(&line.point) {
                table.heading(label(&line.point));
                point = Some(&line.point);
            }
            let values = line.point[..n_axes].iter();
            let values = values.map(|setting| setting.value.to_string());
            table.line(
                values
                    .chain(without_difference(line.cells()))
                    .chain([line.verdict.clone()]),
            );
        }
        table
    }

    /// Formats the comparison for people: the lines with a significant difference, or all.
    pub fn text(&self, all: bool, width: Option<usize>) -> String {
        let shown = self.shown(all);
        let forms: &[Form] = match self.axes.is_empty() {
            true => &[Form::Whole, Form::Narrow],
            false => &[Form::Whole, Form::Narrow, Form::Grouped],
        };
        let mut tables = forms.iter().map(|form| self.table(&shown, *form, ""));
        let mut text = format!("{}\n\n", self.title(""));
        for sentence in self.sentences() {
            text.push_str(&format!("  {sentence}\n"));
        }
        if !self.sentences().is_empty() {
            text.push('\n');
        }
        if !shown.is_empty() {
            // The first form that fits, or the last one.
            let last = tables.next_back();
            let table = tables.find(|table| table.fits(width)).or(last);
            text.push_str(&table.map(|table| table.text(width)).unwrap_or_default());
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
        within(&text, width)
    }

    /// Formats the comparison as Markdown: the lines with a significant difference, or all.
    pub fn markdown(&self, all: bool) -> String {
        let mut text = format!("{}\n\n", self.title("`"));
        for sentence in self.sentences() {
            text.push_str(&format!("- {sentence}\n"));
        }
        if !self.sentences().is_empty() {
            text.push('\n');
        }
        let shown = self.shown(all);
        if !shown.is_empty() {
            text.push_str(&self.table(&shown, Form::Whole, "verdict").markdown());
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

/// The lines with a significant difference, for people.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(false, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_do_not_look_equal() {
        let both = |name: &str, a, b| {
            let (a, b) = both(name.parse().unwrap(), a, b);
            format!("{a} {b}")
        };
        assert_eq!(both("delivered_load", 0.09, 0.91), "0.0900 0.9100");
        assert_eq!(both("delivered_load", 0.5, 0.5), "0.5000 0.5000");
        assert_eq!(
            both("delivered_load", 0.090_70, 0.090_712),
            "0.09070 0.09071"
        );
        assert_eq!(
            both("latency_mean_ns", 1_234.56, 1_234.61),
            "1234.56 ns 1234.61 ns"
        );
        // Closer than a bucket of the histogram: no difference.
        assert_eq!(both("latency_p99_ns", 1234.0, 1234.1), "1.23 us 1.23 us");
    }
}
