//! Checks of input-queued switches, and the rate of their crossbar.

use crate::spec::machine::Around;
use crate::spec::switch::{Buffer, NOT_INPUT_QUEUED, SwitchSpec};
use crate::spec::{Diagnostics, Timing};

/// Checks that the other values suit switches without output buffers.
pub(crate) fn fits(
    switch: &SwitchSpec,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    for key in NOT_INPUT_QUEUED {
        if let Some(place) = diagnostics.places.written(&format!("switch.{key}")) {
            let why = match key {
                "speedup" => "its crossbar is as fast as its links",
                _ => "it has none",
            };
            diagnostics
                .notes
                .warning(
                    "W0326",
                    place,
                    format!("`{key}` is not used by an input-queued switch"),
                )
                .label(why)
                .help("remove it, unless the same file also runs with kind = \"cioq\"");
        }
    }
    let mut is_good = true;
    let mut refuse = |path: &str, message: &str, help: &str, diagnostics: &mut Diagnostics<'_>| {
        let place = diagnostics.places.of(path);
        let note = diagnostics.notes.error("E0327", place, message);
        if let Some(kind) = diagnostics.places.written("switch.kind") {
            note.also(kind, "the switches");
        }
        note.help(help);
        is_good = false;
    };
    if let Buffer::Pool(_) = switch.input_buffer {
        refuse(
            "switch.input-buffer",
            "an input-queued switch has buffers per lane or queue, and cannot have a pool",
            "use a size per lane, or { per-queue = \"2 KiB\" }",
            diagnostics,
        );
    }
    if around
        .forwarding
        .is_some_and(|forwarding| forwarding.bubble())
    {
        refuse(
            "routing.deadlock",
            "the bubble rule needs output buffers, but an input-queued switch has none",
            "use deadlock = \"dateline\", or switch.kind = \"cioq\"",
            diagnostics,
        );
    }
    if around.policy.is_some_and(|policy| policy.tags_arrivals()) {
        refuse(
            "qos.arbiter",
            "this arbiter tags packets in output buffers, but an input-queued switch has none",
            "use an arbiter without tags (\"dtable\", \"ib-two-table\", \"round-robin\", …), or \
             switch.kind = \"cioq\"",
            diagnostics,
        );
    }
    is_good
}

/// Limit on numerator and denominator, so that products stay small.
const MOST_CYCLES: u64 = 1_000_000;

/// Returns the flits per cycle at which the crossbar is as fast as the links.
pub(crate) fn pace(timing: &Timing, diagnostics: &mut Diagnostics<'_>) -> Option<(u32, u32)> {
    let first = timing.links[0].flit;
    if let Some(other) = timing.links.iter().position(|link| link.flit != first) {
        let own_rate = |name: &&String| {
            diagnostics
                .places
                .written(&format!("link.class.{name}.rate"))
        };
        let place = timing.names.iter().find_map(|name| own_rate(&name));
        let place = place.unwrap_or(diagnostics.places.of("link.rate"));
        diagnostics
            .notes
            .error(
                "E0325",
                place,
                format!(
                    "links of class `{}` and those of `{}` have different rates",
                    timing.names[0], timing.names[other]
                ),
            )
            .help(
                "give all links the same rate, or use switch.kind = \"cioq\": without output \
                 buffers, a packet passes a switch at one rate",
            );
        return None;
    }
    let divisor = gcd(timing.period, first);
    let (num, den) = (timing.period / divisor, first / divisor);
    if num.max(den) > MOST_CYCLES {
        let place = diagnostics.places.of("switch.clock");
        diagnostics
            .notes
            .error(
                "E0327",
                place,
                "the clock of this input-queued switch has no simple ratio to the flits of its \
                 links",
            )
            .help("remove `clock` for one cycle per flit, or set it to a simple fraction of that");
        return None;
    }
    Some((num as u32, den as u32))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
