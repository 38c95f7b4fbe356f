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

/// Whether what endpoints do goes together.
pub(crate) fn protocol(nic: &NicSpec, desk: &mut Desk<'_>) -> bool {
    let mut is_good = true;
    if nic.congestion.is_some() && nic.acknowledge == Some(false) {
        let place = desk.places.of("nic.acknowledge");
        desk.notes
            .error(
                "E0343",
                place,
                "marks come back by acknowledgements, and none is sent",
            )
            .help("write acknowledge = true, or congestion-control = \"none\"");
        is_good = false;
    }
    if nic.congestion.is_some() && nic.queues == NicQueues::PerDestination {
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
        is_good = false;
    }
    is_good
}
