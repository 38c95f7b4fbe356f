//! Checks of hierarchical switches.

use netloom_topology::Topology;

use crate::spec::Diagnostics;
use crate::spec::switch::{HierarchySpec, SwitchSpec};

/// Checks the stages: a message passes the allocators of an input and then of the centre, with at
/// least one cycle each.
pub(crate) fn stages(switch: &SwitchSpec, diagnostics: &mut Diagnostics<'_>) -> bool {
    if switch.pipeline.input + switch.pipeline.routing > 0 {
        return true;
    }
    let place = diagnostics.places.of("switch.pipeline.routing");
    let input = diagnostics.places.of("switch.pipeline.input");
    diagnostics
        .notes
        .error("E0328", place, "`input` and `routing` are both 0")
        .also(input, "")
        .help(
            "set one of them to 1: a hierarchical switch needs a cycle before its first allocation",
        );
    false
}

/// States the groups of ports.
pub(crate) fn fact(spec: &HierarchySpec, topology: &Topology, diagnostics: &mut Diagnostics<'_>) {
    let mports = spec.centre.mports(topology.radix());
    let (ports, links) = (spec.centre.ports_per_mport, spec.centre.links_per_mport);
    let sentence = match mports {
        1 => format!("one MPort of up to {ports} ports: no packet passes the centre"),
        n => format!(
            "{n} MPorts of {ports} ports, {links} links each to a central crossbar of {} inputs",
            u32::from(n) * u32::from(links)
        ),
    };
    diagnostics.fact("switch", sentence);
}
