//! `netloom plan FILE --admit connections.csv`, or `--admit drawn`: which connections a fabric can guarantee.

use std::path::Path;

use anyhow::anyhow;
use netloom_catalog::{Document, FromToml, Notes, Place, nearest};
use netloom_design::infiniband::csv::{self, Listed, Mistake};
use netloom_design::infiniband::establish::DRAWS;
use netloom_design::infiniband::slots::Slots;
use netloom_design::infiniband::waits::MANAGEMENT_DATAGRAM;
use netloom_design::infiniband::{
    Class, ConnectionClass, Egress, Establishment, Lanes, Network, Packets, Refusal, Settings,
    establish_of,
};
use netloom_experiment::Kinds;
use netloom_experiment::spec::{Wiring, connection_classes};
use netloom_topology::{Peer, Topology};
use netloom_units::{Bytes, Port};

use super::super::Exit;
use super::super::load;
use super::super::output::Output;
use super::{Plan, PlanFormat, report};

/// In the place of a list: connections are drawn.
const DRAWN: &str = "drawn";

/// Mistakes of a list that are told one by one; a wrong unit may stand in every line of a long one.
const MOST_MISTAKES: usize = 100;

/// What became of a list.
pub(super) struct Outcome {
    pub(super) network: Network,
    pub(super) accepted: Vec<Listed>,
    pub(super) refused: Vec<(Listed, Refusal)>,
}

impl Outcome {
    /// The classes of all connections of the list.
    pub(super) fn classes(&self) -> Vec<Class> {
        let refused = self.refused.iter().map(|(listed, _)| listed);
        let all = self.accepted.iter().chain(refused);
        all.map(|listed| listed.connection.class()).collect()
    }
}

pub(super) fn run(
    kinds: &Kinds,
    plan: &Plan,
    list: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let loaded = load::load_wiring(kinds, &plan.file, &plan.overrides, output)?;
    let exit = load::exit_with(&loaded.notes, loaded.wiring.is_some());
    let Some(wiring) = loaded.wiring else {
        return Ok(exit);
    };
    let ports = plan
        .ports
        .iter()
        .map(|name| port(&wiring.topology, name))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut document = loaded.document;
    let mut notes = Notes::new();
    let is_drawn = list == Path::new(DRAWN);
    let classes = connection_classes(&document.root, &mut notes).unwrap_or_default();
    if classes.is_empty() {
        load::tell(&document, &notes, output);
        return Ok(Exit::Invalid);
    }
    let list = match is_drawn {
        true => vec![],
        false => {
            let text = load::read(list)?;
            let name = list.display().to_string();
            read(&name, &text, (&wiring, &classes), &mut document, &mut notes)
        }
    };
    let used: Vec<Class> = match is_drawn {
        true => classes.iter().map(ConnectionClass::class).collect(),
        false => list
            .iter()
            .map(|listed| listed.connection.class())
            .collect(),
    };
    let network = network(plan, wiring, &used, &document, &mut notes);
    load::tell(&document, &notes, output);
    let Some(network) = network.filter(|_| !notes.has_errors()) else {
        return Ok(Exit::Invalid);
    };
    let outcome = match is_drawn {
        true => drawn(network, plan, &classes, &document),
        false => admit(network, list),
    };
    output.data(&match plan.format {
        PlanFormat::Json => report::json(&outcome)?,
        PlanFormat::Human | PlanFormat::Toml => report::text(&outcome, &ports),
    })?;
    let is_fault = plan.strict && !outcome.refused.is_empty();
    Ok(if is_fault { Exit::Fault } else { Exit::Done })
}

/// Admits a list in its order.
fn admit(mut network: Network, list: Vec<Listed>) -> Outcome {
    let (mut accepted, mut refused) = (vec![], vec![]);
    for listed in list {
        match network.admit(listed.connection) {
            Ok(_) => accepted.push(listed),
            Err(refusal) => refused.push((listed, refusal)),
        }
    }
    Outcome {
        network,
        accepted,
        refused,
    }
}

/// Draws connections until one never fits, as `connections.target` does before a run.
fn drawn(
    mut network: Network,
    plan: &Plan,
    classes: &[ConnectionClass],
    document: &Document,
) -> Outcome {
    let measure = document.root.get("measure");
    let written = measure
        .and_then(|measure| measure.get("seed"))
        .and_then(|seed| u64::read(seed, &mut Notes::new()));
    let wanted = Establishment {
        target: plan.target,
        draws: DRAWS,
        seed: plan.overrides.seed.or(written).unwrap_or(1),
    };
    let made = establish_of(&mut network, &wanted, classes);
    let numbered = (1..).zip(made.accepted);
    let accepted = numbered.map(|(line, (_, connection))| Listed { line, connection });
    Outcome {
        accepted: accepted.collect(),
        network,
        refused: vec![],
    }
}

/// Reads the list; its text joins those of the experiment, so that notes can point into it.
fn read(
    name: &str,
    text: &str,
    (wiring, classes): (&Wiring, &[ConnectionClass]),
    document: &mut Document,
    notes: &mut Notes,
) -> Vec<Listed> {
    let source = u16::try_from(document.sources.len()).expect("fewer than 65536 texts");
    document.sources.push((name.to_owned(), text.to_owned()));
    let mistakes = match csv::parse_by(text, &wiring.topology, classes) {
        Ok(list) => return list,
        Err(mistakes) => mistakes,
    };
    let lines = line_places(text, source);
    let rest = mistakes.len().saturating_sub(MOST_MISTAKES);
    for Mistake { line, message } in mistakes.into_iter().take(MOST_MISTAKES) {
        let at = (line as usize).saturating_sub(1);
        let place = lines.get(at).copied().unwrap_or(Place {
            source,
            ..Place::default()
        });
        notes.error("E0802", place, message);
    }
    if rest > 0 {
        // At the end of the list, where it is told last.
        let end = lines.last().map_or(0, |place| place.end);
        let place = Place {
            source,
            start: end,
            end,
        };
        notes.error("E0802", place, format!("and {rest} more mistakes"));
    }
    vec![]
}

/// Where each line of a text stands.
fn line_places(text: &str, source: u16) -> Vec<Place> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let at = start;
            start += line.len();
            let offset = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
            Place {
                source,
                start: offset(at),
                end: offset(at + line.trim_end().len()),
            }
        })
        .collect()
}

/// The fabric without connections, or notes about why there can be none.
fn network(
    plan: &Plan,
    wiring: Wiring,
    used: &[Class],
    document: &Document,
    notes: &mut Notes,
) -> Option<Network> {
    let place_of = |section: &str| {
        document
            .root
            .get(section)
            .map_or(document.root.place, |v| v.place)
    };
    let header = wiring.segmentation.header;
    let mtu = wiring.segmentation.mtu;
    let by_file = mtu.map(|mtu| Bytes(mtu.0 + header.0));
    let is_needed = used.iter().any(|class| class.has_deadline);
    let largest = plan.packet.or(by_file).or((!is_needed).then_some(Bytes(0)));
    if largest.is_none() {
        let message = "a connection has a deadline, and packets have no largest size";
        notes
            .error("E0808", place_of("link"), message)
            .help("give link.mtu a size, or say --packet \"4 KiB\"");
    }
    let used = used.iter().copied();
    let lanes = Lanes::on_ports(used, wiring.vls, wiring.sl2vl.as_deref());
    let lanes = lanes
        .map_err(|problem| {
            notes
                .error("E0804", place_of("qos"), problem)
                .help(
                    "connections have SL0 to SL3 by bandwidth or by the column sl, those with a deadline SL4 to SL7, \
                     best effort SL8, challenged traffic SL9; write a larger qos.vls, or a qos.sl2vl that keeps best \
                     effort and those with deadlines apart (levels without deadlines may share a lane)",
                )
                .code
        })
        .ok()?;
    let settings = Settings {
        lanes,
        mode: plan.mode.into(),
        placement: plan.placement.into(),
        packets: Packets {
            largest: largest.unwrap_or(Bytes(0)),
            management: Bytes(MANAGEMENT_DATAGRAM.0 + header.0),
            limit: plan.limit.unwrap_or(wiring.limit),
        },
        best_effort: Slots::of_frame(plan.reserve),
    };
    let made = Network::with_rates(wiring.topology, wiring.forwarding, wiring.rates, settings);
    made.map_err(|problem| notes.error("E0804", place_of("routing"), problem).code)
        .ok()
}

/// An output by its name: `s3:2`, `s3 P2` or, for a NIC's, `n0`.
fn port(topology: &Topology, wanted: &str) -> anyhow::Result<Egress> {
    let is_called = |name: String| name.eq_ignore_ascii_case(wanted.trim());
    if let Some(nic) = topology
        .nics()
        .find(|&nic| is_called(topology.nic_name(nic)))
    {
        return Ok(Egress::Nic(nic));
    }
    let parts = wanted.trim().rsplit_once([':', ' ']);
    let Some((switch, number)) = parts else {
        let names = topology.nics().map(|nic| topology.nic_name(nic));
        let names: Vec<String> = names.collect();
        let near = nearest(wanted, names.iter().map(String::as_str));
        let help = near.map_or(
            "write s3:2 for a port of a switch, n0 for a NIC's output".into(),
            |near| format!("did you mean {near}?"),
        );
        return Err(anyhow!("--port {wanted}: there is no such NIC; {help}"));
    };
    let found = topology
        .switches()
        .find(|&id| topology.switch_name(id).eq_ignore_ascii_case(switch.trim()))
        .ok_or_else(|| {
            anyhow!("--port {wanted}: there is no switch {switch}; `netloom topo show` lists them")
        })?;
    let number = number.trim_start_matches(['p', 'P']);
    let n = topology.n_ports(found);
    match number.parse() {
        Ok(port) if port < n && topology.peer(found, Port(port)) == Peer::Unused => {
            Err(anyhow!("--port {wanted}: that port has no cable"))
        }
        Ok(port) if port < n => Ok(Egress::Switch(found, Port(port))),
        _ => Err(anyhow!(
            "--port {wanted}: there is no port {number}; {switch} has ports 0 to {}",
            n.saturating_sub(1)
        )),
    }
}
