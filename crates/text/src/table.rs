//! Tables as text and as Markdown.

use std::collections::{BTreeMap, BTreeSet};

use crate::paragraph::{visible_width, wrapped};

/// Lines of cells in columns. Numbers are right-aligned, except in the first column.
pub struct Table {
    lines: Vec<Vec<String>>,
    is_text: bool,
    /// Left-aligned columns of a table of numbers.
    left: BTreeSet<usize>,
    /// Number of columns that identify a line; each block of a divided table repeats them.
    keys: usize,
    /// Headings, by the line that they precede.
    headings: BTreeMap<usize, String>,
    /// Notes, by the line that they follow.
    notes: BTreeMap<usize, String>,
}

/// Blanks before each column.
const GAP: usize = 2;
/// Least width of a column that is shrunk to fit.
const NARROWEST: usize = 6;

impl Table {
    /// Returns an empty table of numbers.
    pub fn numbers() -> Table {
        Table {
            lines: vec![],
            is_text: false,
            left: BTreeSet::from([0]),
            keys: 1,
            headings: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Returns an empty table of words, with left-aligned columns.
    pub fn words() -> Table {
        Table {
            lines: vec![],
            is_text: true,
            left: BTreeSet::new(),
            keys: 1,
            headings: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Left-aligns these columns too.
    pub fn left(mut self, columns: impl IntoIterator<Item = usize>) -> Table {
        self.left.extend(columns);
        self
    }

    /// Repeats this many first columns in each block of a table that is too wide.
    pub fn keys(mut self, keys: usize) -> Table {
        self.keys = keys.max(1);
        self
    }

    /// Adds a heading above the next line.
    pub fn heading(&mut self, text: String) {
        self.headings.insert(self.lines.len(), text);
    }

    /// Adds a note below the last line.
    pub fn note(&mut self, text: String) {
        let last = self.lines.len().saturating_sub(1);
        self.notes.insert(last, text);
    }

    /// Returns whether no cell must be wrapped and no column moved to another block.
    pub fn fits(&self, width: Option<usize>) -> bool {
        let widths = self.widths(None);
        width.is_none_or(|most| widths.iter().map(|width| width + GAP).sum::<usize>() <= most)
    }

    /// Adds a line.
    pub fn line<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// Formats the table, with lines indented by two blanks. A table that is wider than `most` is
    /// divided into blocks of columns.
    pub fn text(&self, most: Option<usize>) -> String {
        let widths = self.widths(most);
        let blocks = blocks(&widths, self.keys, most.unwrap_or(usize::MAX));
        let blocks: Vec<String> = blocks
            .iter()
            .map(|columns| self.block(columns, &widths))
            .collect();
        blocks.join("\n")
    }

    /// Formats the table as Markdown; its first line is the head.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            let cells: Vec<String> = line.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if number == 0 {
                let side = |column: usize| match self.is_left(column) {
                    true => "---|",
                    false => "--:|",
                };
                text.push_str(&format!(
                    "|{}\n",
                    (0..line.len()).map(side).collect::<String>()
                ));
            }
        }
        text
    }

    fn is_left(&self, column: usize) -> bool {
        self.is_text || self.left.contains(&column)
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
                    let parts = match visible_width(cell) <= width {
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
                    let blanks = " ".repeat(widths[*column].saturating_sub(visible_width(part)));
                    match self.is_left(*column) {
                        true => format!("{part}{blanks}"),
                        false => format!("{blanks}{part}"),
                    }
                });
                let line = format!("  {}", parts.collect::<Vec<_>>().join("  "));
                text.push_str(line.trim_end());
                text.push('\n');
            }
            if let Some(note) = self.notes.get(&number) {
                text.push_str(&format!("  {note}\n"));
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
            let words = text.split_whitespace().map(visible_width);
            words.max().unwrap_or(0).max(NARROWEST)
        };
        let mut widths: Vec<usize> = (0..n)
            .map(|column| longest(column, visible_width))
            .collect();
        // A number stays with its unit.
        let least: Vec<usize> = (0..n)
            .map(|column| match self.is_left(column) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_no_wider_than_its_terminal() {
        let mut table = Table::words();
        table.line([
            "d-mod-k",
            "One path per destination, spread over the roots.",
        ]);
        table.line(["det", "The same for every pair."]);
        assert_eq!(
            table.text(Some(36)),
            "  d-mod-k  One path per destination,\n           spread over the \
             roots.\n  det      The same for every pair.\n"
        );
        assert!(table.text(None).lines().count() == 2);
        // Words are not broken.
        let mut numbers = Table::numbers();
        numbers.line(["class", "latency_p99_ns"]);
        assert_eq!(numbers.text(Some(20)), "  class  latency_p99_ns\n");
    }

    #[test]
    fn a_table_of_numbers_is_divided_into_blocks_of_columns() {
        let mut table = Table::numbers();
        table.line(["class", "share", "wait"]);
        table.line(["bulk", "50.00 %", "3.14 us"]);
        assert_eq!(
            table.text(Some(20)),
            "  class    share\n  bulk   50.00 %\n\n  class     wait\n  bulk   3.14 us\n"
        );
        assert_eq!(table.text(Some(25)).lines().count(), 2);
        assert_eq!(Table::numbers().text(Some(20)), "");
    }

    #[test]
    fn blocks_repeat_keys_and_headings() {
        let mut table = Table::numbers().left([1]).keys(2);
        table.line(["class", "load", "share", "wait"]);
        table.heading("variant = a".to_owned());
        table.line(["bulk", "0.5", "50.00 %", "3.14 us"]);
        assert_eq!(
            table.text(Some(24)),
            "  class  load    share\n  variant = a\n  bulk   0.5   50.00 %\n\n  \
             class  load     wait\n  variant = a\n  bulk   0.5   3.14 us\n"
        );
        table.note("  short run".to_owned());
        assert!(table.text(None).ends_with("3.14 us\n    short run\n"));
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::numbers();
        table.line(["class", "p99"]);
        table.line(["a", "1.25 us"]);
        table.line(["\u{1b}[31mred\u{1b}[0m", "1 us"]);
        assert_eq!(
            table.text(None),
            "  class      p99\n  a      1.25 us\n  \u{1b}[31mred\u{1b}[0m       1 us\n"
        );
    }

    #[test]
    fn markdown_aligns_numbers_to_the_right() {
        let mut table = Table::numbers();
        table.line(["class", "p99"]);
        table.line(["a|b", "1.25 us"]);
        assert_eq!(
            table.markdown(),
            "| class | p99 |\n|---|--:|\n| a\\|b | 1.25 us |\n"
        );
    }
}
