//! A real subnet as a fabric to simulate: its switches, its NICs, and what is programmed in them.

use std::path::Path;

use netloom_catalog::file::MOST_LIST;
use netloom_catalog::{Files, Note, Notes, Place, Position, Severity};
use netloom_topology::Topology;

use crate::reading::{Asked, Format, initiated_from, read_programmed, read_subnet, recognise};
use crate::{NodeId, NodeKind, Programmed, Subnet};

/// A subnet and the numbering of its switches and NICs.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    pub subnet: Subnet,
    /// What its subnet manager programmed, as far as known.
    pub programmed: Programmed,
    /// The switches, in order of their GUIDs, since the order in listings varies.
    pub switches: Vec<NodeId>,
    /// The NICs (ports of channel adapters), in order of the switches and ports they connect to.
    pub nics: Vec<(NodeId, u8)>,
    /// Ports of routers and aggregation nodes, which are not NICs.
    pub left_out: Vec<(NodeId, u8)>,
}

impl Site {
    /// Returns the site that a fabric was read from.
    pub fn of(topology: &Topology) -> Option<&Site> {
        topology.origin()
    }

    /// Numbers the nodes of a subnet.
    pub fn new(subnet: Subnet, programmed: Programmed) -> Site {
        let ids = (0..subnet.nodes.len() as u32).map(NodeId);
        let node = |id: NodeId| &subnet.nodes[id.index()];
        let is_switch = |id: &NodeId| node(*id).kind.is_switch();
        let mut switches: Vec<NodeId> = ids.filter(is_switch).collect();
        switches.sort_by_key(|id| node(*id).guid);
        let (mut nics, mut left_out) = (vec![], vec![]);
        for switch in &switches {
            for cable in node(*switch).ports.iter().filter_map(|port| port.cable) {
                let other = node(cable.node);
                match other.kind {
                    NodeKind::Switch { .. } => {}
                    NodeKind::ChannelAdapter if other.is_host() => {
                        nics.push((cable.node, cable.port));
                    }
                    NodeKind::ChannelAdapter | NodeKind::Router => {
                        left_out.push((cable.node, cable.port));
                    }
                }
            }
        }
        Site {
            subnet,
            programmed,
            switches,
            nics,
            left_out,
        }
    }

    /// Reads texts of any format, exactly one of which has the nodes and cables. Errors go to
    /// `notes`, with the index of the text as their source.
    pub fn understand(texts: &[(String, String)], notes: &mut Notes) -> Site {
        let is_subnet = |at: &usize| recognise(&texts[*at].1).is_some_and(Format::is_subnet);
        let subnets: Vec<usize> = (0..texts.len()).filter(is_subnet).collect();
        let (mut subnet, mut programmed) = (Subnet::default(), Programmed::default());
        let beginning = |source: usize| Place {
            source: source as u16,
            ..Place::default()
        };
        match subnets.as_slice() {
            [own] => {
                let text = &texts[*own].1;
                subnet = read_subnet(text, *own as u16, notes);
                let asked = Asked {
                    subnet: &subnet,
                    from: initiated_from(text),
                };
                for (source, (_, text)) in texts.iter().enumerate().filter(|(n, _)| n != own) {
                    read_programmed(text, source as u16, asked, &mut programmed, notes);
                }
            }
            [] => {
                notes
                    .error(
                        "E1100",
                        beginning(0),
                        "expected a listing of nodes and cables, found none",
                    )
                    .help("add the output of `ibnetdiscover`, or opensm-subnet.lst");
            }
            [one, other, ..] => {
                notes
                    .error(
                        "E1100",
                        beginning(*other),
                        "expected one listing of nodes and cables, found two",
                    )
                    .also(beginning(*one), "the first one")
                    .help("remove one of them");
            }
        }
        Site::new(subnet, programmed)
    }

    /// Reads files of any format, exactly one of which has the nodes and cables.
    ///
    /// # Errors
    /// Returns the errors of all files, one per line: `name:12: E1105 message (help)`.
    pub fn read(names: &[String], files: &dyn Files) -> Result<Site, String> {
        let mut texts = vec![];
        for name in names.iter().map(Path::new) {
            let bytes = files.read(name, MOST_LIST);
            let name = files.shown(name).display().to_string();
            let bytes = bytes.map_err(|why| format!("cannot read {name}: {why}"))?;
            // Descriptions of nodes may contain any bytes.
            texts.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
        Site::sound(&texts)
    }

    /// Reads a text with nodes and cables, and further texts of any format.
    ///
    /// # Errors
    /// Same as [`Site::read`].
    pub fn of_texts(text: &str, more: &[String]) -> Result<Site, String> {
        let mut texts = vec![("text".to_owned(), text.to_owned())];
        let numbered = more.iter().enumerate();
        texts.extend(numbered.map(|(n, text)| (format!("tables[{n}]"), text.clone())));
        Site::sound(&texts)
    }

    fn sound(texts: &[(String, String)]) -> Result<Site, String> {
        let mut notes = Notes::new();
        let site = Site::understand(texts, &mut notes);
        let errors = notes.iter().filter(|note| note.severity == Severity::Error);
        let lines: Vec<String> = errors.map(|note| line_of(note, texts)).collect();
        match lines.is_empty() {
            true => Ok(site),
            false => Err(lines.join("\n")),
        }
    }

    /// Returns the name of each NIC: its node, and its port number if the node has several ports.
    pub fn nic_names(&self) -> Vec<String> {
        let description = |&(node, _): &(NodeId, u8)| &self.subnet.nodes[node.index()].description;
        let named = self.nics.iter().map(|nic| {
            let node = &self.subnet.nodes[nic.0.index()];
            match node.ports.len() > 2 {
                true => format!("{}/P{}", description(nic), nic.1),
                false => description(nic).clone(),
            }
        });
        self.distinct(named.collect(), self.nics.iter().map(|nic| nic.0))
    }

    /// Returns the name of each switch.
    pub fn switch_names(&self) -> Vec<String> {
        let named = self.switches.iter();
        let named = named.map(|id| self.subnet.nodes[id.index()].description.clone());
        self.distinct(named.collect(), self.switches.iter().copied())
    }

    /// Appends the GUID of the node to each name that occurs twice or is empty.
    fn distinct(&self, names: Vec<String>, nodes: impl Iterator<Item = NodeId>) -> Vec<String> {
        let mut seen = std::collections::HashMap::new();
        for name in &names {
            *seen.entry(name.clone()).or_insert(0) += 1;
        }
        let renamed = names.into_iter().zip(nodes).map(|(name, node)| {
            let guid = self.subnet.nodes[node.index()].guid;
            match seen[&name] {
                _ if name.is_empty() => guid.to_string(),
                1 => name,
                _ => format!("{name} {guid}"),
            }
        });
        renamed.collect()
    }
}

/// Formats a note as one line.
fn line_of(note: &Note, texts: &[(String, String)]) -> String {
    let place = note
        .places
        .first()
        .map_or(Place::default(), |(place, _)| *place);
    let (name, line) = match texts.get(usize::from(place.source)) {
        Some((name, text)) => (name.as_str(), Position::of(text, place.start).line),
        None => ("", 1),
    };
    let help = note
        .help
        .as_ref()
        .map_or(String::new(), |help| format!(" ({help})"));
    format!("{name}:{line}: {} {}{help}", note.code, note.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_nodes_hold_nothing_that_a_terminal_obeys() {
        let listing = "switchguid=0x10(10)\nSwitch\t2 \"S-10\"\t\t# \"=1+1\u{1b}[2J\u{202e}\" \
            enhanced port 0 lid 1 lmc 0\n\
            [1]\t\"H-20\"[1](21) \t\t# \"node\u{9b}2J\" lid 2 4xHDR\n\n\
            caguid=0x20\nCa\t1 \"H-20\"\t\t# \"node\u{9b}2J\"\n\
            [1](21) \t\"S-10\"[1]\t\t# lid 2 lmc 0 \"=1+1\u{1b}[2J\u{202e}\" lid 1 4xHDR\n";
        let site = Site::of_texts(listing, &[]).unwrap();
        assert_eq!(site.switch_names(), ["=1+1\u{fffd}[2J\u{fffd}"]);
        assert_eq!(site.nic_names(), ["node\u{fffd}2J"]);
    }
}
