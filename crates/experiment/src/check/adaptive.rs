//! Checks of routings that look at queues.

use netloom_fabric::QueueMap;
use netloom_routing::Forwarding;

use crate::spec::Diagnostics;
use crate::spec::flow_control::FlowControlSpec;

/// Checks that a sender can know which queue of the next switch a packet will join.
///
/// With credits per queue, a sender routes one hop ahead. A routing that looks at the queues of the
/// next switch has not decided yet, so queues per output cannot have their own credits.
pub(crate) fn fits(
    flow_control: FlowControlSpec,
    map: &QueueMap,
    forwarding: &Forwarding,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let looks_ahead = flow_control == FlowControlSpec::QueueCredits && map.looks_at_output();
    if !forwarding.is_adaptive() || !looks_ahead {
        return true;
    }
    // Not even with --force: credits would be taken for one queue and returned for another.
    let place = diagnostics.places.of("routing.kind");
    let message = "credits per queue need the next output of a packet, which this routing chooses \
                   at the next switch";
    let note = diagnostics.notes.error("E0504", place, message);
    if let Some(queues) = diagnostics.places.written("switch.queues") {
        note.also(queues, "queues per output");
    }
    note.help(
        "use flow-control = \"credits\", queues per destination, or a routing that does not look \
         at queues",
    );
    false
}
