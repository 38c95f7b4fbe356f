//! Loads the part of a file that planning needs: cables with their rates, and paths. Traffic is
//! optional.

use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, NO_LIMIT};
use netloom_catalog::{Described, Document, Notes, Params, Section, Value, ValueShape};
use netloom_packet::Segmentation;
use netloom_results::Control;
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_units::Rate;

use super::diagnostics::Diagnostics;
use super::memory::Memory;
use super::reading::Places;
use super::{
    OpenedFile, Request, Sections, Traffic, fabric, open, planned, read, routing, site, timing,
};

/// A fabric without the architecture of its switches and without traffic.
pub struct Wiring {
    /// The name of the experiment.
    pub name: String,
    /// The cables.
    pub topology: Arc<Topology>,
    /// The paths.
    pub forwarding: Forwarding,
    /// Rate of each class of links, in the order of `topology.link_classes()`.
    pub rates: Vec<Rate>,
    /// Largest payload and header of packets.
    pub segmentation: Segmentation,
    /// Data lanes of every link, if the file sets `qos.vls`.
    pub vls: Option<u8>,
    /// Lane of each service level, if the file sets `qos.sl2vl`.
    pub sl2vl: Option<Vec<u8>>,
    /// LimitOfHighPriority if the file has InfiniBand tables (`qos.arbiter.limit`), else 255
    /// (none).
    pub limit: u8,
    /// InfiniBand tables that the file has or plans: at switches, and at NICs.
    pub tables: Option<(IbTwoTable, IbTwoTable)>,
    /// The plan that produced these tables, if they are planned.
    pub planned: Option<netloom_design::plan::Plan>,
    /// Why the tables decide nothing at the simulated switches, if so.
    pub bottleneck: Option<String>,
}

/// The result of loading a file.
pub struct LoadedWiring {
    /// The source texts and the parsed tree.
    pub document: Document,
    /// All notes about it.
    pub notes: Notes,
    /// The fabric, if there were no errors.
    pub wiring: Option<Wiring>,
}

/// Loads the parts of a file that planning needs. All sections are read and their errors noted.
/// Checks across sections are left to [`super::load`], except for topology, links and routing.
pub fn load_wiring(request: &Request<'_>) -> LoadedWiring {
    let OpenedFile {
        mut document,
        mut notes,
        is_toml,
    } = open(request);
    let sections = is_toml
        .then(|| {
            super::device::put(&mut document);
            let site = site::Known::of(&document, request);
            let surroundings = site.surroundings(&document, request);
            let planned = planned::put(&mut document, surroundings);
            read(
                &document,
                request,
                (planned, site),
                Traffic::MayBeMissing,
                &mut notes,
            )
        })
        .flatten();
    let wiring = sections.and_then(|(sections, _)| wire(sections, &document, request, &mut notes));
    LoadedWiring {
        wiring: wiring.filter(|_| !notes.has_errors()),
        document,
        notes,
    }
}

fn wire(
    sections: Sections,
    document: &Document,
    request: &Request<'_>,
    notes: &mut Notes,
) -> Option<Wiring> {
    let places = Places {
        root: &document.root,
    };
    // The facts of `check` are discarded here.
    let facts = &mut vec![];
    let control = &mut || Control::Continue;
    let diagnostics = &mut Diagnostics::new(places, request, notes, facts, control);
    diagnostics.memory = Memory::without_run(request);
    let seed = sections.measure.as_ref().map_or(1, |measure| measure.seed);
    let topology = fabric::build(&sections.topology?, &sections.failures, seed, diagnostics)?;
    let radix = topology.radix();
    let centre = sections
        .switch
        .as_ref()
        .and_then(|switch| switch.centre(radix));
    let bottleneck = sections
        .switch
        .as_ref()
        .filter(|_| site::is_simulated(document))
        .and_then(|switch| site::bottleneck(switch, sections.link.as_ref()));
    let forwarding = sections.routing.and_then(|routing| {
        routing::compile(&routing, &topology, centre, (seed, true), diagnostics)
    });
    let link = sections
        .link
        .filter(|link| timing::knows_link_classes(link, &topology, diagnostics));
    let (forwarding, link) = (forwarding?, link?);
    let rates = link.of_classes(&topology).into_iter();
    let rates = rates.map(|(rate, _)| rate).collect();
    let qos = sections.qos?;
    let has_tables = qos.arbiter?.two_table().is_some();
    let values = qos.values?;
    Some(Wiring {
        name: sections.name,
        rates,
        segmentation: link.segmentation,
        vls: values.vls,
        sl2vl: values.sl2vl.map(|row| row.0),
        limit: has_tables
            .then(|| limit(document))
            .flatten()
            .unwrap_or(NO_LIMIT),
        tables: two_tables(document),
        planned: planned::in_force(sections.planned, &document.root),
        bottleneck,
        topology,
        forwarding,
    })
}

/// Returns the tables of switches and NICs, if both have InfiniBand tables. They are already
/// validated.
fn two_tables(document: &Document) -> Option<(IbTwoTable, IbTwoTable)> {
    let qos = document.root.get("qos")?;
    let read = |key: &str| {
        let value = qos
            .get(key)
            .filter(|value| value.kind_name() == Some(IbTwoTable::NAME))?;
        let mut unheard = Notes::new();
        IbTwoTable::read(&mut Section::open(value, &mut unheard)?)
    };
    let at_switches = read("arbiter")?;
    let at_nics = match qos.get("nic-arbiter") {
        Some(_) => read("nic-arbiter")?,
        None => at_switches.clone(),
    };
    Some((at_switches, at_nics))
}

/// Returns the `limit` of the tables, which are already validated.
fn limit(document: &Document) -> Option<u8> {
    let qos = document.root.get("qos");
    let limit = qos.and_then(|qos| qos.get("arbiter")?.get("limit"));
    match limit.map(|Value { shape, .. }| shape) {
        Some(ValueShape::Integer(limit)) => u8::try_from(*limit).ok(),
        _ => None,
    }
}
