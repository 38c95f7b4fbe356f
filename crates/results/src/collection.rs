//! Everything a folder of results holds, whether of a study or of a single run.

use std::collections::BTreeMap;

use crate::frame::Frame;
use crate::view::layout::Layout;

/// A folder of results as reports, figures and comparisons read it.
///
/// A single run is a study of one point: its tables have the column `point`, and `points` is there.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collection {
    /// Where it was read from, for messages.
    pub folder: String,
    /// Name of the experiment.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The columns that tell points apart, in order: paths of axes, and `variant` where there are variants.
    pub axes: Vec<String>,
    /// The tables by name: [`TABLES`](crate::TABLES) and `points`.
    pub tables: BTreeMap<String, Frame>,
    /// The experiment as TOML: that of a study before its axes are set, that of a single run with every default.
    pub experiment: String,
    /// The manifest: where, when, how fast. JSON; null if there is none.
    pub manifest: serde_json::Value,
    /// Where switches and NICs are drawn.
    pub layout: Option<Layout>,
    /// What a reader must know: runs that are missing, failed or interrupted.
    pub warnings: Vec<String>,
}

impl Collection {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Frame> {
        self.tables.get(name)
    }
}
