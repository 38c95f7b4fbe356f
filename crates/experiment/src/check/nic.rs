//! NICs: which queues go with which routing.

use netloom_fabric::{Link, NicQueues};
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

/// Whether a congestion control fits the packets of the fabric.
pub(crate) fn control(nic: &NicSpec, link: Link, desk: &mut Desk<'_>) -> bool {
    let control = nic.congestion.as_ref();
    let Some(fault) = control.and_then(|control| control.fault(link)) else {
        return true;
    };
    let place = desk.places.of("nic.congestion-control");
    desk.notes.error("E0344", place, fault);
    false
}

/// Whether somebody tells a congestion control of marks.
pub(crate) fn answered(nic: &NicSpec, desk: &mut Desk<'_>) -> bool {
    if nic.congestion.is_none() || nic.acknowledge != Some(false) {
        return true;
    }
    let place = desk.places.of("nic.acknowledge");
    desk.notes
        .error(
            "E0343",
            place,
            "marks come back by acknowledgements, and none is sent",
        )
        .help("write acknowledge = true, or congestion-control = \"none\"");
    false
}

/// Whether a congestion control is the only one to keep queues per destination.
pub(crate) fn one_kind_of_queues(nic: &NicSpec, desk: &mut Desk<'_>) -> bool {
    if nic.congestion.is_none() || nic.queues != NicQueues::PerDestination {
        return true;
    }
    let place = desk.places.of("nic.queues");
    let control = desk.places.of("nic.congestion-control");
    desk.notes
        .error(
            "E0345",
            place,
            "a NIC with congestion control has a send queue for each destination already",
        )
        .also(control, "the congestion control")
        .help("leave nic.queues out, or write congestion-control = \"none\"");
    false
}

/// Whether queues per destination and an arbiter at NICs of tiled switches can both be had: its send queues take turns
/// without one, and with one there is a queue for each level, divided by destination only for a congestion control.
pub(crate) fn arbitrated(nic: &NicSpec, has_arbiter: bool, desk: &mut Desk<'_>) -> bool {
    let wants_both = has_arbiter && nic.queues == NicQueues::PerDestination;
    if !wants_both || nic.congestion.is_some() {
        return true;
    }
    let place = desk.places.of("nic.queues");
    let arbiter = desk.places.of("qos.nic-arbiter");
    desk.notes
        .error(
            "E0345",
            place,
            "with an arbiter, NICs of tiled switches have a queue for each level and none for each destination",
        )
        .also(arbiter, "the arbiter")
        .help("leave out one of them, or write a congestion-control, which has both");
    false
}
