//! NICs: which queues go with which routing.

use netloom_fabric::NicQueues;
use netloom_routing::Forwarding;

use crate::spec::Desk;

/// Whether the queue of a packet at the first switch is known when it is admitted.
pub(crate) fn per_destination(
    queues: NicQueues,
    way: Option<&Forwarding>,
    desk: &mut Desk<'_>,
) -> bool {
    let is_random = way.is_some_and(|way| !way.keeps_order());
    if queues != NicQueues::PerDestination || !is_random {
        return true;
    }
    let place = desk.places.of("nic.queues");
    let note = desk.notes.error(
        "E0330",
        place,
        "NIC queues by destination need a routing with one path from a NIC to another",
    );
    if let Some(routing) = desk.places.written("routing.kind") {
        note.also(routing, "draws a path for each packet");
    }
    note.help("write routing.kind = \"d-mod-k\" (trees), \"up-down\" (any fabric), or nic.queues = \"per-sl\"");
    false
}
