//! Checks of NICs: queues, congestion control and buffers.

use netloom_fabric::{Link, NicQueues};
use netloom_routing::Forwarding;

use crate::spec::nic::NicSpec;
use crate::spec::{Diagnostics, LaneMap};

/// Checks that the queue of a packet at the first switch is known when the packet is admitted.
pub(crate) fn per_destination(
    queues: NicQueues,
    forwarding: Option<&Forwarding>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let is_random = forwarding.is_some_and(|forwarding| !forwarding.keeps_order());
    if queues != NicQueues::PerDestination || !is_random {
        return true;
    }
    let place = diagnostics.places.of("nic.queues");
    let note = diagnostics.notes.error(
        "E0330",
        place,
        "NIC queues per destination need a routing with one path from a NIC to another",
    );
    if let Some(routing) = diagnostics.places.written("routing.kind") {
        note.also(routing, "draws a path for each packet");
    }
    note.help(
        "use routing.kind = \"d-mod-k\" (trees) or \"up-down\" (any fabric), or nic.queues = \
         \"per-sl\"",
    );
    false
}

/// Checks that a congestion control suits the packets of the fabric.
pub(crate) fn control(nic: &NicSpec, link: Link, diagnostics: &mut Diagnostics<'_>) -> bool {
    let control = nic.congestion.as_ref();
    let Some(fault) = control.and_then(|control| control.fault(link)) else {
        return true;
    };
    let place = diagnostics.places.of("nic.congestion-control");
    diagnostics.notes.error("E0344", place, fault);
    false
}

/// Checks that marks return to a congestion control.
pub(crate) fn answered(nic: &NicSpec, diagnostics: &mut Diagnostics<'_>) -> bool {
    if nic.congestion.is_none() || nic.acknowledge != Some(false) {
        return true;
    }
    let place = diagnostics.places.of("nic.acknowledge");
    diagnostics
        .notes
        .error(
            "E0343",
            place,
            "marks return with acknowledgements, but none are sent",
        )
        .help("set acknowledge = true, or congestion-control = \"none\"");
    false
}

/// Checks that only the congestion control keeps queues per destination.
pub(crate) fn one_kind_of_queues(nic: &NicSpec, diagnostics: &mut Diagnostics<'_>) -> bool {
    if nic.congestion.is_none() || nic.queues != NicQueues::PerDestination {
        return true;
    }
    let place = diagnostics.places.of("nic.queues");
    let control = diagnostics.places.of("nic.congestion-control");
    diagnostics
        .notes
        .error(
            "E0345",
            place,
            "a NIC with congestion control already has a send queue per destination",
        )
        .also(control, "the congestion control")
        .help("remove nic.queues, or set congestion-control = \"none\"");
    false
}

/// Checks that NICs of tiled switches can have both queues per destination and an arbiter. Without
/// an arbiter, send queues are served in turn. With one, there is a queue per level, which is
/// divided by destination only for a congestion control.
pub(crate) fn arbitrated(
    nic: &NicSpec,
    has_arbiter: bool,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let wants_both = has_arbiter && nic.queues == NicQueues::PerDestination;
    if !wants_both || nic.congestion.is_some() {
        return true;
    }
    let place = diagnostics.places.of("nic.queues");
    let arbiter = diagnostics.places.of("qos.nic-arbiter");
    diagnostics
        .notes
        .error(
            "E0345",
            place,
            "with an arbiter, NICs of tiled switches have queues per level, not per destination",
        )
        .also(arbiter, "the arbiter")
        .help("remove one of them, or set a congestion-control, which has both");
    false
}

/// Returns the flits that fit into a NIC; the inner `None` means no limit. Notes a limit that is
/// not possible or too small.
pub(crate) fn buffer(
    nic: &NicSpec,
    queues: NicQueues,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Option<u32>> {
    let Some(buffer) = nic.buffer else {
        return Some(None);
    };
    let place = diagnostics.places.of("nic.buffer");
    if nic.congestion.is_some() || queues != NicQueues::PerChannel {
        let message =
            "a bounded NIC needs queues per service level, but this one has queues per destination";
        let note = diagnostics.notes.error("E0346", place, message);
        for key in ["nic.congestion-control", "nic.queues", "switch.kind"] {
            if let Some(place) = diagnostics.places.written(key) {
                note.also(place, "");
            }
        }
        note.help(
            "remove `buffer`, or use nic.queues = \"per-sl\" without a congestion control (with \
             tiled switches, a qos.nic-arbiter)",
        );
        return None;
    }
    let used = (0..16).filter(|&sl| lanes.largest_of_sl[sl].is_some());
    let n_channels: u32 = used.map(|sl| lanes.channels.sl2sc[sl].count_ones()).sum();
    let largest = u64::from(lanes.largest.iter().copied().max().unwrap_or(0));
    let needed = u64::from(n_channels) * largest * flit;
    if buffer.0 < needed {
        diagnostics
            .notes
            .error(
                "E0346",
                place,
                format!("a NIC of {buffer} cannot hold a packet of every service level"),
            )
            .label(format!(
                "{n_channels} times {} B are {needed} B",
                largest * flit
            ))
            .help(format!(
                "use at least buffer = \"{needed} B\", or a smaller `link.mtu`"
            ));
        return None;
    }
    Some(Some(u32::try_from(buffer.0 / flit).unwrap_or(u32::MAX)))
}
