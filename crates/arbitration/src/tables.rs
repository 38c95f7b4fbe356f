//! The arbitration tables, shared by planning, simulation and export.
//!
//! ```text
//! VlArbitrationTable   InfiniBand                 (VL, weight)  units of 64 bytes
//! DeficitTable         DTable                     (SL, weight)  credits of 64 bytes
//! QuantumTable         BXI                        (SL, weight)  weight * k flits
//! ```

use std::fmt;

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_units::{Sl, Vl};

use crate::head::vl_bit;

/// Bytes per unit of weight.
pub const WEIGHT_UNIT: u32 = 64;

/// Maximum of entries per table.
pub const MAX_ENTRIES: usize = 64;

/// Maximum of entries per table with virtual entries: two tables need row numbers of 8 bits.
pub const MAX_VIRTUAL_ENTRIES: usize = 128;

/// Maximum of entries of a deficit table: an 8-bit pointer identifies them.
pub const MAX_DEFICIT_ENTRIES: usize = 256;

/// Entries of a deficit table in the storage of an InfiniBand port: the 64 of the high table, and
/// the 47 of the low table that hold neither a deficit nor the accumulator.
pub const MAX_IB_DEFICIT_ENTRIES: usize = 111;

/// Maximum of entries of a quantum table: the current entry is a register of 8 bits.
pub const MAX_QUANTUM_ENTRIES: usize = 256;

/// The largest quantum of one entry, in flits. Deficits can be added without overflow.
pub const MAX_QUANTUM: u32 = 1 << 30;

/// Service levels of a fabric: the field has 4 bits.
pub const N_SLS: usize = 16;

/// Bytes per unit of LimitOfHighPriority.
pub const LIMIT_UNIT: u32 = 4096;

/// The value of LimitOfHighPriority that means "no limit".
pub const NO_LIMIT: u8 = 255;

/// Returns the cost of a packet to an entry: its length in units of weight, rounded up.
#[inline]
pub fn weight_units(bytes: u32) -> u32 {
    bytes.div_ceil(WEIGHT_UNIT)
}

/// One entry of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    pub vl: Vl,
    /// Weight in units of 64 bytes; entries of weight 0 are skipped.
    pub weight: u8,
}

/// One table: at most 64 entries, each for a data lane (VL0 to VL14).
///
/// A longer table can be simulated: [`VlArbitrationTable::with_virtual_entries`] makes one of up to
/// 128 entries. No port holds more than 64, and no file can contain them.
/// [`VlArbitrationTable::has_virtual_entries`] returns whether a table has such entries.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct VlArbitrationTable(Vec<Entry>);

/// Why a list of entries is not a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// There are too many entries: their number, and the maximum.
    TooLong(usize, usize),
    /// An entry is not for a data lane: its index and its lane.
    NotADataVl(usize, Vl),
    /// An entry is for a service level that does not exist: its index and its service level.
    NotAnSl(usize, Sl),
    /// The quantum of an entry (weight times k) is above [`MAX_QUANTUM`]: its index and its
    /// quantum.
    QuantumTooLarge(usize, u64),
}

impl TableError {
    /// Returns the index of the wrong entry, if it is one.
    pub fn entry(&self) -> Option<usize> {
        match *self {
            TableError::TooLong(..) => None,
            TableError::NotADataVl(at, _)
            | TableError::NotAnSl(at, _)
            | TableError::QuantumTooLarge(at, _) => Some(at),
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::TooLong(n, most) => {
                write!(f, "expected at most {most} entries, found {n}")
            }
            TableError::NotAnSl(at, sl) => {
                write!(
                    f,
                    "entry {at}: {sl} is not a service level; service levels are SL0 to SL15"
                )
            }
            TableError::QuantumTooLarge(at, quantum) => {
                write!(
                    f,
                    "entry {at}: expected a quantum of at most {MAX_QUANTUM} flits, found {quantum}"
                )
            }
            TableError::NotADataVl(at, vl) if vl.0 == 15 => {
                write!(f, "entry {at}: VL15 is management and cannot be in a table")
            }
            TableError::NotADataVl(at, vl) => {
                write!(
                    f,
                    "entry {at}: {vl} is not a data lane; data lanes are VL0 to VL14"
                )
            }
        }
    }
}

impl std::error::Error for TableError {}

impl VlArbitrationTable {
    /// Returns the table with these entries, or an error.
    pub fn new(entries: Vec<Entry>) -> Result<VlArbitrationTable, TableError> {
        VlArbitrationTable::with_at_most(MAX_ENTRIES, entries)
    }

    /// Returns a table that may have entries beyond the 64 of a port, for simulation only; at most
    /// [`MAX_VIRTUAL_ENTRIES`] in all.
    pub fn with_virtual_entries(entries: Vec<Entry>) -> Result<VlArbitrationTable, TableError> {
        VlArbitrationTable::with_at_most(MAX_VIRTUAL_ENTRIES, entries)
    }

    /// Returns whether there are more entries than a port holds.
    pub fn has_virtual_entries(&self) -> bool {
        self.0.len() > MAX_ENTRIES
    }

    fn with_at_most(most: usize, entries: Vec<Entry>) -> Result<VlArbitrationTable, TableError> {
        if entries.len() > most {
            return Err(TableError::TooLong(entries.len(), most));
        }
        match entries.iter().position(|e| e.vl.0 > 14) {
            Some(at) => Err(TableError::NotADataVl(at, entries[at].vl)),
            None => Ok(VlArbitrationTable(entries)),
        }
    }

    /// Returns the same from pairs of lane and weight.
    pub fn from_pairs(pairs: &[(u8, u8)]) -> Result<VlArbitrationTable, TableError> {
        let entry = |&(vl, weight): &(u8, u8)| Entry { vl: Vl(vl), weight };
        VlArbitrationTable::new(pairs.iter().map(entry).collect())
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Returns the lanes that it can send (with an entry whose weight is not 0), one bit each.
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
                note(error, value, notes);
                None
            }
        }
    }

    fn write(&self) -> String {
        let pairs: Vec<(u8, u8)> = self.0.iter().map(|e| (e.vl.0, e.weight)).collect();
        pairs.write()
    }
}

/// Notes an error at the entry itself, if one is wrong.
fn note(error: TableError, value: &Value, notes: &mut Notes) {
    let place = match (&value.shape, error.entry()) {
        (ValueShape::List(items), Some(at)) => items[at].place,
        _ => value.place,
    };
    notes.error("E0102", place, error.to_string());
}

/// One entry of a table of service levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlEntry {
    pub sl: Sl,
    /// Weight in the unit of the table; entries of weight 0 are skipped.
    pub weight: u16,
}

/// In files: `[sl, weight]`.
impl FromToml for SlEntry {
    fn shape() -> Shape {
        Shape::Tuple(vec![
            Shape::Integer(0, N_SLS as i128 - 1),
            Shape::Integer(0, i128::from(u16::MAX)),
        ])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let (sl, weight) = <(u8, u16)>::read(value, notes)?;
        Some(SlEntry { sl: Sl(sl), weight })
    }

    fn write(&self) -> String {
        (self.sl.0, self.weight).write()
    }
}

fn check_sls(entries: &[SlEntry], most: usize) -> Result<(), TableError> {
    if entries.len() > most {
        return Err(TableError::TooLong(entries.len(), most));
    }
    match entries.iter().position(|e| e.sl.index() >= N_SLS) {
        Some(at) => Err(TableError::NotAnSl(at, entries[at].sl)),
        None => Ok(()),
    }
}

/// Returns the service levels that entries can send (with a weight that is not 0), one bit each.
pub(crate) fn live_sls(entries: &[SlEntry]) -> u32 {
    let live = entries.iter().filter(|e| e.weight > 0);
    live.fold(0, |sls, e| sls | 1 << (e.sl.index() % 32))
}

/// Returns the total weight of each service level.
fn totals(entries: &[SlEntry]) -> [u64; N_SLS] {
    let mut totals = [0; N_SLS];
    for entry in entries {
        totals[entry.sl.index()] += u64::from(entry.weight);
    }
    totals
}

/// Returns the part of each service level, from 0 to 1.
fn shares(entries: &[SlEntry]) -> [f64; N_SLS] {
    let totals = totals(entries);
    let whole: u64 = totals.iter().sum();
    totals.map(|total| total as f64 / whole.max(1) as f64)
}

/// The table of DTable: at most 256 entries, each for a service level; weights in credits of 64
/// bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DeficitTable(Vec<SlEntry>);

impl DeficitTable {
    /// Returns the table with these entries, or an error.
    pub fn new(entries: Vec<SlEntry>) -> Result<DeficitTable, TableError> {
        check_sls(&entries, MAX_DEFICIT_ENTRIES)?;
        Ok(DeficitTable(entries))
    }

    /// Returns the same from pairs of service level and weight.
    pub fn from_pairs(pairs: &[(u8, u16)]) -> Result<DeficitTable, TableError> {
        DeficitTable::new(entries_of(pairs))
    }

    pub fn entries(&self) -> &[SlEntry] {
        &self.0
    }

    /// Returns the service levels that it can send (with an entry whose weight is not 0), one bit
    /// each.
    pub fn sls(&self) -> u32 {
        live_sls(&self.0)
    }

    /// Returns the total weight of each service level, in credits.
    pub fn totals(&self) -> [u64; N_SLS] {
        totals(&self.0)
    }

    /// Returns the part of the link of each service level when all have something to send, from 0
    /// to 1.
    pub fn shares(&self) -> [f64; N_SLS] {
        shares(&self.0)
    }

    /// Returns the largest possible value of the accumulator, in credits: a weight and a saved
    /// deficit, which is smaller than one message. `largest_message` has credits per service level.
    pub fn largest_accumulator(&self, largest_message: &[u32; N_SLS]) -> u32 {
        let largest = |entry: &SlEntry| {
            let deficit = largest_message[entry.sl.index()].saturating_sub(1);
            u32::from(entry.weight).saturating_add(deficit)
        };
        let live = self.0.iter().filter(|e| e.weight > 0);
        live.map(largest).max().unwrap_or(0)
    }

    /// Returns whether the table fits into the arbitration tables of an InfiniBand port. Weights,
    /// deficits and the accumulator have 8 bits each there, and 111 entries fit. `largest_message`
    /// has credits per service level.
    pub fn fits_ib_registers(&self, largest_message: &[u32; N_SLS]) -> bool {
        self.0.len() <= MAX_IB_DEFICIT_ENTRIES
            && self.largest_accumulator(largest_message) <= u32::from(u8::MAX)
    }
}

fn entries_of(pairs: &[(u8, u16)]) -> Vec<SlEntry> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    pairs.iter().map(entry).collect()
}

/// Formats as in files: `[[sl, weight], …]`.
impl fmt::Display for DeficitTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.write())
    }
}

impl FromToml for DeficitTable {
    fn shape() -> Shape {
        Vec::<SlEntry>::shape()
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        match DeficitTable::new(Vec::read(value, notes)?) {
            Ok(table) => Some(table),
            Err(error) => {
                note(error, value, notes);
                None
            }
        }
    }

    fn write(&self) -> String {
        self.0.write()
    }
}

/// The table of a BXI port: entries of a service level (4 bits) and a weight (16 bits), and the
/// value of a unit of weight. At most 256 entries, each with a quantum of at most [`MAX_QUANTUM`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct QuantumTable {
    entries: Vec<SlEntry>,
    /// Flits per unit of weight.
    pub k: u32,
}

impl QuantumTable {
    /// Returns the table with these entries, or an error.
    pub fn new(entries: Vec<SlEntry>, k: u32) -> Result<QuantumTable, TableError> {
        check_sls(&entries, MAX_QUANTUM_ENTRIES)?;
        let quantum = |e: &SlEntry| u64::from(e.weight) * u64::from(k);
        let too_large = |e: &SlEntry| quantum(e) > u64::from(MAX_QUANTUM);
        match entries.iter().position(too_large) {
            Some(at) => Err(TableError::QuantumTooLarge(at, quantum(&entries[at]))),
            None => Ok(QuantumTable { entries, k }),
        }
    }

    /// Returns the same from pairs of service level and weight.
    pub fn from_pairs(pairs: &[(u8, u16)], k: u32) -> Result<QuantumTable, TableError> {
        QuantumTable::new(entries_of(pairs), k)
    }

    pub fn entries(&self) -> &[SlEntry] {
        &self.entries
    }

    /// Returns what an entry may send per turn, in flits.
    pub fn quantum(&self, entry: &SlEntry) -> u32 {
        u32::from(entry.weight)
            .saturating_mul(self.k)
            .min(MAX_QUANTUM)
    }

    /// Returns the service levels that it can send (with an entry whose quantum is not 0), one bit
    /// each.
    pub fn sls(&self) -> u32 {
        if self.k == 0 {
            0
        } else {
            live_sls(&self.entries)
        }
    }

    /// Returns the part of the link of each service level when all have something to send, from 0
    /// to 1.
    pub fn shares(&self) -> [f64; N_SLS] {
        shares(&self.entries)
    }
}

/// Formats the entries as in files, `[[sl, weight], …]`; `k` has a key of its own.
impl fmt::Display for QuantumTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.entries.write())
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
            Err(TableError::TooLong(65, 64))
        );
        for vl in [15, 16, 255] {
            assert_eq!(
                VlArbitrationTable::from_pairs(&[(14, 255), (vl, 1)]),
                Err(TableError::NotADataVl(1, Vl(vl)))
            );
        }
    }

    #[test]
    fn virtual_entries_are_made_on_purpose_only() {
        let entry = Entry {
            vl: Vl(3),
            weight: 255,
        };
        let table = VlArbitrationTable::with_virtual_entries(vec![entry; 128]).unwrap();
        assert!(table.has_virtual_entries());
        assert!(
            !VlArbitrationTable::from_pairs(&[(3, 255); 64])
                .unwrap()
                .has_virtual_entries()
        );
        assert_eq!(
            VlArbitrationTable::with_virtual_entries(vec![entry; 129]),
            Err(TableError::TooLong(129, 128))
        );
        // A file may not contain what a study may simulate: the text of such a table is rejected.
        assert_eq!(
            read(&format!("low = {}", table.write())),
            Err(vec!["expected at most 64 entries, found 128".into()])
        );
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
            Err(vec![
                "entry 1: VL15 is management and cannot be in a table".into()
            ])
        );
        assert_eq!(
            read("low = [[0, 256]]"),
            Err(vec!["256 is out of range".into()])
        );
    }

    #[test]
    fn tables_of_service_levels_know_their_limits() {
        assert!(DeficitTable::from_pairs(&[(15, u16::MAX); 256]).is_ok());
        assert_eq!(
            DeficitTable::from_pairs(&[(0, 1); 257]),
            Err(TableError::TooLong(257, 256))
        );
        let of = |n| DeficitTable::from_pairs(&vec![(0, 1); n]).unwrap();
        assert!(of(111).fits_ib_registers(&[1; N_SLS]));
        assert!(!of(112).fits_ib_registers(&[1; N_SLS]));
        assert_eq!(
            DeficitTable::from_pairs(&[(0, 1), (16, 1)]),
            Err(TableError::NotAnSl(1, Sl(16)))
        );
        assert_eq!(
            QuantumTable::from_pairs(&[(0, 1); 257], 1),
            Err(TableError::TooLong(257, 256))
        );
        assert_eq!(
            QuantumTable::from_pairs(&[(0, 1), (1, 4)], 1 << 29),
            Err(TableError::QuantumTooLarge(1, 1 << 31))
        );
        let table = DeficitTable::from_pairs(&[(0, 0), (3, 1), (5, 3)]).unwrap();
        assert_eq!(table.sls(), 1 << 3 | 1 << 5);
        assert_eq!(table.shares()[5], 0.75);
    }

    #[test]
    fn a_deficit_table_is_written_as_it_is_read() {
        let table = DeficitTable::from_pairs(&[(0, 3), (15, 65535), (2, 0)]).unwrap();
        assert_eq!(table.to_string(), "[[0, 3], [15, 65535], [2, 0]]");
        let read = |text: &str| {
            let mut notes = Notes::new();
            let doc = Document::parse("x.toml", text, &mut notes);
            let table = DeficitTable::read(doc.root.get("table").unwrap(), &mut notes);
            let messages: Vec<String> = notes.iter().map(|n| n.message.clone()).collect();
            table.ok_or(messages)
        };
        assert_eq!(read(&format!("table = {table}")), Ok(table));
        assert_eq!(
            read("table = [[0, 3], [16, 1]]"),
            Err(vec![
                "entry 1: SL16 is not a service level; service levels are SL0 to SL15".into()
            ])
        );
    }

    #[test]
    fn v003_1_weights_5_3_2_with_k_100() {
        let table = QuantumTable::from_pairs(&[(0, 5), (1, 3), (2, 2)], 100).unwrap();
        let quanta: Vec<u32> = table.entries().iter().map(|e| table.quantum(e)).collect();
        assert_eq!(quanta, [500, 300, 200]);
        assert_eq!(table.shares()[..4], [0.5, 0.3, 0.2, 0.0]);
        assert_eq!(table.to_string(), "[[0, 5], [1, 3], [2, 2]]");
    }
}
