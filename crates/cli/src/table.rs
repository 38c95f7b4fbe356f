//! Tables and numbers as text, no wider than the terminal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use netloom_results::Verdict;
use netloom_results::view::number::{TimeUnit, three_digits};

/// Lines of cells in columns. Numbers are right-aligned, except in the first column.
pub(super) struct Columns {
    lines: Vec<Vec<String>>,
    is_text: bool,
    /// Left-aligned columns of a table of numbers.
    left: BTreeSet<usize>,
    /// Number of columns that identify a line; each block of a divided table repeats them.
    keys: usize,
    /// Headings, by the line that they precede.
    headings: BTreeMap<usize, String>,
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

/// Returns the greatest width of messages, if stderr is a terminal.
pub(super) fn width_of_messages() -> Option<usize> {
    let seen = terminal_size::terminal_size_of(std::io::stderr());
    let seen = seen.map(|(width, _)| width.0.into());
    seen.filter(|width: &usize| *width >= 20)
}

/// Wraps the long lines of a message at words. Quoted lines of a file keep their form.
pub(super) fn message(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let plain = without_colours(line);
            let start = plain.trim_start();
            let indent = plain.len() - start.len();
            let after_number = start.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_quoted = after_number.trim_start().starts_with(['|', ':'])
                || start.starts_with("-->")
                || indent + 20 > width;
            if is_quoted || plain.chars().count() <= width {
                return line.to_owned();
            }
            let hanging = indent
                + match start {
                    _ if start.starts_with("= help: ") => "= help: ".len(),
                    _ if start.starts_with("error") || start.starts_with("warning") => 2,
                    _ => 0,
                };
            let parts = filled(line, width - indent, width - hanging);
            let parts = parts.join(format!("\n{}", " ".repeat(hanging)).as_str());
            format!("{}{parts}", " ".repeat(indent))
        })
        .collect();
    lines.join("\n")
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
            keys: 1,
            headings: BTreeMap::new(),
        }
    }

    /// Returns an empty table of words, with left-aligned columns.
    pub(super) fn words() -> Columns {
        Columns {
            lines: vec![],
            is_text: true,
            left: BTreeSet::new(),
            keys: 1,
            headings: BTreeMap::new(),
        }
    }

    /// Left-aligns these columns too.
    pub(super) fn left(mut self, columns: impl IntoIterator<Item = usize>) -> Columns {
        self.left.extend(columns);
        self
    }

    /// Repeats this many first columns in each block of a table that is too wide.
    pub(super) fn keys(mut self, keys: usize) -> Columns {
        self.keys = keys.max(1);
        self
    }

    /// Adds a heading above the next line.
    pub(super) fn heading(&mut self, text: String) {
        self.headings.insert(self.lines.len(), text);
    }

    /// Returns whether no cell must be wrapped and no column moved to another block.
    pub(super) fn fits(&self) -> bool {
        let Some(most) = width() else {
            return true;
        };
        let widths = self.widths(None);
        widths.iter().map(|width| width + GAP).sum::<usize>() <= most
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
        let blocks = blocks(&widths, self.keys, most.unwrap_or(usize::MAX));
        let blocks: Vec<String> = blocks
            .iter()
            .map(|columns| self.block(columns, &widths))
            .collect();
        blocks.join("\n")
    }

    /// Formats these columns.
    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let mut text = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            if let Some(heading) = self.headings.get(&number) {
                text.push_str(&format!("  {heading}\n"));
            }
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
/// `keys` columns and has at least one more.
fn blocks(widths: &[usize], keys: usize, most: usize) -> Vec<Vec<usize>> {
    let keys: Vec<usize> = (0..keys).collect();
    let first: usize = widths
        .iter()
        .take(keys.len())
        .map(|width| width + GAP)
        .sum();
    let (mut blocks, mut block, mut total) = (vec![], keys.clone(), first);
    for (column, width) in widths.iter().enumerate().skip(keys.len()) {
        if block.len() > keys.len() && total + width + GAP > most {
            blocks.push(std::mem::replace(&mut block, keys.clone()));
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
    without_colours(cell).chars().count()
}

fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    std::iter::once(first)
        .chain(rest)
        .collect::<String>()
        .into()
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
        out.push_str(&filled(line, width, width).join("\n"));
        out.push('\n');
    }
    out
}

/// Divides words into lines: the first of at most `first` characters, others of at most `width`.
fn filled(text: &str, first: usize, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut length) = (vec![], String::new(), 0);
    for word in text.split_whitespace() {
        let most = if lines.is_empty() { first } else { width };
        let n = width_of(word);
        if length > 0 && length + 1 + n > most {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += n;
    }
    lines.push(line);
    lines
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
    fn blocks_repeat_keys_and_headings() {
        let mut table = Columns::numbers().left([1]).keys(2);
        table.line(["class", "load", "share", "wait"]);
        table.heading("variant = a".to_owned());
        table.line(["bulk", "0.5", "50.00 %", "3.14 us"]);
        assert_eq!(
            table.print_within(Some(24)),
            "  class  load    share\n  variant = a\n  bulk   0.5   50.00 %\n\n  \
             class  load     wait\n  variant = a\n  bulk   0.5   3.14 us\n"
        );
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
    fn messages_are_wrapped_and_quoted_lines_are_not() {
        let text = "warning[W0907]: a sentence that is too long\n --> plan.toml:12:1, a long name\n\
             12 | shares = [1, 2, 3, 4, 5, 6, 7]\n   |  ^^^^^ a label that is too long\n   \
             = help: use another table, or wait";
        assert_eq!(
            message(text, Some(28)),
            "warning[W0907]: a sentence\n  that is too long\n --> plan.toml:12:1, a long name\n\
             12 | shares = [1, 2, 3, 4, 5, 6, 7]\n   |  ^^^^^ a label that is too long\n   \
             = help: use another\n           table, or wait"
        );
        assert_eq!(message(text, None), text);
        let red = "\u{1b}[31merror\u{1b}[0m: two words";
        assert_eq!(message(red, Some(20)), red);
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
