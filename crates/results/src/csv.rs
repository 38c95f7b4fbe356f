//! Writes CSV: a header, commas, line feeds, and quotes where a value needs them (RFC 4180).
//!
//! Cells may hold names from untrusted files. So control characters are replaced, and a text that a
//! spreadsheet would evaluate begins with an apostrophe. Numbers are unchanged.

use netloom_catalog::{is_formula, visible};

use crate::table::Column;

/// A table being written.
pub struct Csv {
    text: String,
    width: usize,
}

impl Csv {
    /// Creates a table with the columns of all parts, from left to right.
    pub fn new(parts: &[&[Column]]) -> Csv {
        let columns = parts.iter().copied().flatten();
        Csv::named(columns.map(|column| column.name.to_owned()))
    }

    /// Creates a table with columns of these names.
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
    /// If the number of cells differs from the number of columns.
    pub fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| quoted(harmless(cell)))
            .collect();
        assert_eq!(cells.len(), self.width, "a cell for every column");
        self.text.push_str(&cells.join(","));
        self.text.push('\n');
    }

    /// Returns the text of the file.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Makes a cell safe: no control characters, no spreadsheet formula.
fn harmless(cell: String) -> String {
    // Fast path: nearly every cell is a number or a plain word.
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

/// Quotes a value if CSV requires it.
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
        let expected = "name,'=cmd|' /C calc'!A0\n-1.5,x\n-,x\n-inf,x\n1e-9,x\n,x\n'@SUM(A1),x\n\
            '-2+3,x\n\
            \"'+a,b\",x\n\u{fffd}=1,x\na\u{fffd}[2Jb\u{fffd},x\n";
        assert_eq!(csv.finish(), expected);
    }
}
