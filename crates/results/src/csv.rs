//! CSV by hand: a header, commas, line feeds, quotes where a value needs them (RFC 4180).

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
        let cells: Vec<String> = cells.into_iter().map(quoted).collect();
        assert_eq!(cells.len(), self.width, "a cell for every column");
        self.text.push_str(&cells.join(","));
        self.text.push('\n');
    }

    /// The whole file.
    pub fn finish(self) -> String {
        self.text
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
}
