//! Input-queued switches: what they cannot have, and how fast their crossbar is.

use crate::spec::machine::Around;
use crate::spec::switch::{Buffer, NOT_INPUT_QUEUED, SwitchSpec};
use crate::spec::{Desk, Timing};

/// Whether the other values go with switches that have no output buffers.
pub(crate) fn fits(switch: &SwitchSpec, around: &Around<'_>, desk: &mut Desk<'_>) -> bool {
    for key in NOT_INPUT_QUEUED {
        if let Some(place) = desk.places.written(&format!("switch.{key}")) {
            let why = match key {
                "speedup" => "its crossbar is as fast as its links",
                _ => "it has none",
            };
            desk.notes
                .warning(
                    "W0326",
                    place,
                    format!("`{key}` is not used by an input-queued switch"),
                )
                .label(why)
                .help(
                    "leave it out, unless the same file is to be run with kind = \"cioq\" as well",
                );
        }
    }
    let mut is_good = true;
    let mut refuse = |path: &str, message: &str, help: &str, desk: &mut Desk<'_>| {
        let place = desk.places.of(path);
        let note = desk.notes.error("E0327", place, message);
        if let Some(kind) = desk.places.written("switch.kind") {
            note.also(kind, "the switches");
        }
        note.help(help);
        is_good = false;
    };
    if let Buffer::Pool(_) = switch.input_buffer {
        refuse(
            "switch.input-buffer",
            "an input-queued switch has parts for lanes or queues, and no pool",
            "write an amount for each lane, or { per-queue = \"2 KiB\" }",
            desk,
        );
    }
    if around.way.is_some_and(|way| way.bubble()) {
        refuse(
            "routing.deadlock",
            "the bubble rule needs output buffers, and an input-queued switch has none",
            "write deadlock = \"dateline\", or switch.kind = \"cioq\"",
            desk,
        );
    }
    if around.policy.is_some_and(|policy| policy.tags_arrivals()) {
        refuse(
            "qos.arbiter",
            "this arbiter tags packets when they reach an output buffer, and an input-queued switch has none",
            "use an arbiter without tags (\"dtable\", \"ib-two-table\", \"round-robin\", …), or switch.kind = \"cioq\"",
            desk,
        );
    }
    is_good
}

/// Parts of the fraction at most, so that its products stay small.
const MOST_CYCLES: u64 = 1_000_000;

/// Flits per cycle over the crossbar, so that it is as fast as the links.
pub(crate) fn pace(timing: &Timing, desk: &mut Desk<'_>) -> Option<(u32, u32)> {
    let first = timing.links[0].flit;
    if let Some(other) = timing.links.iter().position(|link| link.flit != first) {
        let own_rate = |name: &&String| desk.places.written(&format!("link.class.{name}.rate"));
        let place = timing.names.iter().find_map(|name| own_rate(&name));
        let place = place.unwrap_or(desk.places.of("link.rate"));
        desk.notes
            .error(
                "E0325",
                place,
                format!(
                    "links of class `{}` and those of `{}` have different rates",
                    timing.names[0], timing.names[other]
                ),
            )
            .help(
                "without output buffers a packet passes an input-queued switch at one rate: give all links the same, \
                 or write switch.kind = \"cioq\"",
            );
        return None;
    }
    let divisor = gcd(timing.period, first);
    let (num, den) = (timing.period / divisor, first / divisor);
    if num.max(den) > MOST_CYCLES {
        let place = desk.places.of("switch.clock");
        desk.notes
            .error(
                "E0327",
                place,
                "the clock of this input-queued switch has no simple ratio to the flits of its links",
            )
            .help("leave `clock` out for one cycle per flit, or choose one with a short fraction of that");
        return None;
    }
    Some((num as u32, den as u32))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
