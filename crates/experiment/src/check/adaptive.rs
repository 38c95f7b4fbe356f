//! Routings that look at queues.

use netloom_fabric::Architecture;
use netloom_routing::Forwarding;

use super::deadlock::grave;
use crate::spec::Desk;

/// Whether the switches show their queues to a routing that asks for them.
///
/// The switches of the crate `fabric` route a header while they take in the events of a tick, where nothing may
/// depend on what other headers of that tick do. A tiled switch routes when it decides.
pub(crate) fn fits(architecture: &Architecture, way: &Forwarding, desk: &mut Desk<'_>) -> bool {
    if !way.is_adaptive() || matches!(architecture, Architecture::Tiled(_)) {
        return true;
    }
    let kind = desk.places.written("switch.kind");
    let is_forced = desk.is_forced;
    let message =
        "this routing chooses by what waits in a switch, and only tiled switches show that";
    let note = grave(desk, "E0504", "routing.kind", message.to_owned());
    if let Some(kind) = kind {
        note.also(kind, "the switches");
    }
    note.help(match is_forced {
        true => "it goes on as if nothing ever waited, which is routing.kind = \"minimal\" with more lanes",
        false => {
            "write routing.kind = \"minimal\" or \"valiant\", or switch.kind = \"tiled\""
        }
    });
    is_forced
}
