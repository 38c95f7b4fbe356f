//! NICs: which queues go with which routing.

use netloom_fabric::{Link, NicQueues};
use netloom_routing::Forwarding;

use crate::spec::nic::NicSpec;
use crate::spec::{Desk, LaneMap};

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

/// The flits that fit into a NIC, `None` for any number; or why a bound has no meaning or no room here.
pub(crate) fn buffer(
    nic: &NicSpec,
    queues: NicQueues,
    lanes: &LaneMap,
    flit: u64,
    desk: &mut Desk<'_>,
) -> Option<Option<u32>> {
    let Some(buffer) = nic.buffer else {
        return Some(None);
    };
    let place = desk.places.of("nic.buffer");
    if nic.congestion.is_some() || queues != NicQueues::PerChannel {
        let message = "a bounded NIC needs a queue for each service level, and this one has them by destination";
        let note = desk.notes.error("E0346", place, message);
        for key in ["nic.congestion-control", "nic.queues", "switch.kind"] {
            if let Some(place) = desk.places.written(key) {
                note.also(place, "");
            }
        }
        note.help("leave `buffer` out, or write nic.queues = \"per-sl\" without a congestion control (with tiled switches, a qos.nic-arbiter)");
        return None;
    }
    let used = (0..16).filter(|&sl| lanes.largest_of_sl[sl].is_some());
    let n_channels: u32 = used.map(|sl| lanes.channels.sl2sc[sl].count_ones()).sum();
    let largest = u64::from(lanes.largest.iter().copied().max().unwrap_or(0));
    let needed = u64::from(n_channels) * largest * flit;
    if buffer.0 < needed {
        desk.notes
            .error(
                "E0346",
                place,
                format!("a NIC of {buffer} has no room for a packet of every service level"),
            )
            .label(format!(
                "{n_channels} times {} B are {needed} B",
                largest * flit
            ))
            .help(format!(
                "write at least buffer = \"{needed} B\", or a smaller `link.mtu`"
            ));
        return None;
    }
    Some(Some(u32::try_from(buffer.0 / flit).unwrap_or(u32::MAX)))
}
