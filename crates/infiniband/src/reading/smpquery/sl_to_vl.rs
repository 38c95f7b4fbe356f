//! `ports: in  0, out  1: | 0| 1| 2| 3| …|15|`.

use super::super::lanes::{lanes, sixteen};
use super::super::mistakes::Mistakes;
use super::super::scanner::Line;
use super::misunderstood;
use crate::{Node, PortName, SlToVl};

/// Parses a row into its output port, its input and its lanes. A node other than a switch answers
/// for the queried port.
pub(super) fn row(
    node: &Node,
    asked: u8,
    line: Line<'_>,
    mistakes: &mut Mistakes<'_>,
) -> Option<(PortName, u8, SlToVl)> {
    let Some((input, output, cells)) = split(line) else {
        misunderstood(
            line,
            line.span(),
            "`ports: in  0, out  1: |` and lanes",
            mistakes,
        );
        return None;
    };
    let cells = cells.split('|').map(str::trim);
    let table = sixteen(lanes(cells), line, mistakes)?;
    if !node.kind.is_switch() {
        let name = PortName {
            node: node.guid,
            port: asked,
        };
        return Some((name, 0, table));
    }
    let n_ports = node.ports.len() as u64 - 1;
    if input > n_ports || output > n_ports {
        let message = format!("ports {input} and {output} of a switch with {n_ports} ports");
        let note = mistakes.error("E1105", line.span(), message);
        note.map(|note| note.help("check that both files are of the same subnet"));
        return None;
    }
    let name = PortName {
        node: node.guid,
        port: output as u8,
    };
    Some((name, input as u8, table))
}

/// Parses input, output, and the cells between the outer bars.
fn split(line: Line<'_>) -> Option<(u64, u64, &str)> {
    let mut cursor = line.cursor();
    cursor.until("in ")?;
    let input = cursor.blanks().decimal()?;
    cursor.until("out ")?;
    let output = cursor.blanks().decimal()?;
    cursor.until("|")?;
    let cells = cursor.rest.trim_end();
    Some((input, output, cells.strip_suffix('|').unwrap_or(cells)))
}
