//! The plan of a study, as stored in its folder.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::table::{Datum, Kind};

/// Returns the column of a metric's half width: `half_width` comes before the unit.
pub fn half_width_of(metric: &str) -> String {
    match metric.strip_suffix("_ns") {
        Some(stem) => format!("{stem}_half_width_ns"),
        None => format!("{metric}_half_width"),
    }
}

/// A value of an axis in a column of a table: a number or a text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    Number(f64),
    /// Any other value.
    Text(String),
}

impl Level {
    /// Converts a value of a table; whole numbers become numbers.
    pub fn of(datum: &Datum) -> Level {
        match datum.number() {
            Some(x) => Level::Number(x),
            None => Level::Text(datum.to_string()),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Number(x) => write!(f, "{x}"),
            Level::Text(text) => f.write_str(text),
        }
    }
}

/// The value of a point of a study in one column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// The column: the path of a key, or `variant`.
    pub column: String,
    pub value: Level,
}

/// The contents of `study.json`; its bytes do not depend on the process that writes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StudyDocument {
    /// Version of netloom that started the study.
    pub netloom: String,
    /// Version of the results.
    pub results_version: u32,
    /// Hash of the experiment, its axes and rules, and the version of results.
    pub study_id: String,
    pub name: String,
    pub about: String,
    /// The columns that distinguish points, in the order of the axes.
    pub columns: Vec<AxisColumn>,
    /// Number of units: parts that one process runs alone.
    pub units: usize,
}

/// A column that distinguishes points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AxisColumn {
    /// The path of a key, or `variant`.
    pub name: String,
    pub kind: Kind,
}

impl StudyDocument {
    /// Returns the document as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}
