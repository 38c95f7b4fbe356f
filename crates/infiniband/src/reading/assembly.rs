//! Builds a subnet with symmetric cables from nodes and cable ends in any order.
//!
//! Listings print every cable twice, once at each end, and name nodes before they describe them. So
//! the ends are kept as read, and joined at the end of the text. An end that does not fit is
//! reported and ignored.

use std::collections::HashMap;
use std::ops::Range;

use netloom_catalog::visible_name;

use super::mistakes::{Mistakes, Span};
use crate::{Cable, Guid, Lid, Node, NodeId, NodeKind, Speed, Subnet, SubnetPort, Width};

/// Maximum number of ports of one node: port numbers have 8 bits, and 255 means none.
pub const MOST_PORTS: u64 = 254;

/// Maximum number of ports of a subnet. It is above what all addresses at hosts with two ports and
/// 5,000 switches with 129 ports need.
pub const MOST_PORTS_OF_SUBNET: usize = 1 << 20;

/// The largest LMC: it has 3 bits.
const MOST_LMC: u64 = 7;

/// One end of a cable in a listing.
pub(super) struct End<'a> {
    /// The node at this end.
    pub node: NodeId,
    /// The port of that node.
    pub port: u8,
    /// The name that the listing gives to the node at the other end.
    pub peer: &'a str,
    /// The port at the other end.
    pub peer_port: u64,
    /// The address that this line gives to the other end.
    pub peer_lid: Option<u64>,
    /// The GUID that this line gives to the other port.
    pub peer_guid: Option<Guid>,
    /// The number of physical lanes of the cable.
    pub width: Option<Width>,
    pub speed: Option<Speed>,
    /// The line of this end, and where it names the other end.
    pub line: Range<u32>,
    pub peer_at: Range<u32>,
}

/// What a node name of a listing stands for.
#[derive(Clone, Copy)]
enum Known {
    Node(NodeId),
    /// A described node that cannot be used. The error is already reported.
    Refused,
}

/// Addresses that the text gives to a port.
struct Claim {
    first: u16,
    last: u16,
    port: (NodeId, u8),
    span: Span,
}

/// A subnet whose text is being read.
#[derive(Default)]
pub(super) struct Assembly<'a> {
    nodes: Vec<Node>,
    /// Where each node is described.
    described: Vec<Span>,
    known: HashMap<&'a str, Known>,
    by_guid: HashMap<Guid, NodeId>,
    ends: Vec<End<'a>>,
    claims: Vec<Claim>,
    n_ports: usize,
}

/// A node without its ports.
pub(super) struct Description<'a> {
    /// Its name in the listing.
    pub name: &'a str,
    pub kind: NodeKind,
    pub guid: Guid,
    pub n_ports: u64,
    pub description: &'a str,
    /// Where it is described.
    pub span: Span,
}

impl<'a> Assembly<'a> {
    /// Returns the node with this name in the listing, if it was described.
    pub(super) fn node(&self, name: &str) -> Option<NodeId> {
        match self.known.get(name) {
            Some(Known::Node(node)) => Some(*node),
            _ => None,
        }
    }

    /// Returns a node by its number.
    pub(super) fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.index()]
    }

    /// Adds a node. Reports the error and returns `None` if it cannot be added.
    pub(super) fn describe(
        &mut self,
        node: Description<'a>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<NodeId> {
        let refusal = self.refusal(&node, mistakes);
        if refusal {
            self.known.entry(node.name).or_insert(Known::Refused);
            return None;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        self.known.insert(node.name, Known::Node(id));
        self.by_guid.insert(node.guid, id);
        self.n_ports += node.n_ports as usize + 1;
        self.described.push(node.span);
        self.nodes.push(Node {
            kind: node.kind,
            guid: node.guid,
            system_guid: None,
            device: None,
            // The owner of the machine chooses it.
            description: visible_name(node.description).into_owned(),
            ports: vec![SubnetPort::default(); node.n_ports as usize + 1],
        });
        Some(id)
    }

    fn refusal(&self, node: &Description<'_>, mistakes: &mut Mistakes<'_>) -> bool {
        if node.n_ports > MOST_PORTS {
            let n_ports = node.n_ports;
            let message = format!("expected at most {MOST_PORTS} ports, found {n_ports}");
            let note = mistakes.error("E1103", node.span.clone(), message);
            note.map(|note| note.help("give the number of ports after the kind of node"));
            return true;
        }
        if self.n_ports + node.n_ports as usize > MOST_PORTS_OF_SUBNET {
            let message = format!("more than {MOST_PORTS_OF_SUBNET} ports in one subnet");
            let note = mistakes.error("E1103", node.span.clone(), message);
            note.map(|note| note.help("list one subnet; a subnet has 49151 addresses"));
            return true;
        }
        let before = match (self.by_guid.get(&node.guid), self.known.get(node.name)) {
            (Some(before), _) | (_, Some(Known::Node(before))) => *before,
            _ => return false,
        };
        let message = format!("node GUID {} occurs twice", node.guid);
        let first = mistakes.place(&self.described[before.index()]);
        if let Some(note) = mistakes.error("E1104", node.span.clone(), message) {
            note.also(first, "first here")
                .help("remove one of the two records; every node has its own GUID");
        }
        true
    }

    /// Returns the port number if the node has this port. Reports the error otherwise.
    pub(super) fn has_port(
        &self,
        node: NodeId,
        port: u64,
        span: Span,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<u8> {
        let n_ports = self.nodes[node.index()].ports.len() - 1;
        if port == 0 || port > n_ports as u64 {
            let node = &self.nodes[node.index()];
            let message = format!(
                "no port {port} on \"{}\", which has ports 1 to {n_ports}",
                node.description
            );
            let note = mistakes.error("E1105", span, message);
            note.map(|note| note.help("check the port number and the number of ports"));
            return None;
        }
        u8::try_from(port).ok()
    }

    /// Gives a port its addresses.
    pub(super) fn claim(
        &mut self,
        port: (NodeId, u8),
        lid: u64,
        lmc: u64,
        span: Span,
        mistakes: &mut Mistakes<'_>,
    ) {
        if lid == 0 {
            return;
        }
        let last = u64::from(Lid::LAST_UNICAST.0);
        if lmc > MOST_LMC || lid.saturating_add((1 << lmc.min(MOST_LMC)) - 1) > last {
            let message = format!("LID {lid} with LMC {lmc} is not a unicast address");
            let note = mistakes.error("E1103", span, message);
            note.map(|note| note.help("use LIDs from 1 to 49151 and an LMC from 0 to 7"));
            return;
        }
        let port_of = &mut self.nodes[port.0.index()].ports[usize::from(port.1)];
        (port_of.lid, port_of.lmc) = (Some(Lid(lid as u16)), lmc as u8);
        self.claims.push(Claim {
            first: lid as u16,
            last: (lid + (1 << lmc) - 1) as u16,
            port,
            span,
        });
    }

    /// Adds one end of a cable.
    pub(super) fn end(&mut self, end: End<'a>) {
        self.ends.push(end);
    }

    /// Joins the ends and checks that they agree.
    pub(super) fn finish(mut self, mistakes: &mut Mistakes<'_>) -> Subnet {
        let joined = self.place_ends(mistakes);
        self.check_symmetry(&joined, mistakes);
        self.addresses_from_peers(&joined, mistakes);
        self.check_addresses(mistakes);
        Subnet { nodes: self.nodes }
    }

    /// Gives every end to its port. Returns the port at the other end of each, if it exists.
    fn place_ends(&mut self, mistakes: &mut Mistakes<'_>) -> Vec<Option<(NodeId, u8)>> {
        let mut first_end: HashMap<(NodeId, u8), usize> = HashMap::with_capacity(self.ends.len());
        let mut missing: HashMap<&str, ()> = HashMap::new();
        let mut joined = Vec::with_capacity(self.ends.len());
        for (at, end) in self.ends.iter().enumerate() {
            joined.push(None);
            if let Some(before) = first_end.insert((end.node, end.port), at) {
                first_end.insert((end.node, end.port), before);
                let message = format!("port {} occurs twice", end.port);
                let first = mistakes.place(&wide(&self.ends[before].line));
                let note = mistakes.error("E1106", wide(&end.line), message);
                note.map(|note| {
                    note.also(first, "first here")
                        .help("remove one of the two lines; a port has one cable")
                });
                continue;
            }
            let peer = match self.known.get(end.peer) {
                Some(Known::Node(peer)) => *peer,
                Some(Known::Refused) => continue,
                None => {
                    if missing.insert(end.peer, ()).is_none() {
                        let message = format!("\"{}\" is named here but not described", end.peer);
                        let note = mistakes.error("E1109", wide(&end.peer_at), message);
                        note.map(|note| {
                            note.help("list the whole subnet again; this file may be truncated")
                        });
                    }
                    continue;
                }
            };
            let peer_at = wide(&end.peer_at);
            let Some(peer_port) = self.has_port(peer, end.peer_port, peer_at, mistakes) else {
                continue;
            };
            joined[at] = Some((peer, peer_port));
            self.nodes[end.node.index()].ports[usize::from(end.port)].cable = Some(Cable {
                node: peer,
                port: peer_port,
                width: end.width,
                speed: end.speed,
            });
        }
        joined
    }

    /// Removes cables that the other end does not list.
    fn check_symmetry(&mut self, joined: &[Option<(NodeId, u8)>], mistakes: &mut Mistakes<'_>) {
        let mut wrong = vec![];
        for (end, peer) in self.ends.iter().zip(joined) {
            let Some(peer) = peer else { continue };
            let back = self.nodes[peer.0.index()].ports[usize::from(peer.1)].cable;
            let back = back.map(|cable| (cable.node, cable.port));
            if back == Some((end.node, end.port)) {
                continue;
            }
            let (here, there) = (self.name(end.node, end.port), self.name(peer.0, peer.1));
            let (code, message) = match back {
                None => (
                    "E1107",
                    format!("cable from {here} to {there}, which lists none"),
                ),
                Some(other) => (
                    "E1108",
                    format!(
                        "cable from {here} to {there}, which lists one to {}",
                        self.name(other.0, other.1)
                    ),
                ),
            };
            let note = mistakes.error(code, wide(&end.line), message);
            note.map(|note| note.help("list the subnet again; every cable is listed at both ends"));
            wrong.push((end.node, end.port));
        }
        for (node, port) in wrong {
            self.nodes[node.index()].ports[usize::from(port)].cable = None;
        }
    }

    fn name(&self, node: NodeId, port: u8) -> String {
        format!("\"{}\"[{port}]", self.nodes[node.index()].description)
    }

    /// Takes addresses and GUIDs from the other ends, since old listings give them only there.
    fn addresses_from_peers(
        &mut self,
        joined: &[Option<(NodeId, u8)>],
        mistakes: &mut Mistakes<'_>,
    ) {
        let ends = std::mem::take(&mut self.ends);
        for (end, peer) in ends.iter().zip(joined) {
            let cable = self.nodes[end.node.index()].ports[usize::from(end.port)].cable;
            let Some(cable) = cable.filter(|_| peer.is_some()) else {
                continue;
            };
            let peer = &mut self.nodes[cable.node.index()];
            let at = match peer.kind.is_switch() {
                true => 0,
                false => cable.port,
            };
            let port = &mut peer.ports[usize::from(at)];
            port.guid = port.guid.or(end.peer_guid);
            let (Some(stated), known) = (end.peer_lid, port.lid) else {
                continue;
            };
            match known {
                None => self.claim((cable.node, at), stated, 0, wide(&end.peer_at), mistakes),
                Some(lid) if u64::from(lid.0) != stated && stated != 0 => {
                    let message = format!("LID {stated} here, but {lid} at the port itself");
                    let note = mistakes.warning("E1111", wide(&end.line), message);
                    note.map(|note| {
                        note.help("list the subnet again; it changed while it was listed")
                    });
                }
                Some(_) => {}
            }
        }
    }

    /// Reports ports that share an address.
    fn check_addresses(&mut self, mistakes: &mut Mistakes<'_>) {
        self.claims
            .sort_by_key(|claim| (claim.first, claim.span.start));
        let mut widest: Option<&Claim> = None;
        for claim in &self.claims {
            if let Some(before) = widest.filter(|before| before.last >= claim.first) {
                if before.port == claim.port {
                    continue;
                }
                let message = format!("LID {} is the address of two ports", claim.first);
                let first = mistakes.place(&before.span);
                if let Some(note) = mistakes.error("E1110", claim.span.clone(), message) {
                    note.also(first, "the other one").help(
                        "list the subnet again; a port owns 2^LMC addresses, starting at its LID",
                    );
                }
            }
            if widest.is_none_or(|before| before.last < claim.last) {
                widest = Some(claim);
            }
        }
    }
}

fn wide(range: &Range<u32>) -> Span {
    range.start as usize..range.end as usize
}

/// Converts a span to 32-bit offsets, which take half the memory.
pub(super) fn narrow(span: &Span) -> Range<u32> {
    let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    clip(span.start)..clip(span.end)
}
