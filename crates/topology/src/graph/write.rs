//! Writer of the plain-text description.

use std::fmt::Write;

use netloom_units::SwitchId;

use crate::{Peer, Topology};

/// Writes a fabric as text from which [`parse`](super::parse) reads the same wiring, classes and
/// names.
///
/// Blanks and colons in the names of real devices have a meaning in the text, so they become
/// underscores.
///
/// The structure of the fabric is not written: a tree is read back as a plain graph.
pub fn write(topology: &Topology) -> String {
    let mut text = String::new();
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        text.write_fmt(arguments).expect("a text takes any line");
        text.push('\n');
    };
    for class in &topology.link_classes()[1..] {
        line(format_args!("class {class}"));
    }
    let name = |switch: SwitchId| plain(&topology.switch_name(switch));
    let class_of =
        |switch, port| &topology.link_classes()[usize::from(topology.link_class(switch, port))];
    for switch in topology.switches() {
        line(format_args!(
            "switch {} ports {}",
            name(switch),
            topology.n_ports(switch)
        ));
    }
    for switch in topology.switches() {
        for port in topology.ports(switch) {
            if let Peer::Switch(other, there) = topology.peer(switch, port)
                && (switch, port) < (other, there)
            {
                let (a, b, class) = (name(switch), name(other), class_of(switch, port));
                line(format_args!(
                    "link {a}:{} {b}:{} class {class}",
                    port.0, there.0
                ));
            }
        }
    }
    for nic in topology.nics() {
        let (switch, port) = topology.attachment(nic);
        let (a, at) = (plain(&topology.nic_name(nic)), name(switch));
        let class = class_of(switch, port);
        line(format_args!("nic {a} {at}:{} class {class}", port.0));
    }
    text
}

/// Replaces the characters that separate words in the text.
fn plain(name: &str) -> String {
    let separates = |c: char| c.is_whitespace() || c == ':' || c == '#';
    name.replace(separates, "_")
}
