//! Tables and numbers as text, no wider than the terminal.

use std::collections::BTreeSet;

use netloom_results::Verdict;
use netloom_results::view::number::{TimeUnit, three_digits};

/// Lines of cells in columns. Numbers are right-aligned, except in the first column.
pub(super) struct Columns {
    lines: Vec<Vec<String>>,
    is_text: bool,
    /// Left-aligned columns of a table of numbers.
    left: BTreeSet<usize>,
}

/// Blanks before each column.
const GAP: usize = 2;
/// Least width of a column that is shrunk to fit.
const NARROWEST: usize = 6;

/// Returns the greatest width of lines: that of `COLUMNS`, else that of the terminal. Returns
/// `None` for a pipe, whose reader needs whole lines.
pub(super) fn width() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.parse().ok());
    let seen = || terminal_size::terminal_size_of(std::io::stdout()).map(|(w, _)| w.0.into());
    asked.or_else(seen).filter(|width: &usize| *width >= 20)
}

/// Returns the width of running text, which has an upper limit for legibility.
pub(super) fn page() -> usize {
    width().unwrap_or(PAGE).min(PAGE)
}

const PAGE: usize = 100;

/// Wraps the long lines of a text, and keeps their indentation.
pub(super) fn within(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut out = String::new();
    for line in text.lines() {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        if width_of(line) <= width || indent.len() + 20 > width {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let words = wrapped(line, width - indent.len());
        for part in words.lines() {
            out.push_str(&format!("{indent}{part}\n"));
        }
    }
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

impl Columns {
    /// Returns an empty table of numbers.
    pub(super) fn numbers() -> Columns {
        Columns {
            lines: vec![],
            is_text: false,
            left: BTreeSet::from([0]),
        }
    }

    /// Returns an empty table of words, with left-aligned columns.
    pub(super) fn words() -> Columns {
        Columns {
            lines: vec![],
            is_text: true,
            left: BTreeSet::new(),
        }
    }

    /// Left-aligns these columns too.
    pub(super) fn left(mut self, columns: impl IntoIterator<Item = usize>) -> Columns {
        self.left.extend(columns);
        self
    }

    /// Adds a line.
    pub(super) fn line<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// Formats the table, with lines indented by two blanks. A table that is too wide for the
    /// terminal is divided into blocks of columns.
    pub(super) fn print(&self) -> String {
        self.print_within(width())
    }

    fn print_within(&self, most: Option<usize>) -> String {
        let widths = self.widths(most);
        let blocks = blocks(&widths, most.unwrap_or(usize::MAX));
        let blocks: Vec<String> = blocks
            .iter()
            .map(|columns| self.block(columns, &widths))
            .collect();
        blocks.join("\n")
    }

    /// Formats these columns.
    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let mut text = String::new();
        for line in &self.lines {
            // A cell that is too wide is wrapped.
            let cells: Vec<(usize, Vec<String>)> = columns
                .iter()
                .filter_map(|&column| {
                    let (cell, width) = (line.get(column)?, widths[column]);
                    let parts = match width_of(cell) <= width {
                        true => vec![cell.clone()],
                        false => wrapped(cell, width).lines().map(str::to_owned).collect(),
                    };
                    Some((column, parts))
                })
                .collect();
            let height = cells.iter().map(|(_, parts)| parts.len()).max();
            for nth in 0..height.unwrap_or(0) {
                let parts = cells.iter().map(|(column, parts)| {
                    let part = parts.get(nth).map_or("", String::as_str);
                    let blanks = " ".repeat(widths[*column].saturating_sub(width_of(part)));
                    match self.is_text || self.left.contains(column) {
                        true => format!("{part}{blanks}"),
                        false => format!("{blanks}{part}"),
                    }
                });
                let line = format!("  {}", parts.collect::<Vec<_>>().join("  "));
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }

    /// Returns the widths of columns: those of their longest cells. In a table that is too wide,
    /// the widest columns shrink as far as their longest words allow.
    fn widths(&self, most: Option<usize>) -> Vec<usize> {
        let n = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let longest = |column: usize, length: fn(&str) -> usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| length(cell)).max().unwrap_or(0)
        };
        let word = |text: &str| {
            let words = text.split_whitespace().map(width_of);
            words.max().unwrap_or(0).max(NARROWEST)
        };
        let mut widths: Vec<usize> = (0..n).map(|column| longest(column, width_of)).collect();
        // A number stays with its unit.
        let may_break = |column: usize| self.is_text || self.left.contains(&column);
        let least: Vec<usize> = (0..n)
            .map(|column| match may_break(column) {
                true => longest(column, word),
                false => widths[column],
            })
            .collect();
        while widths.iter().map(|width| width + GAP).sum::<usize>() > most.unwrap_or(usize::MAX) {
            let can = (0..n).filter(|&column| widths[column] > least[column]);
            let Some(widest) = can.max_by_key(|&column| widths[column]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

/// Divides columns into blocks that are at most `most` wide. Each block starts with the first
/// column and has at least one more.
fn blocks(widths: &[usize], most: usize) -> Vec<Vec<usize>> {
    let first = widths.first().map_or(0, |width| width + GAP);
    let (mut blocks, mut block, mut total) = (vec![], vec![0], first);
    for (column, width) in widths.iter().enumerate().skip(1) {
        if block.len() > 1 && total + width + GAP > most {
            blocks.push(std::mem::replace(&mut block, vec![0]));
            total = first;
        }
        block.push(column);
        total += width + GAP;
    }
    blocks.push(block);
    blocks
}

/// Returns the width of a cell; colours have no width.
fn width_of(cell: &str) -> usize {
    let mut parts = cell.split('\u{1b}');
    let plain = parts.next().map_or(0, |first| first.chars().count());
    let after_color = |part: &str| {
        let rest = part.split_once('m').map_or("", |(_, rest)| rest);
        rest.chars().count()
    };
    plain + parts.map(after_color).sum::<usize>()
}

/// Colours of tables: red, yellow, and the reset.
pub(super) const COLOURS: [&str; 3] = ["\u{1b}[31m", "\u{1b}[33m", "\u{1b}[0m"];

/// Returns a word in the colour of a verdict.
pub(super) fn painted(word: &str, verdict: Option<Verdict>, is_coloured: bool) -> String {
    let [red, yellow, end] = COLOURS;
    let colour = match verdict {
        Some(Verdict::Idle | Verdict::Ok) => return word.to_owned(),
        Some(Verdict::Saturated | Verdict::Unfinished) | None => red,
        Some(_) => yellow,
    };
    match is_coloured {
        true => format!("{colour}{word}{end}"),
        false => word.to_owned(),
    }
}

/// Returns the words of a verdict in a table; an empty text for `Ok`.
pub(super) fn marked(verdict: Verdict, is_coloured: bool) -> String {
    match verdict {
        Verdict::Ok => String::new(),
        verdict => painted(verdict.words(), Some(verdict), is_coloured),
    }
}

/// Wraps a text into lines of at most `width` characters; keeps empty lines.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for word in line.split_whitespace() {
            let n = word.chars().count();
            if length > 0 && length + 1 + n > width {
                out.push('\n');
                length = 0;
            }
            if length > 0 {
                out.push(' ');
                length += 1;
            }
            out.push_str(word);
            length += n;
        }
        out.push('\n');
    }
    out
}

/// Formats a duration with a suitable unit: `812 ns`, `1.31 us`.
pub(super) fn nanos(nanos: f64) -> String {
    let unit = TimeUnit::of(nanos.abs());
    format!("{} {}", three_digits(nanos / unit.ns), unit.ascii)
}

/// Formats a duration that may be missing.
pub(super) fn maybe_nanos(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), nanos)
}

/// Formats a count with a suitable prefix: `18.4 M`.
pub(super) fn count(count: f64) -> String {
    let (value, unit) = match count {
        n if n < 1e4 => (count, ""),
        n if n < 1e6 => (count / 1e3, " k"),
        n if n < 1e9 => (count / 1e6, " M"),
        _ => (count / 1e9, " G"),
    };
    format!("{}{unit}", three_digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_their_unit() {
        assert_eq!(nanos(812.4), "812 ns");
        assert_eq!(nanos(200_000.0), "200 us");
        assert_eq!(nanos(1312.0), "1.31 us");
        assert_eq!(count(18_400_000.0), "18.4 M");
        assert_eq!(count(12.0), "12");
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "one two three\n\nfour";
        assert_eq!(wrapped(text, 7), "one two\nthree\n\nfour\n");
    }

    #[test]
    fn a_table_is_no_wider_than_its_terminal() {
        let mut table = Columns::words();
        table.line([
            "d-mod-k",
            "One path per destination, spread over the roots.",
        ]);
        table.line(["det", "The same for every pair."]);
        assert_eq!(
            table.print_within(Some(36)),
            "  d-mod-k  One path per destination,\n           spread over the \
             roots.\n  det      The same for every pair.\n"
        );
        assert!(table.print_within(None).lines().count() == 2);
        // Words are not broken.
        let mut numbers = Columns::numbers();
        numbers.line(["class", "latency_p99_ns"]);
        assert_eq!(numbers.print_within(Some(20)), "  class  latency_p99_ns\n");
    }

    #[test]
    fn a_table_of_numbers_is_divided_into_blocks_of_columns() {
        let mut table = Columns::numbers();
        table.line(["class", "share", "wait"]);
        table.line(["bulk", "50.00 %", "3.14 us"]);
        assert_eq!(
            table.print_within(Some(20)),
            "  class    share\n  bulk   50.00 %\n\n  class     wait\n  bulk   3.14 us\n"
        );
        assert_eq!(table.print_within(Some(25)).lines().count(), 2);
        assert_eq!(Columns::numbers().print_within(Some(20)), "");
    }

    #[test]
    fn long_lines_go_on_below_their_beginning() {
        let text = "  a sentence that is too long for its line\nshort\n";
        assert_eq!(
            within(text, Some(24)),
            "  a sentence that is too\n  long for its line\nshort\n"
        );
        assert_eq!(within(text, None), text);
    }

    #[test]
    fn colours_take_no_place() {
        let mut table = Columns::numbers();
        table.line(["a", &marked(Verdict::Saturated, true), "1"]);
        table.line(["b", &marked(Verdict::TooShort, false), "2"]);
        let text = table.print();
        let plain = text.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert!(text.contains("\u{1b}[31msaturated\u{1b}[0m"), "{text:?}");
        assert_eq!(
            plain,
            "  a          saturated  1\n  b  too short to tell  2\n"
        );
        assert_eq!(marked(Verdict::Ok, true), "");
    }

    #[test]
    fn columns_line_up() {
        let mut table = Columns::numbers();
        table.line(["class", "p99"]);
        table.line(["a", "1.25 us"]);
        assert_eq!(table.print(), "  class      p99\n  a      1.25 us\n");
    }
}
