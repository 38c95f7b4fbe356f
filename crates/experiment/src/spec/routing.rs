//! `[routing]`: how packets are routed.

use std::sync::Arc;

use netloom_catalog::{Kind, Section, Value};
use netloom_routing::Routing;

use super::reading::kind_table;
use super::topology::kind_name;

/// The routing described by the file.
pub(crate) struct RoutingSpec {
    pub(crate) routing: Arc<dyn Routing>,
    pub(crate) kind: String,
}

/// Returns the default routing of a kind of topology.
pub(crate) fn default_for(topology: &str) -> &'static str {
    match topology {
        "fat-tree" | "pgft" | "single-switch" => "d-mod-k",
        "mesh" | "torus" | "hypercube" => "dimension-order",
        "dragonfly" | "megafly" => "minimal",
        "infiniband" => "forwarding-tables",
        _ => "up-down",
    }
}

/// Reads `[routing]`.
pub(crate) fn read(
    root: &mut Section<'_>,
    document: &Value,
    kinds: &[Kind<dyn Routing>],
) -> Option<RoutingSpec> {
    let default = default_for(kind_name(document));
    let routing = Arc::from(kind_table(root, "routing", "routing", kinds, default)?);
    let named = document.get("routing").and_then(Value::kind_name);
    let kind = named.unwrap_or(default).to_owned();
    Some(RoutingSpec { routing, kind })
}
