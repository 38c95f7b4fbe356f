//! A table stored by columns, from which every format is written and into which it is read.
//!
//! Columns take little memory: a million links share a few thousand names, so a text is an index
//! into a list of words. Numbers and indices have the layout of Arrow. A frame stores its units and
//! meanings, and writes them to every file.

use serde::{Deserialize, Serialize};

use crate::csv::Csv;
use crate::nullable::Nullable;
use crate::table::{Column, Datum, Kind, Table};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Frame {
    /// Its columns, all of the same length.
    pub columns: Vec<FrameColumn>,
    n_lines: usize,
}

/// A table as read from a file, before it is checked.
#[derive(Deserialize)]
struct Stored {
    columns: Vec<FrameColumn>,
    n_lines: usize,
}

impl TryFrom<Stored> for Frame {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Frame, String> {
        let Stored { columns, n_lines } = stored;
        for column in &columns {
            let (name, n) = (&column.name, column.values.len());
            if n != n_lines {
                return Err(format!("column {name:?} has {n} of {n_lines} lines"));
            }
            if let Values::Text(words) = &column.values
                && words
                    .lines
                    .iter()
                    .flatten()
                    .any(|at| at as usize >= words.words.len())
            {
                return Err(format!("column {name:?} refers to a missing text"));
            }
        }
        match columns.is_empty() && n_lines > 0 {
            true => Err(format!("found {n_lines} lines without a column")),
            false => Ok(Frame { columns, n_lines }),
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FrameColumn {
    /// Name, in files of every format.
    pub name: String,
    /// Unit; empty for text and plain counts.
    pub unit: String,
    pub meaning: String,
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    Text(Words),
    /// Whole numbers.
    Whole(Nullable<u64>),
    /// Numbers with a point.
    Number(Nullable<f64>),
    /// Yes or no.
    Flag(Nullable<bool>),
}

/// Texts, each stored once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Words {
    /// Every text, in the order of appearance.
    pub words: Vec<String>,
    /// Index into `words` for each line.
    pub lines: Nullable<u32>,
    /// Index of a text in `words`. Looked up, never iterated.
    #[serde(skip)]
    index: std::collections::HashMap<String, u32>,
}

/// Compares the texts line by line and ignores the index.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words && self.lines == other.lines
    }
}

impl Words {
    /// Adds a line.
    pub fn push(&mut self, text: Option<String>) {
        let at = text.map(|text| self.number_of(&text));
        self.lines.push(at);
    }

    /// Returns the index of a text, which is added if it is new.
    pub(crate) fn number_of(&mut self, text: &str) -> u32 {
        if self.index.len() < self.words.len() {
            let numbered = self.words.iter().zip(0..);
            self.index = numbered.map(|(word, at)| (word.clone(), at)).collect();
        }
        match self.index.get(text) {
            Some(&at) => at,
            None => {
                let at = u32::try_from(self.words.len()).expect("fewer than 2^32 names");
                self.index.insert(text.to_owned(), at);
                self.words.push(text.to_owned());
                at
            }
        }
    }

    /// Applies a change to every text.
    pub(crate) fn for_each(&mut self, change: impl FnMut(&mut String)) {
        self.words.iter_mut().for_each(change);
        self.index.clear();
    }

    /// Returns the text of a line.
    pub fn get(&self, line: usize) -> Option<&str> {
        let at = self.lines.get(line)?;
        self.words.get(at as usize).map(String::as_str)
    }
}

impl Values {
    /// Creates an empty list of values of a kind.
    pub fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Words::default()),
            Kind::Whole => Values::Whole(Nullable::default()),
            Kind::Number => Values::Number(Nullable::default()),
            Kind::Flag => Values::Flag(Nullable::default()),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Values::Text(_) => Kind::Text,
            Values::Whole(_) => Kind::Whole,
            Values::Number(_) => Kind::Number,
            Values::Flag(_) => Kind::Flag,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Values::Text(words) => words.lines.len(),
            Values::Whole(values) => values.len(),
            Values::Number(values) => values.len(),
            Values::Flag(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value.
    ///
    /// # Panics
    /// If the value is of another kind.
    pub fn push(&mut self, datum: Datum) {
        match (self, datum) {
            (Values::Text(words), Datum::Text(text)) => words.push(Some(text)),
            (Values::Text(words), Datum::Nothing) => words.push(None),
            (Values::Whole(values), Datum::Whole(n)) => values.push(Some(n)),
            (Values::Whole(values), Datum::Nothing) => values.push(None),
            (Values::Number(values), Datum::Number(x)) => values.push(Some(x)),
            (Values::Number(values), Datum::Nothing) => values.push(None),
            (Values::Flag(values), Datum::Flag(is_so)) => values.push(Some(is_so)),
            (Values::Flag(values), Datum::Nothing) => values.push(None),
            (values, datum) => panic!("{datum:?} in a column of kind {:?}", values.kind()),
        }
    }

    /// Returns the value of a line.
    pub fn datum(&self, line: usize) -> Datum {
        let found = match self {
            Values::Text(words) => words.get(line).map(|text| Datum::Text(text.to_owned())),
            Values::Whole(values) => values.get(line).map(Datum::Whole),
            Values::Number(values) => values.get(line).map(Datum::Number),
            Values::Flag(values) => values.get(line).map(Datum::Flag),
        };
        found.unwrap_or(Datum::Nothing)
    }
}

impl FrameColumn {
    /// Returns the value of a line as a number, also if it is a whole number.
    pub fn number(&self, line: usize) -> Option<f64> {
        self.values.datum(line).number()
    }

    /// Returns the value of a line as text.
    pub fn text(&self, line: usize) -> Option<&str> {
        match &self.values {
            Values::Text(words) => words.get(line),
            _ => None,
        }
    }

    /// Returns the flag of a line.
    pub fn flag(&self, line: usize) -> Option<bool> {
        match self.values.datum(line) {
            Datum::Flag(is_so) => Some(is_so),
            _ => None,
        }
    }
}

impl Frame {
    /// Creates an empty table with the columns of a line.
    pub fn of<T: Table>() -> Frame {
        Frame::default().with_columns::<T>()
    }

    /// Appends the columns of another line to an empty table.
    pub fn with_columns<T: Table>(mut self) -> Frame {
        assert!(self.is_empty(), "columns are added before lines");
        for (column, kind) in T::COLUMNS.iter().zip(T::KINDS) {
            self.columns.push(FrameColumn::new(column, *kind));
        }
        self
    }

    /// Creates a table from columns.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn from_columns(columns: Vec<FrameColumn>) -> Frame {
        let n_lines = columns.first().map_or(0, |column| column.values.len());
        for column in &columns {
            assert_eq!(column.values.len(), n_lines, "column {}", column.name);
        }
        Frame { columns, n_lines }
    }

    /// Adds a line.
    ///
    /// # Panics
    /// If the number of values or the kind of a value does not match the columns.
    pub fn push(&mut self, data: impl IntoIterator<Item = Datum>) {
        let mut columns = self.columns.iter_mut();
        for datum in data {
            let column = columns.next().expect("a column for every value");
            column.values.push(datum);
        }
        assert!(columns.next().is_none(), "a value for every column");
        self.n_lines += 1;
    }

    /// Adds all lines of a table with the same columns.
    ///
    /// # Panics
    /// If the columns differ.
    pub fn append(&mut self, other: &Frame) {
        assert_eq!(self.columns.len(), other.columns.len(), "the same columns");
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            assert_eq!(mine.name, theirs.name, "the same columns");
            for line in 0..other.n_lines {
                mine.values.push(theirs.values.datum(line));
            }
        }
        self.n_lines += other.n_lines;
    }

    /// Returns the table with key columns in front, each with one value for all lines.
    pub fn with_keys(&self, keys: &[(FrameColumn, Datum)]) -> Frame {
        let mut columns: Vec<FrameColumn> = keys
            .iter()
            .map(|(column, datum)| {
                let mut column = column.without_lines();
                for _ in 0..self.n_lines {
                    column.values.push(datum.clone());
                }
                column
            })
            .collect();
        columns.extend(self.columns.iter().cloned());
        Frame {
            columns,
            n_lines: self.n_lines,
        }
    }

    /// Returns a table with the same columns and no lines.
    pub fn without_lines(&self) -> Frame {
        Frame::from_columns(
            self.columns
                .iter()
                .map(FrameColumn::without_lines)
                .collect(),
        )
    }

    /// Checks that the table has the columns of another table, in the same order and of the same
    /// kinds.
    ///
    /// # Errors
    /// The first column that differs.
    pub fn has_columns_of(&self, other: &Frame) -> Result<(), String> {
        let own = self.columns.iter().map(Some).chain(std::iter::repeat(None));
        for (column, own) in other.columns.iter().zip(own) {
            let (name, kind) = (&column.name, column.values.kind());
            match own {
                Some(own) if own.name == *name && own.values.kind() == kind => {}
                Some(own) if own.name == *name => {
                    let is = own.values.kind();
                    return Err(format!(
                        "expected kind {kind:?} for column {name:?}, found {is:?}"
                    ));
                }
                Some(own) => {
                    return Err(format!("expected column {name:?}, found {:?}", own.name));
                }
                None => return Err(format!("column {name:?} is missing")),
            }
        }
        match self.columns.get(other.columns.len()) {
            Some(more) => Err(format!("unknown column {:?}", more.name)),
            None => Ok(()),
        }
    }

    /// Checks that the table can be arranged as another one: it has the columns of that table, in
    /// any order and of the same kinds. Numbers may be missing, since columns are added over time.
    ///
    /// # Errors
    /// The first column that differs.
    pub(crate) fn can_be(&self, other: &Frame) -> Result<(), String> {
        for (at, own) in self.columns.iter().enumerate() {
            let name = &own.name;
            if self.columns[..at].iter().any(|before| before.name == *name) {
                return Err(format!("duplicate column {name:?}"));
            }
            let (found, expected) = match other.column(name) {
                Some(column) => (own.values.kind(), column.values.kind()),
                None => return Err(format!("unknown column {name:?}")),
            };
            if found != expected {
                return Err(format!(
                    "expected kind {expected:?} for column {name:?}, found {found:?}"
                ));
            }
        }
        let mut missing = other.columns.iter();
        let missing = missing.find(|column| {
            column.values.kind() != Kind::Number && self.column(&column.name).is_none()
        });
        match missing {
            Some(column) => Err(format!("column {:?} is missing", column.name)),
            None => Ok(()),
        }
    }

    /// Arranges the columns as in another table; missing columns have no values.
    pub(crate) fn arranged_as(mut self, other: &Frame) -> Frame {
        let take = |column: &FrameColumn| {
            let at = self.columns.iter().position(|own| own.name == column.name);
            at.map_or_else(
                || {
                    let mut empty = column.without_lines();
                    (0..self.n_lines).for_each(|_| empty.values.push(Datum::Nothing));
                    empty
                },
                |at| self.columns.swap_remove(at),
            )
        };
        Frame {
            columns: other.columns.iter().map(take).collect(),
            n_lines: self.n_lines,
        }
    }

    /// Returns the values of a line.
    pub fn line(&self, line: usize) -> impl Iterator<Item = Datum> + '_ {
        let columns = self.columns.iter();
        columns.map(move |column| column.values.datum(line))
    }

    pub fn len(&self) -> usize {
        self.n_lines
    }

    pub fn is_empty(&self) -> bool {
        self.n_lines == 0
    }

    /// Returns the column with this name.
    pub fn column(&self, name: &str) -> Option<&FrameColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the table as CSV.
    pub fn to_csv(&self) -> String {
        let mut csv = Csv::named(self.columns.iter().map(|column| column.name.clone()));
        for line in 0..self.n_lines {
            let values = self.columns.iter().map(|column| &column.values);
            csv.line(values.map(|values| values.datum(line).to_string()));
        }
        csv.finish()
    }
}

impl FrameColumn {
    /// Returns the same column without values.
    pub fn without_lines(&self) -> FrameColumn {
        FrameColumn {
            name: self.name.clone(),
            unit: self.unit.clone(),
            meaning: self.meaning.clone(),
            values: Values::new(self.values.kind()),
        }
    }

    /// Creates an empty column.
    pub fn new(column: &Column, kind: Kind) -> FrameColumn {
        FrameColumn {
            name: column.name.to_owned(),
            unit: column.unit.to_owned(),
            meaning: column.meaning.to_owned(),
            values: Values::new(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeriesLine;

    fn line(class: &str, latency_mean_ns: Option<f64>) -> SeriesLine {
        SeriesLine {
            seed: 7,
            time_ns: 0.1 + 0.2,
            class: class.to_owned(),
            latency_mean_ns,
            ..SeriesLine::default()
        }
    }

    #[test]
    fn lines_become_columns_and_csv() {
        let mut frame = Frame::of::<SeriesLine>();
        frame.push(line("bulk", None).data());
        frame.push(line("control", Some(1.5)).data());
        frame.push(line("bulk", Some(f64::MIN_POSITIVE)).data());
        assert_eq!(frame.len(), 3);
        let class = frame.column("class").unwrap();
        assert_eq!((class.text(2), class.number(2)), (Some("bulk"), None));
        let Values::Text(words) = &class.values else {
            panic!("class is text")
        };
        assert_eq!(words.words, ["bulk", "control"]);
        assert_eq!(frame.column("latency_mean_ns").unwrap().number(0), None);
        assert_eq!(frame.column("seed").unwrap().number(1), Some(7.0));
        let csv = frame.to_csv();
        assert_eq!(
            csv.lines().next().unwrap().split(',').nth(1),
            Some("time_ns")
        );
        let last = csv.lines().last().unwrap();
        assert!(
            last.starts_with("7,0.30000000000000004,bulk,0,0,0,0,"),
            "{last}"
        );
    }

    #[test]
    fn frames_are_joined_below_and_beside() {
        let mut frame = Frame::of::<SeriesLine>();
        frame.push(line("bulk", None).data());
        let key = Column::new("point", "", "Which point.");
        let key = FrameColumn::new(&key, Kind::Whole);
        let mut first = frame.with_keys(&[(key.clone(), Datum::Whole(0))]);
        first.append(&frame.with_keys(&[(key, Datum::Whole(1))]));
        assert_eq!(first.len(), 2);
        assert_eq!(first.column("point").unwrap().number(1), Some(1.0));
        let text = serde_json::to_string(&first).unwrap();
        assert_eq!(
            serde_json::from_str::<Frame>(&text).unwrap().to_csv(),
            first.to_csv()
        );
    }

    #[test]
    fn a_table_that_lies_about_its_lines_is_refused() {
        let mut frame = Frame::of::<SeriesLine>();
        frame.push(line("bulk", None).data());
        let whole = serde_json::to_value(&frame).unwrap();
        let read = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut other = whole.clone();
            change(&mut other);
            serde_json::from_value::<Frame>(other).map_err(|error| error.to_string())
        };
        assert_eq!(read(&|_| {}), Ok(frame.clone()));
        let many = read(&|it| it["n_lines"] = 10u64.pow(18).into());
        assert_eq!(
            many.unwrap_err(),
            "column \"seed\" has 1 of 1000000000000000000 lines"
        );
        let word = read(&|it| it["columns"][2]["values"]["text"]["lines"][0] = 7.into());
        assert!(word.unwrap_err().contains("a missing text"));
        let none = read(&|it| it["columns"] = serde_json::json!([]));
        assert_eq!(none.unwrap_err(), "found 1 lines without a column");
    }

    #[test]
    fn columns_of_another_name_or_kind_are_reported() {
        let like = Frame::of::<SeriesLine>();
        let other = |change: &dyn Fn(&mut Vec<FrameColumn>)| {
            let mut other = like.clone();
            change(&mut other.columns);
            other.has_columns_of(&like)
        };
        assert_eq!(other(&|_| {}), Ok(()));
        let renamed = other(&|columns| columns[1].name = "when".to_owned());
        assert_eq!(
            renamed.unwrap_err(),
            "expected column \"time_ns\", found \"when\""
        );
        let retyped = other(&|columns| columns[1].values = Values::new(Kind::Text));
        assert_eq!(
            retyped.unwrap_err(),
            "expected kind Number for column \"time_ns\", found Text"
        );
        let short = other(&|columns| columns.truncate(2));
        assert_eq!(short.unwrap_err(), "column \"class\" is missing");
        let long = other(&|columns| columns.push(columns[0].clone()));
        assert_eq!(long.unwrap_err(), "unknown column \"seed\"");
    }

    #[test]
    fn numbers_may_be_added_to_a_table_and_moved() {
        let mut like = Frame::of::<SeriesLine>();
        like.push(line("bulk", Some(1.5)).data());
        let other = |change: &dyn Fn(&mut Vec<FrameColumn>)| {
            let mut other = like.clone();
            change(&mut other.columns);
            other.can_be(&like).map(|()| other.arranged_as(&like))
        };
        let moved = other(&|columns| columns.swap(0, 2));
        assert_eq!(moved, Ok(like.clone()));
        let earlier = other(&|columns| columns.truncate(7)).unwrap();
        assert_eq!(earlier.has_columns_of(&like), Ok(()));
        assert_eq!(earlier.column("latency_mean_ns").unwrap().number(0), None);
        let why = |change: &dyn Fn(&mut Vec<FrameColumn>)| other(change).unwrap_err();
        let short = why(&|columns| columns.truncate(2));
        assert_eq!(short, "column \"class\" is missing");
        let renamed = why(&|columns| columns[1].name = "when".to_owned());
        assert_eq!(renamed, "unknown column \"when\"");
        let twice = why(&|columns| columns.push(columns[0].clone()));
        assert_eq!(twice, "duplicate column \"seed\"");
        let retyped = why(&|columns| columns[1].values = columns[2].values.clone());
        assert!(retyped.starts_with("expected kind Number"), "{retyped}");
    }

    #[test]
    #[should_panic(expected = "a value for every column")]
    fn a_short_line_is_refused() {
        Frame::of::<SeriesLine>().push([Datum::Whole(1)]);
    }
}
