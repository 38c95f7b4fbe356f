//! Access to columns of a table, looked up once and read line by line.

use crate::frame::{Frame, FrameColumn, Values, Words};
use crate::nullable::Nullable;

#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    Whole(&'a Nullable<u64>),
    Number(&'a Nullable<f64>),
}

impl<'a> Numbers<'a> {
    /// Returns the column with this name, if it exists and has numbers.
    pub fn of(frame: &'a Frame, name: &str) -> Option<Numbers<'a>> {
        Numbers::from(frame.column(name)?)
    }

    /// Returns a column if it has numbers.
    pub fn from(column: &'a FrameColumn) -> Option<Numbers<'a>> {
        match &column.values {
            Values::Whole(values) => Some(Numbers::Whole(values)),
            Values::Number(values) => Some(Numbers::Number(values)),
            Values::Text(_) | Values::Flag(_) => None,
        }
    }

    /// Returns the number of a line, if it is finite.
    pub fn get(self, line: usize) -> Option<f64> {
        let found = match self {
            Numbers::Whole(values) => values.get(line).map(|n| n as f64),
            Numbers::Number(values) => values.get(line),
        };
        found.filter(|x| x.is_finite())
    }
}

/// Returns the words of a text column.
pub fn words<'a>(frame: &'a Frame, name: &str) -> Option<&'a Words> {
    match &frame.column(name)?.values {
        Values::Text(words) => Some(words),
        _ => None,
    }
}

/// Returns the columns that a name may abbreviate, the likeliest first: `p99` for `latency_p99_ns`,
/// `delivered` for
/// `delivered_load`.
pub fn spelled_out(name: &str) -> [String; 4] {
    [
        name.to_owned(),
        format!("latency_{name}_ns"),
        format!("{name}_ns"),
        format!("{name}_load"),
    ]
}
