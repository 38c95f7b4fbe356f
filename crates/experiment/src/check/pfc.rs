//! Priority flow control: thresholds, and headroom for data in flight when a lane stops.
//!
//! The packet that fills a lane beyond `xoff` starts one wire delay before its header is counted.
//! PAUSE returns one wire delay later. Until then the sender continues, and it finishes the packet
//! that it has begun. So beyond `xoff` a lane receives up to
//!
//! ```text
//!   what a busy link sends from the start of that packet until PAUSE takes effect
//!     = (one flit + two wires + the stages of the receiver's signal and of the sender) / flit time
//!   + one largest packet, begun just before
//! ```
//!
//! The usual rule (two wires + two largest packets) includes the stages in a packet. This rule
//! applies here, unless packets are so short or clocks so slow that the stages take longer.

use netloom_fabric::{CrossbarPlan, Sizes, Thresholds};
use netloom_units::{Bytes, Vl};

use super::buffers::{ahead_of_link, words};
use crate::spec::{Diagnostics, LaneMap, Timing};

/// Returns the flits that a lane may still receive once it holds more than `xoff`.
pub(crate) fn headroom(switch: &CrossbarPlan, timing: &Timing, class: usize, largest: u16) -> u64 {
    let (link, period) = (timing.links[class], switch.period);
    let packet = u64::from(largest);
    // The sender sees the signal on its next edge: a NIC, or a switch that decides ahead of its
    // link.
    let at_a_nic = link.flit - 1;
    let at_a_switch = match timing.joins_switches[class] {
        true => ahead_of_link(switch) * period + period - 1,
        false => 0,
    };
    let until_pause =
        link.flit + 2 * link.delay + switch.pipeline.credit * period + at_a_nic.max(at_a_switch);
    let exact = (until_pause - 1) / link.flit + packet;
    exact.max(round_trip(timing, class) + 2 * packet)
}

/// Returns the flits that fit on the wire in both directions.
fn round_trip(timing: &Timing, class: usize) -> u64 {
    let link = timing.links[class];
    (2 * link.delay).div_ceil(link.flit)
}

/// Returns the thresholds of every class of links and lane, if a lane can always hold the data in
/// flight.
pub(crate) fn thresholds(
    (xoff, xon): (Option<Bytes>, Option<Bytes>),
    switch: &CrossbarPlan,
    timing: &Timing,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Vec<Vec<Thresholds>>> {
    let Sizes::Static(sizes) = &switch.input_buffer else {
        return None;
    };
    let in_flits = |bytes: Bytes| u32::try_from(bytes.0 / flit).unwrap_or(u32::MAX);
    let (written_xoff, written_xon) = (xoff.map(in_flits), xon.map(in_flits));
    let mut is_good = true;
    // The largest deficit: (missing flits, headroom, lane, class).
    let mut worst: Option<(u64, u64, usize, usize)> = None;
    let mut lowest_xoff = u32::MAX;
    let mut thresholds = vec![];
    for class in 0..timing.links.len() {
        let mut of_class = vec![];
        for (vl, &size) in sizes.iter().enumerate() {
            let largest = lanes.largest[vl];
            if largest == 0 {
                of_class.push(Thresholds {
                    xoff: size,
                    xon: size,
                });
                continue;
            }
            let room = headroom(switch, timing, class, largest);
            let derived = u32::try_from(u64::from(size).saturating_sub(room)).unwrap_or(0);
            let xoff = written_xoff.unwrap_or(derived);
            let lacks = (u64::from(xoff) + room).saturating_sub(u64::from(size));
            if lacks > 0 && worst.is_none_or(|(most, ..)| lacks > most) {
                worst = Some((lacks, room, vl, class));
            }
            let xon = written_xon.unwrap_or(xoff.saturating_sub(u32::from(largest)));
            lowest_xoff = lowest_xoff.min(xoff);
            of_class.push(Thresholds { xoff, xon });
        }
        thresholds.push(of_class);
    }
    if let Some((lacks, room, vl, class)) = worst {
        lacking(
            written_xoff,
            (lacks, room),
            sizes[vl],
            vl,
            (timing, class),
            lanes,
            flit,
            diagnostics,
        );
        is_good = false;
    }
    if let Some(xon) = written_xon.filter(|xon| *xon > lowest_xoff) {
        let place = diagnostics.places.of("link.flow-control.xon");
        let note = diagnostics.notes.error(
            "E0321",
            place,
            format!("`xon` of {} is above `xoff`", words(u64::from(xon) * flit)),
        );
        note.label(format!(
            "`xoff` is {}",
            words(u64::from(lowest_xoff) * flit)
        ));
        if let Some(place) = diagnostics.places.written("link.flow-control.xoff") {
            note.also(place, "the lane stops above this");
        }
        note.help(format!(
            "use at most \"{} B\", or remove `xon`",
            u64::from(lowest_xoff) * flit
        ));
        is_good = false;
    }
    if is_good {
        facts(&thresholds, switch, timing, lanes, flit, diagnostics);
    }
    is_good.then_some(thresholds)
}

/// Notes what a lane needs for the cable with the largest need.
#[expect(clippy::too_many_arguments, reason = "the numbers of one message")]
fn lacking(
    written_xoff: Option<u32>,
    (lacks, room): (u64, u64),
    size: u32,
    vl: usize,
    (timing, class): (&Timing, usize),
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    let (lane, name, size) = (Vl(vl as u8), &timing.names[class], u64::from(size));
    let cable = cable(timing, class);
    let packet = u64::from(lanes.largest[vl]) * flit;
    let path = match written_xoff {
        Some(_) => "link.flow-control.xoff",
        None => "switch.input-buffer",
    };
    let message = match written_xoff {
        Some(_) => format!("`xoff` leaves too little space for data in flight on {lane}"),
        None => format!("`input-buffer` is too small for PFC on {lane}"),
    };
    let place = diagnostics.places.of(path);
    let buffer = diagnostics.places.written("switch.input-buffer");
    let length = ["delay", "cable"].iter().find_map(|key| {
        let own = diagnostics
            .places
            .written(&format!("link.class.{name}.{key}"));
        own.or(diagnostics.places.written(&format!("link.{key}")))
    });
    let note = diagnostics.notes.error("E0320", place, message);
    let left = size.saturating_sub(u64::from(written_xoff.unwrap_or(0)));
    note.label(format!(
        "{} B of headroom, but a cable of {cable} (class `{name}`) needs {} B",
        left * flit,
        room * flit
    ));
    if let Some(buffer) = buffer.filter(|_| written_xoff.is_some()) {
        note.also(buffer, "for each lane");
    }
    if let Some(length) = length {
        note.also(length, "headroom includes this twice");
    }
    let trip = round_trip(timing, class) * flit;
    let sum = format!("{trip} B in flight in both directions, and two packets of {packet} B");
    let need = (size + lacks) * flit;
    let help = match written_xoff {
        Some(_) if size >= room => format!(
            "{sum}: use xoff = \"{} B\" or less, remove it, or use at least {need} B per lane",
            (size - room) * flit
        ),
        Some(_) => format!(
            "{sum}: use at least {need} B per lane, or remove `xoff` and use {} B",
            room * flit
        ),
        None => format!("{sum}: use at least {need} B per lane, or a smaller `link.mtu`"),
    };
    note.help(help);
}

/// Formats the delay of a cable.
fn cable(timing: &Timing, class: usize) -> String {
    let nanos = timing.timebase.nanos(timing.links[class].delay as f64);
    format!("{} ns", (nanos * 1000.0).round() / 1000.0)
}

/// States headroom and thresholds of every class of links, grouping lanes with equal numbers.
fn facts(
    thresholds: &[Vec<Thresholds>],
    switch: &CrossbarPlan,
    timing: &Timing,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    for (class, of_class) in thresholds.iter().enumerate() {
        let mut groups: Vec<(u64, Thresholds, Vec<String>)> = vec![];
        for (vl, &threshold) in of_class.iter().enumerate() {
            if lanes.largest[vl] == 0 {
                continue;
            }
            let room = headroom(switch, timing, class, lanes.largest[vl]);
            let lane = Vl(vl as u8).to_string();
            match groups
                .iter_mut()
                .find(|(r, t, _)| (*r, *t) == (room, threshold))
            {
                Some((_, _, names)) => names.push(lane),
                None => groups.push((room, threshold, vec![lane])),
            }
        }
        for (room, Thresholds { xoff, xon }, names) in groups {
            let bytes = |flits: u64| flits * flit;
            diagnostics.fact(
                "pfc",
                format!(
                    "class `{}`, cable of {}, {}: headroom {} B ({} flits), stops above {} B, \
                     resumes at {} B",
                    timing.names[class],
                    cable(timing, class),
                    names.join(" "),
                    bytes(room),
                    room,
                    bytes(u64::from(xoff)),
                    bytes(u64::from(xon)),
                ),
            );
        }
    }
}
