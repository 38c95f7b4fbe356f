//! The arbitration tables of one port, as connections are accepted and released.
//!
//! ```text
//! low     0 … 11    12      13    14 … 20    21        22
//!         BE 255    BE 204  CH 1  SL3 255    SL3 174   free   ← the next new entry, of any lane
//!                                                └ the next slots of SL3 go here first
//! high    0         1
//!         SL3 255   SL3 9        connections with a deadline, on lanes of their own
//! ```
//!
//! Best effort (BE) and challenged (CH) traffic have their entries in the low table from the
//! beginning. 50 of the 64 entries remain, which hold 12,750 slots: fewer than the 13,056 that the
//! paper admits. A low table may therefore grow *virtual* entries beyond the 64, which
//! [`PortTable::has_virtual_entries`] reports. The high table never does: 13,056 slots on four
//! lanes are at most 55 entries.

use netloom_arbitration::{Entry, MAX_ENTRIES, TableError, VlArbitrationTable};
use netloom_units::{Sl, Vl};

use super::admission::Mode;
use super::entries::{Entries, Placement};
use super::slots::{BEST_EFFORT, ENTRY_SLOTS, FRAME, N_SLS, Slots};
use super::waits::Late;

/// The guarantee of a connection: the bandwidth of its service level (DB), possibly with a deadline
/// (DBTS).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// The service level, 0 to 3.
    pub sl: Sl,
    pub has_deadline: bool,
}

impl Class {
    /// Returns the service level of its packets. A plain SL2VL map gives a level one lane.
    /// Connections with a deadline have lanes of their own, so they also have levels of their own:
    /// SL4 to SL7.
    pub fn service_level(self) -> Sl {
        Sl(self.sl.0 + if self.has_deadline { N_SLS } else { 0 })
    }
}

/// The service level of best effort.
pub const BEST_EFFORT_SL: Sl = Sl(2 * N_SLS);

/// The service level of challenged traffic.
pub const CHALLENGED_SL: Sl = Sl(2 * N_SLS + 1);

/// Service levels of connections, best effort and challenged traffic.
const N_LEVELS: usize = CHALLENGED_SL.0 as usize + 1;

/// Maximum of data lanes of a link.
const MOST_VLS: u8 = 15;

impl From<Sl> for Class {
    /// Bandwidth without a deadline.
    fn from(sl: Sl) -> Class {
        Class {
            sl,
            has_deadline: false,
        }
    }
}

/// The lane of each kind of traffic. The default is the paper's list in order: guaranteed bandwidth
/// on VL0 to VL3, guaranteed bandwidth with deadlines on VL4 to VL7, best effort on VL8, challenged
/// on VL9.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lanes {
    /// The lanes of connections without a deadline, by service level.
    pub connections: [Vl; N_SLS as usize],
    /// The lanes of connections with a deadline, by service level.
    pub deadlines: [Vl; N_SLS as usize],
    pub best_effort: Vl,
    /// The lane of challenged traffic, which is served last.
    pub challenged: Vl,
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes {
            connections: [Vl(0), Vl(1), Vl(2), Vl(3)],
            deadlines: [Vl(4), Vl(5), Vl(6), Vl(7)],
            best_effort: Vl(8),
            challenged: Vl(9),
        }
    }
}

impl Lanes {
    /// Returns the lane of a class of connections; a service level alone is a class without
    /// deadlines.
    ///
    /// # Panics
    /// If it is not a service level of connections.
    pub fn of(&self, class: impl Into<Class>) -> Vl {
        let Class { sl, has_deadline } = class.into();
        assert!(sl.0 < N_SLS, "{sl} is not a service level of connections");
        let lanes = if has_deadline {
            &self.deadlines
        } else {
            &self.connections
        };
        lanes[sl.index()]
    }

    /// Returns lanes for these classes on ports with `n_vls` lanes, or with the SL2VL map of a
    /// file. A port with enough lanes has the default. Otherwise, classes without connections have
    /// no lane, and challenged traffic shares that of best effort if necessary. The error says what
    /// the port lacks.
    pub fn on_ports(
        used: impl IntoIterator<Item = Class>,
        n_vls: Option<u8>,
        row: Option<&[u8]>,
    ) -> Result<Lanes, String> {
        let mut needed: Vec<usize> = used
            .into_iter()
            .map(|c| c.service_level().index())
            .collect();
        needed.sort_unstable();
        needed.dedup();
        needed.push(BEST_EFFORT_SL.index());
        let mut lanes: [Option<Vl>; N_LEVELS] = [None; N_LEVELS];
        match (row, n_vls) {
            (Some(row), n_vls) => {
                let named = row.iter().max().map_or(1, |vl| vl.saturating_add(1));
                let n_vls = n_vls.unwrap_or(named).max(1);
                for &sl in &needed {
                    let vl = row.get(sl).copied().unwrap_or(sl as u8 % n_vls);
                    if vl >= n_vls {
                        return Err(format!("SL{sl} uses VL{vl}, but there are {n_vls} lanes"));
                    }
                    // Levels without deadlines may share a lane, which then has the slots of all of
                    // them.
                    let has_promise = |level: usize| level >= usize::from(N_SLS);
                    let mut others = (0..N_LEVELS).filter(|&level| lanes[level] == Some(Vl(vl)));
                    let clash = others.find(|&other| has_promise(other) || has_promise(sl));
                    if let Some(other) = clash {
                        return Err(format!(
                            "SL{other} and SL{sl} both use VL{vl}, but each needs its own lane"
                        ));
                    }
                    lanes[sl] = Some(Vl(vl));
                }
                let own = row.get(CHALLENGED_SL.index()).map(|&vl| Vl(vl));
                let is_free = |vl: &Vl| vl.0 < n_vls && !lanes.contains(&Some(*vl));
                lanes[CHALLENGED_SL.index()] = own.filter(is_free);
            }
            (None, Some(n_vls)) if usize::from(n_vls) < N_LEVELS => {
                if needed.len() > usize::from(n_vls) {
                    let levels: Vec<String> = needed.iter().map(|sl| format!("SL{sl}")).collect();
                    return Err(format!(
                        "{} need one lane each, but there are {n_vls} lanes",
                        levels.join(", ")
                    ));
                }
                for (vl, &sl) in (0..).zip(&needed) {
                    lanes[sl] = Some(Vl(vl));
                }
                let next = needed.len() as u8;
                lanes[CHALLENGED_SL.index()] = (next < n_vls).then_some(Vl(next));
            }
            (None, _) => return Ok(Lanes::default()),
        }
        let best_effort = lanes[BEST_EFFORT_SL.index()];
        lanes[CHALLENGED_SL.index()] = lanes[CHALLENGED_SL.index()].or(best_effort);
        // Classes without connections have no entries, so their lanes are never used; but no two
        // may be equal.
        let taken = lanes;
        let mut others = (0..MOST_VLS)
            .map(Vl)
            .filter(|vl| !taken.contains(&Some(*vl)));
        let lanes = lanes.map(|lane| lane.or_else(|| others.next()).unwrap_or(Vl(MOST_VLS)));
        let of = |class: u8| std::array::from_fn(|sl| lanes[sl + usize::from(class * N_SLS)]);
        Ok(Lanes {
            connections: of(0),
            deadlines: of(1),
            best_effort: lanes[BEST_EFFORT_SL.index()],
            challenged: lanes[CHALLENGED_SL.index()],
        })
    }

    /// Returns the lane of every service level up to that of challenged traffic, as an SL2VL map.
    /// Levels of unused classes share the lane of best effort.
    pub fn sl2vl(&self, used: &[Class]) -> [Vl; N_LEVELS] {
        let mut row = [self.best_effort; N_LEVELS];
        for &class in used {
            row[class.service_level().index()] = self.of(class);
        }
        row[CHALLENGED_SL.index()] = self.challenged;
        row
    }

    /// Returns what is wrong: lanes used twice, or no data lanes. Best effort and challenged
    /// traffic have no guarantees and may share a lane. So may service levels without deadlines: a
    /// lane then has the slots of all of them.
    pub(super) fn mistake(&self) -> Option<String> {
        let mut lanes = self.connections.to_vec();
        lanes.sort_unstable();
        lanes.dedup();
        lanes.extend(self.deadlines);
        lanes.push(self.best_effort);
        lanes.extend((self.challenged != self.best_effort).then_some(self.challenged));
        if let Some(vl) = lanes.iter().find(|vl| vl.0 > 14) {
            return Some(format!(
                "{vl} is not a data lane; data lanes are VL0 to VL14"
            ));
        }
        let twice = |(at, vl): (usize, &Vl)| lanes[..at].contains(vl).then_some(*vl);
        let vl = lanes.iter().enumerate().find_map(twice)?;
        Some(format!("{vl} carries two kinds of traffic"))
    }
}

/// The resource that ran out at a port.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// The slots that all connections together may reserve.
    Slots { reservable: Slots },
    /// The 64 entries of the table.
    Entries,
    /// Time: this lane would wait longer than a deadline allows.
    Deadline(Box<Late>),
}

/// The tables of a port in the form that the arbiter and the exporters use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {
    /// The high-priority table: connections with a deadline.
    pub high: VlArbitrationTable,
    /// The low-priority table: best effort, challenged and all other connections.
    pub low: VlArbitrationTable,
}

/// The tables of one port. All connections together reserve at most what best effort leaves of the
/// frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortTable {
    lanes: Lanes,
    placement: Placement,
    /// The slots that best effort keeps.
    best_effort: Slots,
    low: Entries,
    high: Entries,
    reserved: Slots,
}

impl PortTable {
    /// Returns tables without connections: best effort and challenged traffic only. New entries use
    /// the first free index.
    ///
    /// # Panics
    /// If two kinds of traffic have the same lane, or a lane is above 14.
    pub fn new(lanes: Lanes) -> PortTable {
        PortTable::with_reserve(lanes, Placement::FirstFree, BEST_EFFORT)
    }

    /// Returns the same with a placement of new entries and a share of best effort.
    ///
    /// # Panics
    /// If two kinds of traffic have the same lane, a lane is above 14, or best effort keeps nothing
    /// or everything.
    pub fn with_reserve(lanes: Lanes, placement: Placement, best_effort: Slots) -> PortTable {
        assert!(
            (1..FRAME.0).contains(&best_effort.0),
            "best effort keeps a part of a port: {best_effort}"
        );
        if let Some(mistake) = lanes.mistake() {
            panic!("lanes of a port: {mistake}");
        }
        let entry = |vl, weight: u64| Entry {
            vl,
            weight: weight as u8,
        };
        let full = (best_effort.0 / ENTRY_SLOTS) as usize;
        let mut fixed = vec![entry(lanes.best_effort, ENTRY_SLOTS); full];
        let rest = best_effort.0 % ENTRY_SLOTS;
        if rest > 0 {
            fixed.push(entry(lanes.best_effort, rest));
        }
        fixed.push(entry(lanes.challenged, 1));
        PortTable {
            lanes,
            placement,
            best_effort,
            low: Entries::with_fixed(fixed),
            high: Entries::default(),
            reserved: Slots(0),
        }
    }

    /// Returns the slots that all connections together may reserve.
    pub fn reservable(&self) -> Slots {
        Slots(FRAME.0 - self.best_effort.0)
    }

    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    fn half(&self, class: Class) -> &Entries {
        if class.has_deadline {
            &self.high
        } else {
            &self.low
        }
    }

    fn half_mut(&mut self, class: Class) -> &mut Entries {
        if class.has_deadline {
            &mut self.high
        } else {
            &mut self.low
        }
    }

    /// Returns the additional slots that a class can have here, and the limit that ends them.
    pub fn free(&self, class: impl Into<Class>, mode: Mode) -> (Slots, Limit) {
        let class = class.into();
        let slots = Slots(self.reservable().0 - self.reserved.0);
        let by_entries = self.half(class).free(class.sl);
        if mode == Mode::StrictEntries && by_entries < slots {
            (by_entries, Limit::Entries)
        } else {
            let reservable = self.reservable();
            (slots, Limit::Slots { reservable })
        }
    }

    /// Reserves slots for a class.
    ///
    /// # Panics
    /// If fewer are free; [`PortTable::free`] returns the number.
    pub fn reserve(&mut self, class: impl Into<Class>, slots: Slots) {
        assert!(
            slots.0 <= self.reservable().0 - self.reserved.0,
            "at most {} are reserved at this port",
            self.reservable()
        );
        let class = class.into();
        let (vl, placement) = (self.lanes.of(class), self.placement);
        self.reserved.0 += slots.0;
        self.half_mut(class)
            .reserve((class.sl, vl), slots, placement);
    }

    /// Releases slots of a class, from the entry opened last.
    ///
    /// # Panics
    /// If the class has fewer slots.
    pub fn release(&mut self, class: impl Into<Class>, slots: Slots) {
        let class = class.into();
        self.half_mut(class).release(class.sl, slots);
        self.reserved.0 -= slots.0;
    }

    /// Returns the slots reserved by all connections.
    pub fn reserved(&self) -> Slots {
        self.reserved
    }

    /// Returns the slots reserved by connections without a deadline, by service level.
    pub fn reserved_by_sl(&self) -> [Slots; N_SLS as usize] {
        self.low.by_sl()
    }

    /// Returns the slots reserved by connections with a deadline, by service level.
    pub fn reserved_with_deadline(&self) -> [Slots; N_SLS as usize] {
        self.high.by_sl()
    }

    /// Returns the used entries of the low table, including those of best effort and challenged
    /// traffic.
    pub fn n_entries(&self) -> usize {
        self.low.n_entries()
    }

    /// Returns the used entries of the high table.
    pub fn n_high_entries(&self) -> usize {
        self.high.n_entries()
    }

    /// Returns whether the low table has more than the 64 entries of a real one, so it cannot be
    /// written to a port.
    pub fn has_virtual_entries(&self) -> bool {
        self.n_entries() > MAX_ENTRIES
    }

    /// Returns the entries of the low table by index; `None` is free. Entries from index 64 on are
    /// virtual.
    pub fn entries(&self) -> &[Option<Entry>] {
        self.low.by_index()
    }

    /// Returns the entries of the high table by index; `None` is free.
    pub fn high_entries(&self) -> &[Option<Entry>] {
        self.high.by_index()
    }

    /// Returns the tables as written to a port, or an error if there are virtual entries.
    ///
    /// A free index between others becomes an entry of weight 0, which an arbiter skips, so entries
    /// keep their index. Free indices are omitted only if entries beyond the 64th are used.
    pub fn tables(&self) -> Result<Tables, TableError> {
        let skipped = self.lanes.best_effort;
        Ok(Tables {
            high: self.high.table(skipped)?,
            low: self.low.table(skipped)?,
        })
    }

    /// Returns the tables as simulated: including virtual entries, which no real port could hold.
    pub fn simulated_tables(&self) -> Tables {
        let skipped = self.lanes.best_effort;
        // A frame on nine lanes fills 64 entries and a partly filled one per lane, in addition to
        // the entry of challenged traffic.
        let fits = "the reservations of a port fit into 128 entries";
        Tables {
            high: self.high.simulated_table(skipped).expect(fits),
            low: self.low.simulated_table(skipped).expect(fits),
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_arbitration::{Head, IbTwoTable, N_QUEUES, NO_LIMIT, Policy, View};
    use netloom_units::Rate;
    use proptest::prelude::*;

    use super::super::slots::slots_for;
    use super::*;

    const LINK: Rate = Rate(2_500_000_000);
    const SL0: Sl = Sl(0);
    const SL1: Sl = Sl(1);
    const SL3: Sl = Sl(3);

    fn reserve(table: &mut PortTable, sl: Sl, bits: u64) {
        table.reserve(sl, slots_for(Rate(bits), LINK));
    }

    /// Returns the weights of a lane, by index.
    fn weights(table: &PortTable, vl: Vl) -> Vec<u8> {
        let entries = table.entries().iter().flatten();
        entries.filter(|e| e.vl == vl).map(|e| e.weight).collect()
    }

    fn full(n: usize, last: u8) -> Vec<u8> {
        let mut weights = vec![255; n];
        weights.push(last);
        weights
    }

    fn slots_of_all(table: &PortTable) -> u64 {
        let entries = table.entries().iter().flatten();
        entries.map(|e| u64::from(e.weight)).sum()
    }

    fn after_v004_8() -> PortTable {
        let mut table = PortTable::new(Lanes::default());
        reserve(&mut table, SL3, 300_000_000);
        reserve(&mut table, SL3, 64_000_000);
        table
    }

    fn after_v004_9() -> PortTable {
        let mut table = after_v004_8();
        reserve(&mut table, SL0, 64_000);
        reserve(&mut table, SL0, 64_000);
        reserve(&mut table, SL1, 1_550_000);
        table
    }

    #[test]
    fn x004_3_a_table_that_no_port_holds_is_simulated_with_virtual_entries() {
        let mut table = after_v004_9();
        let real = table.simulated_tables();
        assert_eq!(Ok(real), table.tables());
        // The rest of the 80 %: 51.2 full entries, three levels with one partly filled.
        let (left, _) = table.free(SL3, Mode::Paper);
        table.reserve(SL3, left);
        assert!(table.has_virtual_entries());
        assert_eq!(
            table.tables(),
            Err(TableError::TooLong(table.n_entries(), 64))
        );
        let low = table.simulated_tables().low;
        assert!(low.has_virtual_entries());
        let slots: u64 = low.entries().iter().map(|e| u64::from(e.weight)).sum();
        assert_eq!(slots, slots_of_all(&table));
    }

    #[test]
    fn a_port_with_few_lanes_has_one_for_each_level_that_is_used() {
        let class = |sl, has_deadline| Class {
            sl: Sl(sl),
            has_deadline,
        };
        let used = [class(3, false), class(3, true)];
        // An SL2VL map cannot put one service level on two lanes.
        assert_eq!(used.map(|class| class.service_level()), [Sl(3), Sl(7)]);
        let on = |n_vls| Lanes::on_ports(used, Some(n_vls), None);
        let lanes = on(4).unwrap();
        assert_eq!(
            lanes.sl2vl(&used).map(|vl| vl.0),
            [2, 2, 2, 0, 2, 2, 2, 1, 2, 3]
        );
        assert_eq!(lanes.mistake(), None);
        let lanes = on(3).unwrap();
        assert_eq!(
            lanes.sl2vl(&used).map(|vl| vl.0),
            [2, 2, 2, 0, 2, 2, 2, 1, 2, 2]
        );
        assert_eq!(PortTable::new(lanes).lanes(), &lanes);
        let refused = on(2).unwrap_err();
        assert_eq!(
            refused,
            "SL3, SL7, SL8 need one lane each, but there are 2 lanes"
        );
        assert_eq!(on(10), Ok(Lanes::default()));
        assert_eq!(Lanes::on_ports(used, None, None), Ok(Lanes::default()));
    }

    #[test]
    fn a_map_of_the_file_decides_which_level_has_which_lane() {
        let used = [Class::from(Sl(0)), Class::from(Sl(1))];
        let row = |row: &[u8]| Lanes::on_ports(used, Some(4), Some(row));
        let lanes = row(&[2, 1, 0, 0, 0, 0, 0, 0, 3, 3]).unwrap();
        assert_eq!((lanes.of(Sl(0)), lanes.of(Sl(1))), (Vl(2), Vl(1)));
        assert_eq!((lanes.best_effort, lanes.challenged), (Vl(3), Vl(3)));
        // Two levels of connections may share a lane; with best effort, or with a deadline, they
        // may not.
        let together = row(&[1, 1, 0, 0, 0, 0, 0, 0, 3]).unwrap();
        assert_eq!((together.of(Sl(0)), together.of(Sl(1))), (Vl(1), Vl(1)));
        let mut table = PortTable::new(together);
        table.reserve(SL0, Slots(300));
        table.reserve(SL1, Slots(20));
        assert_eq!(weights(&table, Vl(1)), [255, 45, 20]);
        table.release(SL0, Slots(300));
        assert_eq!(weights(&table, Vl(1)), [20]);
        let shared = row(&[1, 3, 0, 0, 0, 0, 0, 0, 1]).unwrap_err();
        assert!(shared.contains("SL0 and SL8 both use VL1"), "{shared}");
        let late = Class {
            sl: Sl(1),
            has_deadline: true,
        };
        let used = [Class::from(Sl(0)), late];
        let map = [1, 0, 0, 0, 0, 1, 0, 0, 3];
        let shared = Lanes::on_ports(used, Some(4), Some(&map)).unwrap_err();
        assert!(shared.contains("SL0 and SL5 both use VL1"), "{shared}");
        let missing = row(&[4, 1]).unwrap_err();
        assert!(missing.contains("SL0 uses VL4"), "{missing}");
    }

    #[test]
    fn v004_8_filling() {
        let lanes = Lanes::default();
        let mut table = PortTable::new(lanes);
        assert_eq!(weights(&table, lanes.best_effort), full(12, 204));
        assert_eq!(weights(&table, lanes.challenged), [1]);
        assert_eq!(table.n_entries(), 14);
        reserve(&mut table, SL3, 300_000_000);
        assert_eq!(weights(&table, lanes.of(SL3)), full(7, 174));
        reserve(&mut table, SL3, 64_000_000);
        assert_eq!(weights(&table, lanes.of(SL3)), full(9, 82));
        assert_eq!(table.n_entries(), 24);
        assert_eq!(table, after_v004_8());
    }

    #[test]
    fn v004_9_small_connections_share_entries() {
        let table = after_v004_9();
        assert_eq!(weights(&table, Vl(0)), [2]);
        assert_eq!(weights(&table, Vl(1)), [11]);
        assert_eq!((table.n_entries(), slots_of_all(&table)), (26, 5655));
    }

    #[test]
    fn v004_10_an_entry_holds_255_small_connections() {
        let mut table = PortTable::new(Lanes::default());
        for _ in 0..255 {
            reserve(&mut table, SL0, 64_000);
        }
        assert_eq!(weights(&table, Vl(0)), [255]);
        reserve(&mut table, SL0, 64_000);
        assert_eq!(weights(&table, Vl(0)), [255, 1]);
    }

    #[test]
    fn v004_14_release() {
        let before = after_v004_9();
        let mut table = before.clone();
        table.release(SL3, slots_for(Rate(300_000_000), LINK));
        assert_eq!(weights(&table, Vl(3)), [255, 163]);
        assert_eq!(table.reserved().0, before.reserved().0 - 1959);
        assert_eq!(table.reserved_by_sl()[3], Slots(418));
        for vl in (0..15).map(Vl).filter(|vl| *vl != Vl(3)) {
            assert_eq!(weights(&table, vl), weights(&before, vl));
        }
        assert_eq!(table.n_entries(), 18);
    }

    #[test]
    fn freed_entries_are_skipped_and_the_first_is_used_again() {
        let mut table = after_v004_9();
        table.release(SL3, slots_for(Rate(300_000_000), LINK));
        // Entries 16 to 23 belonged to SL3; SL0 and SL1 keep theirs after them.
        let low = table.tables().unwrap().low;
        assert_eq!(low.entries().len(), 26);
        assert!(low.entries()[16..24].iter().all(|e| e.weight == 0));
        assert_eq!(
            low.entries()[24],
            Entry {
                vl: Vl(0),
                weight: 2
            }
        );
        table.reserve(SL0, Slots(254));
        let at_16 = table.entries()[16];
        assert_eq!(
            at_16,
            Some(Entry {
                vl: Vl(0),
                weight: 1
            })
        );
        // The reverse order is that of opening, not of indices: 16 empties before 24.
        table.release(SL0, Slots(2));
        assert_eq!(weights(&table, Vl(0)), [254]);
        assert_eq!(table.entries()[16], None);
    }

    #[test]
    fn the_paper_needs_more_entries_than_there_are() {
        let mut table = PortTable::new(Lanes::default());
        let (sl, mode) = (Sl(2), Mode::StrictEntries);
        assert_eq!(table.free(sl, mode), (Slots(12_750), Limit::Entries));
        let by_slots = Limit::Slots {
            reservable: Slots(13_056),
        };
        assert_eq!(
            table.free(sl, Mode::Paper),
            (Slots(13_056), by_slots.clone())
        );
        table.reserve(sl, Slots(12_750));
        assert_eq!(
            (table.n_entries(), table.has_virtual_entries()),
            (64, false)
        );
        assert_eq!(table.tables().unwrap().low.entries().len(), 64);
        assert_eq!(table.free(SL0, mode), (Slots(0), Limit::Entries));
        table.reserve(sl, Slots(306));
        assert_eq!((table.n_entries(), table.has_virtual_entries()), (66, true));
        assert!(matches!(table.tables(), Err(TableError::TooLong(66, ..))));
        assert_eq!(table.free(sl, Mode::Paper), (Slots(0), by_slots));
    }

    #[test]
    fn entries_beyond_the_64th_move_up_where_others_became_free() {
        let mut table = PortTable::new(Lanes::default());
        table.reserve(Sl(2), Slots(49 * 255));
        table.reserve(SL0, Slots(255));
        table.reserve(SL1, Slots(7));
        assert!(table.has_virtual_entries());
        table.release(SL0, Slots(255));
        assert!(!table.has_virtual_entries());
        assert_eq!(table.entries().len(), 65);
        let low = table.tables().unwrap().low;
        assert_eq!(low.entries().len(), 64);
        assert_eq!(
            low.entries()[63],
            Entry {
                vl: Vl(1),
                weight: 7
            }
        );
    }

    #[test]
    #[should_panic(expected = "VL2 carries two kinds of traffic")]
    fn lanes_are_not_shared() {
        let best_effort = Vl(2);
        PortTable::new(Lanes {
            best_effort,
            ..Lanes::default()
        });
    }

    /// Returns what each lane sends in `n_packets` packets of 64 bytes when all lanes always have
    /// one.
    fn sent_when_backlogged(tables: &Tables, n_packets: u64) -> [u64; 15] {
        let policy = IbTwoTable {
            high: tables.high.clone(),
            low: tables.low.clone(),
            limit: NO_LIMIT,
        };
        let mut arbiter = policy.build();
        let mut heads = [Head::default(); N_QUEUES];
        for vl in 0..15 {
            (heads[usize::from(vl)].bytes, heads[usize::from(vl)].vl) = (64, Vl(vl));
        }
        let view = View {
            eligible: (1 << 15) - 1,
            heads: &heads,
        };
        let mut sent = [0; 15];
        for _ in 0..n_packets {
            let grant = arbiter.choose(&view).expect("some lane can send");
            arbiter.commit(grant);
            sent[usize::from(grant.queue)] += 1;
        }
        sent
    }

    /// Changes at a port: the service level, the slots, and whether the oldest is released instead.
    fn changes() -> impl Strategy<Value = Vec<(u8, u64, bool)>> {
        proptest::collection::vec(
            (0..N_SLS, 1..2_000u64, proptest::bool::weighted(0.3)),
            1..80,
        )
    }

    fn churn(
        changes: &[(u8, u64, bool)],
        mode: Mode,
        mut seen: impl FnMut(&PortTable),
    ) -> PortTable {
        let mut table = PortTable::new(Lanes::default());
        let mut held = std::collections::VecDeque::new();
        for &(sl, slots, leaves) in changes {
            let (sl, slots) = (Sl(sl), Slots(slots));
            if leaves {
                if let Some((sl, slots)) = held.pop_front() {
                    table.release(sl, slots);
                }
            } else if slots <= table.free(sl, mode).0 {
                table.reserve(sl, slots);
                held.push_back((sl, slots));
            }
            seen(&table);
        }
        table
    }

    proptest! {
        #[test]
        fn c004_15_a_connection_changes_only_the_entries_of_its_lane(
            changes in changes(), sl in 0..N_SLS, slots in 1..2_000u64,
        ) {
            let before = churn(&changes, Mode::Paper, |_| {});
            let (sl, slots) = (Sl(sl), Slots(slots));
            prop_assume!(slots <= before.free(sl, Mode::Paper).0);
            let mut after = before.clone();
            after.reserve(sl, slots);
            let vl = Lanes::default().of(sl);
            for at in 0..after.entries().len() {
                let (old, new) = (before.entries().get(at).copied().flatten(), after.entries()[at]);
                let is_own = old.is_none_or(|e| e.vl == vl) && new.is_none_or(|e| e.vl == vl);
                prop_assert!(old == new || is_own, "entry {at}: {old:?} became {new:?}");
            }
            after.release(sl, slots);
            prop_assert_eq!(after, before);
        }

        #[test]
        fn c004_16_a_port_never_gives_away_more_than_13056_slots(changes in changes(), strict: bool) {
            let mode = if strict { Mode::StrictEntries } else { Mode::Paper };
            churn(&changes, mode, |table| {
                let by_sl = table.reserved_by_sl();
                let sum: u64 = by_sl.iter().map(|slots| slots.0).sum();
                assert_eq!(sum, table.reserved().0);
                assert!(sum <= 13_056);
                assert_eq!(slots_of_all(table), sum + 3_264 + 1);
                // Entries are never wasted, whatever was reserved and released.
                let needed: usize = by_sl.iter().map(|slots| slots.entries()).sum();
                assert_eq!(table.n_entries(), needed + 14);
                assert!(!strict || table.n_entries() <= MAX_ENTRIES);
            });
        }

        #[test]
        fn c004_16_lanes_receive_what_they_reserved_when_all_have_packets(changes in changes()) {
            let table = churn(&changes, Mode::StrictEntries, |_| {});
            // One round of the table is never longer than a frame and the slot of challenged
            // traffic.
            let round = slots_of_all(&table);
            prop_assert!(round <= 16_320 + 1);
            let sent = sent_when_backlogged(&table.tables().unwrap(), round);
            for sl in 0..N_SLS {
                let vl = Lanes::default().of(Sl(sl));
                prop_assert_eq!(sent[vl.index()], table.reserved_by_sl()[usize::from(sl)].0);
            }
        }
    }
}
