//! The two-table arbiter of InfiniBand (IBA volume 1, "VL arbitration").
//!
//! ```text
//!            ┌──────────── high: (VL, weight) × 64 ─┐   while LimitOfHighPriority is not spent,
//! heads ─────┤                                      ├─► or nothing in the low table can send
//!   │        └──────────── low:  (VL, weight) × 64 ─┘   otherwise
//!   └─ VL15 (management) before both, without charge
//! ```
//!
//! **Within a table**: selecting an entry loads a counter with its weight (units of 64 bytes).
//! While the counter is above zero and the lane has an eligible packet, the arbiter sends that
//! packet, and the counter decreases by its length, rounded up. The counter may become negative,
//! because a started packet always finishes. Then the next entry follows; entries of weight 0 and
//! lanes that are empty or without credits are skipped. The rest of a counter is lost when the
//! pointer leaves the entry. Entry 0 is examined first.
//!
//! **Between the tables**: a counter of bytes starts at `limit` × 4096 and decreases by the length
//! of every high-priority packet. While it is above zero, the high table has priority. Once it is
//! spent, an eligible low-priority packet has priority: one packet, and the counter is loaded
//! again. A `limit` of 0 is spent by any one packet; 255 is never spent. Without an eligible
//! high-priority packet the low table is served, which also reloads the counter. A packet may begin
//! while a single byte is left, so a burst exceeds the limit by less than one packet.
//!
//! *If the limit is spent and no low-priority packet can be sent*, the high table continues and the
//! counter stays at zero. The next low-priority packet to become eligible then has priority. The
//! specification bounds how much high-priority traffic may pass "without an opportunity to send a
//! low-priority packet". An opportunity without a pending packet has no purpose, so only a pending
//! packet uses it up. "Pending" is decided when a packet must be chosen, never in between. If the
//! counter were reloaded instead, a low-priority packet that arrives an instant later would wait
//! for a whole further limit.
//!
//! A lane in both tables can be sent through either, by the same rules. A lane in neither is never
//! sent, as in real hardware. [`Policy::faults`] reports an error if traffic uses it, and
//! [`Arbiter::choose`] returns `None` if only such lanes are eligible.
//!
//! A real device may treat an entry for a lane it does not have in any way; here it is an error.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_units::Vl;

use crate::head::{queues, vl_bit};
use crate::policy::{LaneWords, lanes_outside, listed};
use crate::{
    Arbiter, Entry, Fault, Grant, Head, LIMIT_UNIT, MANAGEMENT_VL, N_QUEUES, NO_LIMIT, Policy,
    PortContext, Speaks, View, VlArbitrationTable, WEIGHT_UNIT, take_word, weight_units,
};

params! {
    /// The two weighted tables of an InfiniBand port.
    #[derive(Clone, Debug)]
    pub struct IbTwoTable {
        /// The high-priority table: [lane, weight] pairs, at most 64, weights 0 to 255 in units of
        /// 64 bytes.
        pub high: VlArbitrationTable = VlArbitrationTable::default(),
        /// The low-priority table, in the same form.
        pub low: VlArbitrationTable = VlArbitrationTable::default(),
        /// LimitOfHighPriority, 0 to 255: after this many times 4096 bytes from the high table, one
        /// low-priority packet may be sent. 0 is after every packet, 255 is never. (The default of
        /// OpenSM is 0.)
        pub limit: u8 = NO_LIMIT,
    }
}

impl Described for IbTwoTable {
    const NAME: &'static str = "ib-two-table";
    const SUMMARY: &'static str =
        "InfiniBand: a high and a low table of weighted lanes, and a limit on the high one.";
    const PAPER: Option<&'static str> =
        Some("InfiniBand Architecture Specification, volume 1, VL arbitration");
    const EXAMPLE: &'static str = "high = [[0, 64]]\nlow = [[1, 128], [2, 64]]\nlimit = 4";
}

impl Policy for IbTwoTable {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(TwoTable::new(&self.high, &self.low, self.limit))
    }

    fn two_table(&self) -> Option<TwoTable> {
        Some(TwoTable::new(&self.high, &self.low, self.limit))
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        let mut faults = vec![];
        for (key, table) in [("high", &self.high), ("low", &self.low)] {
            let named = table.entries().iter().fold(0, |vls, e| vls | vl_bit(e.vl));
            faults.extend(lanes_outside(key, named, context));
            weights_below_a_packet(key, table, context, &mut faults);
        }
        if self.sendable_data_vls() == 0 {
            faults.push(Fault::error(
                "low",
                "both tables are empty, so nothing would ever be sent".into(),
                "add entries of [lane, weight], as in low = [[0, 64], [1, 64]]".into(),
            ));
        } else {
            self.used_lanes_in_no_table(context, &mut faults);
            self.starvation(context, &mut faults);
        }
        faults
    }

    fn speaks(&self) -> Speaks {
        Speaks::Vls
    }

    fn sendable_vls(&self) -> u32 {
        self.sendable_data_vls() | vl_bit(MANAGEMENT_VL)
    }

    /// Always true with a limit. Without one, true if the high table is empty or has every lane of
    /// the low one.
    fn serves_everyone(&self) -> bool {
        let (high, low) = (self.high.vls(), self.low.vls());
        self.limit != NO_LIMIT || high == 0 || low & !high == 0
    }
}

impl IbTwoTable {
    fn sendable_data_vls(&self) -> u32 {
        self.high.vls() | self.low.vls()
    }

    fn used_lanes_in_no_table(&self, context: &PortContext, faults: &mut Vec<Fault>) {
        let lacking = context.used_vls & !self.sendable_vls();
        let Some(LaneWords { names, several }) = LaneWords::of(lacking) else {
            return;
        };
        let (carry, of_them, they) = match several {
            true => ("carry", "of them", "they"),
            false => ("carries", "of it", "it"),
        };
        let entries: Vec<String> = lanes(lacking).map(|vl| format!("[{}, 64]", vl.0)).collect();
        faults.push(Fault::error(
            "low",
            format!("{names} {carry} traffic but no entry {of_them} has a weight: {they} would never send"),
            format!("add {} to `high` or `low`", listed(&entries).unwrap_or_default()),
        ));
    }

    fn starvation(&self, context: &PortContext, faults: &mut Vec<Fault>) {
        let used_high = context.used_vls & self.high.vls();
        let used_low = context.used_vls & self.low.vls() & !self.high.vls();
        if self.limit == NO_LIMIT && used_high != 0 && used_low != 0 {
            faults.push(Fault::warning(
                "limit",
                format!(
                    "255 means no limit, so {} may starve while {} can send",
                    words(used_low),
                    words(used_high)
                ),
                "use a limit from 0 to 254 (times 4096 bytes) to let the low table send".into(),
            ));
        }
    }
}

fn weights_below_a_packet(
    key: &'static str,
    table: &VlArbitrationTable,
    context: &PortContext,
    faults: &mut Vec<Fault>,
) {
    for vl in lanes(table.vls()) {
        let Some(bytes) = context.largest_packet[vl.index()] else {
            continue;
        };
        let units = weight_units(bytes);
        let live = || {
            table
                .entries()
                .iter()
                .filter(|e| e.vl == vl && e.weight > 0)
        };
        let short = live().filter(|e| u32::from(e.weight) < units);
        let Some(least) = short.clone().map(|e| e.weight).min() else {
            continue;
        };
        faults.push(Fault::warning(
            key,
            format!(
                "{} of {} entries of {vl} are smaller than a packet: the smallest weight is \
                 {least} ({} bytes), but packets have {bytes} bytes ({units} units). Such a packet \
                 is still sent (rounded up), so the share exceeds the weight",
                short.count(),
                live().count(),
                u32::from(least) * WEIGHT_UNIT,
            ),
            if units <= 255 {
                format!("multiply the weights of `{key}` so that {vl} has at least {units}")
            } else {
                format!("a weight is at most 255; send {vl} in packets of at most 16320 bytes")
            },
        ));
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = Vl> {
    queues(mask).map(|vl| Vl(vl as u8))
}

fn words(mask: u32) -> String {
    let names: Vec<String> = lanes(mask).map(|vl| vl.to_string()).collect();
    names.join(", ")
}

/// The two-table arbiter of one port: 32 bytes; clones share their tables.
///
/// The rules are those of the module, in this representation:
///
/// - `rows` has the entries of both tables (without those of weight 0), the high ones first. Each
///   has the next entry of every lane. So the next entry to serve takes one lookup per lane that
///   can send, regardless of the length of the table.
/// - A counter of units need not be known below zero, so it fits in a byte, like the weight. The
///   same holds for the rest of the limit, in bytes.
#[derive(Clone, Debug)]
pub struct TwoTable {
    rows: Arc<[Row]>,
    registers: Registers,
    high_vls: u16,
    low_vls: u16,
    /// Bytes that the high table may begin to send before a low-priority packet, or `UNLIMITED`. A
    /// limit of 0 is stored as one byte, which any packet spends.
    limit: u32,
}

const UNLIMITED: u32 = u32::MAX;

// Two ports per cache line.
const _: () = assert!(size_of::<TwoTable>() <= 32);

/// One entry, and its successors.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// For each lane, the row of its next entry after this one, in the same table and around its
    /// end.
    next: [u8; 16],
    vl: u8,
    weight: u8,
}

/// The state that changes when a packet is sent: the first two words of a [`Grant`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Registers {
    /// The positions in the high and the low table.
    walks: [Walk; 2],
    /// Bytes that the high table may still begin to send before a low-priority packet.
    left: u32,
}

/// The position in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Walk {
    /// The row of the entry served last.
    row: u8,
    /// Units that it may still begin to send.
    counter: u8,
}

/// One of the two tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    High,
    Low,
}

impl Registers {
    #[inline]
    fn walk(self, side: Side) -> Walk {
        self.walks[side as usize]
    }

    #[inline]
    fn set_walk(&mut self, side: Side, walk: Walk) {
        self.walks[side as usize] = walk;
    }

    #[inline]
    fn grant(self, queue: u8) -> Grant {
        Grant {
            queue,
            registers: [self.word(), self.left, 0, 0, 0, 0],
        }
    }

    /// Returns the positions in both tables as a word.
    #[inline]
    fn word(self) -> u32 {
        let [high, low] = self.walks;
        u32::from_le_bytes([high.row, high.counter, low.row, low.counter])
    }

    /// Restores from [`word`](Self::word) and the rest of the limit.
    #[inline]
    fn from_word(word: u32, left: u32) -> Registers {
        let [high_row, high_counter, low_row, low_counter] = word.to_le_bytes();
        let walk = |row, counter| Walk { row, counter };
        Registers {
            walks: [walk(high_row, high_counter), walk(low_row, low_counter)],
            left,
        }
    }
}

impl TwoTable {
    /// Returns a new arbiter with these tables.
    pub fn new(high: &VlArbitrationTable, low: &VlArbitrationTable, limit: u8) -> TwoTable {
        let mut rows = vec![];
        let high_walk = add_rows(high, &mut rows);
        let low_walk = add_rows(low, &mut rows);
        let limit = match limit {
            NO_LIMIT => UNLIMITED,
            limit => (u32::from(limit) * LIMIT_UNIT).max(1),
        };
        let registers = Registers {
            walks: [high_walk, low_walk],
            left: limit,
        };
        TwoTable {
            rows: rows.into(),
            registers,
            high_vls: high.vls() as u16,
            low_vls: low.vls() as u16,
            limit,
        }
    }

    /// Returns the table to serve when these lanes have an eligible packet, if either can send any
    /// of them.
    #[inline]
    fn side(&self, vls: u32) -> Option<Side> {
        let has_high = vls & u32::from(self.high_vls) != 0;
        let has_low = vls & u32::from(self.low_vls) != 0;
        if has_high && (self.registers.left > 0 || !has_low) {
            Some(Side::High)
        } else if has_low {
            Some(Side::Low)
        } else {
            None
        }
    }

    /// Returns the grant for a packet that the entry `walk` of a table serves.
    #[inline]
    fn grant(&self, queue: u8, bytes: u32, side: Side, walk: Walk) -> Grant {
        let mut registers = self.registers;
        // A packet larger than the rest is still sent.
        let counter = u32::from(walk.counter).saturating_sub(weight_units(bytes)) as u8;
        registers.set_walk(side, Walk { counter, ..walk });
        registers.left = self.left_after(side, bytes);
        registers.grant(queue)
    }

    /// Returns the rest of the limit after a table has sent a packet.
    #[inline]
    fn left_after(&self, side: Side, bytes: u32) -> u32 {
        match side {
            Side::High if self.limit == UNLIMITED => UNLIMITED,
            Side::High => self.registers.left.saturating_sub(bytes),
            Side::Low => self.limit,
        }
    }

    /// Chooses with one eligible queue, by far the most common case: no search.
    #[inline(always)]
    fn choose_alone(&self, queue: u8, head: &Head) -> Option<Grant> {
        if head.vl == MANAGEMENT_VL {
            return Some(self.registers.grant(queue));
        }
        let side = self.side(vl_bit(head.vl))?;
        let mut walk = self.registers.walk(side);
        let row = &self.rows[usize::from(walk.row)];
        if walk.counter == 0 || row.vl != head.vl.0 {
            walk.row = row.next[head.vl.index() & 15];
            walk.counter = self.rows[usize::from(walk.row)].weight;
        }
        Some(self.grant(queue, head.bytes, side, walk))
    }

    /// Chooses among several eligible queues. Not inlined, so that `choose_alone` is.
    #[inline(never)]
    fn choose_among(&self, view: &View<'_>) -> Option<Grant> {
        let vls = view.vls();
        if vls & vl_bit(MANAGEMENT_VL) != 0 {
            return Some(self.registers.grant(view.management()?));
        }
        let side = self.side(vls)?;
        let mut walk = self.registers.walk(side);
        let mut row = &self.rows[usize::from(walk.row)];
        if walk.counter == 0 || vls >> row.vl & 1 == 0 {
            let sendable = match side {
                Side::High => self.high_vls,
                Side::Low => self.low_vls,
            };
            // Rows after this one come first, then those up to it, around the end. With wrapping
            // bytes, both follow from the distance to the row after this one.
            let after = walk.row.wrapping_add(1);
            let distance = queues(vls & u32::from(sendable))
                .map(|vl| row.next[vl & 15].wrapping_sub(after))
                .min()?;
            walk.row = after.wrapping_add(distance);
            row = &self.rows[usize::from(walk.row)];
            walk.counter = row.weight;
        }
        let queue = self.queue_of(Vl(row.vl), vls, view)?;
        Some(self.grant(queue, view.heads[usize::from(queue)].bytes, side, walk))
    }

    /// Returns the queue to serve for a lane.
    #[inline]
    fn queue_of(&self, vl: Vl, vls: u32, view: &View<'_>) -> Option<u8> {
        // One queue per lane, in the order of the lanes, as at most outputs.
        let is_only = vls.count_ones() == view.eligible.count_ones();
        if is_only && view.eligible & vl_bit(vl) != 0 && view.heads[vl.index() & 15].vl == vl {
            return Some(vl.0);
        }
        view.oldest_of(vl)
    }
}

impl Arbiter for TwoTable {
    /// Returns `None` if only lanes of neither table are eligible.
    // Always inlined: with one eligible queue, `choose` and `commit` together then take about 80
    // instructions instead of 93 (callgrind, x86-64-v3, fat LTO).
    #[inline(always)]
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        match view.eligible {
            0 => None,
            eligible if eligible.is_power_of_two() => {
                let queue = eligible.trailing_zeros() as u8;
                self.choose_alone(queue, &view.heads[usize::from(queue)])
            }
            _ => self.choose_among(view),
        }
    }

    #[inline]
    fn commit(&mut self, grant: Grant) {
        self.registers = Registers::from_word(grant.registers[0], grant.registers[1]);
    }

    /// Decides the same without a grant, and touches only the registers of the table that sends.
    #[inline(always)]
    fn send_alone(&mut self, _: u8, head: &Head, _: &mut [Head; N_QUEUES]) -> bool {
        if head.vl == MANAGEMENT_VL {
            return true;
        }
        let Some(side) = self.side(vl_bit(head.vl)) else {
            return false;
        };
        let walk = &mut self.registers.walks[side as usize];
        let row = &self.rows[usize::from(walk.row)];
        if walk.counter == 0 || row.vl != head.vl.0 {
            walk.row = row.next[head.vl.index() & 15];
            walk.counter = self.rows[usize::from(walk.row)].weight;
        }
        walk.counter = u32::from(walk.counter).saturating_sub(weight_units(head.bytes)) as u8;
        self.registers.left = self.left_after(side, head.bytes);
        true
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(u64::from(self.registers.word()) | u64::from(self.registers.left) << 32);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        let word: u64 = take_word(from)?;
        let registers = Registers::from_word(word as u32, (word >> 32) as u32);
        let has_row = |side| usize::from(registers.walk(side).row) < self.rows.len().max(1);
        let is_known = has_row(Side::High) && has_row(Side::Low) && registers.left <= self.limit;
        self.registers = registers;
        is_known.then_some(())
    }
}

/// Adds the entries of a table that can send, each with its successors. Returns the start position,
/// from which entry 0 is the first to be examined.
fn add_rows(table: &VlArbitrationTable, rows: &mut Vec<Row>) -> Walk {
    let live = table.entries().iter().filter(|e| e.weight > 0);
    let live: Vec<Entry> = live.copied().collect();
    let first = rows.len();
    assert!(
        first + live.len() <= 256,
        "a row number of both tables has 8 bits"
    );
    for at in 0..live.len() {
        let mut next = [0; 16];
        // From the farthest to the nearest, so the nearest remains; this entry itself is a whole
        // turn away.
        for steps in (1..=live.len()).rev() {
            let there = (at + steps) % live.len();
            next[live[there].vl.index()] = (first + there) as u8;
        }
        rows.push(Row {
            next,
            vl: live[at].vl.0,
            weight: live[at].weight,
        });
    }
    Walk {
        row: rows.len().saturating_sub(1) as u8,
        counter: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(high: &[(u8, u8)], low: &[(u8, u8)], limit: u8) -> IbTwoTable {
        IbTwoTable {
            high: VlArbitrationTable::from_pairs(high).unwrap(),
            low: VlArbitrationTable::from_pairs(low).unwrap(),
            limit,
        }
    }

    fn port(data_vls: u8, used_vls: u32, largest_packet: u32) -> PortContext {
        PortContext {
            data_vls,
            largest_packet: [Some(largest_packet); 16],
            used_vls,
            ..PortContext::default()
        }
    }

    /// Returns errors and warnings, each as `key: message`.
    fn faults(policy: &IbTwoTable, port: &PortContext) -> (Vec<String>, Vec<String>) {
        let (errors, warnings): (Vec<Fault>, Vec<Fault>) =
            policy.faults(port).into_iter().partition(|f| f.is_error);
        let text = |f: Fault| format!("{}: {}", f.key, f.message);
        (
            errors.into_iter().map(text).collect(),
            warnings.into_iter().map(text).collect(),
        )
    }

    #[test]
    fn a_port_and_tables_that_fit_have_no_faults() {
        let policy = policy(&[(0, 64)], &[(1, 255), (2, 64), (3, 0)], 4);
        let (errors, warnings) = faults(&policy, &port(4, 0b0111 | 1 << 15, 4096));
        assert!(
            errors.is_empty() && warnings.is_empty(),
            "{errors:?} {warnings:?}"
        );
    }

    #[test]
    fn lanes_that_the_port_lacks_are_errors() {
        let (errors, _) = faults(&policy(&[(4, 64)], &[(0, 64), (3, 64)], 4), &port(4, 1, 64));
        assert_eq!(
            errors,
            ["high: VL4 does not exist: the port has 4 data lanes"]
        );
    }

    #[test]
    fn used_lanes_in_no_table_are_errors_also_with_weight_zero() {
        let (errors, _) = faults(&policy(&[(0, 64)], &[(1, 0)], 4), &port(4, 0b111, 64));
        assert_eq!(
            errors,
            [
                "low: VL1 and VL2 carry traffic but no entry of them has a weight: they would never \
              send"
            ]
        );
    }

    #[test]
    fn empty_tables_are_one_error() {
        let (errors, _) = faults(&policy(&[], &[(0, 0)], 4), &port(4, 0b111, 64));
        assert_eq!(
            errors,
            ["low: both tables are empty, so nothing would ever be sent"]
        );
        let (errors, _) = faults(&policy(&[], &[(0, 1)], 4), &port(4, 1, 64));
        assert!(errors.is_empty(), "one table is enough: {errors:?}");
    }

    #[test]
    fn weights_below_a_packet_are_a_warning_with_the_numbers() {
        let table = policy(&[], &[(0, 63), (0, 64), (0, 10), (0, 0), (1, 65)], 4);
        let (errors, warnings) = faults(&table, &port(2, 0b11, 4096));
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(
            warnings,
            [
                "low: 2 of 3 entries of VL0 are smaller than a packet: the smallest weight is 10 \
                 (640 bytes), but packets have 4096 bytes (64 units). Such a packet is still sent \
                 (rounded up), so the share exceeds the weight"
            ]
        );
        let unknown = PortContext {
            largest_packet: [None; 16],
            ..port(2, 0b11, 0)
        };
        assert_eq!(faults(&table, &unknown).1.len(), 0);
    }

    #[test]
    fn no_limit_with_a_used_low_lane_is_a_warning() {
        let starving = policy(&[(0, 64)], &[(0, 64), (1, 64), (2, 64)], 255);
        let (_, warnings) = faults(&starving, &port(4, 0b111, 64));
        assert_eq!(
            warnings,
            ["limit: 255 means no limit, so VL1, VL2 may starve while VL0 can send"]
        );
        assert!(!starving.serves_everyone());
        // No other lane is in the way, or none waits.
        assert!(faults(&starving, &port(4, 0b110, 64)).1.is_empty());
        assert!(faults(&starving, &port(4, 0b001, 64)).1.is_empty());
        assert!(policy(&[(0, 64)], &[(1, 64)], 254).serves_everyone());
        assert!(policy(&[(0, 64), (1, 1)], &[(1, 64)], 255).serves_everyone());
        assert!(policy(&[], &[(1, 64)], 255).serves_everyone());
    }

    #[test]
    fn clones_share_tables_and_have_registers_of_their_own() {
        let first = policy(&[(0, 1)], &[(1, 1), (2, 1)], 0).two_table().unwrap();
        let mut second = first.clone();
        assert!(Arc::ptr_eq(&first.rows, &second.rows));
        let heads = [Head {
            bytes: 64,
            ..Head::default()
        }; 32];
        let view = View {
            eligible: 1,
            heads: &heads,
        };
        let grant = second.choose(&view).unwrap();
        second.commit(grant);
        assert_ne!(first.registers, second.registers);
        assert_eq!(first.choose(&view), Some(grant));
    }
}
