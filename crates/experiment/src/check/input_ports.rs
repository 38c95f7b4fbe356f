//! Inputs whose lanes cross beside each other.

use netloom_fabric::{InputPorts, MOST_RECORDS, QueueScheme};

use crate::spec::Desk;
use crate::spec::flow_control::FlowControlSpec;
use crate::spec::machine::Around;
use crate::spec::switch::{ArchitectureSpec, SwitchSpec};

/// Whether lanes can cross beside each other.
pub(crate) fn fit(
    switch: &SwitchSpec,
    flow_control: FlowControlSpec,
    around: &Around<'_>,
    desk: &mut Desk<'_>,
) -> bool {
    if switch.input_ports == InputPorts::One {
        return true;
    }
    let n_lanes = u32::from(around.lanes.n_vls);
    let n_ports = u32::from(around.topology.radix());
    // Ports and their lanes; in a hierarchical switch central links, their lanes and central writers beside them.
    let n_records = match &switch.architecture {
        ArchitectureSpec::Hierarchical(spec) => {
            let links = u32::from(spec.centre.n_links(around.topology.radix()));
            2 * n_ports + links + (n_ports + links) * n_lanes
        }
        _ => n_ports * (1 + n_lanes),
    };
    let (message, help) = if matches!(switch.architecture, ArchitectureSpec::InputQueued) {
        (
            "a switch with buffers at inputs only has one way from an input to its links"
                .to_owned(),
            "write input-ports = \"one\", or switch.kind = \"cioq\"",
        )
    } else if flow_control != FlowControlSpec::Credits {
        (
            "lanes that cross beside each other give back credits lane by lane".to_owned(),
            "write flow-control = \"credits\", or input-ports = \"one\"",
        )
    } else if switch.queues == QueueScheme::OneQueue && n_lanes > 1 {
        (
            "one queue for all lanes lets none of them cross beside another".to_owned(),
            "write queues = \"per-vl\", or input-ports = \"one\"",
        )
    } else if n_records > MOST_RECORDS {
        (
            format!(
                "{n_ports} ports of {n_lanes} lanes each are more than a crossbar has ways for"
            ),
            "write fewer lanes or ports, or input-ports = \"one\"",
        )
    } else {
        return true;
    };
    let place = desk.places.of("switch.input-ports");
    desk.notes.error("E0332", place, message).help(help);
    false
}
