//! Checks of tiled switches: tiles, buffers, stashes and endpoints.

use netloom_fabric::{PortBuffers, Retransmission, Sizes, StashUse};
use netloom_topology::Peer;
use netloom_units::Port;

use super::buffers::words;
use crate::spec::machine::Around;
use crate::spec::nic::NicSpec;
use crate::spec::switch::{StashKind, TiledSpec};
use crate::spec::{Desk, Timing};

/// Sets of ports, tiles and channels are 64-bit words. Sets of a tile's inputs and outputs have 16
/// bits.
const MOST: u32 = 64;
const MOST_AT_TILE: u32 = 16;

/// Checks the two equations P = R I = C O.
pub(crate) fn shape(
    spec: &TiledSpec,
    n_ports: u16,
    radix: u16,
    n_vls: u8,
    desk: &mut Desk<'_>,
) -> bool {
    let mut is_good = true;
    if n_ports < radix {
        let place = desk.places.of("switch.ports");
        desk.notes
            .error(
                "E0340",
                place,
                format!("expected at least {radix} ports for this topology, found {n_ports}"),
            )
            .help(format!("set ports = {radix} or more, or remove it"));
        is_good = false;
    }
    for (key, count, letter) in [
        ("rows", spec.rows, "R × I"),
        ("columns", spec.columns, "C × O"),
    ] {
        if n_ports.is_multiple_of(count) {
            continue;
        }
        let divisors: Vec<String> = (1..=n_ports)
            .filter(|n| n_ports.is_multiple_of(*n))
            .map(|n| n.to_string())
            .collect();
        let place = desk.places.of(&format!("switch.{key}"));
        let message = format!("{n_ports} ports cannot be divided evenly among {count} {key}");
        desk.notes.error("E0340", place, message).help(format!(
            "P = {letter}: use {key} = {}, or ports = {}",
            divisors.join(", "),
            n_ports.next_multiple_of(count)
        ));
        is_good = false;
    }
    if !is_good {
        return false;
    }
    let (inputs, outputs) = (
        u32::from(n_ports / spec.rows),
        u32::from(n_ports / spec.columns),
    );
    let channels = u32::from(n_vls) + 2;
    let (rows, columns) = (u32::from(spec.rows), u32::from(spec.columns));
    let limits = [
        ("ports", u32::from(n_ports), MOST),
        ("tiles", rows * columns, MOST),
        ("inputs of a tile", inputs, MOST_AT_TILE),
        ("outputs of a tile", outputs, MOST_AT_TILE),
        (
            "outputs of a tile times virtual channels",
            outputs * channels,
            MOST,
        ),
        ("rows times virtual channels", rows * channels, MOST),
    ];
    for (what, have, most) in limits {
        if have > most {
            let place = desk.places.of("switch.kind");
            desk.notes
                .error(
                    "E0340",
                    place,
                    format!("expected at most {most} {what}, found {have}"),
                )
                .help(format!(
                    "use other rows and columns{}",
                    if what.contains("channels") {
                        " or a routing with fewer lanes"
                    } else {
                        ""
                    }
                ));
            is_good = false;
        }
    }
    is_good
}

/// Checks that the channels are those of the routing, shared by all service levels.
pub(crate) fn lanes(around: &Around<'_>, desk: &mut Desk<'_>) -> bool {
    let Some(way) = around.way else {
        return false;
    };
    if way.bubble() {
        let place = desk.places.of("routing.kind");
        desk.notes
            .error(
                "E0341",
                place,
                "tiled switches do not support the bubble rule",
            )
            .help("use deadlock = \"dateline\" in [routing]");
        return false;
    }
    if around.lanes.n_vls == way.lanes().max(1) {
        return true;
    }
    let place = desk
        .places
        .written("qos.vls")
        .unwrap_or(desk.places.of("switch.kind"));
    desk.notes
        .error(
            "E0341",
            place,
            "a tiled switch has no virtual lanes per service level",
        )
        .label(format!(
            "{} lanes, {} of them for the routing",
            around.lanes.n_vls,
            way.lanes().max(1)
        ))
        .help("set vls = 1 in [qos]: all service levels share its channels");
    false
}

/// Checks that the core keeps up with the links.
pub(crate) fn core(timing: &Timing, desk: &mut Desk<'_>) -> bool {
    let fastest = timing.links.iter().map(|link| link.flit).min();
    if fastest.is_none_or(|flit| timing.period <= flit) {
        return true;
    }
    let place = desk.places.of("switch.clock");
    desk.notes
        .error(
            "E0342",
            place,
            "the core of the switch is slower than its links",
        )
        .help(
            "use at least one cycle per flit of the fastest link, or remove `clock` for 1.3 cycles",
        );
    false
}

/// Checks that the file does not set what a tiled switch does not have: arbiters at its outputs,
/// and what needs them.
pub(crate) fn meaningless(desk: &mut Desk<'_>) -> bool {
    // With the default in a resolved file.
    let keys = [
        (
            "qos.arbiter",
            Some("round-robin"),
            "remove it, or set nic-arbiter for the NICs: channels of the switch are served in turn",
        ),
        (
            "connections",
            None,
            "remove them, or use kind = \"cioq\" in [switch]: tiled switches have no table to \
             reserve bandwidth",
        ),
    ];
    let mut is_good = true;
    for (key, default, help) in keys {
        let Some(place) = desk.places.written(key) else {
            continue;
        };
        if default.is_some() && desk.places.kind(key) == default {
            continue;
        }
        let name = key.rsplit('.').next().unwrap_or(key);
        let message = format!("`{name}` cannot be used with tiled switches");
        desk.notes.error("E0341", place, message).help(help);
        is_good = false;
    }
    is_good
}

/// Checks that acknowledgements, stashes, congestion control and faults fit together.
pub(crate) fn protocol(spec: &TiledSpec, nic: &NicSpec, desk: &mut Desk<'_>) -> bool {
    let acknowledges = nic.acknowledge.unwrap_or(true);
    let is_reliable = matches!(spec.stash.usage, StashKind::Reliability { .. });
    let is_for_congestion = spec.stash.usage == StashKind::Congestion;
    let rules = [
        (
            !acknowledges && is_reliable,
            "nic.acknowledge",
            "copies are kept until an acknowledgement arrives, but none are sent",
            "set acknowledge = true, or use another stash",
        ),
        (
            is_for_congestion && nic.congestion.is_none(),
            "switch.stash",
            "congested inputs stash packets, but without congestion control no input is ever \
             congested",
            "set congestion-control = \"ecn-window\" in [nic]",
        ),
        (
            !spec.faults.are_off() && !is_reliable,
            "switch.faults",
            "faults destroy packets, which are never resent",
            "set stash = \"reliability\" in [switch], or remove the faults",
        ),
        (
            spec.faults.link > 0.0 && spec.retransmission == Retransmission::Nothing,
            "switch.retransmission",
            "links corrupt packets, but outputs keep no copy to resend",
            "set retransmission = \"packet\" or \"per-flit\", or remove the faults on links",
        ),
    ];
    let mut is_good = true;
    for (is_broken, path, message, help) in rules {
        if is_broken {
            let place = desk.places.of(path);
            desk.notes.error("E0343", place, message).help(help);
            is_good = false;
        }
    }
    is_good
}

/// Checks that a port can hold a packet of each of its channels.
pub(crate) fn buffer(class: &str, normal: u32, need: u32, flit: u64, desk: &mut Desk<'_>) -> bool {
    if normal >= need && normal <= u32::from(u16::MAX) {
        return true;
    }
    let place = desk.places.of("switch.port-buffer");
    let have = words(u64::from(normal) * flit);
    let message = format!("ports of `{class}` links have a buffer of {have} for their link");
    let note = desk.notes.error("E0311", place, message);
    match normal < need {
        true => note.help(format!(
            "one packet per channel needs {}: use a larger port-buffer, or a smaller share for the \
             stash",
            words(u64::from(need) * flit)
        )),
        false => note.help("use a smaller port-buffer of at most 65535 flits"),
    };
    false
}

/// Checks that a stash can hold a packet.
pub(crate) fn stash(
    stash: Option<StashUse>,
    ports: &[PortBuffers],
    largest: u32,
    desk: &mut Desk<'_>,
) -> bool {
    let need = largest.next_multiple_of(2);
    if stash.is_none() || ports.iter().any(|port| port.stash >= need) {
        return true;
    }
    let place = desk.places.of("switch.stash");
    desk.notes
        .error("E0343", place, "no stash can hold a packet")
        .help(format!(
            "the largest packet has {largest} flits: use larger shares, or a larger port-buffer"
        ));
    false
}

/// States the share of a link between switches for a channel that has only its reserve: one reserve
/// per round trip, which includes sending, propagation and the return of credits.
pub(crate) fn reserve_fact(
    ports: &[PortBuffers],
    timing: &Timing,
    largest: u32,
    desk: &mut Desk<'_>,
) {
    let floor = |class: usize| {
        let (name, link) = (&timing.names[class], timing.links[class]);
        let Sizes::Pool { min, .. } = &ports[class].input else {
            return None;
        };
        let reserve = *min.iter().filter(|&&flits| flits > 0).min()?;
        let round_trip = u64::from(largest) * link.flit + 2 * link.delay;
        let share = (u64::from(reserve) * link.flit) as f64 / round_trip as f64;
        Some(format!(
            "{:.1} % of a `{name}` link",
            100.0 * share.min(1.0)
        ))
    };
    let floors = (0..ports.len()).filter(|&class| timing.joins_switches[class]);
    let floors: Vec<String> = floors.filter_map(floor).collect();
    if !floors.is_empty() {
        let floors = floors.join(", ");
        desk.fact(
            "reserve",
            format!("a lane with only its reserve gets {floors}"),
        );
    }
}

/// States how much of the port buffers links never need: the space beyond the data in flight during
/// a round trip (Table 1 of the paper).
pub(crate) fn idle_fact(buffer: u64, around: &Around<'_>, desk: &mut Desk<'_>) {
    let (timing, topology) = (around.timing, around.topology);
    let idle: Vec<f64> = timing
        .links
        .iter()
        .map(|link| {
            let needed = (2 * link.delay) as f64 / link.flit as f64;
            100.0 * (1.0 - needed / buffer.max(1) as f64).max(0.0)
        })
        .collect();
    let mut ports = vec![0u32; idle.len()];
    for switch in topology.switches().take(1) {
        let used = |port: &Port| !matches!(topology.peer(switch, *port), Peer::Unused);
        for port in topology.ports(switch).filter(used) {
            ports[usize::from(topology.link_class(switch, port))] += 1;
        }
    }
    let all: u32 = ports.iter().sum();
    let sum: f64 = idle
        .iter()
        .zip(&ports)
        .map(|(idle, &n)| idle * f64::from(n))
        .sum();
    let each = idle
        .iter()
        .zip(&timing.names)
        .zip(&ports)
        .filter(|(_, n)| **n > 0);
    let each: Vec<String> = each
        .map(|((idle, name), n)| format!("{idle:.1} % of {n} `{name}`"))
        .collect();
    desk.fact(
        "idle",
        format!(
            "links leave {:.1} % of the port buffers of the first switch unused: {}",
            sum / f64::from(all.max(1)),
            each.join(", ")
        ),
    );
}

/// States the capacity of stashes.
pub(crate) fn stash_fact(
    ports: &[PortBuffers],
    around: &Around<'_>,
    flit: u64,
    desk: &mut Desk<'_>,
) {
    let topology = around.topology;
    let Some(first) = topology.switches().next() else {
        return;
    };
    let (mut flits, mut hosts) = (0u64, 0u64);
    for port in topology.ports(first) {
        match topology.peer(first, port) {
            Peer::Unused => continue,
            Peer::Nic(_) => hosts += 1,
            Peer::Switch(..) => {}
        }
        let class = usize::from(topology.link_class(first, port));
        flits += u64::from(ports[class].stash);
    }
    let kilobytes = |flits: u64| (flits * flit) as f64 / 1000.0;
    let per_host = flits.checked_div(hosts).map_or(String::new(), |flits| {
        format!(", {} kB per host", kilobytes(flits))
    });
    desk.fact(
        "stash",
        format!("{} kB in the first switch{per_host}", kilobytes(flits)),
    );
}
