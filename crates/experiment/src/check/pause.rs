//! PAUSE of whole links: thresholds, and headroom for what is under way when a link is stopped.
//!
//! The input buffer is one for all lanes, of the size that all lanes have together. Beyond `xoff` it takes what a lane with
//! PFC would: what the link sends until PAUSE acts, and the packet that was begun just before (`pfc.rs`).

use netloom_fabric::{CrossbarPlan, Thresholds};
use netloom_units::Bytes;

use super::buffers::words;
use super::pfc::headroom;
use crate::spec::{Desk, LaneMap, Timing};

/// The thresholds of every class of links, if an input can always take what is under way.
pub(crate) fn thresholds(
    (xoff, xon): (Option<Bytes>, Option<Bytes>),
    switch: &CrossbarPlan,
    timing: &Timing,
    lanes: &LaneMap,
    flit: u64,
    desk: &mut Desk<'_>,
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
                desk,
            );
            return None;
        }
        let xon = written_xon.unwrap_or(xoff.saturating_sub(u32::from(largest)));
        if xon > xoff {
            let place = desk.places.of("link.flow-control.xon");
            let above = words(u64::from(xoff) * flit);
            desk.notes
                .error(
                    "E0321",
                    place,
                    format!(
                        "a link would go on at {} and be stopped above less",
                        words(u64::from(xon) * flit)
                    ),
                )
                .label(format!("`xoff` is {above}"))
                .help(format!(
                    "write at most \"{} B\", or leave `xon` out",
                    u64::from(xoff) * flit
                ));
            return None;
        }
        let bytes = |flits: u32| u64::from(flits) * flit;
        desk.fact(
            "pause",
            format!(
                "class `{}`, input buffer of {} B for all lanes: headroom {} B, stopped above {} B, goes on at {} B",
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

/// Flits that are counted at most; a larger buffer is used up to this.
const MOST: u32 = u16::MAX as u32;

/// Says what an input needs.
fn lacking(
    has_xoff: bool,
    (size, room): (u32, u32),
    (timing, class): (&Timing, usize),
    flit: u64,
    desk: &mut Desk<'_>,
) {
    let bytes = |flits: u32| u64::from(flits) * flit;
    let (path, message) = match has_xoff {
        true => (
            "link.flow-control.xoff",
            "`xoff` leaves too little room for what is under way",
        ),
        false => (
            "switch.input-buffer",
            "`input-buffer` is too small for PAUSE",
        ),
    };
    let place = desk.places.of(path);
    let note = desk.notes.error("E0320", place, message);
    note.label(format!(
        "{} B for all lanes, of which links of class `{}` need {} B as headroom",
        bytes(size),
        timing.names[class],
        bytes(room)
    ));
    note.help(match (has_xoff, size.checked_sub(room)) {
        (true, Some(left)) => format!(
            "write xoff = \"{} B\" or less, or leave it out",
            bytes(left)
        ),
        _ => format!(
            "give an input at least {} B in all, or packets a smaller `link.mtu`",
            bytes(room)
        ),
    });
}
