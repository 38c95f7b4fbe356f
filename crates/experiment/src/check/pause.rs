//! PAUSE of whole links: thresholds, and headroom for data in flight when a link stops.
//!
//! All lanes share one input buffer, of the size of all lanes together. Beyond `xoff` it holds the
//! same as a lane with PFC: the data that the link sends until PAUSE takes effect, and the packet
//! begun just before (`pfc.rs`).

use netloom_fabric::{CrossbarPlan, Thresholds};
use netloom_units::Bytes;

use super::buffers::words;
use super::pfc::headroom;
use crate::spec::{Diagnostics, LaneMap, Timing};

/// Returns the thresholds of every class of links, if an input can always hold the data in flight.
pub(crate) fn thresholds(
    (xoff, xon): (Option<Bytes>, Option<Bytes>),
    switch: &CrossbarPlan,
    timing: &Timing,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Vec<Thresholds>> {
    let in_flits = |bytes: Bytes| u32::try_from(bytes.0 / flit).unwrap_or(u32::MAX);
    let (written_xoff, written_xon) = (xoff.map(in_flits), xon.map(in_flits));
    let size = switch.input_buffer.total().min(MOST);
    let largest = lanes.largest.iter().copied().max().unwrap_or(0);
    let mut thresholds = vec![];
    for class in 0..timing.links.len() {
        let room = u32::try_from(headroom(switch, timing, class, largest)).unwrap_or(u32::MAX);
        let xoff = written_xoff.unwrap_or(size.saturating_sub(room));
        if u64::from(xoff) + u64::from(room) > u64::from(size) {
            lacking(
                written_xoff.is_some(),
                (size, room),
                (timing, class),
                flit,
                diagnostics,
            );
            return None;
        }
        let xon = written_xon.unwrap_or(xoff.saturating_sub(u32::from(largest)));
        if xon > xoff {
            let place = diagnostics.places.of("link.flow-control.xon");
            let above = words(u64::from(xoff) * flit);
            diagnostics
                .notes
                .error(
                    "E0321",
                    place,
                    format!("`xon` of {} is above `xoff`", words(u64::from(xon) * flit)),
                )
                .label(format!("`xoff` is {above}"))
                .help(format!(
                    "use at most \"{} B\", or remove `xon`",
                    u64::from(xoff) * flit
                ));
            return None;
        }
        let bytes = |flits: u32| u64::from(flits) * flit;
        diagnostics.fact(
            "pause",
            format!(
                "class `{}`, input buffer of {} B for all lanes: headroom {} B, stops above {} B, \
                 resumes at {} B",
                timing.names[class],
                bytes(size),
                bytes(room),
                bytes(xoff),
                bytes(xon),
            ),
        );
        thresholds.push(Thresholds { xoff, xon });
    }
    Some(thresholds)
}

/// Limit on the counted flits; a larger buffer is used up to this.
const MOST: u32 = u16::MAX as u32;

/// Notes what an input needs.
fn lacking(
    has_xoff: bool,
    (size, room): (u32, u32),
    (timing, class): (&Timing, usize),
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    let bytes = |flits: u32| u64::from(flits) * flit;
    let (path, message) = match has_xoff {
        true => (
            "link.flow-control.xoff",
            "`xoff` leaves too little space for data in flight",
        ),
        false => (
            "switch.input-buffer",
            "`input-buffer` is too small for PAUSE",
        ),
    };
    let place = diagnostics.places.of(path);
    let note = diagnostics.notes.error("E0320", place, message);
    note.label(format!(
        "{} B for all lanes, of which links of class `{}` need {} B as headroom",
        bytes(size),
        timing.names[class],
        bytes(room)
    ));
    note.help(match (has_xoff, size.checked_sub(room)) {
        (true, Some(left)) => format!("use xoff = \"{} B\" or less, or remove it", bytes(left)),
        _ => format!(
            "use at least {} B for all lanes together, or a smaller `link.mtu`",
            bytes(room)
        ),
    });
}
