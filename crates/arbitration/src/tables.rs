//! The arbitration tables of InfiniBand: what is planned, simulated and exported.

use std::fmt;

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_units::Vl;

use crate::head::vl_bit;

/// Bytes in one unit of weight.
pub const WEIGHT_UNIT: u32 = 64;

/// Entries of one table, at most.
pub const MAX_ENTRIES: usize = 64;

/// Bytes in one unit of LimitOfHighPriority.
pub const LIMIT_UNIT: u32 = 4096;

/// The value of LimitOfHighPriority that means "no limit".
pub const NO_LIMIT: u8 = 255;

/// What a packet costs an entry: its length in units of weight, rounded up.
#[inline]
pub fn weight_units(bytes: u32) -> u32 {
    bytes.div_ceil(WEIGHT_UNIT)
}

/// One entry of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// The lane that may send.
    pub vl: Vl,
    /// How much, in units of 64 bytes; 0 means that the entry is skipped.
    pub weight: u8,
}

/// One table: at most 64 entries, each for a data lane (VL0 to VL14).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct VlArbitrationTable(Vec<Entry>);

/// Why a list of entries is no table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// More entries than a table holds.
    TooLong(usize),
    /// An entry for a lane that is no data lane: which entry, and its lane.
    NotADataVl(usize, Vl),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::TooLong(n) => {
                write!(f, "{n} entries; a table holds at most {MAX_ENTRIES}")
            }
            TableError::NotADataVl(at, vl) if vl.0 == 15 => {
                write!(f, "entry {at}: VL15 is management and in no table")
            }
            TableError::NotADataVl(at, vl) => {
                write!(f, "entry {at}: {vl} is no data lane; those are 0 to 14")
            }
        }
    }
}

impl std::error::Error for TableError {}

impl VlArbitrationTable {
    /// The table with these entries, or what is wrong with them.
    pub fn new(entries: Vec<Entry>) -> Result<VlArbitrationTable, TableError> {
        if entries.len() > MAX_ENTRIES {
            return Err(TableError::TooLong(entries.len()));
        }
        match entries.iter().position(|e| e.vl.0 > 14) {
            Some(at) => Err(TableError::NotADataVl(at, entries[at].vl)),
            None => Ok(VlArbitrationTable(entries)),
        }
    }

    /// The same from pairs of lane and weight.
    pub fn from_pairs(pairs: &[(u8, u8)]) -> Result<VlArbitrationTable, TableError> {
        let entry = |&(vl, weight): &(u8, u8)| Entry { vl: Vl(vl), weight };
        VlArbitrationTable::new(pairs.iter().map(entry).collect())
    }

    /// The entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The lanes it can send (with an entry whose weight is not 0), one bit each.
    pub fn vls(&self) -> u32 {
        let live = self.0.iter().filter(|e| e.weight > 0);
        live.fold(0, |vls, e| vls | vl_bit(e.vl))
    }
}

/// In files: `[[lane, weight], …]`.
impl FromToml for VlArbitrationTable {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Tuple(vec![
            Shape::Integer(0, 14),
            Shape::Integer(0, 255),
        ])))
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let pairs = Vec::<(u8, u8)>::read(value, notes)?;
        match VlArbitrationTable::from_pairs(&pairs) {
            Ok(table) => Some(table),
            Err(error) => {
                // The entry itself, where the mistake is in one.
                let place = match (&value.shape, error) {
                    (ValueShape::List(items), TableError::NotADataVl(at, _)) => items[at].place,
                    _ => value.place,
                };
                notes.error("E0102", place, error.to_string());
                None
            }
        }
    }

    fn write(&self) -> String {
        let pairs: Vec<(u8, u8)> = self.0.iter().map(|e| (e.vl.0, e.weight)).collect();
        pairs.write()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_catalog::Document;

    #[test]
    fn a_table_has_at_most_64_entries_of_data_lanes() {
        assert!(VlArbitrationTable::from_pairs(&[(0, 1); 64]).is_ok());
        assert_eq!(
            VlArbitrationTable::from_pairs(&[(0, 1); 65]),
            Err(TableError::TooLong(65))
        );
        for vl in [15, 16, 255] {
            assert_eq!(
                VlArbitrationTable::from_pairs(&[(14, 255), (vl, 1)]),
                Err(TableError::NotADataVl(1, Vl(vl)))
            );
        }
    }

    #[test]
    fn entries_of_weight_zero_send_nothing() {
        let table = VlArbitrationTable::from_pairs(&[(0, 0), (3, 1), (5, 0), (3, 0)]).unwrap();
        assert_eq!(table.vls(), 1 << 3);
    }

    #[test]
    fn packets_are_charged_rounded_up() {
        let charged = [1, 64, 65, 128, 4096, 4097].map(weight_units);
        assert_eq!(charged, [1, 1, 2, 2, 64, 65]);
    }

    fn read(text: &str) -> Result<VlArbitrationTable, Vec<String>> {
        let mut notes = Notes::new();
        let doc = Document::parse("x.toml", text, &mut notes);
        let table = VlArbitrationTable::read(doc.root.get("low").unwrap(), &mut notes);
        let messages = notes.iter().map(|n| n.message.clone()).collect();
        table.ok_or(messages)
    }

    #[test]
    fn what_is_written_reads_back() {
        let table = VlArbitrationTable::from_pairs(&[(0, 0), (3, 1), (14, 255)]).unwrap();
        assert_eq!(read(&format!("low = {}", table.write())), Ok(table));
        assert_eq!(read("low = []"), Ok(VlArbitrationTable::default()));
        assert_eq!(
            read("low = [[0, 10], [15, 1]]"),
            Err(vec!["entry 1: VL15 is management and in no table".into()])
        );
        assert_eq!(
            read("low = [[0, 256]]"),
            Err(vec!["256 is out of range".into()])
        );
    }
}
