//! What the subnet manager of a real site wrote into its ports, for the simulation of that site.
//!
//! ```text
//!  SL2VL of (switch, input, output) and of hosts ─► LaneRows      unless the file writes a map
//!  VLArb and VLHighLimit of every port           ─► own policies  unless the file writes an arbiter
//!  service levels of paths (psl)                 ─► PathChannels
//! ```
//!
//! What a file writes goes before what the site has: so a plan can be tried on the site before it is programmed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use netloom_arbitration::{Entry, IbTwoTable, Policy, VlArbitrationTable};
use netloom_catalog::{Described, Document, Notes, Params, Section};
use netloom_design::plan::{Device, PortsOf, Room, Surroundings};
use netloom_fabric::{DROPPED, LaneRow, LaneRows, PassedRows, PathChannels, SAME_CHANNELS};
use netloom_infiniband::opensm::PortKind;
use netloom_infiniband::{Node, NodeKind, PortName, Site, VlArbitration, writing};
use netloom_topology::{Egress, InfiniBand, Topology};
use netloom_units::{NicId, Port, Rate, Sc, SwitchId};

use super::Request;
use super::topology::TopologySpec;

/// A real site that a file is about, read before the sections are: planning comes first.
pub(super) struct Known {
    blueprint: Option<Arc<dyn netloom_topology::Blueprint>>,
    site: Option<Arc<Site>>,
}

impl Known {
    /// The site of a document that plans for one. What is wrong with its files is told when its topology is built.
    pub(super) fn of(document: &Document, request: &Request<'_>) -> Known {
        let (blueprint, site) = match document.root.get("plan").is_some() {
            true => read_site(document, request.directory).unzip(),
            false => (None, None),
        };
        Known {
            blueprint,
            site: site.and_then(Result::ok),
        }
    }

    /// What a plan goes by.
    pub(super) fn surroundings(&self) -> Surroundings {
        let site = self.site.as_deref();
        site.map_or_else(Surroundings::default, surroundings)
    }

    /// The same topology, without reading its files again.
    pub(super) fn in_place_of(self, topology: TopologySpec) -> TopologySpec {
        TopologySpec {
            blueprint: self.blueprint.unwrap_or(topology.blueprint),
            kind: topology.kind,
        }
    }
}

type Blueprinted = (
    Arc<dyn netloom_topology::Blueprint>,
    Result<Arc<Site>, String>,
);

fn read_site(document: &Document, directory: &Path) -> Option<Blueprinted> {
    let value = document.root.get("topology")?;
    if value.kind_name() != Some(InfiniBand::NAME) {
        return None;
    }
    let found = super::topology::moved(value, directory);
    let mut unheard = Notes::new();
    let mut section = Section::open(found.as_ref().unwrap_or(value), &mut unheard)?;
    let blueprint = InfiniBand::read(&mut section).filter(|_| !section.notes.has_errors())?;
    let site = blueprint.site();
    let blueprint: Arc<dyn netloom_topology::Blueprint> = Arc::new(blueprint);
    Some((blueprint, site))
}

/// Reads `[plan]` of an opened file, with what a real site says of its ports and cables.
pub fn read_plan(
    document: &Document,
    directory: &Path,
    notes: &mut Notes,
) -> Option<netloom_design::plan::Request> {
    let mut known = Surroundings::default();
    match read_site(document, directory) {
        Some((_, Ok(site))) => known = surroundings(&site),
        Some((_, Err(why))) => {
            let place = document.root.get("topology").map(|topology| topology.place);
            notes.error("E0201", place.unwrap_or_default(), why);
        }
        None => {}
    }
    let mut root = Section::open(&document.root, notes)?;
    netloom_design::plan::Request::read(&mut root, &known)
}

/// What a plan for a site goes by: how much room its ports have, and its slowest cable.
fn surroundings(site: &Site) -> Surroundings {
    let subnet = &site.subnet;
    // Ports of one kind with the same room are one device here, whoever made them.
    let mut found: BTreeMap<(PortsOf, Room), (usize, &str)> = BTreeMap::new();
    let mut slowest: Option<(Rate, String)> = None;
    // Nothing is simulated beyond routers, nor in what adds up for hosts.
    let carries = |node: &Node| node.kind != NodeKind::Router && !node.is_aggregation_node();
    for node in &subnet.nodes {
        for (number, port) in (0..).zip(&node.ports) {
            let kind = PortKind::of(node.kind, number);
            let ports = match kind {
                PortKind::ChannelAdapter => PortsOf::Hosts,
                PortKind::SwitchExternal => PortsOf::Switches,
                PortKind::EnhancedPort0 => PortsOf::SwitchPort0,
                PortKind::Router => PortsOf::Routers,
                PortKind::BasePort0 => continue,
            };
            if port.cable.is_none() && kind != PortKind::EnhancedPort0 {
                continue;
            }
            let carrying = port
                .cable
                .filter(|cable| carries(node) && carries(&subnet.nodes[cable.node.index()]));
            let rate = carrying.and_then(|cable| cable.speed.zip(cable.width));
            let rate = rate.map(|(speed, width)| speed.rate(width));
            if let Some(rate) = rate
                && slowest.as_ref().is_none_or(|(least, _)| rate < *least)
            {
                slowest = Some((rate, format!("{} port {number}", node.description)));
            }
            let name = PortName {
                node: node.guid,
                port: number,
            };
            if let Some(room) = room(site, &name) {
                let device = found.entry((ports, room));
                device.or_insert((0, node.description.as_str())).0 += 1;
            }
        }
    }
    let device = |((ports, room), (n, first)): (_, (usize, &str))| Device {
        name: match n {
            1 => format!("a port of {first}"),
            n => format!("{n} ports like those of {first}"),
        },
        ports,
        room,
    };
    Surroundings {
        devices: found.into_iter().map(device).collect(),
        slowest,
    }
}

/// What a port has room for, where PortInfo or its tables say it.
fn room(site: &Site, name: &PortName) -> Option<Room> {
    let info = site.programmed.lanes.get(name);
    let tables = site.programmed.arbitration.get(name);
    let low = info.and_then(|info| info.low_cap);
    let high = info.and_then(|info| info.high_cap);
    let vls = info.and_then(|info| info.cap);
    Some(Room {
        low: low.or(tables.map(|tables| tables.low_cap))?.clamp(1, 64),
        high: high.or(tables.map(|tables| tables.high_cap))?.min(64),
        vls: vls.unwrap_or(Room::LARGEST.vls).clamp(1, Room::LARGEST.vls),
    })
}

/// What OpenSM sets unless told otherwise.
const USUAL_LIMIT: u8 = 0;

/// Where the ports of a site are in its fabric.
struct Ports<'a> {
    switches: BTreeMap<netloom_infiniband::Guid, SwitchId>,
    nics: BTreeMap<PortName, NicId>,
    topology: &'a Topology,
}

impl<'a> Ports<'a> {
    fn of(site: &Site, topology: &'a Topology) -> Self {
        let guid = |id: &netloom_infiniband::NodeId| site.subnet.nodes[id.index()].guid;
        let switches = site.switches.iter().map(guid).zip((0..).map(SwitchId));
        let name = |(node, port): &(_, u8)| PortName {
            node: guid(node),
            port: *port,
        };
        let nics = site.nics.iter().map(name).zip((0..).map(NicId));
        Ports {
            switches: switches.collect(),
            nics: nics.collect(),
            topology,
        }
    }

    /// The port of a switch, if the fabric has it.
    fn at_switch(&self, name: &PortName) -> Option<(SwitchId, Port)> {
        let switch = *self.switches.get(&name.node)?;
        let port = Port(u16::from(name.port));
        (port.0 < self.topology.n_ports(switch)).then_some((switch, port))
    }
}

/// The lanes by service level of every port, where the site's files have them.
pub(super) fn lane_rows(site: &Site, topology: &Topology, usual: LaneRow) -> Option<LaneRows> {
    if site.programmed.sl_to_vl.is_empty() {
        return None;
    }
    let ports = Ports::of(site, topology);
    let mut rows = LaneRows::new(topology, usual, SAME_CHANNELS);
    for ((output, input), map) in &site.programmed.sl_to_vl {
        let mut row = usual;
        for (lane, vl) in row.iter_mut().zip(map.0) {
            *lane = vl.0;
        }
        if let Some(nic) = ports.nics.get(output) {
            rows.set_nic(*nic, row);
        } else if let Some((switch, port)) = ports.at_switch(output) {
            let input = Port(u16::from(*input));
            if input.0 < topology.n_ports(switch) {
                rows.set_lanes(switch, input, port, row);
            }
        }
    }
    Some(rows)
}

/// The service level of each path, where the site's files have them: a channel of the same number. Paths that they leave
/// out are of level 0, as OpenSM answers.
pub(super) fn path_channels(site: &Site) -> Option<PathChannels> {
    let levels = &site.programmed.path_levels;
    if levels.is_empty() {
        return None;
    }
    let node = |(node, _): &(netloom_infiniband::NodeId, u8)| &site.subnet.nodes[node.index()];
    let mut channels = PathChannels::new(site.nics.len() as u32, Sc(0));
    for (source, from) in site.nics.iter().enumerate() {
        for (destination, to) in site.nics.iter().enumerate() {
            let lid = node(to).ports[usize::from(to.1)].lid;
            let level = lid.and_then(|lid| levels.level(node(from).guid, lid));
            if let Some(level) = level {
                let (source, destination) = (NicId(source as u32), NicId(destination as u32));
                channels.set(source, destination, Sc(level.0));
            }
        }
    }
    Some(channels)
}

/// Who is next on the link of each output whose tables the site's files have.
pub(super) fn policies(site: &Site, topology: &Topology) -> BTreeMap<Egress, Arc<dyn Policy>> {
    let ports = Ports::of(site, topology);
    // Most ports have the same tables: they are kept once.
    let mut made: Vec<(&VlArbitration, u8, Arc<dyn Policy>)> = vec![];
    let mut policies = BTreeMap::new();
    for (name, tables) in &site.programmed.arbitration {
        let egress = match ports.nics.get(name) {
            Some(nic) => Egress::Nic(*nic),
            None => match ports.at_switch(name) {
                // The switch's own port leads nowhere.
                Some((switch, port)) if port != Port(0) => Egress::Switch(switch, port),
                _ => continue,
            },
        };
        let limit = site.programmed.lanes.get(name);
        let limit = limit
            .and_then(|lanes| lanes.high_limit)
            .unwrap_or(USUAL_LIMIT);
        let is_same = |made: &&(&VlArbitration, u8, _)| made.0 == tables && made.1 == limit;
        let policy = match made.iter().rev().find(is_same) {
            Some((_, _, policy)) => policy.clone(),
            None => {
                let policy: Arc<dyn Policy> = Arc::new(IbTwoTable {
                    high: table(&tables.high),
                    low: table(&tables.low),
                    limit,
                });
                made.push((tables, limit, policy.clone()));
                policy
            }
        };
        policies.insert(egress, policy);
    }
    policies
}

/// A table without the empty entries behind its last one.
fn table(entries: &[Entry]) -> VlArbitrationTable {
    let n = entries.iter().rposition(|entry| entry.weight != 0);
    let entries = &entries[..n.map_or(0, |last| last + 1)];
    VlArbitrationTable::new(entries.to_vec()).unwrap_or_default()
}

/// SHA-256 of what the files of a site say, whatever their dialect: a run of it is another run when they change.
pub(super) fn inputs(site: &Site) -> Vec<String> {
    let (subnet, programmed) = (&site.subnet, &site.programmed);
    let texts = [
        writing::ibnetdiscover(subnet),
        writing::port_info(subnet, programmed),
    ];
    let texts = texts.map(String::into_bytes);
    let tables = writing::checksummed(programmed);
    let known = texts
        .iter()
        .chain(&tables)
        .filter(|bytes| !bytes.is_empty());
    known.map(netloom_results::sha256).collect()
}

/// The highest lane that channels take anywhere; none if they are dropped everywhere.
pub(super) fn highest_lane(rows: &PassedRows, used: u32) -> Option<u8> {
    let lanes = rows.all().flat_map(|row| {
        let channels = row.iter().enumerate();
        channels.filter_map(move |(sc, vl)| (used >> sc & 1 == 1).then_some(*vl))
    });
    lanes.filter(|vl| *vl != DROPPED).max()
}
