//! The plan of a study as its folder keeps it.

use serde::{Deserialize, Serialize};

use crate::table::Kind;

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
