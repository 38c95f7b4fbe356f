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
use std::sync::Arc;

use netloom_arbitration::{Entry, IbTwoTable, Policy, VlArbitrationTable};
use netloom_fabric::{DROPPED, LaneRow, LaneRows, PathChannels};
use netloom_infiniband::{PortName, Site, VlArbitration, writing};
use netloom_topology::{Egress, Topology};
use netloom_units::{NicId, Port, Sc, SwitchId};

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
    let mut rows = LaneRows::new(topology, usual);
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
                rows.set(switch, input, port, row);
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
        writing::forwarding(subnet, programmed),
        writing::slvl(programmed),
        writing::vl_arbitration(subnet, programmed),
        writing::port_info(subnet, programmed),
        writing::path_levels(programmed),
    ];
    let known = texts.iter().filter(|text| !text.is_empty());
    known.map(|text| netloom_results::sha256(text)).collect()
}

/// The highest lane that channels take anywhere; none if they are dropped everywhere.
pub(super) fn highest_lane(rows: &LaneRows, used: u32) -> Option<u8> {
    let lanes = rows.rows().iter().flat_map(|row| {
        let channels = row.iter().enumerate();
        channels.filter_map(move |(sc, vl)| (used >> sc & 1 == 1).then_some(*vl))
    });
    lanes.filter(|vl| *vl != DROPPED).max()
}
