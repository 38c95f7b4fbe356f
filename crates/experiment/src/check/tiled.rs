//! Checks of tiled switches: tiles, buffers, stashes and endpoints.

use netloom_fabric::{PortBuffers, Retransmission, Sizes, StashUse};
use netloom_topology::Peer;
use netloom_units::{Bytes, Port};

use super::buffers::words;
use crate::spec::machine::Around;
use crate::spec::nic::NicSpec;
use crate::spec::switch::{StashKind, TiledSpec};
use crate::spec::{Diagnostics, Timing};

/// Sets of ports, tiles and channels are 64-bit words. Sets of a tile's inputs and outputs have 16
/// bits.
const MOST: u32 = 64;
const MOST_AT_TILE: u32 = 16;

/// Share of a link below which a channel starves.
const LEAST_FLOOR: f64 = 0.1;

/// Checks the two equations P = R I = C O.
pub(crate) fn shape(
    spec: &TiledSpec,
    n_ports: u16,
    radix: u16,
    n_vls: u8,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let mut is_good = true;
    if n_ports < radix {
        let place = diagnostics.places.of("switch.ports");
        diagnostics
            .notes
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
        let place = diagnostics.places.of(&format!("switch.{key}"));
        let message = format!("{n_ports} ports cannot be divided evenly among {count} {key}");
        diagnostics
            .notes
            .error("E0340", place, message)
            .help(format!(
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
            let place = diagnostics.places.of("switch.kind");
            diagnostics
                .notes
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
pub(crate) fn lanes(around: &Around<'_>, diagnostics: &mut Diagnostics<'_>) -> bool {
    let Some(forwarding) = around.forwarding else {
        return false;
    };
    if forwarding.bubble() {
        let place = diagnostics.places.of("routing.kind");
        diagnostics
            .notes
            .error(
                "E0341",
                place,
                "tiled switches do not support the bubble rule",
            )
            .help("use deadlock = \"dateline\" in [routing]");
        return false;
    }
    if around.lanes.n_vls == forwarding.lanes().max(1) {
        return true;
    }
    let place = diagnostics
        .places
        .written("qos.vls")
        .unwrap_or(diagnostics.places.of("switch.kind"));
    diagnostics
        .notes
        .error(
            "E0341",
            place,
            "a tiled switch has no virtual lanes per service level",
        )
        .label(format!(
            "{} lanes, {} of them for the routing",
            around.lanes.n_vls,
            forwarding.lanes().max(1)
        ))
        .help("set vls = 1 in [qos]: all service levels share its channels");
    false
}

/// Checks that the core keeps up with the links.
pub(crate) fn core(timing: &Timing, diagnostics: &mut Diagnostics<'_>) -> bool {
    let fastest = timing.links.iter().map(|link| link.flit).min();
    if fastest.is_none_or(|flit| timing.period <= flit) {
        return true;
    }
    let place = diagnostics.places.of("switch.clock");
    diagnostics
        .notes
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
pub(crate) fn meaningless(diagnostics: &mut Diagnostics<'_>) -> bool {
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
        let Some(place) = diagnostics.places.written(key) else {
            continue;
        };
        if default.is_some() && diagnostics.places.kind(key) == default {
            continue;
        }
        let name = key.rsplit('.').next().unwrap_or(key);
        let message = format!("`{name}` cannot be used with tiled switches");
        diagnostics.notes.error("E0341", place, message).help(help);
        is_good = false;
    }
    is_good
}

/// Checks that acknowledgements, stashes, congestion control and faults fit together.
pub(crate) fn protocol(spec: &TiledSpec, nic: &NicSpec, diagnostics: &mut Diagnostics<'_>) -> bool {
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
            let place = diagnostics.places.of(path);
            diagnostics.notes.error("E0343", place, message).help(help);
            is_good = false;
        }
    }
    is_good
}

/// Checks that a port can hold a packet of each of its channels.
pub(crate) fn buffer(
    class: &str,
    normal: u32,
    need: u32,
    flit: u64,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    if normal >= need && normal <= u32::from(u16::MAX) {
        return true;
    }
    let place = diagnostics.places.of("switch.port-buffer");
    let have = words(u64::from(normal) * flit);
    let message = format!("ports of `{class}` links have a buffer of {have} for their link");
    let note = diagnostics.notes.error("E0311", place, message);
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
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let need = largest.next_multiple_of(2);
    if stash.is_none() || ports.iter().any(|port| port.stash >= need) {
        return true;
    }
    let place = diagnostics.places.of("switch.stash");
    diagnostics
        .notes
        .error("E0343", place, "no stash can hold a packet")
        .help(format!(
            "the largest packet has {largest} flits: use larger shares, or a larger port-buffer"
        ));
    false
}

/// States the share of a link between switches that its other channels leave to each one, and warns
/// where the channels of a link share its buffers badly. `usual` is the default buffer.
pub(crate) fn shared(
    ports: &[PortBuffers],
    timing: &Timing,
    (largest, usual): (u32, Bytes),
    diagnostics: &mut Diagnostics<'_>,
) {
    let classes = (0..ports.len()).filter(|&class| timing.joins_switches[class]);
    let links = classes.filter_map(|class| {
        let (min, most) = Shared::least_and_most(&ports[class].input)?;
        let link = timing.links[class];
        let delays = 2 * link.delay;
        let share = |flits: u32, trip: u64| (u64::from(flits) * link.flit) as f64 / trip as f64;
        Some(Shared {
            name: &timing.names[class],
            floor: share(min, u64::from(largest) * link.flit + delays).min(1.0),
            most,
            need: delays.div_ceil(link.flit),
        })
    });
    let links: Vec<Shared> = links.collect();
    if links.is_empty() {
        return;
    }
    let floor = |link: &Shared| format!("{:.1} % of a `{}` link", 100.0 * link.floor, link.name);
    let floors: Vec<String> = links.iter().map(floor).collect();
    let floors = floors.join(", ");
    diagnostics.fact(
        "reserve",
        format!("the other lanes leave each one {floors}"),
    );
    let usual = usual.to_string();
    for link in &links {
        link.warn(&usual, diagnostics);
    }
}

/// How the channels of a class of links share its buffers.
struct Shared<'a> {
    name: &'a str,
    /// Share of the link that a channel always has.
    floor: f64,
    /// Flits that a channel may use.
    most: u32,
    /// Flits that are on the link and have not been acknowledged, if one channel fills it.
    need: u64,
}

impl Shared<'_> {
    /// Returns the flits that a channel has if all others use all they may, and the flits that it
    /// may use: the smallest of all channels with a reserve. `None` if no channel has one.
    fn least_and_most(buffer: &Sizes) -> Option<(u32, u32)> {
        let Sizes::Pool { capacity, min, max } = buffer else {
            return None;
        };
        let used = || (0..min.len()).filter(|&lane| min[lane] > 0);
        let all: u32 = used().map(|lane| max[lane]).sum();
        let least = |lane: usize| {
            let left = capacity.saturating_sub(all - max[lane]);
            left.max(min[lane])
        };
        Some((
            used().map(least).min()?,
            used().map(|lane| max[lane]).min()?,
        ))
    }

    /// Warns if one channel can be starved, or cannot fill the link.
    fn warn(&self, usual: &str, diagnostics: &mut Diagnostics<'_>) {
        let name = self.name;
        let written = diagnostics.places.written("switch.lane-most");
        let place = written.or(diagnostics.places.written("switch.port-buffer"));
        let place = place.unwrap_or(diagnostics.places.of("switch.kind"));
        let instead = match written {
            Some(_) => format!("remove `lane-most`, and set port-buffer = \"{usual}\" or more"),
            None => format!("set port-buffer = \"{usual}\" or more"),
        };
        if self.floor < LEAST_FLOOR {
            let message = format!("one lane can take nearly all of a `{name}` link from another");
            diagnostics
                .notes
                .warning("W0347", place, message)
                .label(format!("{:.1} % are left", 100.0 * self.floor))
                .help(instead.clone());
        }
        if u64::from(self.most) < self.need {
            let message = format!("one lane cannot fill a `{name}` link");
            let (most, need) = (self.most, self.need);
            diagnostics
                .notes
                .warning("W0348", place, message)
                .label(format!(
                    "it may use {most} flits of a buffer, a round trip has {need}"
                ))
                .help(instead);
        }
    }
}

/// States how much of the port buffers links never need: the space beyond the data in flight during
/// a round trip (Table 1 of the paper).
pub(crate) fn idle_fact(buffer: u64, around: &Around<'_>, diagnostics: &mut Diagnostics<'_>) {
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
    diagnostics.fact(
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
    diagnostics: &mut Diagnostics<'_>,
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
    diagnostics.fact(
        "stash",
        format!("{} kB in the first switch{per_host}", kilobytes(flits)),
    );
}
