//! The arbitration tables: what is planned, simulated and exported.
//!
//! ```text
//! VlArbitrationTable   InfiniBand                 (VL, weight)  units of 64 bytes
//! DeficitTable         DTable (spec 1.2.1)        (SL, weight)  credits of 64 bytes
//! QuantumTable         BXI (spec 4.2)             (SL, weight)  weight * k flits
//! ```

use std::fmt;

use netloom_catalog::{FromToml, Notes, Shape, Value, ValueShape};
use netloom_units::{Sl, Vl};

use crate::head::vl_bit;

/// Bytes in one unit of weight.
pub const WEIGHT_UNIT: u32 = 64;

/// Entries of one table, at most.
pub const MAX_ENTRIES: usize = 64;

/// Entries of one table with virtual entries, at most: two of them have a number of 8 bits each.
pub const MAX_VIRTUAL_ENTRIES: usize = 128;

/// Entries of a deficit table, at most: a pointer of 8 bits tells them apart.
pub const MAX_DEFICIT_ENTRIES: usize = 256;

/// Entries of a deficit table that the storage of an InfiniBand port holds: the 64 of the high table, and the 47 of the
/// low table that hold neither a deficit nor the accumulator (spec 1.2.2).
pub const MAX_IB_DEFICIT_ENTRIES: usize = 111;

/// Entries of a quantum table, at most: the current entry is a register of 8 bits (V003-4).
pub const MAX_QUANTUM_ENTRIES: usize = 256;

/// The largest quantum of one entry, in flits. It leaves room to add deficits without an overflow.
pub const MAX_QUANTUM: u32 = 1 << 30;

/// Service levels of a fabric: the field has 4 bits.
pub const N_SLS: usize = 16;

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
///
/// A study may ask what a longer table would do (X004-3): [`VlArbitrationTable::with_virtual_entries`]
/// makes one of up to 128 entries. No port holds those beyond the 64th and no file can write them; they
/// are for simulation only, and [`VlArbitrationTable::has_virtual_entries`] tells such a table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct VlArbitrationTable(Vec<Entry>);

/// Why a list of entries is no table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// More entries than a table holds: how many there are, and how many it holds.
    TooLong(usize, usize),
    /// An entry for a lane that is no data lane: which entry, and its lane.
    NotADataVl(usize, Vl),
    /// An entry for a service level that does not exist: which entry, and its service level.
    NotAnSl(usize, Sl),
    /// An entry whose quantum (weight times k) is above [`MAX_QUANTUM`]: which entry, and its quantum.
    QuantumTooLarge(usize, u64),
}

impl TableError {
    /// The entry that is wrong, if it is one.
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
                write!(f, "{n} entries; a table holds at most {most}")
            }
            TableError::NotAnSl(at, sl) => {
                write!(f, "entry {at}: {sl} is no service level; those are 0 to 15")
            }
            TableError::QuantumTooLarge(at, quantum) => {
                write!(
                    f,
                    "entry {at}: a quantum of {quantum} flits; at most {MAX_QUANTUM}"
                )
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
        VlArbitrationTable::with_at_most(MAX_ENTRIES, entries)
    }

    /// The same with entries beyond the 64 that a port holds, for simulation only; at most
    /// [`MAX_VIRTUAL_ENTRIES`] in all.
    pub fn with_virtual_entries(entries: Vec<Entry>) -> Result<VlArbitrationTable, TableError> {
        VlArbitrationTable::with_at_most(MAX_VIRTUAL_ENTRIES, entries)
    }

    /// Whether there are more entries than a port holds.
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

/// Notes an error at the entry itself, where the mistake is in one.
fn note(error: TableError, value: &Value, notes: &mut Notes) {
    let place = match (&value.shape, error.entry()) {
        (ValueShape::List(items), Some(at)) => items[at].place,
        _ => value.place,
    };
    notes.error("E0102", place, error.to_string());
}

/// One entry of a table that goes by service level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlEntry {
    /// The service level that may send.
    pub sl: Sl,
    /// How much, in the unit of the table; 0 means that the entry is skipped.
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

/// The service levels that entries can send (with a weight that is not 0), one bit each.
pub(crate) fn live_sls(entries: &[SlEntry]) -> u32 {
    let live = entries.iter().filter(|e| e.weight > 0);
    live.fold(0, |sls, e| sls | 1 << (e.sl.index() % 32))
}

/// The total weight of each service level.
fn totals(entries: &[SlEntry]) -> [u64; N_SLS] {
    let mut totals = [0; N_SLS];
    for entry in entries {
        totals[entry.sl.index()] += u64::from(entry.weight);
    }
    totals
}

/// Per service level its part of the whole, from 0 to 1.
fn shares(entries: &[SlEntry]) -> [f64; N_SLS] {
    let totals = totals(entries);
    let whole: u64 = totals.iter().sum();
    totals.map(|total| total as f64 / whole.max(1) as f64)
}

/// The table of DTable: at most 256 entries, each for a service level; weights in credits of 64 bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DeficitTable(Vec<SlEntry>);

impl DeficitTable {
    /// The table with these entries, or what is wrong with them.
    pub fn new(entries: Vec<SlEntry>) -> Result<DeficitTable, TableError> {
        check_sls(&entries, MAX_DEFICIT_ENTRIES)?;
        Ok(DeficitTable(entries))
    }

    /// The same from pairs of service level and weight.
    pub fn from_pairs(pairs: &[(u8, u16)]) -> Result<DeficitTable, TableError> {
        DeficitTable::new(entries_of(pairs))
    }

    /// The entries in order.
    pub fn entries(&self) -> &[SlEntry] {
        &self.0
    }

    /// The service levels it can send (with an entry whose weight is not 0), one bit each.
    pub fn sls(&self) -> u32 {
        live_sls(&self.0)
    }

    /// The total weight of each service level, in credits.
    pub fn totals(&self) -> [u64; N_SLS] {
        totals(&self.0)
    }

    /// The part of the link that each service level has when all have something to send, from 0 to 1.
    pub fn shares(&self) -> [f64; N_SLS] {
        shares(&self.0)
    }

    /// The largest value that the accumulator can have, in credits, with messages of at most so many
    /// credits per service level: a weight and a saved deficit, which is below one message.
    pub fn largest_accumulator(&self, largest_message: &[u32; N_SLS]) -> u32 {
        let largest = |entry: &SlEntry| {
            let deficit = largest_message[entry.sl.index()].saturating_sub(1);
            u32::from(entry.weight).saturating_add(deficit)
        };
        let live = self.0.iter().filter(|e| e.weight > 0);
        live.map(largest).max().unwrap_or(0)
    }

    /// Whether the table can live in the arbitration tables of an InfiniBand port (spec 1.2.2): weights,
    /// deficits and the accumulator have 8 bits each there, and 111 entries have a place. The messages are in credits per
    /// service level.
    pub fn fits_ib_registers(&self, largest_message: &[u32; N_SLS]) -> bool {
        self.0.len() <= MAX_IB_DEFICIT_ENTRIES
            && self.largest_accumulator(largest_message) <= u32::from(u8::MAX)
    }
}

fn entries_of(pairs: &[(u8, u16)]) -> Vec<SlEntry> {
    let entry = |&(sl, weight): &(u8, u16)| SlEntry { sl: Sl(sl), weight };
    pairs.iter().map(entry).collect()
}

/// As in files: `[[sl, weight], …]`.
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

/// The table of a BXI port: entries of a service level (4 bits) and a weight (16 bits), and what a unit
/// of weight is worth. At most 256 entries, none worth more than [`MAX_QUANTUM`] when it was made.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct QuantumTable {
    entries: Vec<SlEntry>,
    /// Flits per unit of weight.
    pub k: u32,
}

impl QuantumTable {
    /// The table with these entries, or what is wrong with them.
    pub fn new(entries: Vec<SlEntry>, k: u32) -> Result<QuantumTable, TableError> {
        check_sls(&entries, MAX_QUANTUM_ENTRIES)?;
        let quantum = |e: &SlEntry| u64::from(e.weight) * u64::from(k);
        let too_large = |e: &SlEntry| quantum(e) > u64::from(MAX_QUANTUM);
        match entries.iter().position(too_large) {
            Some(at) => Err(TableError::QuantumTooLarge(at, quantum(&entries[at]))),
            None => Ok(QuantumTable { entries, k }),
        }
    }

    /// The same from pairs of service level and weight.
    pub fn from_pairs(pairs: &[(u8, u16)], k: u32) -> Result<QuantumTable, TableError> {
        QuantumTable::new(entries_of(pairs), k)
    }

    /// The entries in order.
    pub fn entries(&self) -> &[SlEntry] {
        &self.entries
    }

    /// What an entry may send per turn, in flits.
    pub fn quantum(&self, entry: &SlEntry) -> u32 {
        u32::from(entry.weight)
            .saturating_mul(self.k)
            .min(MAX_QUANTUM)
    }

    /// The service levels it can send (with an entry whose quantum is not 0), one bit each.
    pub fn sls(&self) -> u32 {
        if self.k == 0 {
            0
        } else {
            live_sls(&self.entries)
        }
    }

    /// The part of the link that each service level has when all have something to send, from 0 to 1.
    pub fn shares(&self) -> [f64; N_SLS] {
        shares(&self.entries)
    }
}

/// The entries as in files, `[[sl, weight], …]`; `k` has a key of its own.
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
        // What a file may hold is not what a study may: the text of such a table is refused.
        assert_eq!(
            read(&format!("low = {}", table.write())),
            Err(vec!["128 entries; a table holds at most 64".into()])
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
            Err(vec!["entry 1: VL15 is management and in no table".into()])
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
                "entry 1: SL16 is no service level; those are 0 to 15".into()
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
