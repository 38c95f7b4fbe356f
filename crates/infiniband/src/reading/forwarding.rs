//! Forwarding tables as text: `opensm-lfts.dump`, `dump_fts`, `dump_lfts`, and `ibroute`.
//!
//! ```text
//! Unicast lids [0-12] of switch Lid 2 guid 0xb8599f0300200000 ('leaf0'):
//! 0x0001 001 # Channel Adapter portguid 0x98039b0300100001: 'node000 mlx5_0'
//! 12 lids dumped
//! ```
//!
//! A missing address has no output. Only the GUID of the switch, the address and the output are
//! used; the text after them may be missing (`-n`).

use netloom_catalog::Notes;

use super::mistakes::Mistakes;
use super::scanner::{Cursor, Line, lines};
use super::tables::Tables;
use crate::{Guid, Programmed, Subnet};

/// Reads forwarding tables. Tables of unknown switches are reported and ignored. A table replaces
/// one that was read earlier from another text.
pub fn read_forwarding(
    text: &str,
    source: u16,
    subnet: &Subnet,
    programmed: &mut Programmed,
    notes: &mut Notes,
) {
    let mut mistakes = Mistakes::of(source, notes);
    let mut reader = Reader {
        tables: Tables::of(subnet),
        block: Block::None,
        top: 0,
        is_diags: false,
        has_reported_multicast: false,
    };
    for line in lines(text) {
        reader.line(line.trimmed(), &mut mistakes);
    }
    reader.close(&mut mistakes);
    let hint = reader.hint();
    reader.tables.finish(programmed, hint, text, &mut mistakes);
    mistakes.finish();
}

/// What the current lines belong to.
enum Block<'a> {
    None,
    /// A table: its heading, and its number of entries so far.
    Unicast(Line<'a>, u64),
    Multicast,
}

struct Reader<'a> {
    tables: Tables<'a>,
    block: Block<'a>,
    /// The last address that a heading names.
    top: u64,
    /// Whether `ibroute` wrote the table, with hexadecimal numbers in its headings.
    is_diags: bool,
    has_reported_multicast: bool,
}

/// Lines without data.
const TITLES: [&str; 4] = ["Lid  Out", "Port     Info", "***", "MLid"];

/// Beginnings of the lines that tools write when a device does not answer.
pub(super) const COMPLAINTS: [&str; 7] = [
    "ibwarn:",
    "ibnetdiscover:",
    "iberror:",
    "ibpanic:",
    "ibroute:",
    "dump_fts:",
    "smpquery:",
];

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>, mistakes: &mut Mistakes<'_>) {
        let mut cursor = line.cursor();
        // Nearly all lines are rows.
        if line.text.starts_with("0x") && !matches!(self.block, Block::Multicast) {
            self.row(line, mistakes);
        } else if cursor.eat("Unicast lids ") {
            self.close(mistakes);
            match heading(&mut cursor) {
                Some((top, is_diags, guid)) => {
                    self.top = self.top.max(top);
                    self.is_diags |= is_diags;
                    self.tables.switch(guid, line.span(), mistakes);
                    self.block = Block::Unicast(line, 0);
                }
                None => self.misunderstood(line, "`[0-12] of switch … guid 0x…`", mistakes),
            }
        } else if cursor.eat("Multicast mlids ") {
            self.close(mistakes);
            self.block = Block::Multicast;
            if !std::mem::replace(&mut self.has_reported_multicast, true) {
                let message = "multicast tables are ignored";
                let note = mistakes.warning("E1124", line.span(), message);
                note.map(|note| note.help("use dump_fts without -M to read unicast routes"));
            }
        } else if line.text.is_empty() || TITLES.iter().any(|title| line.text.starts_with(title)) {
        } else if COMPLAINTS.iter().any(|word| line.text.starts_with(word)) {
            let message = "a switch did not answer when the tables were read";
            let note = mistakes.warning("E1135", line.span(), message);
            note.map(|note| note.help("dump the tables again; its table is missing or incomplete"));
        } else if !matches!(self.block, Block::Multicast) {
            self.row(line, mistakes);
        } else if line.text.ends_with("mlids dumped") {
            self.block = Block::None;
        }
    }

    fn row(&mut self, line: Line<'a>, mistakes: &mut Mistakes<'_>) {
        let mut cursor = line.cursor();
        if line.text.starts_with("0x") {
            let lid = cursor.hex();
            let output = cursor.blanks().decimal();
            let (Some(lid), Some(output)) = (lid, output) else {
                return self.misunderstood(line, "an address and a port number", mistakes);
            };
            let Block::Unicast(_, n_entries) = &mut self.block else {
                return self.misunderstood(line, "the heading of a switch first", mistakes);
            };
            *n_entries += 1;
            let output = Some(output).filter(|output| *output != 255);
            self.tables.entry(lid, output, line, mistakes);
            return;
        }
        let count = cursor.decimal();
        let is_valid = cursor.blanks().eat("valid ");
        match (count, cursor.rest) {
            (Some(count), "lids dumped") => {
                let block = std::mem::replace(&mut self.block, Block::None);
                // OpenSM writes its last address here instead of a count.
                if let Block::Unicast(heading, n_entries) = block
                    && is_valid
                    && count != n_entries
                {
                    let message = format!("expected {count} addresses, found {n_entries}");
                    let heading = mistakes.place(&heading.span());
                    let note = mistakes.error("E1123", line.span(), message);
                    note.map(|note| {
                        note.also(heading, "of this switch")
                            .help("dump the tables again; lines are missing")
                    });
                }
            }
            _ => self.misunderstood(line, "an address and a port number", mistakes),
        }
    }

    fn misunderstood(&self, line: Line<'_>, what: &str, mistakes: &mut Mistakes<'_>) {
        let (code, help) = match line.is_open {
            true => ("E1102", "dump the tables again; the file is truncated"),
            false => (
                "E1101",
                "remove the line; opensm-lfts.dump, dump_fts and ibroute have no such line",
            ),
        };
        let note = mistakes.error(code, line.span(), format!("expected {what}"));
        note.map(|note| note.help(help));
    }

    /// Ends a block. A table must have ended with the line that counts its rows.
    fn close(&mut self, mistakes: &mut Mistakes<'_>) {
        if let Block::Unicast(heading, _) = std::mem::replace(&mut self.block, Block::None) {
            let message = "the table of this switch is truncated";
            let note = mistakes.error("E1102", heading.span(), message);
            note.map(|note| note.help("dump the tables again; a table ends with `… lids dumped`"));
        }
    }

    /// Returns the help for addresses that are missing at every switch.
    fn hint(&self) -> &'static str {
        match self.is_diags && self.top != 0 && self.top.is_multiple_of(64) {
            true => {
                "use opensm-lfts.dump: dump_fts and ibroute omit the last LID if it is a multiple \
                 of 64"
            }
            false => "add the missing tables, if any; otherwise these addresses are unreachable",
        }
    }
}

/// Parses the last address, whether `ibroute` wrote it, and the switch.
fn heading(cursor: &mut Cursor<'_>) -> Option<(u64, bool, Guid)> {
    let range = cursor.eat("[").then(|| cursor.until("]")).flatten()?;
    let mut top = Cursor {
        rest: range.split_once('-')?.1,
    };
    let is_diags = top.rest.starts_with("0x");
    let top = match is_diags {
        true => top.hex()?,
        false => top.decimal()?,
    };
    cursor.until("of switch ")?;
    cursor.until("guid ")?;
    Some((top, is_diags, Guid(cursor.hex()?)))
}
