//! `opensm-sl2vl.dump`: the lanes for every pair of ports.
//!
//! ```text
//! Switch 0xb8599f0300200000, base LID 2, "leaf0"
//! #in out : 0  1  2  …  15
//! 0   1   : 0  1  2  …  15
//! Channel Adapter 0x98039b0300100001, base LID 1, "node000 mlx5_0"
//! 0   0   : 0  1  2  …  15
//! ```
//!
//! The GUID of a channel adapter is that of its port, and its only row is `0   0`.

use netloom_catalog::Notes;

use super::lanes::{lanes, sixteen};
use super::mistakes::Mistakes;
use super::scanner::{Cursor, Line, first_line, lines};
use crate::{Guid, Lid, NodeId, PortName, Programmed, Subnet, SubnetIndex};

/// Reads the dump. Unknown ports are reported and ignored.
pub fn read_sl_to_vl_dump(
    text: &str,
    source: u16,
    subnet: &Subnet,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut mistakes = Mistakes::of(source, notes);
    let index = SubnetIndex::of(subnet);
    let mut block = Block::None;
    let mut n_rows = 0usize;
    for line in lines(text).map(|line| line.trimmed()) {
        if line.text.is_empty() || line.text.starts_with('#') {
            continue;
        }
        if line.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            block = match heading(line) {
                Some((guid, lid)) => find(&index, guid, lid, line, &mut mistakes),
                None => {
                    misunderstood(line, "a kind of node, its GUID and LID", &mut mistakes);
                    Block::Skipped
                }
            };
            continue;
        }
        let Some((input, output, cells)) = row(line) else {
            misunderstood(line, "an input, an output, `:` and lanes", &mut mistakes);
            continue;
        };
        let (node, port) = match block {
            Block::Of(node, port) => (node, port),
            Block::Skipped => continue,
            Block::None => {
                let message = "expected the heading of a port before its rows";
                let note = mistakes.error("E1130", line.span(), message);
                note.map(|note| note.help("add the beginning of the file"));
                continue;
            }
        };
        let Some(table) = sixteen(lanes(cells.split_whitespace()), line, &mut mistakes) else {
            continue;
        };
        let described = &subnet.nodes[node.index()];
        let n_ports = described.ports.len() as u64 - 1;
        if input > n_ports || output > n_ports {
            let message = format!("ports {input} and {output} of a node with {n_ports} ports");
            let note = mistakes.error("E1105", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            continue;
        }
        let (input, port) = match described.kind.is_switch() {
            true => (input as u8, output as u8),
            false => (0, port),
        };
        let name = PortName {
            node: described.guid,
            port,
        };
        programmed.sl_to_vl.insert((name, input), table);
        n_rows += 1;
    }
    if n_rows == 0 && !mistakes.any() {
        let note = mistakes.error("E1113", first_line(text), "no table in this file");
        note.map(|note| note.help("run OpenSM with -D 0x43 to dump its tables"));
    }
    mistakes.finish();
}

/// The port that the current rows belong to.
#[derive(Clone, Copy)]
enum Block {
    None,
    Of(NodeId, u8),
    /// An unknown port, already reported.
    Skipped,
}

/// `Switch 0x…, base LID 2, "leaf0"`.
fn heading(line: Line<'_>) -> Option<(Guid, u64)> {
    let mut cursor = line.cursor();
    let kinds = ["Switch ", "Channel Adapter ", "Router "];
    kinds.iter().any(|kind| cursor.eat(kind)).then_some(())?;
    let guid = Guid(cursor.hex()?);
    cursor.eat(", base LID ").then_some(())?;
    Some((guid, cursor.decimal()?))
}

fn find(
    index: &SubnetIndex,
    guid: Guid,
    lid: u64,
    line: Line<'_>,
    mistakes: &mut Mistakes<'_>,
) -> Block {
    let by_lid = || {
        u16::try_from(lid)
            .ok()
            .and_then(|lid| index.address(Lid(lid)))
    };
    let by_node = || index.node(guid).map(|node| (node, 1));
    match index.port(guid).or_else(by_lid).or_else(by_node) {
        Some((node, port)) => Block::Of(node, port),
        None => {
            let message = format!("no port of the subnet has GUID {guid} or LID {lid}");
            let note = mistakes.warning("E1131", line.span(), message);
            note.map(|note| note.help("check that both files are of the same subnet"));
            Block::Skipped
        }
    }
}

/// Parses input, output, and the cells after `:`.
fn row(line: Line<'_>) -> Option<(u64, u64, &str)> {
    let mut cursor: Cursor<'_> = line.cursor();
    let input = cursor.decimal()?;
    let output = cursor.blanks().decimal()?;
    cursor.blanks().eat(":").then_some(())?;
    Some((input, output, cursor.rest))
}

fn misunderstood(line: Line<'_>, what: &str, mistakes: &mut Mistakes<'_>) {
    let (code, help) = match line.is_open {
        true => ("E1102", "let OpenSM write the file again; it is truncated"),
        false => (
            "E1101",
            "remove the line, or let OpenSM write opensm-sl2vl.dump again",
        ),
    };
    let note = mistakes.error(code, line.span(), format!("expected {what}"));
    note.map(|note| note.help(help));
}
