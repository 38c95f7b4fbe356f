//! Tables and numbers for people, no wider than what they are read on.

use std::collections::BTreeSet;

use netloom_results::Verdict;
use netloom_results::view::number::{TimeUnit, three_digits};

/// Lines of cells, set in columns: the first column to the left, the others to the right.
pub(super) struct Columns {
    lines: Vec<Vec<String>>,
    is_text: bool,
    /// Columns to the left among numbers.
    left: BTreeSet<usize>,
}

/// Between columns, and before the first.
const GAP: usize = 2;
/// No column of a table that is too wide becomes narrower than this.
const NARROWEST: usize = 6;

/// How wide lines may be: as `COLUMNS` says, else as the terminal is. Nothing where neither says it: what reads a
/// pipe wants lines whole.
pub(super) fn width() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.parse().ok());
    let seen = || terminal_size::terminal_size_of(std::io::stdout()).map(|(w, _)| w.0.into());
    asked.or_else(seen).filter(|width: &usize| *width >= 20)
}

/// How wide running text is set: no wider than is read with ease.
pub(super) fn page() -> usize {
    width().unwrap_or(PAGE).min(PAGE)
}

const PAGE: usize = 100;

/// A text whose long lines go on below, under their beginning.
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
    /// A table of numbers.
    pub(super) fn numbers() -> Columns {
        Columns {
            lines: vec![],
            is_text: false,
            left: BTreeSet::from([0]),
        }
    }

    /// A table of words: every column to the left.
    pub(super) fn words() -> Columns {
        Columns {
            lines: vec![],
            is_text: true,
            left: BTreeSet::new(),
        }
    }

    /// The same with these columns to the left.
    pub(super) fn left(mut self, columns: impl IntoIterator<Item = usize>) -> Columns {
        self.left.extend(columns);
        self
    }

    /// Adds a line.
    pub(super) fn line<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, each line indented by two blanks.
    pub(super) fn print(&self) -> String {
        self.print_within(width())
    }

    fn print_within(&self, most: Option<usize>) -> String {
        let widths = self.widths(most);
        let mut text = String::new();
        for line in &self.lines {
            // A cell that is too wide goes on in further lines.
            let cells: Vec<Vec<String>> = line
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| match width_of(cell) <= width {
                    true => vec![cell.clone()],
                    false => wrapped(cell, width).lines().map(str::to_owned).collect(),
                })
                .collect();
            for nth in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let parts = cells.iter().zip(&widths).enumerate();
                let parts = parts.map(|(column, (cell, &width))| {
                    let part = cell.get(nth).map_or("", String::as_str);
                    let blanks = " ".repeat(width.saturating_sub(width_of(part)));
                    match self.is_text || self.left.contains(&column) {
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

    /// The widths of columns: those of their longest cells; where that is too wide, the widest give way as far as
    /// their longest words allow.
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

/// How many places of a line a cell takes: colours take none.
fn width_of(cell: &str) -> usize {
    let mut parts = cell.split('\u{1b}');
    let plain = parts.next().map_or(0, |first| first.chars().count());
    let after_color = |part: &str| {
        let rest = part.split_once('m').map_or("", |(_, rest)| rest);
        rest.chars().count()
    };
    plain + parts.map(after_color).sum::<usize>()
}

/// Colours of tables: red, yellow, and the end of either.
pub(super) const COLOURS: [&str; 3] = ["\u{1b}[31m", "\u{1b}[33m", "\u{1b}[0m"];

/// A word of a table with the colour of a verdict.
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

/// What a table says of a verdict: nothing if all is well.
pub(super) fn marked(verdict: Verdict, is_coloured: bool) -> String {
    match verdict {
        Verdict::Ok => String::new(),
        verdict => painted(verdict.words(), Some(verdict), is_coloured),
    }
}

/// Text with lines of at most so many characters; empty lines stay.
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

/// A duration of nanoseconds with the unit that suits it: `812 ns`, `1.31 us`.
pub(super) fn nanos(nanos: f64) -> String {
    let unit = TimeUnit::of(nanos.abs());
    format!("{} {}", three_digits(nanos / unit.ns), unit.ascii)
}

/// The same for a value that may be missing.
pub(super) fn maybe_nanos(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), nanos)
}

/// A count with the prefix that suits it: `18.4 M`.
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
            "  d-mod-k  One path per destination,\n           spread over the roots.\n  det      The same for every pair.\n"
        );
        assert!(table.print_within(None).lines().count() == 2);
        // What cannot be broken between words is not broken.
        let mut numbers = Columns::numbers();
        numbers.line(["class", "latency_p99_ns"]);
        assert_eq!(numbers.print_within(Some(20)), "  class  latency_p99_ns\n");
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
