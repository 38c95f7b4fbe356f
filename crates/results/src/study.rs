//! The plan of a study as its folder keeps it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::table::{Datum, Kind};

/// The metrics that the table `points` gives over seeds, each with the half width of its 95 % interval.
pub const OVER_SEEDS: [&str; 16] = [
    "offered_load",
    "delivered_load",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "packet_latency_mean_ns",
    "packet_latency_p99_ns",
    "network_latency_mean_ns",
    "network_latency_p99_ns",
    "injection_latency_mean_ns",
    "completion_time_ns",
    "jitter_mean_ns",
    "fairness_jain",
    "switches_mean",
];

/// The column of a metric's half width: the words stand before its unit.
pub fn half_width_of(metric: &str) -> String {
    match metric.strip_suffix("_ns") {
        Some(stem) => format!("{stem}_half_width_ns"),
        None => format!("{metric}_half_width"),
    }
}

/// What stands in a column of a table for a value of an axis: a number, or a text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl Level {
    /// What a table says; a whole number is one like any other.
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

/// What a point of a study sets in one column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// The column: the path of a key, or `variant`.
    pub column: String,
    /// The value.
    pub value: Level,
}

/// What `study.json` holds: the same bytes whichever process writes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StudyDocument {
    /// Version of netloom that began it.
    pub netloom: String,
    /// Version of the results.
    pub results_version: u32,
    /// Hash of the experiment, its axes and rules, and the version of results.
    pub study_id: String,
    /// Name of the experiment.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The columns that tell points apart, in the order of the axes.
    pub columns: Vec<AxisColumn>,
    /// Units of work: what one process does alone.
    pub units: usize,
}

/// A column that tells points apart.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AxisColumn {
    /// The path of a key, or `variant`.
    pub name: String,
    /// Text or number.
    pub kind: Kind,
}

impl StudyDocument {
    /// The document as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}
