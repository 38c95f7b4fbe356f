//! Everything a folder of results holds, whether of a study or of a single run.

use std::collections::BTreeMap;

use netloom_catalog::visible;
use serde_json::Value;

use crate::frame::{Frame, Values};
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

    /// The same with every name and sentence as text that is shown and not obeyed: a folder may come from anybody. Only
    /// the experiment keeps its characters, since it is a file.
    pub(crate) fn visible(mut self) -> Collection {
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

/// Every text in a JSON tree, keys included.
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
    use crate::{Column, Datum, FrameColumn, Kind};

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
