//! `[topology]`: the switches and cables of the fabric.

use std::path::Path;
use std::sync::Arc;

use netloom_catalog::{Kind, Notes, Section, Value, ValueShape, read_kind};
use netloom_topology::Blueprint;

use super::extends::{FILES, move_file};

/// The fabric described by the file.
pub(crate) struct TopologySpec {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    pub(crate) kind: String,
}

/// Reads `[topology]`. File names in it are relative to the folder of the experiment.
pub(crate) fn read(
    root: &mut Section<'_>,
    document: &Value,
    directory: &Path,
    kinds: &[Kind<dyn Blueprint>],
) -> Option<TopologySpec> {
    let kind = kind_name(document).to_owned();
    let blueprint = read_kind(root, "topology", "topology", kinds, None)?;
    let blueprint = match moved(document.get("topology")?, directory) {
        Some(value) => {
            let mut notes = Notes::new();
            let whole = Value {
                place: value.place,
                shape: ValueShape::Table(vec![("topology".into(), value.place, value)]),
            };
            let mut section = Section::open(&whole, &mut notes)?;
            read_kind(&mut section, "topology", "topology", kinds, None)?
        }
        None => blueprint,
    };
    let blueprint = Arc::from(blueprint);
    Some(TopologySpec { blueprint, kind })
}

/// Returns the name of the kind, known or not. Without one, the reader notes the missing key.
pub(crate) fn kind_name(document: &Value) -> &str {
    let value = document.get("topology");
    value.and_then(Value::kind_name).unwrap_or_default()
}

/// Returns the table with file names relative to the working directory, if it names any.
pub(super) fn moved(table: &Value, directory: &Path) -> Option<Value> {
    let mut found = table.clone();
    for (_, key) in FILES.iter().filter(|(section, _)| *section == "topology") {
        move_file(&mut found, key, directory);
    }
    (found != *table).then_some(found)
}
