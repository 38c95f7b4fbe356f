//! A drawn experiment on a real site: the listing of `ibnetdiscover`, the forwarding tables and the
//! SL2VL maps of all ports, read back as texts.

use std::sync::Arc;

use netloom_experiment::Experiment;
use netloom_infiniband::{
    Lid, PortName, Programmed, Site, SlToVl, Speed, Subnet, Width, as_subnet, writing,
};
use netloom_routing::linear_table;
use netloom_units::Vl;

/// The text of the same experiment on a site.
pub(crate) struct AsSite {
    pub(crate) text: String,
    /// Whether NICs have the same numbers on the site, which numbers them by switch and port.
    pub(crate) is_numbered_alike: bool,
}

/// Returns the experiment on a site with the same routes; `None` if forwarding tables cannot
/// express the routes or the rule that protects its rings, or if a map cannot express the lanes of
/// the file.
pub(crate) fn as_site(text: &str, experiment: &Experiment) -> Option<AsSite> {
    let (topology, forwarding) = (&experiment.fabric.topology, &experiment.fabric.forwarding);
    let has_table = !forwarding.needs_occasion() && !forwarding.is_adaptive();
    if !has_table || forwarding.bubble() || forwarding.lanes() > 1 {
        return None;
    }
    let mut subnet = as_subnet(topology, Speed::Edr, Width::ALL[2]).ok()?;
    address(&mut subnet);
    let n_switches = topology.n_switches() as usize;
    let mut programmed = Programmed::default();
    for node in &subnet.nodes[..n_switches] {
        let table = programmed.forwarding.entry(node.guid).or_default();
        table.set(node.ports[0].lid?, Some(0));
    }
    for nic in topology.nics() {
        let lid = subnet.nodes[n_switches + nic.index()].ports[1].lid?;
        let outputs = linear_table(forwarding, topology, nic).ok()?;
        for (node, output) in subnet.nodes.iter().zip(outputs) {
            let table = programmed.forwarding.entry(node.guid).or_default();
            table.set(lid, output.map(|port| port.0 as u8 + 1));
        }
    }
    if !text.contains("sc2vl") && !text.contains("kind = \"tiled\"") {
        // Without its own channels, a level has the channel of its number.
        let lanes = &experiment.fabric.channels.sc2vl;
        let map = SlToVl(std::array::from_fn(|sl| Vl(lanes[sl])));
        for node in &subnet.nodes {
            let n_ports = node.ports.len() as u8;
            let inputs = if node.kind.is_switch() { n_ports } else { 1 };
            for port in 1..n_ports {
                let name = PortName {
                    node: node.guid,
                    port,
                };
                for input in 0..inputs {
                    programmed.sl_to_vl.insert((name, input), map);
                }
            }
        }
    }
    let site = Arc::new(Site::new(subnet, programmed));
    let is_numbered_alike = topology
        .nics()
        .zip(&site.nics)
        .all(|(nic, (node, _))| node.index() == n_switches + nic.index());
    let (subnet, programmed) = (&site.subnet, &site.programmed);
    let mut section = format!(
        "kind = \"infiniband\"\ntext = '''\n{}'''\ntables = ['''\n{}'''",
        writing::ibnetdiscover(subnet),
        writing::forwarding(subnet, programmed)
    );
    if !programmed.sl_to_vl.is_empty() {
        let maps = writing::sl_to_vl(subnet, programmed);
        section.push_str(&format!(", '''\n{maps}'''"));
    }
    section.push_str("]\n");
    // Ports of a site are counted from 1.
    let text = text.replace("\noutput = 1\nrow", "\noutput = 2\nrow");
    let text = text.replace("\ninput = 1\nrow", "\ninput = 2\nrow");
    let text = replaced(&text, "topology", &section);
    Some(AsSite {
        text: replaced(&text, "routing", "kind = \"forwarding-tables\"\n"),
        is_numbered_alike,
    })
}

/// Gives every node its address, and removes the rates of all cables, which are those of the file.
fn address(subnet: &mut Subnet) {
    for (number, node) in (1..).zip(&mut subnet.nodes) {
        let own = usize::from(!node.kind.is_switch());
        node.ports[own].lid = Some(Lid(number));
        for cable in node.ports.iter_mut().filter_map(|port| port.cable.as_mut()) {
            cable.speed = None;
        }
    }
}

/// Replaces the body of a section, if the text has it.
fn replaced(text: &str, section: &str, body: &str) -> String {
    let heading = format!("[{section}]\n");
    let Some((before, after)) = text.split_once(&heading) else {
        return text.to_owned();
    };
    let rest = after.find("\n[").map_or("", |at| &after[at + 1..]);
    format!("{before}{heading}{body}{rest}")
}
