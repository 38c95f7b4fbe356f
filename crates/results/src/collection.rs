//! The results of a study or of a single run, from a folder or from memory.

use std::collections::BTreeMap;

use netloom_catalog::visible;
use serde_json::Value;

use crate::store::points;
use crate::view::layout::Layout;
use crate::{Column, Datum, Document, Frame, FrameColumn, Kind, Status, Values};

/// Results as reports, figures and comparisons read them: [`read`](crate::store::read) reads them
/// from a folder, and runs and studies in memory return them.
///
/// A single run is a study of one point: its tables have the column `point`, and the table `points`
/// exists.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collection {
    /// Version of the results; `None` if they are not from a folder.
    pub results_version: Option<u32>,
    /// Path of the folder, for messages; the name of results that are in memory only.
    pub folder: String,
    pub name: String,
    pub about: String,
    /// The columns that distinguish points, in order: paths of axes, and `variant` if there are
    /// variants.
    pub axes: Vec<String>,
    /// The tables by name: [`TABLES`](crate::TABLES) and `points`.
    pub tables: BTreeMap<String, Frame>,
    /// The experiment as TOML: for a study, before its axes are set; for a single run, with every
    /// default.
    pub experiment: String,
    /// The manifest as JSON (machine, time, cost); null if there is none.
    pub manifest: serde_json::Value,
    /// Positions of switches and NICs in the drawing.
    pub layout: Option<Layout>,
    /// Missing, failed and interrupted runs, as sentences.
    pub warnings: Vec<String>,
}

impl Collection {
    /// Returns the table with this name.
    pub fn table(&self, name: &str) -> Option<&Frame> {
        self.tables.get(name)
    }

    /// Creates the collection of a single run from its document and its tables, with columns as
    /// [`TABLES`](crate::TABLES) lists them. The table `results` follows from the document.
    pub fn of_run(
        document: &Document,
        tables: impl IntoIterator<Item = (String, Frame)>,
    ) -> Collection {
        let point = Column::new("point", "", "The only point.");
        let key = [(FrameColumn::new(&point, Kind::Whole), Datum::Whole(0))];
        let tables = tables.into_iter();
        let mut tables: BTreeMap<String, Frame> = tables
            .map(|(name, frame)| (name, frame.with_keys(&key)))
            .collect();
        let results = document.results().with_keys(&key);
        tables.insert("points".to_owned(), points(&results, &["point".to_owned()]));
        tables.insert("results".to_owned(), results);
        Collection {
            results_version: Some(document.results_version),
            folder: document.name.clone(),
            name: document.name.clone(),
            about: document.about.clone(),
            tables,
            warnings: warnings(document),
            ..Collection::default()
        }
    }

    /// Replaces control characters in all names and sentences, since results may come from an
    /// untrusted source. The experiment is left unchanged, since it is written to a file.
    pub fn visible(mut self) -> Collection {
        let clean = |text: &mut String| {
            let cleaned = visible(text).into_owned();
            *text = cleaned;
        };
        clean(&mut self.name);
        self.about = {
            let paragraphs: Vec<_> = self.about.split('\n').map(visible).collect();
            paragraphs.join("\n")
        };
        self.axes.iter_mut().for_each(clean);
        self.warnings.iter_mut().for_each(clean);
        for column in self
            .tables
            .values_mut()
            .flat_map(|table| &mut table.columns)
        {
            clean(&mut column.name);
            if let Values::Text(words) = &mut column.values {
                words.for_each(clean);
            }
        }
        clean_strings(&mut self.manifest);
        self
    }
}

/// Returns warnings about runs that did not complete, or in which nothing was sent.
fn warnings(document: &Document) -> Vec<String> {
    let early = document
        .runs()
        .filter(|run| run.status >= Status::Interrupted);
    let silent = document
        .runs()
        .filter(|run| run.counters.injected_packets == 0);
    let early = early.map(|run| {
        let (word, seed) = (run.status.word(), run.seed);
        format!("{word} with seed {seed}: the results end at that time")
    });
    let silent = silent.map(|run| format!("nothing was sent with seed {}", run.seed));
    early.chain(silent).collect()
}

/// Cleans every text in a JSON tree, keys included.
fn clean_strings(value: &mut Value) {
    match value {
        Value::String(text) => *text = visible(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(clean_strings),
        Value::Object(entries) => {
            let cleaned = std::mem::take(entries).into_iter().map(|(key, mut value)| {
                clean_strings(&mut value);
                (visible(&key).into_owned(), value)
            });
            *entries = cleaned.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_stranger_holds_nothing_that_a_terminal_obeys() {
        let hostile = "a\u{1b}[2J\u{202e}b\r";
        let column = Column::new("class", "", "");
        let mut table = Frame::from_columns(vec![FrameColumn::new(&column, Kind::Text)]);
        table.push([Datum::Text(hostile.to_owned())]);
        table.columns[0].name = hostile.to_owned();
        let cleaned = Collection {
            name: hostile.to_owned(),
            about: format!("one\n{hostile}"),
            axes: vec![hostile.to_owned()],
            tables: [("results".to_owned(), table)].into(),
            manifest: serde_json::json!({ hostile: [hostile, 1] }),
            warnings: vec![hostile.to_owned()],
            ..Collection::default()
        }
        .visible();
        let shown = "a\u{fffd}[2J\u{fffd}b\u{fffd}";
        let column = &cleaned.tables["results"].columns[0];
        assert_eq!(
            [
                &cleaned.name,
                &cleaned.axes[0],
                &cleaned.warnings[0],
                &column.name
            ],
            [shown; 4]
        );
        assert_eq!(cleaned.about, format!("one\n{shown}"));
        assert_eq!(column.text(0), Some(shown));
        assert_eq!(cleaned.manifest, serde_json::json!({ shown: [shown, 1] }));
    }
}
