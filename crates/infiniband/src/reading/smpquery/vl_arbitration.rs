//! The two tables of a port, in pairs of lines: lanes, then weights. More than 32 entries take two
//! pairs.

use netloom_arbitration::{Entry, MAX_ENTRIES};
use netloom_units::Vl;

use super::super::mistakes::{Mistakes, Span};
use super::super::scanner::{Cursor, Line, hex};
use super::misunderstood;
use crate::{PortName, VlArbitration};

/// An answer that is being read.
pub(super) struct Arbitration {
    name: PortName,
    heading: Span,
    tables: VlArbitration,
    /// The table that the current lines belong to.
    current: Option<Table>,
    /// Lanes whose weights are on the next line.
    lanes: Vec<Vl>,
    /// Whether an error was reported, so that the entries need not be counted.
    is_wrong: bool,
}

#[derive(Clone, Copy)]
enum Table {
    Low,
    High,
}

impl Arbitration {
    /// Parses the heading after the port: `LowCap 8 HighCap 8`.
    pub(super) fn begin(
        name: PortName,
        mut cursor: Cursor<'_>,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<Arbitration> {
        let mut cap = |key: &str| {
            let number = cursor.blanks().eat(key).then(|| cursor.decimal());
            number.flatten()
        };
        let (Some(low), Some(high)) = (cap("LowCap "), cap("HighCap ")) else {
            misunderstood(line, line.span(), "`LowCap` and `HighCap`", mistakes);
            return None;
        };
        if low.max(high) > MAX_ENTRIES as u64 {
            let message = format!("expected at most 64 entries, found {low} and {high}");
            let note = mistakes.error("E1103", line.span(), message);
            note.map(|note| note.help("repeat the query; LowCap and HighCap are at most 64"));
            return None;
        }
        Some(Arbitration {
            name,
            heading: line.span(),
            tables: VlArbitration {
                low_cap: low as u8,
                high_cap: high as u8,
                ..VlArbitration::default()
            },
            current: None,
            lanes: vec![],
            is_wrong: false,
        })
    }

    /// Reads one line of the answer.
    pub(super) fn line(&mut self, line: Line<'_>, mistakes: &mut Mistakes<'_>) {
        if line.text.starts_with("# Low priority") {
            self.current = Some(Table::Low);
        } else if line.text.starts_with("# High priority") {
            self.current = Some(Table::High);
        } else if let Some(cells) = line.text.strip_prefix("VL    :") {
            let lanes = self.cells(cells, 15, line, mistakes);
            self.lanes = lanes.unwrap_or_default().into_iter().map(Vl).collect();
        } else if let Some(cells) = line.text.strip_prefix("WEIGHT:")
            && let Some(weights) = self.cells(cells, 255, line, mistakes)
        {
            self.pair(weights, line, mistakes);
        }
    }

    /// Parses `|0x0 |0x1 |`.
    fn cells(
        &mut self,
        text: &str,
        most: u64,
        line: Line<'_>,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<Vec<u8>> {
        let inner = text.trim().strip_prefix('|').unwrap_or("");
        let inner = inner.strip_suffix('|').unwrap_or(inner);
        let number = |cell: &str| hex(cell.trim()).filter(|number| *number <= most);
        let cells = inner.split('|').take(MAX_ENTRIES + 1);
        let read: Option<Vec<u8>> = cells.map(|cell| Some(number(cell)? as u8)).collect();
        if read.is_none() {
            self.is_wrong = true;
            let what = "hexadecimal numbers between bars";
            misunderstood(line, line.span(), what, mistakes);
        }
        read
    }

    /// Combines weights with the lanes of the previous line.
    fn pair(&mut self, weights: Vec<u8>, line: Line<'_>, mistakes: &mut Mistakes<'_>) {
        let lanes = std::mem::take(&mut self.lanes);
        if lanes.len() != weights.len() {
            if !std::mem::replace(&mut self.is_wrong, true) {
                let message = format!("expected {} weights, found {}", lanes.len(), weights.len());
                let note = mistakes.error("E1134", line.span(), message);
                note.map(|note| note.help("give one weight for each lane of the previous line"));
            }
            return;
        }
        let table = match self.current {
            Some(Table::Low) => &mut self.tables.low,
            Some(Table::High) => &mut self.tables.high,
            None => {
                return misunderstood(line, line.span(), "the name of a table first", mistakes);
            }
        };
        let entries = lanes.into_iter().zip(weights);
        let room = (MAX_ENTRIES + 1).saturating_sub(table.len());
        table.extend(entries.map(|(vl, weight)| Entry { vl, weight }).take(room));
    }

    /// Ends the answer and checks that both tables have the sizes given in the heading.
    pub(super) fn finish(self, mistakes: &mut Mistakes<'_>) -> Option<(PortName, VlArbitration)> {
        if self.is_wrong {
            return None;
        }
        let counts = [
            ("low", self.tables.low.len(), self.tables.low_cap),
            ("high", self.tables.high.len(), self.tables.high_cap),
        ];
        for (table, n_entries, cap) in counts {
            if n_entries != usize::from(cap) {
                let message =
                    format!("expected {cap} entries in the {table} table, found {n_entries}");
                let note = mistakes.error("E1134", self.heading.clone(), message);
                note.map(|note| note.help("repeat the query; lines of the answer are missing"));
                return None;
            }
        }
        Some((self.name, self.tables))
    }
}
