//! NICs: which queues go with which routing.

use netloom_fabric::NicQueues;
use netloom_routing::Forwarding;

use crate::spec::Desk;
use crate::spec::nic::NicSpec;

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

/// Whether a NIC does nothing that only those of tiled switches can.
pub(crate) fn plain(nic: &NicSpec, desk: &mut Desk<'_>) -> bool {
    let asks = [
        (
            "nic.acknowledge",
            nic.acknowledge == Some(true),
            "acknowledgements",
        ),
        (
            "nic.congestion-control",
            nic.congestion.is_some(),
            "congestion control",
        ),
    ];
    let mut is_good = true;
    for (path, is_asked, what) in asks {
        if is_asked {
            let place = desk.places.of(path);
            let note = desk.notes.error(
                "E0345",
                place,
                format!("{what} can be had with tiled switches only"),
            );
            if let Some(kind) = desk.places.written("switch.kind") {
                note.also(kind, "the switches");
            }
            note.help("write switch.kind = \"tiled\", or leave this out");
            is_good = false;
        }
    }
    is_good
}
