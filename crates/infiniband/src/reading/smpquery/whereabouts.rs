//! The port that an answer is about: `Lid 2`, or `DR path slid 0; dlid 0; 0,1,5,3`.

use super::super::mistakes::Mistakes;
use super::super::scanner::{Cursor, Line};
use super::{Asked, misunderstood};
use crate::{Lid, NodeId, PortName, Subnet, SubnetIndex};

/// Finds ports by the form in which `smpquery` names them.
pub(super) struct Finder<'a> {
    subnet: &'a Subnet,
    index: SubnetIndex,
    from: Option<NodeId>,
}

impl<'a> Finder<'a> {
    pub(super) fn of(asked: Asked<'a>) -> Self {
        let index = SubnetIndex::of(asked.subnet);
        Finder {
            subnet: asked.subnet,
            from: asked.from.and_then(|guid| index.node(guid)),
            index,
        }
    }

    /// Returns the queried node, and the port by which the query reached it (0 for a switch).
    pub(super) fn node(
        &self,
        cursor: &mut Cursor<'_>,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<(NodeId, u8)> {
        if cursor.eat("DR path slid ") {
            cursor.until("; dlid ");
            cursor.until("; ");
            return self.directed(cursor, line, mistakes);
        }
        let lid = cursor.eat("Lid ").then(|| cursor.decimal()).flatten();
        let Some(lid) = lid else {
            misunderstood(
                line,
                line.span_at(cursor),
                "`Lid 2` or `DR path …`",
                mistakes,
            );
            return None;
        };
        let found = u16::try_from(lid).ok();
        let found = found.and_then(|lid| self.index.address(Lid(lid)));
        if found.is_none() {
            let message = format!("no port of the subnet has LID {lid}");
            let note = mistakes.warning("E1131", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
        }
        found
    }

    /// Follows a directed route.
    fn directed(
        &self,
        cursor: &mut Cursor<'_>,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<(NodeId, u8)> {
        let mut tell = |message: String, help: &str| {
            let note = mistakes.warning("E1132", line.span(), message);
            note.map(|note| note.help(help));
        };
        let Some(mut at) = self.from else {
            let message = "the start of this directed route is unknown".to_owned();
            tell(
                message,
                "query by LID, or use a listing from the host that sent the queries",
            );
            // The route is skipped, so that the port after it can be read.
            while cursor.decimal().is_some() && cursor.eat(",") {}
            return None;
        };
        let mut by = 0;
        cursor.decimal();
        while cursor.eat(",") {
            let hop = cursor.decimal()?;
            let node = &self.subnet.nodes[at.index()];
            let port = usize::try_from(hop)
                .ok()
                .and_then(|hop| node.ports.get(hop));
            let Some(cable) = port.and_then(|port| port.cable) else {
                let message = format!("no cable at port {hop} of \"{}\"", node.description);
                tell(message, "check that both files are of the same subnet");
                return None;
            };
            (at, by) = (cable.node, cable.port);
        }
        match self.subnet.nodes[at.index()].kind.is_switch() {
            true => Some((at, 0)),
            false => Some((at, by.max(1))),
        }
    }

    /// Returns the queried port: the node, then `port 5`.
    pub(super) fn port(
        &self,
        cursor: &mut Cursor<'_>,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<PortName> {
        let (node, _) = self.node(cursor, line, mistakes)?;
        let port = cursor.blanks().eat("port ").then(|| cursor.decimal());
        let Some(port) = port.flatten() else {
            misunderstood(
                line,
                line.span_at(cursor),
                "`port` and a port number",
                mistakes,
            );
            return None;
        };
        let n_ports = self.subnet.nodes[node.index()].ports.len() as u64 - 1;
        if port > n_ports {
            let description = &self.subnet.nodes[node.index()].description;
            let message = format!("no port {port} on \"{description}\", which has {n_ports} ports");
            let note = mistakes.error("E1105", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            return None;
        }
        Some(self.subnet.port_name(node, port as u8))
    }
}
