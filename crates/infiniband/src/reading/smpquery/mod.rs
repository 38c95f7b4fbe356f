//! Output of `smpquery` about ports: lanes, arbitration, and PortInfo.
//!
//! A text may hold the answers to many queries of all three kinds, with the commands between them.
//! If a port was queried twice, the last answer counts. Lines outside these answers are ignored.

mod port_info;
mod sl_to_vl;
mod vl_arbitration;
mod whereabouts;

use netloom_catalog::Notes;

use self::vl_arbitration::Arbitration;
use self::whereabouts::Finder;
use super::forwarding::COMPLAINTS;
use super::mistakes::{Mistakes, Span};
use super::scanner::{Line, first_line, lines};
use crate::{Guid, NodeId, PortName, Programmed, Subnet};

/// The subnet that was queried, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub subnet: &'a Subnet,
    /// The node at which directed routes (`-D 0,1,5`) begin. [`super::initiated_from`] returns it
    /// for a listing made there. Without it, answers with directed routes are reported and ignored.
    pub from: Option<Guid>,
}

/// Reads output of `smpquery sl2vl`, `vlarb` and `portinfo`. Unknown ports are reported and
/// ignored.
pub fn read_smpquery(
    text: &str,
    source: u16,
    asked: Asked<'_>,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut reader = Reader {
        finder: Finder::of(asked),
        asked,
        mistakes: Mistakes::of(source, notes),
        programmed,
        block: Block::None,
        n_answers: 0,
    };
    for line in lines(text) {
        reader.line(line.trimmed());
    }
    reader.close();
    if reader.n_answers == 0 && !reader.mistakes.any() {
        let message = "no output of smpquery sl2vl, vlarb or portinfo in this file";
        let note = reader.mistakes.error("E1113", first_line(text), message);
        note.map(|note| {
            note.help("run `smpquery vlarb 2 1` to query port 1 of the switch with LID 2")
        });
    }
    reader.mistakes.finish();
}

/// The answer that the current lines belong to.
enum Block {
    None,
    /// Lanes of a switch, or of this port of another node.
    SlToVl(NodeId, u8),
    VlArbitration(Arbitration),
    PortInfo(PortName),
    /// An answer about an unknown port, already reported.
    Skipped,
}

struct Reader<'a, 'n> {
    finder: Finder<'a>,
    asked: Asked<'a>,
    mistakes: Mistakes<'n>,
    programmed: &'a mut Programmed,
    block: Block,
    n_answers: usize,
}

/// First lines of answers that are not read.
const OTHER_ANSWERS: [&str; 5] = [
    "# Node info:",
    "# Switch info:",
    "# Port ",
    "# Mellanox",
    "# P_Key",
];

impl Reader<'_, '_> {
    fn line(&mut self, line: Line<'_>) {
        let mut cursor = line.cursor();
        if cursor.eat("# SL2VL table: ") {
            self.close();
            self.block = match self.finder.node(&mut cursor, line, &mut self.mistakes) {
                Some((node, port)) => Block::SlToVl(node, port),
                None => Block::Skipped,
            };
        } else if cursor.eat("# VLArbitration tables: ") {
            self.close();
            self.block = match self.finder.port(&mut cursor, line, &mut self.mistakes) {
                Some(name) => match Arbitration::begin(name, cursor, line, &mut self.mistakes) {
                    Some(arbitration) => Block::VlArbitration(arbitration),
                    None => Block::Skipped,
                },
                None => Block::Skipped,
            };
        } else if cursor.eat("# No VLArbitration tables") {
            self.close();
            self.n_answers += 1;
        } else if cursor.eat("# Port info: ") {
            self.close();
            self.block = match self.finder.port(&mut cursor, line, &mut self.mistakes) {
                Some(name) => {
                    self.programmed.lanes.insert(name, Default::default());
                    self.n_answers += 1;
                    Block::PortInfo(name)
                }
                None => Block::Skipped,
            };
        } else if line.text.starts_with("$ ")
            || OTHER_ANSWERS.iter().any(|word| line.text.starts_with(word))
        {
            self.close();
        } else if COMPLAINTS.iter().any(|word| line.text.starts_with(word)) {
            let message = "a query was not answered";
            let note = self.mistakes.warning("E1135", line.span(), message);
            note.map(|note| note.help("repeat the query; this port has no data"));
        } else {
            self.answer(line);
        }
    }

    /// Reads a line within an answer.
    fn answer(&mut self, line: Line<'_>) {
        match &mut self.block {
            Block::SlToVl(node, port) if line.text.starts_with("ports:") => {
                let node = &self.asked.subnet.nodes[node.index()];
                let row = sl_to_vl::row(node, *port, line, &mut self.mistakes);
                if let Some((name, input, table)) = row {
                    self.programmed.sl_to_vl.insert((name, input), table);
                    self.n_answers += 1;
                }
            }
            Block::VlArbitration(arbitration) => arbitration.line(line, &mut self.mistakes),
            Block::PortInfo(name) => {
                let lanes = self.programmed.lanes.entry(*name).or_default();
                port_info::line(lanes, line, &mut self.mistakes);
            }
            Block::None if is_row(line) => {
                let message = "expected the heading of a port before its rows";
                let note = self.mistakes.error("E1130", line.span(), message);
                note.map(|note| note.help("add the beginning of the answer"));
            }
            _ => {}
        }
    }

    /// Ends the current answer.
    fn close(&mut self) {
        if let Block::VlArbitration(answer) = std::mem::replace(&mut self.block, Block::None)
            && let Some((name, arbitration)) = answer.finish(&mut self.mistakes)
        {
            self.programmed.arbitration.insert(name, arbitration);
            self.n_answers += 1;
        }
    }
}

fn is_row(line: Line<'_>) -> bool {
    let rows = ["ports:", "VL    :", "WEIGHT:"];
    rows.iter().any(|row| line.text.starts_with(row))
}

/// Reports a line that does not belong to its answer.
fn misunderstood(line: Line<'_>, span: Span, what: &str, mistakes: &mut Mistakes<'_>) {
    let (code, help) = match line.is_open {
        true => ("E1102", "repeat the query; the file is truncated"),
        false => ("E1101", "remove the line, or repeat the query"),
    };
    let note = mistakes.error(code, span, format!("expected {what}"));
    note.map(|note| note.help(help));
}
