//! Output of `smpquery`.

use std::fmt::Write as _;

use netloom_arbitration::Entry;

use super::TO_TEXT;
use crate::{Lid, NodeId, PortName, Programmed, SlToVl, Subnet, SubnetIndex, VlArbitration};

/// Entries per pair of lines.
const ENTRIES_PER_BLOCK: usize = 32;

/// Writes the output of `smpquery vlarb LID PORT`.
pub fn vl_arbitration_answer(lid: Lid, port: u8, arbitration: &VlArbitration) -> String {
    let mut text = format!(
        "# VLArbitration tables: Lid {} port {port} LowCap {} HighCap {}\n",
        lid.0, arbitration.low_cap, arbitration.high_cap
    );
    for (name, table) in [("Low", &arbitration.low), ("High", &arbitration.high)] {
        writeln!(text, "# {name} priority VL Arbitration Table:").expect(TO_TEXT);
        for (at, block) in table.chunks(ENTRIES_PER_BLOCK).enumerate() {
            if at > 0 {
                text.push('\n');
            }
            cells(&mut text, "VL    :", block, |entry| entry.vl.0);
            cells(&mut text, "WEIGHT:", block, |entry| entry.weight);
        }
    }
    text
}

fn cells(text: &mut String, title: &str, block: &[Entry], number: impl Fn(&Entry) -> u8) {
    write!(text, "{title} |").expect(TO_TEXT);
    for entry in block {
        write!(text, "0x{:<2X}|", number(entry)).expect(TO_TEXT);
    }
    text.push('\n');
}

/// Writes the output of `smpquery sl2vl LID PORT`, with rows by input. A node other than a switch
/// has one row, of ports 0.
pub fn sl_to_vl_answer<'a>(
    lid: Lid,
    output: u8,
    rows: impl Iterator<Item = (u8, &'a SlToVl)>,
) -> String {
    let mut text = format!("# SL2VL table: Lid {}\n#                 SL: |", lid.0);
    for level in 0..16 {
        write!(text, "{level:2}|").expect(TO_TEXT);
    }
    text.push('\n');
    for (input, table) in rows {
        write!(text, "ports: in {input:2}, out {output:2}: |").expect(TO_TEXT);
        for lane in table.0 {
            write!(text, "{:2}|", lane.0).expect(TO_TEXT);
        }
        text.push('\n');
    }
    text
}

/// Writes the arbitration of every port that can be queried by LID: commands and output, switches
/// first, by LID and port.
pub fn vl_arbitration(subnet: &Subnet, programmed: &Programmed) -> String {
    let index = SubnetIndex::of(subnet);
    let ports = programmed.arbitration.keys().copied();
    let answers = asked(subnet, &index, ports).into_iter().map(|(lid, name)| {
        let answer = vl_arbitration_answer(lid, name.port, &programmed.arbitration[&name]);
        format!("$ smpquery vlarb {} {}\n{answer}", lid.0, name.port)
    });
    answers.collect::<Vec<_>>().join("\n")
}

/// Writes the known PortInfo fields about lanes of every port that can be queried by LID: commands
/// and output, switches first, by LID and port.
pub fn port_info(subnet: &Subnet, programmed: &Programmed) -> String {
    let index = SubnetIndex::of(subnet);
    let ports = programmed.lanes.keys().copied();
    let answers = asked(subnet, &index, ports).into_iter().map(|(lid, name)| {
        let (lid, port) = (lid.0, name.port);
        let mut text =
            format!("$ smpquery portinfo {lid} {port}\n# Port info: Lid {lid} port {port}\n");
        let lanes = &programmed.lanes[&name];
        let number = |n: Option<u8>| n.map(|n| n.to_string());
        let fields = [
            ("NeighborMTU", lanes.neighbor_mtu.map(|n| n.to_string())),
            ("VLCap", lanes.cap.map(lane_range)),
            ("VLHighLimit", number(lanes.high_limit)),
            ("VLArbHighCap", number(lanes.high_cap)),
            ("VLArbLowCap", number(lanes.low_cap)),
            ("OperVLs", lanes.operational.map(lane_range)),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                writeln!(text, "{:.<33}{value}", format!("{name}:")).expect(TO_TEXT);
            }
        }
        text
    });
    answers.collect::<Vec<_>>().join("\n")
}

/// Formats a number of data lanes as PortInfo does: `VL0-7`.
fn lane_range(n: u8) -> String {
    match n {
        0 | 1 => "VL0".to_owned(),
        n => format!("VL0-{}", n - 1),
    }
}

/// Writes the lanes of every port that can be queried by LID: commands and output, switches
/// first, by LID and port.
pub fn sl_to_vl(subnet: &Subnet, programmed: &Programmed) -> String {
    let index = SubnetIndex::of(subnet);
    let mut ports: Vec<PortName> = programmed.sl_to_vl.keys().map(|(name, _)| *name).collect();
    ports.dedup();
    let answers = asked(subnet, &index, ports.into_iter())
        .into_iter()
        .map(|(lid, name)| {
            let rows = programmed.sl_to_vl.range((name, 0)..=(name, u8::MAX));
            let rows = rows.map(|((_, input), table)| (*input, table));
            let output = match is_switch(subnet, &index, name) {
                true => name.port,
                false => 0,
            };
            let answer = sl_to_vl_answer(lid, output, rows);
            format!("$ smpquery sl2vl {} {}\n{answer}", lid.0, name.port)
        });
    answers.collect::<Vec<_>>().join("\n")
}

fn is_switch(subnet: &Subnet, index: &SubnetIndex, name: PortName) -> bool {
    let node = index.node(name.node);
    node.is_some_and(|node| subnet.nodes[node.index()].kind.is_switch())
}

/// Returns the LID for querying each port: switches first, by LID and port.
fn asked(
    subnet: &Subnet,
    index: &SubnetIndex,
    ports: impl Iterator<Item = PortName>,
) -> Vec<(Lid, PortName)> {
    let address = |node: NodeId, port: u8| {
        let node = &subnet.nodes[node.index()];
        let at = match node.kind.is_switch() {
            true => 0,
            false => usize::from(port),
        };
        node.ports.get(at).and_then(|port| port.lid)
    };
    let mut asked: Vec<(Lid, PortName)> = ports
        .filter_map(|name| Some((address(index.node(name.node)?, name.port)?, name)))
        .collect();
    asked.sort_by_key(|(lid, name)| (!is_switch(subnet, index, *name), *lid, name.port));
    asked
}
