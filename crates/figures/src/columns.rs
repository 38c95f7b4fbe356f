//! Columns of a table, looked up once and read line by line.

use netloom_results::{Frame, FrameColumn, Values, Words};

/// A column of numbers.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    Whole(&'a [Option<u64>]),
    Number(&'a [Option<f64>]),
}

impl<'a> Numbers<'a> {
    /// The column of that name, if it is there and has numbers.
    pub(crate) fn of(frame: &'a Frame, name: &str) -> Option<Numbers<'a>> {
        Numbers::from(frame.column(name)?)
    }

    pub(crate) fn from(column: &'a FrameColumn) -> Option<Numbers<'a>> {
        match &column.values {
            Values::Whole(values) => Some(Numbers::Whole(values)),
            Values::Number(values) => Some(Numbers::Number(values)),
            Values::Text(_) | Values::Flag(_) => None,
        }
    }

    /// The finite number of a line.
    pub(crate) fn get(self, line: usize) -> Option<f64> {
        let found = match self {
            Numbers::Whole(values) => values[line].map(|n| n as f64),
            Numbers::Number(values) => values[line],
        };
        found.filter(|x| x.is_finite())
    }
}

/// The words of a text column.
pub(crate) fn words<'a>(frame: &'a Frame, name: &str) -> Option<&'a Words> {
    match &frame.column(name)?.values {
        Values::Text(words) => Some(words),
        _ => None,
    }
}

/// The text of any value, as a person would write it.
pub(crate) fn text(column: &FrameColumn, line: usize) -> String {
    column.values.datum(line).to_string()
}

/// Which lines belong to which point; a table without that column is all of point 0.
pub(crate) struct PointOf<'a>(Option<Numbers<'a>>);

impl<'a> PointOf<'a> {
    pub(crate) fn new(frame: &'a Frame) -> PointOf<'a> {
        PointOf(Numbers::of(frame, "point"))
    }

    pub(crate) fn get(&self, line: usize) -> u64 {
        let number = self.0.and_then(|column| column.get(line));
        number.map_or(0, |number| number as u64)
    }
}
