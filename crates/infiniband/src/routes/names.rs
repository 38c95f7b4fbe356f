//! What is found about routes, in the words of the site.

use super::{Failure, Why};
use crate::{Lid, PortName, Subnet, SubnetIndex};

/// What a subnet calls its ports.
pub struct Names<'a> {
    subnet: &'a Subnet,
    index: SubnetIndex,
}

impl<'a> Names<'a> {
    /// Those of a subnet.
    pub fn of(subnet: &'a Subnet) -> Self {
        Names {
            subnet,
            index: SubnetIndex::of(subnet),
        }
    }

    /// A port: what its node is called, and its number.
    pub fn port(&self, name: PortName) -> String {
        let node = self.index.node(name.node);
        let description = node.map(|node| &self.subnet.nodes[node.index()].description);
        match description.filter(|words| !words.is_empty()) {
            Some(words) => format!("{words}:{}", name.port),
            None => format!("{}:{}", name.node, name.port),
        }
    }

    /// The port with an address.
    pub fn address(&self, lid: Lid) -> String {
        match self.index.address(lid) {
            Some((node, port)) => self.port(self.subnet.port_name(node, port)),
            None => lid.to_string(),
        }
    }

    /// Why a route does not arrive, in a sentence.
    pub fn failure(&self, failure: &Failure) -> String {
        let node = self.index.node(failure.at);
        let at = node.map_or(failure.at.to_string(), |node| {
            self.subnet.nodes[node.index()].description.clone()
        });
        let why = match failure.why {
            Why::NoCable => "the sender has no cable".to_owned(),
            Why::NoTable => format!("the table of {at} is not known"),
            Why::NoOutput => format!("{at} has no output for it"),
            Why::OwnPort => format!("{at} keeps it for itself"),
            Why::DeadPort(port) => format!("port {port} of {at} has no cable"),
            Why::WrongPort(port) => format!("{at} sends it to {}", self.port(port)),
            Why::Circles => format!("the way runs in circles through {at}"),
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
