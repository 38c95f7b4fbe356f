//! `opensm-subnet.lst`, which OpenSM always writes: one line for each end of each cable.
//!
//! ```text
//! { SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:0002C9 DevID:… {leaf0} LID:0002 PN:01 }
//! { CA Ports:01 …} PHY=2x LOG=ACT SPD=50
//! ```
//!
//! Every number is hexadecimal. The file does not give the LMC (read as 0), or whether port 0 is
//! enhanced (read as no).

use netloom_catalog::Notes;

use super::assembly::{Assembly, Description, End, narrow};
use super::mistakes::Mistakes;
use super::scanner::{Cursor, Line, first_line, hex, lines};
use crate::{Device, Guid, NodeKind, Speed, Subnet};

/// Reads the list. Reports every error, and returns the nodes and cables that could be read.
pub fn read_subnet_list(text: &str, source: u16, notes: &mut Notes) -> Subnet {
    let mut mistakes = Mistakes::of(source, notes);
    let mut assembly = Assembly::default();
    for line in lines(text).map(|line| line.trimmed()) {
        if line.text.is_empty() || line.text.starts_with('#') {
            continue;
        }
        match both_ends(line) {
            Ok(ends) => add(&mut assembly, line, ends, &mut mistakes),
            Err(Expected { at, what }) => {
                let (code, help) = match line.is_open {
                    true => ("E1102", "let OpenSM write the file again; it is truncated"),
                    false => (
                        "E1101",
                        "remove the line, or let OpenSM write opensm-subnet.lst again",
                    ),
                };
                let note = mistakes.error(code, line.span_at(&at), format!("expected {what}"));
                note.map(|note| note.help(help));
            }
        }
    }
    let subnet = assembly.finish(&mut mistakes);
    if subnet.nodes.is_empty() && !mistakes.any() {
        let note = mistakes.error("E1113", first_line(text), "no node in this file");
        note.map(|note| note.help("use opensm-subnet.lst from the dump folder of OpenSM"));
    }
    mistakes.finish();
    subnet
}

struct Expected<'a> {
    at: Cursor<'a>,
    what: &'static str,
}

/// One end of a cable in the list.
struct Listed<'a> {
    kind: NodeKind,
    n_ports: u64,
    system: Guid,
    /// The digits of the node's GUID, which name the node.
    node: &'a str,
    guid: Guid,
    port_guid: Guid,
    device: Device,
    description: &'a str,
    lid: u64,
    port: u64,
}

/// Both ends of a cable, its width and its speed.
struct Both<'a> {
    here: Listed<'a>,
    there: Listed<'a>,
    width: &'a str,
    speed: &'a str,
}

/// Names of speeds in this file: the rate of one lane in Gbps, rounded.
const SPEEDS: [(&str, Speed); 9] = [
    ("2.5", Speed::Sdr),
    ("5", Speed::Ddr),
    ("10", Speed::Qdr),
    ("FDR10", Speed::Fdr10),
    ("14", Speed::Fdr),
    ("25", Speed::Edr),
    ("50", Speed::Hdr),
    ("100", Speed::Ndr),
    ("200", Speed::Xdr),
];

fn both_ends(line: Line<'_>) -> Result<Both<'_>, Expected<'_>> {
    let mut cursor = line.cursor();
    let here = one_end(&mut cursor)?;
    let there = one_end(&mut cursor)?;
    let width = value(&mut cursor, "PHY=").ok_or(expected(cursor, "PHY= and a width"))?;
    value(&mut cursor, "LOG=").ok_or(expected(cursor, "LOG= and a state"))?;
    let speed = value(&mut cursor, "SPD=").ok_or(expected(cursor, "SPD= and a speed"))?;
    Ok(Both {
        here,
        there,
        width,
        speed,
    })
}

fn expected<'a>(at: Cursor<'a>, what: &'static str) -> Expected<'a> {
    Expected { at, what }
}

/// Parses `PHY=2x`. Reads nothing if the key is not next.
fn value<'a>(cursor: &mut Cursor<'a>, key: &str) -> Option<&'a str> {
    cursor.blanks();
    let mut ahead = *cursor;
    let value = ahead.word()?.strip_prefix(key)?;
    *cursor = ahead;
    (!value.is_empty()).then_some(value)
}

fn one_end<'a>(cursor: &mut Cursor<'a>) -> Result<Listed<'a>, Expected<'a>> {
    cursor.blanks();
    if !cursor.eat("{") {
        return Err(expected(*cursor, "`{` and an end of a cable"));
    }
    let at = *cursor;
    let word = cursor.word().unwrap_or("");
    let kind = match word.split('-').next() {
        Some("SW") => NodeKind::Switch {
            enhanced_port_0: false,
        },
        Some("CA") => NodeKind::ChannelAdapter,
        Some("RT" | "RTR" | "Rt" | "Rtr") => NodeKind::Router,
        _ => return Err(expected(at, "SW, CA or RT")),
    };
    let mut digits = |key: &str, what: &'static str| {
        let at = *cursor;
        let text = value(cursor, key);
        let text = text.filter(|text| hex(text).is_some() && !text.starts_with("0x"));
        text.ok_or(expected(at, what))
    };
    let number = |text: &str| hex(text).unwrap_or(0);
    let n_ports = digits("Ports:", "Ports: and two hexadecimal digits")?;
    let system = digits("SystemGUID:", "SystemGUID: and up to 16 hexadecimal digits")?;
    let node = digits("NodeGUID:", "NodeGUID: and up to 16 hexadecimal digits")?;
    let port_guid = digits("PortGUID:", "PortGUID: and up to 16 hexadecimal digits")?;
    let vendor = digits("VenID:", "VenID: and hexadecimal digits")?;
    let device = digits("DevID:", "DevID: and hexadecimal digits")?;
    digits("Rev:", "Rev: and hexadecimal digits")?;
    cursor.blanks();
    let at = *cursor;
    // A description may contain braces.
    let description = cursor.eat("{").then(|| cursor.until("} LID:")).flatten();
    let description = description.ok_or(expected(at, "a description in braces, then LID:"))?;
    let at = *cursor;
    let lid = cursor.word().and_then(hex);
    let lid = lid.ok_or(expected(at, "a LID in hexadecimal digits"))?;
    let port = value(cursor, "PN:").and_then(hex);
    let port = port.ok_or(expected(*cursor, "PN: and a port number"))?;
    if !cursor.blanks().eat("}") {
        return Err(expected(*cursor, "`}` after an end of a cable"));
    }
    Ok(Listed {
        kind,
        n_ports: number(n_ports),
        system: Guid(number(system)),
        node,
        guid: Guid(number(node)),
        port_guid: Guid(number(port_guid)),
        device: Device {
            vendor: u32::try_from(number(vendor)).unwrap_or(u32::MAX),
            device: u32::try_from(number(device)).unwrap_or(u32::MAX),
        },
        description,
        lid,
        port,
    })
}

fn add<'a>(
    assembly: &mut Assembly<'a>,
    line: Line<'a>,
    both: Both<'a>,
    mistakes: &mut Mistakes<'_>,
) {
    let Both { here, there, .. } = both;
    let node = match assembly.node(here.node) {
        Some(node) => {
            let ports = assembly.node_mut(node).ports.len() as u64 - 1;
            if ports != here.n_ports {
                let message = format!("expected {ports} ports, found {}", here.n_ports);
                let note = mistakes.error("E1111", line.span(), message);
                note.map(|note| {
                    note.help("give the same number of ports in every line of the node")
                });
                return;
            }
            node
        }
        None => {
            let description = Description {
                name: here.node,
                kind: here.kind,
                guid: here.guid,
                n_ports: here.n_ports,
                description: here.description,
                span: line.span(),
            };
            let Some(node) = assembly.describe(description, mistakes) else {
                return;
            };
            let described = assembly.node_mut(node);
            described.system_guid = Some(here.system);
            described.device = Some(here.device);
            if here.kind.is_switch() {
                described.ports[0].guid = Some(here.port_guid);
                assembly.claim((node, 0), here.lid, 0, line.span(), mistakes);
            }
            node
        }
    };
    let Some(port) = assembly.has_port(node, here.port, line.span(), mistakes) else {
        return;
    };
    let described = assembly.node_mut(node);
    if !described.kind.is_switch() && described.ports[usize::from(port)].guid.is_none() {
        described.ports[usize::from(port)].guid = Some(here.port_guid);
        assembly.claim((node, port), here.lid, 0, line.span(), mistakes);
    }
    let speed = SPEEDS.iter().find(|(name, _)| *name == both.speed);
    if (speed.is_none() && !both.speed.starts_with('?'))
        || (both.width.parse::<crate::Width>().is_err() && !both.width.starts_with('?'))
    {
        let message = format!(
            "unknown width or speed: PHY={} SPD={}",
            both.width, both.speed
        );
        let note = mistakes.warning("E1112", line.span_of(both.width), message);
        note.map(|note| note.help("check the width and speed; the cable is kept without a rate"));
    }
    assembly.end(End {
        node,
        port,
        peer: there.node,
        peer_port: there.port,
        peer_lid: Some(there.lid),
        peer_guid: Some(there.port_guid),
        width: both.width.parse().ok(),
        speed: speed.map(|(_, speed)| *speed),
        line: narrow(&line.span()),
        peer_at: narrow(&line.span_of(there.node)),
    });
}
