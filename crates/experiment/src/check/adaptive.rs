//! Routings that look at queues.

use netloom_fabric::QueueMap;
use netloom_routing::Forwarding;

use super::deadlock::grave;
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
    let queues = desk.places.written("switch.queues");
    let is_forced = desk.is_forced;
    let message = "credits for each queue need to know a packet's next output, and this routing chooses it there";
    let note = grave(desk, "E0504", "routing.kind", message.to_owned());
    if let Some(queues) = queues {
        note.also(queues, "queues by output");
    }
    note.help("write flow-control = \"credits\", queues by destination, or a routing that does not look at queues");
    is_forced
}
