//! Forwarding tables written by the subnet manager of a real site.
//!
//! Every switch has an output for each address. A NIC with several addresses (LMC) is reached by a
//! separate path for each; the source of a packet determines which one it takes. If the tables
//! leave a NIC unreachable, compiling fails and names the switch where the path ends. The tables
//! are never repaired.

use std::collections::HashSet;
use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_routing::{Entry, Forwarding, Routing, TableBuilder};
use netloom_topology::Topology;
use netloom_units::Port;

use crate::routes::{Names, unreached};
use crate::{Lid, NodeId, PortName, Site};

params! {
    /// The forwarding tables of a real InfiniBand subnet.
    #[derive(Clone, Debug)]
    pub struct ForwardingTables {}
}

impl Described for ForwardingTables {
    const NAME: &'static str = "forwarding-tables";
    const SUMMARY: &'static str =
        "The forwarding tables written by the subnet manager of a real site.";
    const EXAMPLE: &'static str = "";
}

/// Maximum number of broken paths in a message.
const SHOWN: usize = 8;

impl Routing for ForwardingTables {
    fn compile(&self, topology: &Arc<Topology>, _seed: u64) -> Result<Forwarding, String> {
        let Some(site) = Site::of(topology) else {
            return Err(
                "forwarding tables require a real site: use topology.kind = \"infiniband\""
                    .to_owned(),
            );
        };
        if site.programmed.forwarding.is_empty() {
            return Err(
                "expected forwarding tables in `topology.files`, found none: add opensm-lfts.dump \
                 or the output of dump_fts"
                    .to_owned(),
            );
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
        let nics: HashSet<PortName> = site
            .nics
            .iter()
            .map(|(node, port)| site.subnet.port_name(*node, *port))
            .collect();
        let failures = unreached(&site.subnet, &site.programmed, |port| nics.contains(&port));
        if failures.routes == 0 {
            return Ok(forwarding);
        }
        let names = Names::of(&site.subnet);
        let shown = failures.first.iter().take(SHOWN);
        let words: Vec<String> = shown.map(|failure| names.failure(failure)).collect();
        let more = match failures.routes - words.len() as u64 {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(format!(
            "these tables leave {} pairs of NICs unreachable: {}{more}",
            failures.routes,
            words.join("; ")
        ))
    }
}

/// Returns the first address of each NIC and its LMC.
fn addresses(site: &Site) -> Result<Vec<(Lid, u8)>, String> {
    let of = |(nic, name): (&(NodeId, u8), String)| {
        let port = site.subnet.nodes[nic.0.index()].ports[usize::from(nic.1)];
        let lid = port.lid.filter(|lid| lid.is_unicast());
        let lid =
            lid.ok_or_else(|| format!("{name} has no address (LID), so no table can lead to it"))?;
        Ok((lid, port.lmc))
    };
    site.nics.iter().zip(site.nic_names()).map(of).collect()
}
