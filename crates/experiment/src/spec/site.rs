//! Tables that the subnet manager of a real site wrote into its ports, for simulation of the site.
//!
//! ```text
//!  SL2VL of (switch, input, output) and of hosts ─► LaneRows      unless the file sets a map
//!  VLArb and VLHighLimit of every port           ─► own policies  unless the file sets an arbiter
//!  service levels of paths (psl)                 ─► PathChannels
//! ```
//!
//! Values in the file override those of the site, so that a plan can be tried before it is
//! programmed.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_arbitration::{Entry, IbTwoTable, Policy, VlArbitrationTable};
use netloom_catalog::{Described, Document, Files, Notes, Params, Section, ValueShape};
use netloom_design::plan::{Cautions, Device, LimitIssue, PortsOf, Room, Surroundings};
use netloom_fabric::{DROPPED, LaneRow, LaneRows, PassedRows, PathChannels, SAME_CHANNELS};
use netloom_infiniband::opensm::PortKind;
use netloom_infiniband::{InfiniBand, Node, NodeKind, PortName, Site, VlArbitration, writing};
use netloom_topology::{Blueprint, Egress, Topology};
use netloom_units::{NicId, Port, Rate, Sc, SwitchId};

use super::link::LinkSpec;
use super::topology::TopologySpec;
use super::{Request, failures, reading, switch};
use crate::Kinds;

/// The real site that a file refers to. It is read before the sections, because planning comes
/// first.
pub(super) struct Known {
    blueprint: Option<Arc<dyn Blueprint>>,
    site: Option<Arc<Site>>,
}

impl Known {
    /// Reads the site of a document with a plan. Errors in its files are noted when the topology is
    /// built.
    pub(super) fn of(document: &Document, request: &Request<'_>) -> Known {
        let (blueprint, site) = match document.root.get("plan").is_some() {
            true => read_site(document, &request.files).unzip(),
            false => (None, None),
        };
        Known {
            blueprint,
            site: site.and_then(Result::ok),
        }
    }

    /// Returns the properties of the fabric that a plan depends on.
    pub(super) fn surroundings(&self, document: &Document, request: &Request<'_>) -> Surroundings {
        if document.root.get("plan").is_none() {
            return Surroundings::default();
        }
        let site = self.site.as_deref();
        let known = site.map_or_else(Surroundings::default, surroundings);
        let blueprint = self.blueprint.clone();
        of_fabric(known, document, blueprint, &request.files, request.kinds)
    }

    /// Returns the same topology, without reading its files again.
    pub(super) fn in_place_of(self, topology: TopologySpec) -> TopologySpec {
        TopologySpec {
            blueprint: self.blueprint.unwrap_or(topology.blueprint),
            kind: topology.kind,
        }
    }
}

type Blueprinted = (Arc<dyn Blueprint>, Result<Arc<Site>, String>);

fn read_site(document: &Document, files: &Arc<dyn Files>) -> Option<Blueprinted> {
    let value = document.root.get("topology")?;
    if value.kind_name() != Some(InfiniBand::NAME) {
        return None;
    }
    let mut unheard = Notes::new();
    let mut section = Section::open(value, &mut unheard)?;
    let mut blueprint = InfiniBand::read(&mut section).filter(|_| !section.notes.has_errors())?;
    blueprint.read_from(files);
    let site = blueprint.site();
    let blueprint: Arc<dyn Blueprint> = Arc::new(blueprint);
    Some((blueprint, site))
}

/// Reads `[plan]` of an opened file, with the ports and cables of a real site.
pub fn read_plan(
    document: &Document,
    files: &Arc<dyn Files>,
    notes: &mut Notes,
) -> Option<netloom_design::plan::Request> {
    let document = &*super::device::applied(document);
    let mut known = Surroundings::default();
    let mut blueprint = None;
    match read_site(document, files) {
        Some((read, Ok(site))) => {
            known = surroundings(&site);
            blueprint = Some(read);
        }
        Some((_, Err(why))) => {
            let place = document.root.get("topology").map(|topology| topology.place);
            notes.error("E0201", place.unwrap_or_default(), why);
        }
        None => {}
    }
    let known = of_fabric(known, document, blueprint, files, Kinds::built_in());
    let mut root = Section::open(&document.root, notes)?;
    netloom_design::plan::Request::read(&mut root, &known)
}

/// Limit on the ports of a fabric that is built for its diameter alone.
const MOST_PORTS: u64 = 1 << 23;

/// Adds the properties of the described fabric that a plan depends on: the switches on the longest
/// path, and whether queues form where tables decide. Errors in the sections are reported when they
/// are read.
fn of_fabric(
    mut known: Surroundings,
    document: &Document,
    blueprint: Option<Arc<dyn Blueprint>>,
    files: &Arc<dyn Files>,
    kinds: &Kinds,
) -> Surroundings {
    if document.root.get("topology").is_none() {
        return known;
    }
    let mut unheard = Notes::new();
    let Some(mut root) = Section::open(&document.root, &mut unheard) else {
        return known;
    };
    let link = reading::table(&mut root, "link", super::link::read);
    let switch = reading::kind_table(&mut root, "switch", "switch", switch::SWITCHES, "cioq");
    known.cautions.bottleneck = switch
        .filter(|_| is_simulated(document))
        .and_then(|switch| bottleneck(&switch.spec(), link.as_ref()));
    let has_hops = document
        .root
        .get("plan")
        .is_some_and(|plan| plan.get("hops").is_some());
    if !has_hops {
        let blueprint = blueprint.or_else(|| {
            let read = super::topology::read(&mut root, &document.root, files, &kinds.topologies);
            read.map(|topology| topology.blueprint)
        });
        let seed = document
            .root
            .get("measure")
            .and_then(|measure| measure.get("seed"));
        let seed = match seed.map(|seed| &seed.shape) {
            Some(ValueShape::Integer(seed)) => *seed as u64,
            _ => 1,
        };
        known.hops = blueprint
            .filter(|blueprint| blueprint.n_ports().is_none_or(|n| n <= MOST_PORTS))
            .map(|blueprint| -> Arc<dyn Blueprint> {
                match failures::read(&mut root) {
                    none if none.is_empty() => blueprint,
                    failures => Arc::new(failures::WithFailures {
                        blueprint,
                        failures,
                    }),
                }
            })
            .and_then(|blueprint| blueprint.build(seed).ok())
            .filter(|topology| topology.n_nics() > 1)
            // A path has one link more than switches.
            .map(|topology| {
                netloom_topology::measures(&topology)
                    .diameter
                    .saturating_sub(1)
            });
    }
    known
}

/// Whether a file simulates its switches. A file that does not plans for real ones, whose speed-up
/// the defaults of `[switch]` do not describe.
pub(super) fn is_simulated(document: &Document) -> bool {
    let keys = ["traffic", "connections", "switch"];
    keys.iter().any(|key| document.root.get(key).is_some())
}

/// Returns why no queues form at the outputs of a switch, if so.
pub(super) fn bottleneck(switch: &switch::SwitchSpec, link: Option<&LinkSpec>) -> Option<String> {
    if switch.is_input_queued() {
        return Some(
            "the tables have no effect at switches: without output buffers they have no queues to \
             choose from"
                .to_owned(),
        );
    }
    let (per, cycles) = switch.speedup;
    // The speed-up counts flits per cycle, and a link may take several cycles for a flit.
    let cycles_per_flit = link.zip(switch.clock).map_or(1.0, |(link, clock)| {
        link.rate.time_for(link.segmentation.flit).as_nanos() / clock.as_nanos()
    });
    let ratio = f64::from(per) / f64::from(cycles) * cycles_per_flit;
    let is_slow = matches!(switch.architecture, switch::ArchitectureSpec::Cioq) && ratio <= 1.0;
    is_slow.then(|| {
        format!(
            "the tables have no effect at switches: with switch.speedup = {} the crossbar is the \
             bottleneck, so outputs have no queues to choose from; shares need a speed-up of 2 or \
             more",
            f64::from(per) / f64::from(cycles)
        )
    })
}

/// Returns the properties of a site that a plan depends on: the table sizes of its ports, and its
/// slowest cable.
fn surroundings(site: &Site) -> Surroundings {
    let subnet = &site.subnet;
    // Ports of one kind with the same table sizes count as one device.
    let mut found: BTreeMap<(PortsOf, Room), (usize, &str)> = BTreeMap::new();
    // Rate and one end of each cable between nodes that carry traffic.
    let mut cables: Vec<(Rate, usize, u8)> = vec![];
    // Switches whose limit of the high table is a known issue.
    let mut limits: Vec<(PortsOf, LimitIssue)> = vec![];
    // Routers and aggregation nodes are not simulated.
    let carries = |node: &Node| node.kind != NodeKind::Router && !node.is_aggregation_node();
    for (at, node) in subnet.nodes.iter().enumerate() {
        let device = node.device.filter(|_| node.kind.is_switch());
        let issue = device.and_then(|device| LimitIssue::of(device.vendor, device.device));
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
            if let Some(issue) = issue.map(|issue| (ports, issue))
                && !limits.contains(&issue)
            {
                limits.push(issue);
            }
            let carrying = port
                .cable
                .filter(|cable| carries(node) && carries(&subnet.nodes[cable.node.index()]));
            let carrying = carrying.filter(|cable| at <= cable.node.index());
            let rate = carrying.and_then(|cable| cable.speed.zip(cable.width));
            let rate = rate.map(|(speed, width)| speed.rate(width));
            cables.extend(rate.map(|rate| (rate, at, number)));
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
        high_limit: None,
        issue: None,
    };
    // A stable sort: the first of several ends stays the first.
    cables.sort_by_key(|(rate, ..)| *rate);
    let name = |&(_, at, number): &(Rate, usize, u8)| {
        let node = &subnet.nodes[at].description;
        format!("{node} port {number}")
    };
    let (slower, rest) = cables.split_at(exceptions(&cables));
    Surroundings {
        devices: found.into_iter().map(device).collect(),
        slowest: rest.first().map(|cable| (cable.0, name(cable))),
        cautions: Cautions {
            slower: rest.first().and_then(|usual| {
                let named = |cable: &(Rate, usize, u8)| format!("{} ({})", name(cable), cable.0);
                let names: Vec<String> = slower.iter().take(MOST_NAMES).map(named).collect();
                let more = match slower.len().saturating_sub(MOST_NAMES) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                let names = names.join(", ");
                let n = cables.len();
                (!slower.is_empty()).then(|| {
                    format!(
                        "planned for {}, the rate of all but {} of {n} cables; bounds do not hold \
                         on the slower ones: {names}{more}",
                        usual.0,
                        slower.len()
                    )
                })
            }),
            bottleneck: None,
            limits,
        },
        hops: None,
    }
}

/// Limit on the slow cables that are named.
const MOST_NAMES: usize = 8;

/// Returns how many of the slowest cables are exceptions that a plan ignores. Together, their rates
/// cover at most one cable in a hundred. An example is a cable that came up with one lane of four.
fn exceptions(sorted: &[(Rate, usize, u8)]) -> usize {
    let most = sorted.len() / 100;
    let same = sorted.chunk_by(|a, b| a.0 == b.0);
    let ends = same.scan(0, |end, rates| {
        *end += rates.len();
        Some(*end)
    });
    ends.take_while(|end| *end <= most).last().unwrap_or(0)
}

/// Returns the table sizes of a port, if PortInfo or its tables state them.
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

/// The default of OpenSM.
const USUAL_LIMIT: u8 = 0;

/// Maps the ports of a site to its fabric.
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

    /// Returns the port of a switch, if the fabric has it.
    fn at_switch(&self, name: &PortName) -> Option<(SwitchId, Port)> {
        let switch = *self.switches.get(&name.node)?;
        let port = Port(u16::from(name.port));
        (port.0 < self.topology.n_ports(switch)).then_some((switch, port))
    }
}

/// Returns the lanes by service level of every port, if the site's files have them.
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

/// Returns the service level of each path, if the site's files have them, as a channel of the same
/// number. Paths without a level use level 0, like OpenSM.
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

/// Returns the arbiter of each output whose tables are in the site's files.
pub(super) fn policies(site: &Site, topology: &Topology) -> BTreeMap<Egress, Arc<dyn Policy>> {
    let ports = Ports::of(site, topology);
    // Most ports have the same tables, which are stored once.
    let mut made: Vec<(&VlArbitration, u8, Arc<dyn Policy>)> = vec![];
    let mut policies = BTreeMap::new();
    for (name, tables) in &site.programmed.arbitration {
        let egress = match ports.nics.get(name) {
            Some(nic) => Egress::Nic(*nic),
            None => match ports.at_switch(name) {
                // The switch's own port has no link.
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

/// Returns a table without the empty entries at its end.
fn table(entries: &[Entry]) -> VlArbitrationTable {
    let n = entries.iter().rposition(|entry| entry.weight != 0);
    let entries = &entries[..n.map_or(0, |last| last + 1)];
    VlArbitrationTable::new(entries.to_vec()).unwrap_or_default()
}

/// Returns the SHA-256 of the contents of a site's files, in any dialect. A change gives another
/// run id.
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

/// Returns the highest lane that channels use anywhere; `None` if they are dropped everywhere.
pub(super) fn highest_lane(rows: &PassedRows, used: u32) -> Option<u8> {
    let lanes = rows.all().flat_map(|row| {
        let channels = row.iter().enumerate();
        channels.filter_map(move |(sc, vl)| (used >> sc & 1 == 1).then_some(*vl))
    });
    lanes.filter(|vl| *vl != DROPPED).max()
}
