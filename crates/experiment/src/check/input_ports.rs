//! Checks of inputs with one crossbar port per lane.

use netloom_fabric::{InputPorts, MOST_RECORDS, QueueScheme};

use crate::spec::Diagnostics;
use crate::spec::flow_control::FlowControlSpec;
use crate::spec::machine::Around;
use crate::spec::switch::{ArchitectureSpec, SwitchSpec};

/// Checks that lanes can cross in parallel.
pub(crate) fn fit(
    switch: &SwitchSpec,
    flow_control: FlowControlSpec,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    if switch.input_ports == InputPorts::One {
        return true;
    }
    let n_lanes = u32::from(around.lanes.n_vls);
    let n_ports = u32::from(around.topology.radix());
    // Ports and their lanes. A hierarchical switch also has central links, their lanes and writers.
    let n_records = match &switch.architecture {
        ArchitectureSpec::Hierarchical(spec) => {
            let links = u32::from(spec.centre.n_links(around.topology.radix()));
            2 * n_ports + links + (n_ports + links) * n_lanes
        }
        _ => n_ports * (1 + n_lanes),
    };
    let (message, help) = if matches!(switch.architecture, ArchitectureSpec::InputQueued) {
        (
            "an input-queued switch has one crossbar port per input".to_owned(),
            "use input-ports = \"one\", or switch.kind = \"cioq\"",
        )
    } else if flow_control != FlowControlSpec::Credits {
        (
            "lanes that cross in parallel need credits per lane".to_owned(),
            "use flow-control = \"credits\", or input-ports = \"one\"",
        )
    } else if switch.queues == QueueScheme::OneQueue && n_lanes > 1 {
        (
            "with one queue for all lanes, lanes cannot cross in parallel".to_owned(),
            "use queues = \"per-vl\", or input-ports = \"one\"",
        )
    } else if n_records > MOST_RECORDS {
        (
            format!("{n_ports} ports with {n_lanes} lanes each exceed the limit of a crossbar"),
            "use fewer lanes or ports, or input-ports = \"one\"",
        )
    } else {
        return true;
    };
    let place = diagnostics.places.of("switch.input-ports");
    diagnostics.notes.error("E0332", place, message).help(help);
    false
}
