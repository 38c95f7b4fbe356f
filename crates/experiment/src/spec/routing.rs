//! `[routing]`: how packets are routed.

use std::sync::Arc;

use netloom_catalog::{Kind, Section, Value};
use netloom_routing::deadlock::Centre;
use netloom_routing::{Forwarding, Routing};
use netloom_topology::Topology;

use super::diagnostics::Diagnostics;
use super::reading::kind_table;
use super::topology::kind_name;
use crate::check;

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

/// Compiles the routing, and checks whether it can deadlock.
pub(super) fn compile(
    spec: &RoutingSpec,
    topology: &Arc<Topology>,
    centre: Option<Centre>,
    (seed, needs_tables): (u64, bool),
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Forwarding> {
    diagnostics.work.begins("compiling the routing");
    let compiled = match needs_tables {
        true => spec.routing.compile(topology, seed),
        false => spec.routing.compile_for_check(topology, seed),
    };
    diagnostics.goes_on()?;
    match compiled {
        Ok(forwarding) => {
            let forwarding = match centre {
                Some(_) => forwarding.for_shared_buffers(),
                None => forwarding,
            };
            diagnostics.work.begins("proving freedom from deadlock");
            check::deadlock::routing(&spec.kind, topology, &forwarding, centre, diagnostics);
            Some(forwarding)
        }
        Err(problem) => {
            let place = diagnostics
                .places
                .written("routing.kind")
                .unwrap_or(diagnostics.places.of("routing"));
            let note = diagnostics.notes.error("E0500", place, problem);
            let fitting = netloom_routing::fitting(topology.structure());
            note.help(format!("use one of: {}", fitting.join(", ")));
            if let Some(failures) = diagnostics.places.written("failure") {
                note.also(failures, "the missing cables");
            }
            if let Some(topology) = diagnostics.places.written("topology.kind") {
                note.also(topology, "the fabric");
            }
            None
        }
    }
}
