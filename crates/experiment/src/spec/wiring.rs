//! The part of a file that planning needs: cables with their rates, and paths. Traffic may be missing.

use std::sync::Arc;

use netloom_arbitration::{IbTwoTable, NO_LIMIT};
use netloom_catalog::{Described, Document, Notes, Params, Section, Value, ValueShape};
use netloom_packet::Segmentation;
use netloom_routing::Forwarding;
use netloom_topology::Topology;
use netloom_units::Rate;

use super::memory::Memory;
use super::reading::Places;
use super::{Desk, OpenedFile, Request, Sections, Traffic, open, plan, planned, read, site};

/// A fabric without its switches' insides and without its traffic.
pub struct Wiring {
    /// The name of the experiment.
    pub name: String,
    /// The cables.
    pub topology: Arc<Topology>,
    /// The paths.
    pub forwarding: Forwarding,
    /// The rate of each class of links, in the order of `topology.link_classes()`.
    pub rates: Vec<Rate>,
    /// Largest payload and header of packets.
    pub segmentation: Segmentation,
    /// Data lanes of every link, where the file says it (`qos.vls`).
    pub vls: Option<u8>,
    /// The lane of each service level, where the file says it (`qos.sl2vl`).
    pub sl2vl: Option<Vec<u8>>,
    /// LimitOfHighPriority where the file has tables of InfiniBand (`qos.arbiter.limit`), otherwise none (255).
    pub limit: u8,
    /// The tables of InfiniBand that the file has or plans: at switches, and at NICs.
    pub tables: Option<(IbTwoTable, IbTwoTable)>,
    /// The plan that these tables are of, if they are planned.
    pub planned: Option<netloom_design::plan::Plan>,
}

/// What became of a file.
pub struct LoadedWiring {
    /// The texts and the tree they give.
    pub document: Document,
    /// Everything noted about it.
    pub notes: Notes,
    /// The fabric, if there were no errors.
    pub wiring: Option<Wiring>,
}

/// Loads what planning needs of a file. All sections are read and their mistakes told; only what values of
/// several sections mean together is left to [`super::load`], but for topology, links and routing.
pub fn load_wiring(request: &Request<'_>) -> LoadedWiring {
    let OpenedFile {
        mut document,
        mut notes,
        is_toml,
    } = open(request);
    let sections = is_toml
        .then(|| {
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
    // What `check` would say about the fabric is not asked for here.
    let facts = &mut vec![];
    let desk = &mut Desk {
        places,
        notes,
        facts,
        is_forced: request.force,
        memory: Memory::of(request),
    };
    let seed = sections.measure.as_ref().map_or(1, |measure| measure.seed);
    let topology = plan::fabric(&sections.topology?, &sections.failures, seed, desk)?;
    let radix = topology.radix();
    let centre = sections
        .switch
        .as_ref()
        .and_then(|switch| switch.centre(radix));
    let way = sections
        .routing
        .and_then(|routing| plan::way(&routing, &topology, centre, seed, desk));
    let link = sections
        .link
        .filter(|link| plan::knows_link_classes(link, &topology, desk));
    let (forwarding, link) = (way?, link?);
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
        topology,
        forwarding,
    })
}

/// The tables of switches and NICs, if both have those of InfiniBand. Their reader has already found them good.
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

/// The `limit` of the tables, which their reader has already found good.
fn limit(document: &Document) -> Option<u8> {
    let qos = document.root.get("qos");
    let limit = qos.and_then(|qos| qos.get("arbiter")?.get("limit"));
    match limit.map(|Value { shape, .. }| shape) {
        Some(ValueShape::Integer(limit)) => u8::try_from(*limit).ok(),
        _ => None,
    }
}
