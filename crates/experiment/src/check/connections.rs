//! Checks of connections: the result of admission, and values that exclude connections.

use netloom_design::infiniband::{Connection, Egress, Lanes, PortReport, Refusal};
use netloom_packet::{MOST_FLITS, SlSegmentation};
use netloom_topology::Topology;
use netloom_units::{Sl, short_time};

use super::lanes::OWN_ROWS;
use crate::spec::admitted::{Admitted, CLASS_NAMES, Obstacle, Requests};
use crate::spec::connections::{ConnectionsSpec, Refused};
use crate::spec::link::LinkSpec;
use crate::spec::{ClassSpec, Diagnostics, LaneMap, grouped};

/// Limit on the refusals reported for one list.
const MOST_SHOWN: usize = 100;

/// Checks that no class of `[[traffic]]` has the name of a class of connections.
pub(crate) fn names(classes: &[ClassSpec], sls: &[u8], diagnostics: &mut Diagnostics<'_>) {
    for spec in classes {
        let name = spec.class.name.as_str();
        let own = |&sl: &u8| CLASS_NAMES[usize::from(sl)] == name;
        if let Some(sl) = sls.iter().copied().find(own) {
            let place = diagnostics
                .places
                .of(&format!("traffic.{}.name", spec.table));
            let message = format!("two classes of traffic have the name `{name}`");
            diagnostics
                .notes
                .error("E0608", place, message)
                .also(
                    diagnostics.places.of("connections"),
                    format!("connections of SL{sl} have this name"),
                )
                .help("use another name: results identify classes by name");
        }
    }
}

/// Checks that a packet of a connection is one packet on the wire.
pub(crate) fn packet(
    spec: &ConnectionsSpec,
    cutting: &SlSegmentation,
    sls: &[u8],
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let place = diagnostics.places.of("connections.packet");
    let mtus = sls.iter().filter_map(|&sl| cutting.of(Sl(sl)).mtu);
    if let Some(mtu) = mtus.min().filter(|mtu| spec.packet > *mtu) {
        let message = format!("packets of {} exceed the MTU of {mtu}", spec.packet);
        let note = diagnostics.notes.error("E0801", place, message);
        for key in ["link.mtu", "qos.sl-mtu"] {
            if let Some(place) = diagnostics.places.written(key) {
                note.also(place, "the largest payload of a packet");
            }
        }
        note.help("use a smaller `packet`, or a larger `link.mtu`");
        return false;
    }
    let flits = (spec.packet.0 + cutting.header.0).div_ceil(cutting.flit.0);
    if flits > MOST_FLITS {
        diagnostics
            .notes
            .error("E0603", place, format!("a packet has {flits} flits"))
            .help(format!("use packets of at most {MOST_FLITS} flits"));
        return false;
    }
    true
}

/// Checks that all links have the rate that slots refer to.
pub(crate) fn rates(
    link: &LinkSpec,
    topology: &Topology,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let rates = link.of_classes(topology).into_iter();
    let others = rates.filter(|(rate, _)| *rate != link.rate).count();
    if others > 0 {
        let place = diagnostics.places.of("link.class");
        diagnostics
            .notes
            .error("E0804", place, "connections need links of one rate")
            .also(
                diagnostics.places.of("connections"),
                "counts bandwidth in slots of one rate",
            )
            .help("give all links the rate of [link], or remove [connections]");
    }
    others == 0
}

/// Returns the lanes of the tables: those of connections by the SL2VL map, and those of the
/// section.
pub(crate) fn lanes(
    spec: &ConnectionsSpec,
    map: &LaneMap,
    sls: &[u8],
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Lanes> {
    let channels = &map.channels;
    let has_several = |&sl: &u8| channels.sl2sc[usize::from(sl)].count_ones() != 1;
    let own = diagnostics.places.first_written(&OWN_ROWS);
    let own = own.map_or("qos", |(key, _)| key);
    let obstacles = [
        (
            channels.own.is_some(),
            own,
            "remove changes of channels, and rows of single switches and ports",
        ),
        (
            sls.iter().any(has_several),
            "qos.sl2sc",
            "give the service levels of connections one channel each",
        ),
    ];
    for (is_there, key, help) in obstacles {
        if is_there {
            diagnostics
                .notes
                .error(
                    "E0804",
                    diagnostics.places.of(key),
                    "connections need the same lane along their whole path",
                )
                .also(diagnostics.places.of("connections"), "")
                .help(help);
            return None;
        }
    }
    let lane_of = |sl: usize| channels.sc2vl[channels.sl2sc[sl].trailing_zeros() as usize];
    let mut taken: Vec<u8> = sls.iter().map(|&sl| lane_of(sl.into())).collect();
    taken.extend([spec.best_effort, spec.challenged]);
    let mut lanes = Lanes {
        best_effort: netloom_units::Vl(spec.best_effort),
        challenged: netloom_units::Vl(spec.challenged),
        ..Lanes::default()
    };
    let levels = lanes.connections.iter_mut().chain(&mut lanes.deadlines);
    for (sl, lane) in levels.enumerate() {
        lane.0 = match sls.contains(&(sl as u8)) {
            true => lane_of(sl),
            // A level without connections has no entries, so any free lane works.
            false => (0..15).find(|vl| !taken.contains(vl)).unwrap_or(15),
        };
        taken.push(lane.0);
    }
    Some(lanes)
}

/// Checks that every lane with traffic is in the tables of the ports.
pub(crate) fn served(lanes: &Lanes, sls: &[u8], map: &LaneMap, diagnostics: &mut Diagnostics<'_>) {
    let mut served = 1u32 << lanes.best_effort.0 | 1 << lanes.challenged.0;
    lanes.connections.iter().for_each(|vl| served |= 1 << vl.0);
    let with_deadlines = (4..).zip(&lanes.deadlines);
    let asked = with_deadlines.filter(|(sl, _)| sls.contains(sl));
    asked.for_each(|(_, vl)| served |= 1 << vl.0);
    let lacking = map.used_by_data() & !served;
    if lacking == 0 {
        return;
    }
    let names: Vec<String> = (0..32)
        .filter(|vl| lacking >> vl & 1 == 1)
        .map(|vl| format!("VL{vl}"))
        .collect();
    let place = diagnostics
        .places
        .written("traffic")
        .unwrap_or(diagnostics.places.of("connections"));
    diagnostics
        .notes
        .error(
            "E0807",
            place,
            format!(
                "the tables of admission have no entry for {}, which has traffic",
                names.join(", ")
            ),
        )
        .help(format!(
            "use service levels that map to VL{} (best effort) or VL{} (challenged traffic), or \
             set another `qos.arbiter`; a routing with several lanes per level also needs one",
            lanes.best_effort.0, lanes.challenged.0
        ));
}

/// Notes why admission failed.
pub(crate) fn obstacle(obstacle: Obstacle, diagnostics: &mut Diagnostics<'_>) {
    let place = diagnostics.places.of("connections");
    match obstacle {
        Obstacle::Unsuited(why) => {
            diagnostics.notes.error("E0804", place, why);
        }
        Obstacle::TooMany(nic, sl, n) => {
            diagnostics
                .notes
                .error(
                    "E0805",
                    place,
                    format!("{nic} sends {n} connections of {sl}"),
                )
                .help(
                    "a packet can distinguish 256 connections of one NIC and service level: spread \
                     them over more NICs, or merge some into one with their total bandwidth",
                );
        }
    }
}

/// Notes every refused connection of a list: line, port and slots.
pub(crate) fn refusals(
    spec: &ConnectionsSpec,
    admitted: &Admitted,
    diagnostics: &mut Diagnostics<'_>,
) {
    let file = spec.list.as_deref().unwrap_or_default();
    let place = diagnostics.places.of("connections.list");
    let words = |line: u32, connection: &Connection, refusal: &Refusal| {
        let Connection {
            source,
            destination,
            bandwidth,
            sl,
            ..
        } = connection;
        format!(
            "{file}:{line}: {source} to {destination}, {bandwidth} on {sl}, is refused at {refusal}"
        )
    };
    let n = admitted.refused.len();
    if spec.refused == Refused::Skip {
        if n > 0 {
            diagnostics.fact(
                "refused",
                format!("{} connections of the list", grouped(n as u64)),
            );
        }
        return;
    }
    let help = "use a lower bandwidth, another path or another NIC, or set refused = \"skip\"";
    for (line, connection, refusal) in admitted.refused.iter().take(MOST_SHOWN) {
        diagnostics
            .notes
            .error("E0803", place, words(*line, connection, refusal))
            .help(help);
    }
    if let Some(more) = n.checked_sub(MOST_SHOWN + 1) {
        let message = format!("{file}: and {} more connections are refused", more + 1);
        diagnostics.notes.error("E0803", place, message);
    }
}

/// Notes that a list that must be admitted could be refused in a later run.
pub(crate) fn repeats(
    spec: &ConnectionsSpec,
    is_random_wiring: bool,
    repeat: u32,
    diagnostics: &mut Diagnostics<'_>,
) {
    let must_fit = spec.list.is_some() && spec.refused == Refused::Error;
    if must_fit && is_random_wiring && repeat > 1 {
        let place = diagnostics.places.of("measure.repeat");
        diagnostics
            .notes
            .error(
                "E0801",
                place,
                "every run has different cables and could refuse connections of the list",
            )
            .also(diagnostics.places.of("connections.list"), "")
            .help("set refused = \"skip\", or measure.repeat = 1");
    }
}

/// States the admitted connections, and warns of tables that no port could hold.
pub(crate) fn facts(requests: &Requests, admitted: &Admitted, diagnostics: &mut Diagnostics<'_>) {
    let infos = &admitted.infos;
    let n = infos.len() as u64;
    let wanted = match requests {
        Requests::Listed(list) if list.len() as u64 > n => format!(" of {} listed", list.len()),
        Requests::Drawn { target, draws, .. } if u64::from(*target) > n => {
            format!(
                " of {} requested (the next one fitted in none of {draws} draws)",
                grouped(u64::from(*target))
            )
        }
        _ => String::new(),
    };
    let rate: u64 = infos.iter().map(|info| info.bandwidth.0).sum();
    let network = &admitted.network;
    let nics = network.topology().nics().map(Egress::Nic);
    let capacity = nics.map(|nic| network.rate(nic).0 as f64).sum::<f64>();
    let times = || infos.iter().map(|info| info.inter_arrival);
    let mean = times().map(|time| time.as_nanos()).sum::<f64>() / (n as f64).max(1.0);
    let mut sentence = format!(
        "{}{wanted}, payload {:.3} of a NIC's link",
        grouped(n),
        rate as f64 / capacity
    );
    if let (Some(least), Some(most)) = (times().min(), times().max()) {
        sentence.push_str(&format!(
            ", inter-arrival time {} to {}, mean {}",
            short_time(least.as_nanos()),
            short_time(most.as_nanos()),
            short_time(mean)
        ));
    }
    let urgent = infos.iter().filter(|info| info.deadline.is_some()).count();
    if urgent > 0 {
        let urgent = grouped(urgent as u64);
        sentence.push_str(&format!("; {urgent} of them with a deadline"));
    }
    diagnostics.fact("connections", sentence);

    let reports = network.reports();
    let shares = reports.iter().map(PortReport::utilisation);
    let most = shares.clone().fold(0.0, f64::max);
    let mean = shares.sum::<f64>() / (reports.len() as f64).max(1.0);
    let long = reports
        .iter()
        .filter(|report| report.has_virtual_entries)
        .count();
    let entries = reports
        .iter()
        .map(|report| report.n_entries)
        .max()
        .unwrap_or(0);
    diagnostics.fact(
        "tables",
        format!(
            "{} outputs, reserved {mean:.3} of a link on average, {most:.3} at most; up to \
             {entries} entries",
            grouped(reports.len() as u64)
        ),
    );
    if long > 0 {
        let place = diagnostics.places.of("connections.mode");
        diagnostics
            .notes
            .warning(
                "W0806",
                place,
                format!(
                    "{long} of {} tables need more than the 64 entries of a port, up to {entries}",
                    reports.len()
                ),
            )
            .help(
                "set mode = \"strict-entries\" to admit only what a port can hold; these tables \
                 have virtual entries",
            );
    }
}
