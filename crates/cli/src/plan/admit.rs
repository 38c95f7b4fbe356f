//! `netloom plan FILE --admit connections.csv`, or `--admit drawn`: finds the connections that a
//! fabric can guarantee.

use std::path::Path;

use anyhow::anyhow;
use netloom_catalog::{Document, FromToml, Notes, Place};
use netloom_design::infiniband::csv::{self, Listed, Mistake};
use netloom_design::infiniband::establish::DRAWS;
use netloom_design::infiniband::slots::Slots;
use netloom_design::infiniband::waits::MANAGEMENT_DATAGRAM;
use netloom_design::infiniband::{
    Class, ConnectionClass, Egress, Establishment, Lanes, Network, Outcome, Packets, Settings,
};
use netloom_experiment::Kinds;
use netloom_experiment::spec::{Wiring, connection_classes};
use netloom_units::Bytes;

use super::super::Exit;
use super::super::load;
use super::super::output::Output;
use super::super::table::width;
use super::{Plan, PlanFormat};

/// The value of `--admit` that draws connections instead of reading a list.
const DRAWN: &str = "drawn";

/// Most errors to report for a list. A long list may have the same wrong unit in every line.
const MOST_MISTAKES: usize = 100;

pub(super) fn run(
    kinds: &Kinds,
    plan: &Plan,
    list: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let loaded = load::load_wiring(
        kinds,
        &plan.file,
        &plan.values.overrides(plan.force),
        output,
    )?;
    let exit = load::exit_with(&loaded.notes, loaded.wiring.is_some());
    let Some(wiring) = loaded.wiring else {
        return Ok(exit);
    };
    if let Some(why) = &wiring.bottleneck {
        output.insist(&format!("warning[W0907]: {why}\n"));
    }
    let ports = plan
        .ports
        .iter()
        .map(|name| {
            Egress::named(&wiring.topology, name).map_err(|why| anyhow!("--port {name}: {why}"))
        })
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
        false => Outcome::of_list(network, &list),
    };
    output.data(&match plan.format {
        PlanFormat::Json => serde_json::to_string(&outcome)?,
        PlanFormat::Human | PlanFormat::Toml => outcome.text(&ports, width()),
    })?;
    let is_fault = plan.strict && !outcome.refused.is_empty();
    Ok(if is_fault { Exit::Fault } else { Exit::Done })
}

/// Draws connections until no more fit, as `connections.target` does before a run.
fn drawn(
    network: Network,
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
        seed: plan.values.seed.or(written).unwrap_or(1),
    };
    Outcome::drawn(network, &wanted, classes)
}

/// Parses the list. Adds its text to the sources of the document, so that notes can point into it.
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
        // At the end of the list, so that it is reported last.
        let end = lines.last().map_or(0, |place| place.end);
        let place = Place {
            source,
            start: end,
            end,
        };
        notes.error("E0802", place, format!("and {rest} more errors"));
    }
    vec![]
}

/// Returns the place of each line of a text.
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

/// Returns the fabric without connections, or adds notes about why it cannot have any.
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
        let message = "a connection with a deadline needs a largest packet size";
        notes
            .error("E0808", place_of("link"), message)
            .help("set link.mtu, or use --packet \"4 KiB\"");
    }
    let used = used.iter().copied();
    let lanes = Lanes::on_ports(used, wiring.vls, wiring.sl2vl.as_deref());
    let lanes = lanes
        .map_err(|problem| {
            notes
                .error("E0804", place_of("qos"), problem)
                .help(
                    "set a larger qos.vls, or a qos.sl2vl with separate lanes for best effort and \
                     for each level with deadlines (levels without deadlines may share a lane); \
                     connections use SL0 to SL3 by bandwidth or by the column sl, those with a \
                     deadline SL4 to SL7, best effort SL8, challenged traffic SL9",
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
