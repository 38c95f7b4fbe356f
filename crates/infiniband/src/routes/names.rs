//! Formats the results of route checks with the names of the site.

use super::{Failure, Why};
use crate::{Lid, PortName, Subnet, SubnetIndex};

/// The names of the ports of a subnet.
pub struct Names<'a> {
    subnet: &'a Subnet,
    index: SubnetIndex,
}

impl<'a> Names<'a> {
    /// Collects the names of a subnet.
    pub fn of(subnet: &'a Subnet) -> Self {
        Names {
            subnet,
            index: SubnetIndex::of(subnet),
        }
    }

    /// Returns the name of a port: its node and its number.
    pub fn port(&self, name: PortName) -> String {
        let node = self.index.node(name.node);
        let description = node.map(|node| &self.subnet.nodes[node.index()].description);
        match description.filter(|words| !words.is_empty()) {
            Some(words) => format!("{words}:{}", name.port),
            None => format!("{}:{}", name.node, name.port),
        }
    }

    /// Returns the name of the port with an address.
    pub fn address(&self, lid: Lid) -> String {
        match self.index.address(lid) {
            Some((node, port)) => self.port(self.subnet.port_name(node, port)),
            None => lid.to_string(),
        }
    }

    /// Returns the reason why a route does not arrive.
    pub fn failure(&self, failure: &Failure) -> String {
        let node = self.index.node(failure.at);
        let at = node.map_or(failure.at.to_string(), |node| {
            self.subnet.nodes[node.index()].description.clone()
        });
        let why = match failure.why {
            Why::NoCable => "the sender has no cable".to_owned(),
            Why::NoTable => format!("the forwarding table of {at} is unknown"),
            Why::NoOutput => format!("{at} has no output for this address"),
            Why::OwnPort => format!("the output of {at} is its own port 0"),
            Why::DeadPort(port) => format!("port {port} of {at} has no cable"),
            Why::WrongPort(port) => format!("{at} delivers it to {}", self.port(port)),
            Why::Circles => format!("forwarding loop through {at}"),
            Why::Dropped {
                input,
                output,
                level,
            } => format!("{at} drops SL{level} from port {input} to port {output} (VL15)"),
        };
        format!(
            "{} to {}: {why}",
            self.port(failure.from),
            self.address(failure.to)
        )
    }
}
