//! The forwarding tables that the subnet manager of a real site wrote.
//!
//! Every switch has an output for each address. A NIC with several addresses (LMC) is reached by each on a way of its own;
//! which one a packet takes goes by its source. Whatever the tables do not reach is refused here, with the place where
//! the way ends: nothing is mended.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_infiniband::{Lid, Site};
use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::{Entry, Forwarding, Routing, TableBuilder};

params! {
    /// The forwarding tables of a real InfiniBand subnet.
    #[derive(Clone, Debug)]
    pub struct ForwardingTables {}
}

impl Described for ForwardingTables {
    const NAME: &'static str = "forwarding-tables";
    const SUMMARY: &'static str =
        "The forwarding tables that the subnet manager of a real site wrote.";
    const EXAMPLE: &'static str = "";
}

/// Ways that end nowhere which are told; more help nobody.
const SHOWN: usize = 8;

impl Routing for ForwardingTables {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let Some(site) = topology.site() else {
            return Err(
                "forwarding tables are those of a real site: use topology.kind = \"infiniband\""
                    .to_owned(),
            );
        };
        if site.programmed.forwarding.is_empty() {
            return Err("`topology.files` has no forwarding tables: add opensm-lfts.dump, or what dump_fts prints".to_owned());
        }
        let addresses = addresses(site)?;
        let bits: Vec<u8> = addresses.iter().map(|(_, lmc)| *lmc).collect();
        let mut tables = TableBuilder::by_address(topology, &bits)?;
        for (switch, id) in topology.switches().zip(&site.switches) {
            let guid = site.subnet.nodes[id.index()].guid;
            let Some(own) = site.programmed.forwarding.get(&guid) else {
                continue;
            };
            for (nic, (first, lmc)) in topology.nics().zip(&addresses) {
                for path in 0..1u16 << lmc {
                    let output = own.output(Lid(first.0 + path)).map(u16::from).map(Port);
                    let exists = |port: &Port| port.0 < topology.n_ports(switch);
                    if let Some(port) = output.filter(exists) {
                        let column = tables.column(nic) + usize::from(path);
                        tables.set(0, switch, column, Entry::Port(port));
                    }
                }
            }
        }
        let forwarding = tables.finish(None, false);
        let ends = dead_ends(topology, site, &addresses);
        if ends.is_empty() {
            return Ok(forwarding);
        }
        let n: u64 = ends.iter().map(|end| end.n_sources).sum();
        let words = ends.iter().take(SHOWN).map(|end| end.words(topology));
        let more = ends.len().saturating_sub(SHOWN);
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        let words: Vec<String> = words.collect();
        Err(format!(
            "{n} pairs of NICs cannot reach each other by these tables: {}{more}",
            words.join("; ")
        ))
    }
}

/// The first address of each NIC and its LMC.
fn addresses(site: &Site) -> Result<Vec<(Lid, u8)>, String> {
    let of = |(nic, name): (&(netloom_infiniband::NodeId, u8), String)| {
        let port = site.subnet.nodes[nic.0.index()].ports[usize::from(nic.1)];
        let lid = port.lid.filter(|lid| lid.is_unicast());
        let lid =
            lid.ok_or_else(|| format!("{name} has no address (LID), so no table leads to it"))?;
        Ok((lid, port.lmc))
    };
    site.nics.iter().zip(site.nic_names()).map(of).collect()
}

/// Where packets for an address go no further.
struct DeadEnd {
    /// NICs whose packets end there.
    n_sources: u64,
    /// One of them.
    source: NicId,
    destination: NicId,
    lid: Lid,
    at: SwitchId,
    why: &'static str,
}

impl DeadEnd {
    fn words(&self, topology: &Topology) -> String {
        format!(
            "{} to {} ({}): {} {}",
            topology.nic_name(self.source),
            topology.nic_name(self.destination),
            self.lid,
            topology.switch_name(self.at),
            self.why,
        )
    }
}

/// Follows the tables from every switch with NICs to every address.
fn dead_ends(topology: &Topology, site: &Site, addresses: &[(Lid, u8)]) -> Vec<DeadEnd> {
    let tables: Vec<_> = site
        .switches
        .iter()
        .map(|id| {
            site.programmed
                .forwarding
                .get(&site.subnet.nodes[id.index()].guid)
        })
        .collect();
    let mut hosts: Vec<Vec<NicId>> = vec![vec![]; topology.n_switches() as usize];
    for nic in topology.nics() {
        hosts[topology.attachment(nic).0.index()].push(nic);
    }
    let mut ends = vec![];
    for (destination, (first, lmc)) in topology.nics().zip(addresses) {
        for path in 0..1u16 << lmc {
            let lid = Lid(first.0 + path);
            // What is known of each switch: it leads there, it does not and why, or nobody has asked yet.
            let mut known: Vec<Option<Result<(), (SwitchId, &'static str)>>> =
                vec![None; topology.n_switches() as usize];
            for start in topology.switches().filter(|s| !hosts[s.index()].is_empty()) {
                let mut way = vec![];
                let mut at = start;
                let outcome = loop {
                    if let Some(outcome) = known[at.index()] {
                        break outcome;
                    }
                    if way.contains(&at) {
                        break Err((at, "leads in a circle"));
                    }
                    way.push(at);
                    let output = tables[at.index()].and_then(|table| table.output(lid));
                    let port = output.map(u16::from).map(Port);
                    let Some(port) = port.filter(|port| port.0 < topology.n_ports(at)) else {
                        break Err((at, "has no output for it"));
                    };
                    match topology.peer(at, port) {
                        Peer::Nic(nic) if nic == destination => break Ok(()),
                        Peer::Nic(_) => break Err((at, "leads to another host")),
                        Peer::Unused => break Err((at, "leads to a port without a cable")),
                        Peer::Switch(next, _) => at = next,
                    }
                };
                for switch in way {
                    known[switch.index()] = Some(outcome);
                }
                let sources = hosts[start.index()]
                    .iter()
                    .filter(|nic| **nic != destination);
                if let (Err((at, why)), Some(source)) = (outcome, sources.clone().next()) {
                    ends.push(DeadEnd {
                        n_sources: sources.count() as u64,
                        source: *source,
                        destination,
                        lid,
                        at,
                        why,
                    });
                }
            }
        }
    }
    ends
}
