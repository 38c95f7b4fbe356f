//! Writes a subnet as a net file of ibsim 0.10, which is the ibnetdiscover format with limits.
//!
//! A line has fewer than 256 characters, so long descriptions are truncated. ibsim does not support
//! speeds above HDR: they are written as HDR, and a comment counts them.

use std::fmt::Write as _;

use crate::{Cable, Guid, Node, NodeKind, Speed, Subnet};

/// Maximum length of a description in bytes, so that the line is not too long.
const LONGEST_DESCRIPTION: usize = 100;

/// The fastest speed that ibsim supports.
const FASTEST: Speed = Speed::Hdr;

/// Writes the net file of a subnet. OpenSM attaches to the first node, so that node should be the
/// one that runs it.
pub fn ibsim_net(subnet: &Subnet) -> String {
    let mut text = String::new();
    let cables = subnet.nodes.iter().flat_map(|node| &node.ports);
    let n_faster = cables
        .filter_map(|port| port.cable?.speed)
        .filter(|speed| *speed > FASTEST)
        .count();
    if n_faster > 0 {
        let _ = writeln!(
            text,
            "# {n_faster} ends of links are faster than {FASTEST}. They are written as {FASTEST}, \
             the fastest speed of ibsim 0.10.\n"
        );
    }
    for node in &subnet.nodes {
        write_node(&mut text, subnet, node);
        text.push('\n');
    }
    text
}

fn write_node(text: &mut String, subnet: &Subnet, node: &Node) {
    if let Some(device) = node.device {
        let _ = writeln!(
            text,
            "vendid=0x{:x}\ndevid=0x{:x}",
            device.vendor, device.device
        );
    }
    let system = node.system_guid.unwrap_or(node.guid);
    let _ = writeln!(text, "sysimgguid=0x{:x}", system.0);
    let n_ports = node.ports.len().saturating_sub(1);
    let (description, id) = (short(&node.description), id(node));
    let guid = node.guid.0;
    let _ = match node.kind {
        NodeKind::Switch { enhanced_port_0 } => writeln!(
            text,
            "switchguid=0x{guid:x}({guid:x})\nSwitch\t{n_ports} \"{id}\"\t\t# \"{description}\" {} \
             port 0 lid 0 lmc 0",
            if enhanced_port_0 { "enhanced" } else { "base" }
        ),
        NodeKind::ChannelAdapter => {
            writeln!(
                text,
                "caguid=0x{guid:x}\nCa\t{n_ports} \"{id}\"\t\t# \"{description}\""
            )
        }
        NodeKind::Router => {
            writeln!(
                text,
                "rtguid=0x{guid:x}\nRt\t{n_ports} \"{id}\"\t\t# \"{description}\""
            )
        }
    };
    for (number, port) in node.ports.iter().enumerate().skip(1) {
        let Some(cable) = port.cable else {
            continue;
        };
        let there = &subnet.nodes[cable.node.index()];
        let own = own_guid(node, port.guid);
        let _ = write!(
            text,
            "[{number}]{own}\t\"{}\"[{}]",
            self::id(there),
            cable.port
        );
        let peer = there
            .ports
            .get(usize::from(cable.port))
            .and_then(|port| port.guid);
        if let (false, Some(peer)) = (there.kind.is_switch(), peer) {
            let _ = write!(text, "({:x}) ", peer.0);
        }
        let _ = match node.kind.is_switch() {
            true => writeln!(
                text,
                "\t\t# \"{}\" lid 0{}",
                short(&there.description),
                rate(cable)
            ),
            false => writeln!(
                text,
                "\t\t# lid 0 lmc 0 \"{}\" lid 0{}",
                short(&there.description),
                rate(cable)
            ),
        };
    }
}

fn own_guid(node: &Node, guid: Option<Guid>) -> String {
    match (node.kind.is_switch(), guid) {
        (false, Some(guid)) => format!("({:x}) ", guid.0),
        _ => String::new(),
    }
}

/// Returns a short id such as `S-0000000000000100`, without `#` and `@`.
fn id(node: &Node) -> String {
    let letter = match node.kind {
        NodeKind::Switch { .. } => 'S',
        NodeKind::ChannelAdapter => 'H',
        NodeKind::Router => 'R',
    };
    format!("{letter}-{:016x}", node.guid.0)
}

fn rate(cable: Cable) -> String {
    match (cable.width, cable.speed) {
        (Some(width), Some(speed)) => format!(" {width}{}", speed.min(FASTEST)),
        _ => String::new(),
    }
}

/// Returns a description without quotes, truncated to the maximum length.
fn short(description: &str) -> String {
    let mut end = description.len().min(LONGEST_DESCRIPTION);
    while !description.is_char_boundary(end) {
        end -= 1;
    }
    description[..end].replace(['"', '\n'], "'")
}
