//! Lanes of switches, as `ibdmchk -d` reads them: `0x0000000000200000 0 1 0x01 0x23 0x45 0x67 0x01
//! 0x23 0x45 0x67`.
//!
//! A GUID, an input, an output, and two lanes in each of eight bytes: SL 0 in the upper half of the
//! first.

use netloom_catalog::Notes;
use netloom_units::Vl;

use super::mistakes::Mistakes;
use super::scanner::{Line, decimal, hex, lines};
use crate::{Guid, PortName, Programmed, SlToVl, Subnet, SubnetIndex};

/// Reads lanes. Those of unknown nodes are reported and ignored.
pub fn read_slvl(
    text: &str,
    source: u16,
    subnet: &Subnet,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut mistakes = Mistakes::of(source, notes);
    let index = SubnetIndex::of(subnet);
    for line in lines(text).map(|line| line.trimmed()) {
        if line.text.is_empty() || line.text.starts_with('#') {
            continue;
        }
        let Some((guid, input, output, table)) = row(line) else {
            let (code, help) = match line.is_open {
                true => ("E1102", "write the file again; it is truncated"),
                false => ("E1101", "give a GUID, an input, an output and 8 bytes"),
            };
            let message = "expected a GUID, two ports and 8 bytes";
            let note = mistakes.error(code, line.span(), message);
            note.map(|note| note.help(help));
            continue;
        };
        let Some(node) = index.node(guid) else {
            let message = format!("no node of the subnet has GUID {guid}");
            let note = mistakes.error("E1131", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            continue;
        };
        let n_ports = subnet.nodes[node.index()].ports.len() as u64 - 1;
        if input > n_ports || output > n_ports {
            let message = format!("ports {input} and {output} of a node with {n_ports} ports");
            let note = mistakes.error("E1105", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            continue;
        }
        let name = PortName {
            node: guid,
            port: output as u8,
        };
        programmed.sl_to_vl.insert((name, input as u8), table);
    }
    mistakes.finish();
}

fn row(line: Line<'_>) -> Option<(Guid, u64, u64, SlToVl)> {
    let mut words = line.text.split_whitespace();
    let guid = words.next().and_then(hex)?;
    let input = words.next().and_then(decimal)?;
    let output = words.next().and_then(decimal)?;
    let mut lanes = [Vl(0); 16];
    for pair in lanes.chunks_exact_mut(2) {
        let byte = words.next().and_then(hex).filter(|byte| *byte <= 255)?;
        pair[0] = Vl((byte >> 4) as u8);
        pair[1] = Vl((byte & 15) as u8);
    }
    let is_over = words.next().is_none();
    is_over.then_some((Guid(guid), input, output, SlToVl(lanes)))
}
