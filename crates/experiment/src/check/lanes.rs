//! Checks of lanes: their number, which of them exist, and whether arbiters can serve them.

use netloom_arbitration::{Policy, PortContext};
use netloom_catalog::Value;
use netloom_topology::Topology;
use netloom_units::{Port, SwitchId};

use crate::spec::{Diagnostics, LaneMap, OwnRow, QosSpec, default_for};

/// Keys with which a channel can have different lanes at different switches.
pub(crate) const OWN_ROWS: [&str; 4] = [
    "qos.sl2vl-exception",
    "qos.sc2vl-exception",
    "qos.sc2sc",
    "qos.sc2sc-exception",
];

/// Checks that the lanes times the lanes of the routing fit on a link.
pub(crate) fn count(vls: u8, per_routing: u8, diagnostics: &mut Diagnostics<'_>) -> bool {
    if u16::from(vls) * u16::from(per_routing) <= 15 {
        return true;
    }
    let place = diagnostics.places.of("qos.vls");
    let message = format!(
        "{vls} lanes times {per_routing} of the routing exceed the 15 data lanes of a link"
    );
    let note = diagnostics.notes.error("E0403", place, message);
    if let Some(routing) = diagnostics.places.written("routing.deadlock") {
        note.also(routing, format!("takes {per_routing} lanes for each"));
    }
    note.help(format!("use at most vls = {}", 15 / per_routing));
    false
}

/// Notes every lane of a row that does not exist. `from` is "SL" or "SC".
pub(crate) fn row(row: &[u8], path: &str, from: &str, vls: u8, diagnostics: &mut Diagnostics<'_>) {
    for (at, &vl) in row.iter().enumerate().filter(|(_, vl)| **vl >= vls) {
        let place = diagnostics.places.of(&format!("{path}.{at}"));
        let lanes = if vls == 1 { "lane" } else { "lanes" };
        let message = format!("{from}{at} maps to VL{vl}, but links have {vls} data {lanes}");
        let note = diagnostics.notes.error("E0405", place, message);
        note.label(match vls {
            1 => "the only lane is 0".to_owned(),
            _ => format!("lanes are 0 to {}", vls - 1),
        });
        if let Some(place) = diagnostics.places.written("qos.vls") {
            note.also(place, "lanes of every link");
        }
        if vl < 15 {
            note.help(format!("set qos.vls = {}, or use another lane", vl + 1));
        } else {
            note.help("use at most VL14; VL15 is reserved for management");
        }
    }
}

/// Warns of channels with traffic that are missing from a row. Modulo the number of lanes, they may
/// use the lane of another class.
pub(crate) fn left_out(
    row: &[u8],
    path: &str,
    from: &str,
    used: impl Iterator<Item = (u8, u8)>,
    diagnostics: &mut Diagnostics<'_>,
) {
    if row.is_empty() {
        return;
    }
    for (number, vl) in used.filter(|(number, _)| usize::from(*number) >= row.len()) {
        let place = diagnostics.places.of(path);
        let message = format!("{from}{number} has traffic but no lane here; it uses VL{vl}");
        let key = path.rsplit('.').next().unwrap_or(path);
        diagnostics
            .notes
            .warning("W0416", place, message)
            .help(format!("add the lane of {from}{number} to `{key}`"));
    }
}

/// Returns how many lanes the routing takes, and which ones each service level has; `None` if it
/// takes one.
fn lanes_of_routing(lanes: &LaneMap, diagnostics: &Diagnostics<'_>) -> Option<String> {
    let LaneMap {
        per_routing, of_sl, ..
    } = lanes;
    if *per_routing < 2 {
        return None;
    }
    let topology = diagnostics.places.kind("topology").unwrap_or_default();
    let routing = diagnostics
        .places
        .kind("routing")
        .unwrap_or(default_for(topology));
    let used = (0..).zip(of_sl).filter(|(_, lanes)| **lanes != 0);
    let words = used.map(|(sl, lanes)| {
        let lanes = (0..32).filter(|vl| lanes >> vl & 1 == 1);
        let names: Vec<String> = lanes.map(|vl| format!("VL{vl}")).collect();
        format!("SL{sl} on {}", names.join(", "))
    });
    Some(format!(
        "{routing} takes {per_routing} for each of `qos.vls`: {}",
        words.collect::<Vec<_>>().join("; ")
    ))
}

/// States the lanes of a routing that takes several.
pub(crate) fn of_routing(lanes: &LaneMap, diagnostics: &mut Diagnostics<'_>) {
    if let Some(words) = lanes_of_routing(lanes, diagnostics) {
        diagnostics.fact("lanes", words);
    }
}

/// Warns of an arbiter in the file that has only one lane to choose from.
pub(crate) fn choice(lanes: &LaneMap, diagnostics: &mut Diagnostics<'_>) {
    let is_plain = |name: &str| name == "round-robin";
    let arbiter = diagnostics
        .places
        .root
        .get("qos")
        .and_then(|qos| qos.get("arbiter"));
    let name = arbiter.and_then(Value::kind_name);
    // An unknown arbiter is noted elsewhere.
    if lanes.used_by_data().count_ones() == 1
        && !diagnostics.notes.has_errors()
        && let (Some(arbiter), Some(name)) = (arbiter, name.filter(|name| !is_plain(name)))
    {
        let place = arbiter.get("kind").map_or(arbiter.place, |kind| kind.place);
        let message =
            format!("{name} has no effect: all traffic uses one service level and one lane");
        diagnostics
            .notes
            .warning("W0415", place, message)
            .help("give classes different service levels, as in sl = 1, or remove the arbiter");
    }
}

/// Checks that the ports of an exception exist.
pub(crate) fn exception(
    exception: &OwnRow,
    topology: &Topology,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let path = exception.path();
    if exception.switch >= topology.n_switches() {
        let place = diagnostics.places.of(&format!("{path}.switch"));
        diagnostics
            .notes
            .error(
                "E0404",
                place,
                format!("there is no switch {}", exception.switch),
            )
            .help(format!("use 0 to {}", topology.n_switches() - 1));
        return false;
    }
    let n_ports = topology.n_ports(SwitchId(exception.switch));
    let mut exists = true;
    for (key, port) in [("input", exception.input), ("output", exception.output)] {
        if let Some(port) = port.filter(|port| *port >= n_ports) {
            exists = false;
            let place = diagnostics.places.of(&format!("{path}.{key}"));
            diagnostics
                .notes
                .error(
                    "E0404",
                    place,
                    format!("switch {} has no {}", exception.switch, Port(port)),
                )
                .help(format!("use 0 to {}", n_ports.saturating_sub(1)));
        }
    }
    exists
}

/// Checks that the arbiters can serve the lanes and service levels that carry traffic. Tables made
/// by admission (`is_planned`) are not checked.
pub(crate) fn arbiters(
    qos: &QosSpec,
    is_planned: bool,
    lanes: &LaneMap,
    used_sls: u32,
    diagnostics: &mut Diagnostics<'_>,
) {
    let context = PortContext {
        data_vls: lanes.n_data_vls,
        largest_packet: lanes.largest_bytes,
        largest_of_sl: lanes.largest_of_sl,
        used_vls: lanes.used_by_data(),
    };
    if let Some(arbiter) = qos.arbiter.as_ref().filter(|_| !is_planned) {
        faults(&**arbiter, "qos.arbiter", &context, lanes, diagnostics);
        levels(&**arbiter, "qos.arbiter", used_sls, diagnostics);
    }
    if let Some(Some(arbiter)) = &qos.nic_arbiter {
        faults(&**arbiter, "qos.nic-arbiter", &context, lanes, diagnostics);
        levels(&**arbiter, "qos.nic-arbiter", used_sls, diagnostics);
    }
}

/// Checks that every service level with traffic is in the arbiter's tables. Otherwise it would
/// never be sent, and would block its lane.
fn levels(policy: &dyn Policy, path: &str, used_sls: u32, diagnostics: &mut Diagnostics<'_>) {
    let lacking = used_sls & !policy.sendable_sls();
    if lacking == 0 {
        return;
    }
    let names = |mask: u32| {
        let levels = (0..32).filter(|sl| mask >> sl & 1 == 1);
        levels
            .map(|sl| format!("SL{sl}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let place = diagnostics.places.of(path);
    diagnostics
        .notes
        .error(
            "E0412",
            place,
            format!(
                "{} has traffic but no entry in this arbiter",
                names(lacking)
            ),
        )
        .label("never sends it, and blocks its lane")
        .help(format!("add an entry: {} have traffic", names(used_sls)));
}

fn faults(
    policy: &dyn Policy,
    path: &str,
    context: &PortContext,
    lanes: &LaneMap,
    diagnostics: &mut Diagnostics<'_>,
) {
    let routing = diagnostics.places.written("routing.kind");
    let lanes_of_routing = lanes_of_routing(lanes, diagnostics);
    for fault in policy.faults(context) {
        let place = diagnostics.places.of(&format!("{path}.{}", fault.key));
        let note = match fault.is_error {
            true => diagnostics.notes.error("E0410", place, fault.message),
            false => diagnostics.notes.warning("W0411", place, fault.message),
        };
        if let Some(words) = lanes_of_routing.as_ref().filter(|_| fault.is_error) {
            match routing {
                Some(place) => note.also(place, words.clone()),
                None => note.label(words.clone()),
            };
        }
        note.help(fault.help);
    }
}
