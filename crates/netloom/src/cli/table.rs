//! Tables and numbers for people.

/// Lines of cells, set in columns: the first column to the left, the others to the right.
pub(super) struct Columns {
    lines: Vec<Vec<String>>,
    is_text: bool,
}

impl Columns {
    /// A table of numbers.
    pub(super) fn numbers() -> Columns {
        Columns {
            lines: vec![],
            is_text: false,
        }
    }

    /// A table of words: every column to the left.
    pub(super) fn words() -> Columns {
        Columns {
            lines: vec![],
            is_text: true,
        }
    }

    /// Adds a line.
    pub(super) fn line<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, each line indented by two blanks.
    pub(super) fn print(&self) -> String {
        let n = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..n).map(width).collect();
        let mut text = String::new();
        for line in &self.lines {
            let cells = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| {
                    if column == 0 || self.is_text {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                });
            let line = format!("  {}", cells.collect::<Vec<_>>().join("  "));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
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
    let (value, unit) = match nanos.abs() {
        n if n < 1e3 => (nanos, "ns"),
        n if n < 1e6 => (nanos / 1e3, "us"),
        n if n < 1e9 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
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

/// About three digits, whole numbers as they are.
fn three_digits(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    match value.abs() {
        n if n < 10.0 => format!("{value:.2}"),
        n if n < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
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
    fn columns_line_up() {
        let mut table = Columns::numbers();
        table.line(["class", "p99"]);
        table.line(["a", "1.25 us"]);
        assert_eq!(table.print(), "  class      p99\n  a      1.25 us\n");
    }
}
