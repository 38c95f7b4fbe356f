//! Checks of the queues of an input: number, lanes and size.

use netloom_design::cost::queues::{SRAM_AREAS, Scheme};
use netloom_fabric::{CrossbarPlan, MOST_QUEUES, QueueMap, QueueScheme, Sizes};
use netloom_units::{Bytes, Vl};

use super::buffers::words;
use crate::spec::buffers::BufferAt;
use crate::spec::flow_control::FlowControlSpec;
use crate::spec::machine::Around;
use crate::spec::switch::{Buffer, SwitchSpec};
use crate::spec::{Diagnostics, LaneMap};

/// Checks that an input can have this number of queues.
pub(crate) fn count(
    scheme: QueueScheme,
    map: &QueueMap,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let queues = map.n_queues();
    if queues <= MOST_QUEUES {
        return true;
    }
    let per_lane = map.per_lane;
    let of_a_lane = match scheme {
        QueueScheme::VoqSwitch => format!("{per_lane} outputs"),
        QueueScheme::VoqNet => format!("{per_lane} destinations"),
        _ => format!("{per_lane} queues"),
    };
    let place = diagnostics.places.of("switch.queues");
    let lanes = around.lanes.n_vls;
    let message = format!("{lanes} lanes times {of_a_lane} give {queues} queues per input");
    let note = diagnostics.notes.error("E0313", place, message);
    if let Some(vls) = diagnostics.places.written("qos.vls") {
        note.also(vls, "lanes");
    }
    note.help(format!(
        "an input has at most {MOST_QUEUES}: use fewer lanes, or fewer queues per lane (\"obqa\", \
         \"dbbm\", \"per-vl\")"
    ));
    false
}

/// States the memory of an input by queue scheme (paper 001, Table 3), with space for two packets
/// per queue: one that arrives while one leaves. Stated only if the file sets a scheme. Areas are
/// those in the paper.
pub(crate) fn fact(
    scheme: QueueScheme,
    plan: &CrossbarPlan,
    (map, flit): (&QueueMap, u64),
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) {
    if scheme == QueueScheme::PerVl {
        return;
    }
    let lanes = u32::from(around.lanes.n_vls);
    let largest = around.lanes.largest.iter().copied().max();
    let packet = Bytes(u64::from(largest.unwrap_or(1).max(1)) * flit);
    let radix = u32::from(around.topology.radix());
    let q = map.per_lane.max(1);
    let n_nics = around.topology.n_nics();
    let own = match scheme {
        QueueScheme::OneQueue | QueueScheme::PerVl => Scheme::OneQueue,
        QueueScheme::VoqSwitch => Scheme::VoqSw(radix),
        QueueScheme::VoqNet => Scheme::VoqNet(n_nics),
        QueueScheme::Dbbm { .. } => Scheme::Dbbm(q),
        QueueScheme::Obqa { .. } => Scheme::Obqa(q),
    };
    let least = |scheme: &Scheme| {
        // One queue serves all lanes. The other schemes have queues per lane.
        let lanes = if *scheme == Scheme::OneQueue {
            1
        } else {
            lanes
        };
        let bytes = Bytes(u64::from(lanes) * scheme.minimum_memory(packet).0);
        let area = SRAM_AREAS.iter().find(|area| area.bytes == bytes);
        let area = area.map_or(String::new(), |area| format!(" ({} mm2)", area.mm2()));
        format!("{scheme} {bytes}{area}")
    };
    let usual = [
        Scheme::OneQueue,
        Scheme::VoqSw(radix),
        Scheme::VoqNet(n_nics),
    ];
    let others = usual.iter().filter(|other| **other != own).map(least);
    let others: Vec<String> = others.collect();
    let has = Bytes(u64::from(plan.input_buffer.total()) * flit);
    diagnostics.fact(
        "queues",
        format!(
            "{} per input, {has} together; two packets per queue need: {}; {}",
            map.n_queues(),
            least(&own),
            others.join(", ")
        ),
    );
}

/// Checks that a single queue for all lanes is harmless.
pub(crate) fn one_queue(
    switch: &SwitchSpec,
    flow_control: FlowControlSpec,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let n_vls = around.lanes.n_vls;
    if switch.queues != QueueScheme::OneQueue || n_vls == 1 {
        return true;
    }
    let forwarding = around.forwarding;
    let (message, help) = if forwarding.is_some_and(|forwarding| forwarding.lanes() > 1) {
        (
            "one queue for all lanes defeats the lanes with which the routing avoids deadlock",
            "use queues = \"per-vl\", or, on a torus, routing.deadlock = \"bubble\" with one lane",
        )
    } else if forwarding.is_some_and(|forwarding| forwarding.bubble()) {
        (
            "with one queue for all lanes, a ring can wait for the ring of another lane",
            "use queues = \"per-vl\", or qos.vls = 1: the bubble rule protects each lane \
             separately",
        )
    } else if flow_control == FlowControlSpec::QueueCredits {
        (
            "credits per queue need separate queues for lanes",
            "use flow-control = \"credits\", or qos.vls = 1",
        )
    } else if matches!(switch.input_buffer, Buffer::PerQueue(_)) {
        (
            "a buffer size per queue needs separate queues for lanes",
            "give `input-buffer` a size per lane, or use qos.vls = 1",
        )
    } else {
        return true;
    };
    let place = diagnostics.places.of("switch.queues");
    let note = diagnostics.notes.error("E0329", place, message);
    note.label(format!("{n_vls} lanes"));
    note.help(help);
    false
}

/// Returns the queues per lane, if a buffer may have a size per queue.
pub(crate) fn may_be_by_queue(at: &BufferAt<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<u32> {
    if at.per_lane.is_none() {
        let place = diagnostics.places.of(&format!("{}.per-queue", at.path));
        let key = at.path.rsplit('.').next().unwrap_or(at.path);
        diagnostics
            .notes
            .error(
                "E0331",
                place,
                format!("`{key}` cannot have a size per queue"),
            )
            .help(format!(
                "use a size per lane, such as {key} = \"8 KiB\": only input buffers have queues"
            ));
    }
    at.per_lane
}

/// Checks that every queue has its own part that holds its largest packet.
pub(crate) fn one_packet(
    plan: &CrossbarPlan,
    map: &QueueMap,
    flow_control: FlowControlSpec,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let (path, who) = match flow_control {
        FlowControlSpec::QueueCredits => ("link.flow-control", "credits per queue"),
        _ => ("nic.queues", "injection queues"),
    };
    let input = diagnostics.places.of("switch.input-buffer");
    let asks = diagnostics.places.written(path);
    if let Sizes::Pool { .. } = plan.input_buffer {
        let note = diagnostics.notes.error(
            "E0324",
            input,
            format!("{who} need a buffer part per queue, found a pool"),
        );
        if let Some(place) = asks {
            note.also(place, "requires them");
        }
        let need = lanes.largest.iter().copied().max().unwrap_or(0);
        note.help(format!(
            "use input-buffer = {{ per-queue = \"{} B\" }} or more, or a size per lane",
            u64::from(need) * flit
        ));
        return false;
    }
    let most = u32::from(u16::MAX);
    if let Some(vl) = (0..lanes.largest.len()).find(|&vl| plan.queue_flits[vl] > most) {
        let have = u64::from(plan.queue_flits[vl]);
        diagnostics
            .notes
            .error(
                "E0315",
                input,
                format!("`input-buffer` gives a queue {have} flits, more than the limit of {most}"),
            )
            .help(format!(
                "use at most {} per queue",
                words(u64::from(most) * flit)
            ));
        return false;
    }
    let short = |vl: &usize| plan.queue_flits[*vl] < u32::from(lanes.largest[*vl]);
    let lacking = (0..lanes.largest.len()).filter(short);
    let Some(vl) = lacking.min_by_key(|vl| std::cmp::Reverse(lanes.largest[*vl])) else {
        return true;
    };
    let lane = Vl(vl as u8);
    let (have, need) = (
        u64::from(plan.queue_flits[vl]) * flit,
        u64::from(lanes.largest[vl]) * flit,
    );
    let per_lane = u64::from(map.per_lane);
    let note = diagnostics.notes.error(
        "E0324",
        input,
        format!("a queue of {lane} cannot hold a packet, which would wait forever"),
    );
    note.label(match per_lane {
        1 => words(have),
        _ => format!("{} for each of {per_lane} queues of a lane", words(have)),
    });
    if let Some(place) = asks {
        note.also(place, format!("{who} divide the buffer of a lane evenly"));
    }
    note.help(format!(
        "the largest packet of {lane} has {need} B: use input-buffer = {{ per-queue = \"{need} B\" \
         }} or \"{} B\" per lane, fewer queues, or a smaller `link.mtu`",
        need * per_lane
    ));
    false
}
