//! Writing a fabric as the plain text that reads back to it.

use std::fmt::Write;

use netloom_units::SwitchId;

use crate::{Peer, Topology};

/// A fabric as text that [`parse`](super::parse) reads to the same wiring, classes and names.
///
/// Names of real devices may have blanks and colons, which stand for something here: they become underscores.
///
/// What is known about its structure is not written: a tree comes back as a plain graph.
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

/// A name without the characters that separate words here.
fn plain(name: &str) -> String {
    let separates = |c: char| c.is_whitespace() || c == ':' || c == '#';
    name.replace(separates, "_")
}
