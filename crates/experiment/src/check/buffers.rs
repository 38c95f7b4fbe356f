//! Checks that buffers can hold a packet and keep a link busy.

use netloom_fabric::{Architecture, CrossbarPlan, Pace, QueueMap, Sizes};
use netloom_units::{Bytes, Vl};

use crate::spec::switch::Pool;
use crate::spec::{Diagnostics, LaneMap, Timing};

/// Formats bytes, in KiB from 1024 on.
pub(crate) fn words(bytes: u64) -> String {
    if bytes < 1024 || bytes.is_multiple_of(1024) {
        return Bytes(bytes).to_string();
    }
    format!("{:.1} KiB", bytes as f64 / 1024.0)
}

/// Checks that every lane can hold its largest packet. Otherwise that packet would never move.
pub(crate) fn one_packet(
    sizes: &Sizes,
    path: &str,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let guaranteed = |vl: usize| match sizes {
        Sizes::Static(sizes) => sizes[vl],
        // Other lanes may occupy the space above the minimum forever.
        Sizes::Pool { min, max, .. } => min[vl].min(max[vl]),
    };
    let short = |vl: &usize| guaranteed(*vl) < u32::from(lanes.largest[*vl]);
    // The lane with the largest packet, the first of them.
    let lacking = (0..lanes.largest.len()).filter(short);
    let Some(vl) = lacking.min_by_key(|vl| std::cmp::Reverse(lanes.largest[*vl])) else {
        return true;
    };
    let (have, need) = (u64::from(guaranteed(vl)), u64::from(lanes.largest[vl]));
    let key = path.rsplit('.').next().unwrap_or(path);
    let lane = Vl(vl as u8);
    let note = diagnostics.notes.error(
        "E0311",
        diagnostics.places.of(path),
        format!("`{key}` cannot hold a packet of {lane}, which would wait forever"),
    );
    let kind = match sizes {
        Sizes::Static(_) => "per lane",
        Sizes::Pool { .. } => "reserved per lane",
    };
    note.label(format!("{} {kind}", words(have * flit)));
    if let Some(mtu) = diagnostics.places.written("link.mtu") {
        note.also(mtu, "packets have up to this payload");
    }
    note.help(format!(
        "the largest packet of {lane} has {}: use a larger buffer, or a smaller `link.mtu`",
        words(need * flit)
    ));
    false
}

/// Checks that the part of a lane can be counted in 16 bits of flits, so that the credits of a port
/// fit into two cache lines.
pub(crate) fn countable(
    sizes: &Sizes,
    path: &str,
    n_lanes: usize,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let most = u64::from(u16::MAX);
    let Some(vl) = (0..n_lanes).find(|&vl| u64::from(sizes.most(vl)) > most) else {
        return true;
    };
    let key = path.rsplit('.').next().unwrap_or(path);
    let have = u64::from(sizes.most(vl));
    diagnostics
        .notes
        .error(
            "E0315",
            diagnostics.places.of(path),
            format!("`{key}` gives a lane {have} flits, more than the limit of {most}"),
        )
        .label(words(have * flit))
        .help(format!("use at most {} per lane", words(most * flit)));
    false
}

/// Checks that the minima of a pool fit into it.
pub(crate) fn pool(
    pool: &Pool,
    path: &str,
    capacity: u32,
    min: &[u32],
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let sum: u64 = min.iter().map(|&m| u64::from(m)).sum();
    if sum <= u64::from(capacity) {
        return true;
    }
    let key = path.rsplit('.').next().unwrap_or(path);
    let place = diagnostics.places.of(&format!("{path}.pool"));
    let note = diagnostics.notes.error(
        "E0314",
        place,
        format!(
            "the minima of {} lanes exceed the pool of `{key}`",
            min.len()
        ),
    );
    note.label(format!("{} in total", words(u64::from(capacity) * flit)));
    if let Some(place) = diagnostics.places.written(&format!("{path}.min")) {
        note.also(place, format!("for each of {} lanes", min.len()));
    }
    let what = match pool.min {
        Some(_) => "the minima add up to",
        None => "one largest packet for each lane takes",
    };
    note.help(format!(
        "{what} {}: use a larger pool, a smaller `min` or fewer lanes",
        words(sum * flit)
    ));
    false
}

/// Returns the cycles of a switch from the decision that takes a packet's credits to its first flit
/// on the link.
pub(crate) fn ahead_of_link(switch: &CrossbarPlan) -> u64 {
    let cycles = switch.pipeline;
    match switch.architecture {
        Architecture::InputQueued => cycles.allocation + cycles.crossbar + cycles.output,
        _ => cycles.output,
    }
}

/// Returns the rates at which packets may leave an input buffer.
fn paces(switch: &CrossbarPlan) -> Vec<Pace> {
    let own = switch.crossbar_pace();
    match &switch.architecture {
        Architecture::Hierarchical(hierarchy) => {
            let (num, den) = hierarchy.mport_speedup;
            vec![own, Pace { num, den, ..own }]
        }
        _ => vec![own],
    }
}

/// Returns the flits without a credit at the instant at which a busy link starts its next packet.
///
/// The time from the first flit of a packet leaving a sender to its usable credit consists of: the
/// wire, the stages up to the allocation (with the wait of a packet on a slower link, if the
/// crossbar does not start at once), the flit leaving the buffer, the credit's own stage, the wire
/// back, and the sender's output stage. The credits of the other flits follow at the rate of the
/// crossbar, or at that of the link if the crossbar has to wait for flits.
fn flits_in_flight(
    switch: &CrossbarPlan,
    pace: Pace,
    timing: &Timing,
    class: usize,
    largest: u16,
) -> u64 {
    let (link, cycles) = (timing.links[class], switch.pipeline);
    let flits = u64::from(largest);
    let dry = |k: u64| (k * link.flit).saturating_sub(pace.time_of(k));
    // The rate repeats after its numerator, so the worst flit is among the last.
    let last = flits.saturating_sub(u64::from(pace.num) + 1)..flits;
    let wait = match switch.starts_at_once() {
        true => 0,
        false => last.map(dry).max().unwrap_or(0),
    };
    let wait = wait.saturating_sub(cycles.allocation * switch.period);
    let before = ((cycles.input + cycles.routing) * switch.period).max(wait);
    // A NIC decides when its link is free, a switch earlier by this amount.
    let output = if timing.joins_switches[class] {
        ahead_of_link(switch)
    } else {
        0
    };
    let after = (cycles.allocation + 1 + cycles.credit + output) * switch.period;
    // If the wire is not a whole number of cycles, a header and a decision wait for their edges.
    let is_aligned = [link.flit, link.delay]
        .iter()
        .all(|t| t.is_multiple_of(switch.period));
    let edges = if is_aligned {
        0
    } else {
        2 * (switch.period - 1)
    };
    let trip = link.flit + link.delay + before + after + link.delay + edges;

    // Packets sent back to back: first those without any returned credit, then the few in between.
    let packet = flits * link.flit;
    let recent = (trip - 1) / packet;
    let mut in_flight = recent * flits;
    let mut elapsed = (recent + 1) * packet;
    loop {
        let mut back = pace.passed(elapsed - trip).min(flits);
        if switch.starts_at_once() {
            // Flit k arrives k flit times after the header, which waited for the stages of the
            // crossbar.
            let waited = before + cycles.allocation * switch.period;
            back = back.min((elapsed - trip + waited) / link.flit + 1);
        }
        if back == flits {
            return in_flight;
        }
        in_flight += flits - back;
        elapsed += packet;
    }
}

/// Notes whether an input buffer keeps a link busy, with the numbers. A packet starts only with
/// credits for all of its flits, while the credits of packets in flight have not returned. With
/// credits per queue (`queues`), a single queue must keep the link busy.
pub(crate) fn round_trip(
    switch: &CrossbarPlan,
    queues: Option<&QueueMap>,
    timing: &Timing,
    lanes: &LaneMap,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) {
    let mut worst: Option<(u64, u64, usize, usize)> = None;
    for vl in (0..lanes.largest.len()).filter(|vl| lanes.largest[*vl] > 0) {
        for class in 0..timing.links.len() {
            let largest = lanes.largest[vl];
            let trips = paces(switch).into_iter();
            let trips = trips.map(|pace| flits_in_flight(switch, pace, timing, class, largest));
            let need = u64::from(largest) + trips.max().unwrap_or(0);
            let have = u64::from(match queues {
                Some(_) => switch.queue_flits[vl],
                None => switch.input_buffer.most(vl),
            });
            // The one with the largest deficit or, without a deficit, the one with the largest
            // need.
            let rank = |need: u64, have: u64| (need.saturating_sub(have), need);
            let is_worse = worst.is_none_or(|(n, h, _, _)| rank(need, have) > rank(n, h));
            if is_worse {
                worst = Some((need, have, vl, class));
            }
        }
    }
    let Some((need, have, vl, class)) = worst else {
        return;
    };
    let packet = u64::from(lanes.largest[vl]) * flit;
    let trip = need * flit - packet;
    let (short, whole) = match queues.is_some_and(|queues| queues.per_lane > 1) {
        true => ("queue", "queue"),
        false => ("VL", "lane"),
    };
    if have >= need {
        diagnostics.fact(
            "buffers",
            format!(
                "{}/{short} >= {} needed for the full rate (credit round trip {} + one packet {})",
                words(have * flit),
                words(need * flit),
                words(trip),
                words(packet),
            ),
        );
        return;
    }
    let name = &timing.names[class];
    let delay = diagnostics
        .places
        .written(&format!("link.class.{name}.delay"))
        .or(diagnostics
            .places
            .written(&format!("link.class.{name}.cable")))
        .or(diagnostics.places.written("link.delay"))
        .or(diagnostics.places.written("link.cable"));
    let note = diagnostics.notes.warning(
        "W0312",
        diagnostics.places.of("switch.input-buffer"),
        format!(
            "the input buffer is too small to keep a link of class `{name}` busy on one {whole}"
        ),
    );
    note.label(format!("{} for {}", words(have * flit), Vl(vl as u8)));
    if let Some(delay) = delay {
        note.also(delay, "the round trip includes this twice");
    }
    note.help(format!(
        "the credit round trip takes {} B and a packet {} B: use at least {} B, or expect about \
         {:.0} % of the rate from a single {whole}",
        trip,
        packet,
        need * flit,
        100.0 * have as f64 / need as f64,
    ));
    diagnostics.fact(
        "buffers",
        format!(
            "{}/{short} < {} needed for the full rate",
            words(have * flit),
            words(need * flit)
        ),
    );
}
