//! Checks that switches and routing support the flow control.

use netloom_routing::Forwarding;

use crate::spec::Diagnostics;
use crate::spec::flow_control::FlowControlSpec;
use crate::spec::switch::{ArchitectureSpec, Buffer, SwitchSpec};

/// Checks that switches and routing support the flow control.
pub(crate) fn fits(
    switch: &SwitchSpec,
    flow_control: FlowControlSpec,
    forwarding: Option<&Forwarding>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let name = match flow_control {
        FlowControlSpec::Credits => return true,
        FlowControlSpec::QueueCredits => "queue-credits",
        FlowControlSpec::Pfc { .. } => "pfc",
        FlowControlSpec::Pause { .. } => "pause",
    };
    let place = diagnostics
        .places
        .written("link.flow-control.kind")
        .unwrap_or(diagnostics.places.of("link.flow-control"));
    let mut is_good = true;
    let kind = match switch.architecture {
        // Its inputs have one queue per lane only.
        ArchitectureSpec::Hierarchical(_) if flow_control == FlowControlSpec::QueueCredits => {
            Some("hierarchical")
        }
        ArchitectureSpec::Tiled(_) => Some("tiled"),
        _ => None,
    };
    if let Some(kind) = kind {
        let note = diagnostics.notes.error(
            "E0323",
            place,
            format!("{kind} switches do not support flow control `{name}`"),
        );
        if let Some(kind) = diagnostics.places.written("switch.kind") {
            note.also(kind, "the switches");
        }
        note.help("use flow-control = \"credits\", or switch.kind = \"cioq\"");
        is_good = false;
    }
    if forwarding.is_some_and(Forwarding::bubble) {
        let note = diagnostics.notes.error(
            "E0323",
            place,
            format!("the bubble rule needs credits per lane, but flow control is `{name}`"),
        );
        if let Some(rule) = diagnostics.places.written("routing.deadlock") {
            note.also(rule, "requires the bubble rule");
        }
        note.help("use flow-control = \"credits\", or routing.deadlock = \"dateline\"");
        is_good = false;
    }
    // With one lane, the guarantee of the routing holds for a whole link too.
    if matches!(flow_control, FlowControlSpec::Pause { .. })
        && let Some(forwarding) = forwarding.filter(|forwarding| forwarding.lanes() > 1)
    {
        let message = format!(
            "PAUSE stops all lanes of a link, but this routing needs {} separate lanes",
            forwarding.lanes()
        );
        let note = diagnostics.notes.error("E0323", place, message);
        if let Some(routing) = diagnostics.places.written("routing.kind") {
            note.also(routing, "avoids deadlock with its lanes");
        }
        note.help(
            "use flow-control = \"pfc\", or routing.kind = \"up-down\", which needs one lane",
        );
        is_good = false;
    }
    if let (FlowControlSpec::Pfc { .. }, Buffer::Pool(pool)) = (flow_control, &switch.input_buffer)
    {
        let input = diagnostics.places.of("switch.input-buffer");
        diagnostics
            .notes
            .error(
                "E0322",
                input,
                "PFC needs an input buffer per lane, found a pool",
            )
            .also(place, "the flow control")
            .help(format!(
                "use a size per lane, such as input-buffer = \"{} B\": other lanes could occupy \
                 headroom in a pool",
                pool.pool.0
            ));
        is_good = false;
    }
    is_good
}
