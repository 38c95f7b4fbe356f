//! What `smpquery` answers about ports: lanes, arbitration, and PortInfo.
//!
//! The answers of many queries may stand behind each other, of all three kinds, with the commands between them. Where a
//! port was asked twice, the last answer counts. Lines outside of these answers are passed over.

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

/// The subnet that was asked, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The subnet.
    pub subnet: &'a Subnet,
    /// The node at which queries with a directed route (`-D 0,1,5`) begin; [`super::initiated_from`] tells it for a
    /// listing that was made there. Without it such answers are told and left out.
    pub from: Option<Guid>,
}

/// Reads answers of `smpquery sl2vl`, `vlarb` and `portinfo`. Ports that the subnet does not have are told and left out.
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
        let message = "no answer to smpquery sl2vl, vlarb or portinfo in this file";
        let note = reader.mistakes.error("E1113", first_line(text), message);
        note.map(|note| note.help("`smpquery vlarb 2 1` asks port 1 of the switch with LID 2"));
    }
    reader.mistakes.finish();
}

/// Whose answer the lines belong to.
enum Block {
    None,
    /// Lanes of a node; for one that is no switch, of this port.
    SlToVl(NodeId, u8),
    VlArbitration(Arbitration),
    PortInfo(PortName),
    /// An answer about a port that was told to be unknown.
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
            note.map(|note| note.help("nothing is known of its port"));
        } else {
            self.answer(line);
        }
    }

    /// A line within an answer.
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
                let message = "a row before the heading that says whose it is";
                let note = self.mistakes.error("E1130", line.span(), message);
                note.map(|note| note.help("the beginning of the answer is missing"));
            }
            _ => {}
        }
    }

    /// The answer is over.
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

/// Tells a line that is none of its answer.
fn misunderstood(line: Line<'_>, span: Span, what: &str, mistakes: &mut Mistakes<'_>) {
    let (code, help) = match line.is_open {
        true => ("E1102", "the file is cut off: ask again"),
        false => ("E1101", "it is no line that smpquery answers"),
    };
    let note = mistakes.error(code, span, format!("expected {what}"));
    note.map(|note| note.help(help));
}
