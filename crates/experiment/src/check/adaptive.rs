//! Routings that look at queues.

use netloom_fabric::QueueMap;
use netloom_routing::Forwarding;

use crate::spec::Desk;
use crate::spec::flow_control::FlowControlSpec;

/// Whether a sender can know which queue of the next switch a packet will join.
///
/// Where credits are for each queue, a sender routes one hop ahead. A routing that looks at the queues of the next
/// switch has not decided yet, so queues by output cannot have credits of their own.
pub(crate) fn fits(
    flow_control: FlowControlSpec,
    map: &QueueMap,
    way: &Forwarding,
    desk: &mut Desk<'_>,
) -> bool {
    let looks_ahead = flow_control == FlowControlSpec::QueueCredits && map.looks_at_output();
    if !way.is_adaptive() || !looks_ahead {
        return true;
    }
    // Not even by force: credits would be taken for one queue and come back for another.
    let place = desk.places.of("routing.kind");
    let message = "credits for each queue need to know a packet's next output, and this routing chooses it there";
    let note = desk.notes.error("E0504", place, message);
    if let Some(queues) = desk.places.written("switch.queues") {
        note.also(queues, "queues by output");
    }
    note.help("write flow-control = \"credits\", queues by destination, or a routing that does not look at queues");
    false
}
