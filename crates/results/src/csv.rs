//! CSV by hand: a header, commas, line feeds, quotes where a value needs them (RFC 4180).
//!
//! Cells may hold names from outside, so a cell never holds what a terminal obeys, and a text that a spreadsheet would
//! compute begins with an apostrophe. Numbers stay as they are.

use netloom_catalog::{is_formula, visible};

use crate::table::Column;

/// A table being written.
pub struct Csv {
    text: String,
    width: usize,
}

impl Csv {
    /// A table with the columns of these parts, side by side.
    pub fn new(parts: &[&[Column]]) -> Csv {
        let columns = parts.iter().copied().flatten();
        Csv::named(columns.map(|column| column.name.to_owned()))
    }

    /// A table with columns of these names.
    pub fn named(names: impl Iterator<Item = String>) -> Csv {
        let names: Vec<String> = names.collect();
        let mut csv = Csv {
            text: String::new(),
            width: names.len(),
        };
        csv.line(names);
        csv
    }

    /// Adds a line.
    ///
    /// # Panics
    /// If there are not as many cells as columns.
    pub fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| quoted(harmless(cell)))
            .collect();
        assert_eq!(cells.len(), self.width, "a cell for every column");
        self.text.push_str(&cells.join(","));
        self.text.push('\n');
    }

    /// The whole file.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A cell as a text that programs show and do not obey.
fn harmless(cell: String) -> String {
    // Nearly every cell is a number or a plain word.
    let first = cell.bytes().next().unwrap_or(b'0');
    if first.is_ascii_alphanumeric() && cell.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return cell;
    }
    let cell = visible(&cell);
    let is_text = cell.len() > 1 && cell.parse::<f64>().is_err();
    match is_formula(&cell) && is_text {
        true => format!("'{cell}"),
        false => cell.into_owned(),
    }
}

/// A value with quotes around it where CSV needs them.
pub fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("bulk".into()), "bulk");
        assert_eq!(quoted("a,b".into()), "\"a,b\"");
        assert_eq!(quoted("5\" rack".into()), "\"5\"\" rack\"");
    }

    #[test]
    fn a_cell_is_no_formula_and_no_command() {
        let mut csv = Csv::named(
            ["name", "=cmd|' /C calc'!A0"]
                .map(str::to_owned)
                .into_iter(),
        );
        for name in [
            "-1.5",
            "-",
            "-inf",
            "1e-9",
            "",
            "@SUM(A1)",
            "-2+3",
            "+a,b",
            "\t=1",
            "a\u{1b}[2Jb\n",
        ] {
            csv.line([name.to_owned(), "x".to_owned()]);
        }
        let expected = "name,'=cmd|' /C calc'!A0\n-1.5,x\n-,x\n-inf,x\n1e-9,x\n,x\n'@SUM(A1),x\n'-2+3,x\n\
            \"'+a,b\",x\n\u{fffd}=1,x\na\u{fffd}[2Jb\u{fffd},x\n";
        assert_eq!(csv.finish(), expected);
    }
}
