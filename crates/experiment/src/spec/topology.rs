//! `[topology]`: the switches and cables of the fabric.

use std::sync::Arc;

use netloom_catalog::{Files, Kind, Section, Value, read_kind};
use netloom_topology::Blueprint;

/// The fabric described by the file.
pub(crate) struct TopologySpec {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    pub(crate) kind: String,
}

/// Reads `[topology]`. File names in it are relative to the folder of the experiment.
pub(crate) fn read(
    root: &mut Section<'_>,
    document: &Value,
    files: &Arc<dyn Files>,
    kinds: &[Kind<dyn Blueprint>],
) -> Option<TopologySpec> {
    let kind = kind_name(document).to_owned();
    let mut blueprint = read_kind(root, "topology", "topology", kinds, None)?;
    blueprint.read_from(files);
    let blueprint = Arc::from(blueprint);
    Some(TopologySpec { blueprint, kind })
}

/// Returns the name of the kind, known or not. Without one, the reader notes the missing key.
pub(crate) fn kind_name(document: &Value) -> &str {
    let value = document.get("topology");
    value.and_then(Value::kind_name).unwrap_or_default()
}
