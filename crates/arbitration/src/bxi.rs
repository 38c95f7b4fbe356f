//! The arbitration table of BXI, without and with deficits (paper 003).
//!
//! ```text
//! entries (SL, weight) …   current ─► remaining = weight * k flits
//! heads ── one queue per SL ────────► fits: send, remaining -= size; used up: next entry
//!                                     too long, or nothing to send: next entry
//!                                     (bxi-deficit: a head that is too long keeps what is left
//!                                     for the entry's next turn, an idle service level loses it)
//! ```
//!
//! Sizes are flits, rounded up. Entry 0 is current at first. The deficit belongs to an entry, not
//! to a service level as in DTable. Entries with a quantum of 0 have no effect. Several queues of a
//! service level take turns, the extension that the paper allows.
//!
//! Interpretations of the paper: registers persist while nothing can be sent, and otherwise the
//! search continues until something is sent. Without deficits this takes one probe more than there
//! are entries. A packet longer than every quantum of its service level then never leaves. This is
//! the only reason for `bxi-table` to idle, and [`Policy::faults`] reports it. With deficits the
//! packet leaves after some turns.
//!
//! The printed pseudocode of the deficits differs from the paper's text and figure, and is unfair
//! between equal entries. Here deficits follow the text and the figure.
//!
//! The widths of the registers are not modelled (16 bits of remaining flits and of each deficit).

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use crate::policy::no_entries;
use crate::quantum_walk::{Found, Leftover, QuantumWalk, Turn};
use crate::service_levels::{SlHeads, SlRoundRobin};
use crate::{
    Arbiter, Fault, Grant, Head, MANAGEMENT_VL, N_QUEUES, Policy, PortContext, QuantumTable,
    SlEntry, Speaks, View,
};

/// Default flits per unit of weight.
pub(crate) const DEFAULT_K: u32 = 1024;

/// Default bytes per flit.
const DEFAULT_FLIT: Bytes = Bytes(64);

params! {
    /// A table of service levels, as in BXI.
    #[derive(Clone, Debug)]
    pub struct BxiTable {
        /// The entries in order: [service level, weight] pairs, at most 256, weights up to 65535.
        pub table: Vec<SlEntry>,
        /// Flits per unit of weight: an entry may send weight times k flits per turn.
        pub k: u32 = DEFAULT_K,
        /// The length of a flit.
        pub flit: Bytes = DEFAULT_FLIT,
    }
    check |bxi, section| {
        for (key, message) in mistakes(&bxi.table, bxi.k, bxi.flit) {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message);
        }
    }
}

params! {
    /// A table of service levels with deficits, as in BXI.
    #[derive(Clone, Debug)]
    pub struct BxiDeficit {
        /// The entries in order: [service level, weight] pairs, at most 256, weights up to 65535.
        pub table: Vec<SlEntry>,
        /// Flits per unit of weight: an entry may send weight times k flits per turn.
        pub k: u32 = DEFAULT_K,
        /// The length of a flit.
        pub flit: Bytes = DEFAULT_FLIT,
    }
    removed { "literal" = "false": "deficits follow the text of the paper, not its pseudocode" }
    check |bxi, section| {
        for (key, message) in mistakes(&bxi.table, bxi.k, bxi.flit) {
            let place = section.place_of(key);
            section.notes.error("E0102", place, message);
        }
    }
}

impl Described for BxiTable {
    const NAME: &'static str = "bxi-table";
    const SUMMARY: &'static str =
        "BXI: a table of weighted service levels; the unused rest of a turn is lost.";
    const PAPER: Option<&'static str> =
        Some("Quality of service for BXIv3 with arbitration tables, Algorithm 1");
    const EXAMPLE: &'static str = "table = [[0, 4], [1, 2], [0, 4], [2, 1]]\nk = 128";
}

impl Described for BxiDeficit {
    const NAME: &'static str = "bxi-deficit";
    const SUMMARY: &'static str =
        "BXI: a table of weighted service levels; an entry keeps a rest too short for a packet.";
    const PAPER: Option<&'static str> =
        Some("Quality of service for BXIv3 with arbitration tables, Algorithm 2");
    const EXAMPLE: &'static str = "table = [[0, 4], [1, 2], [0, 4], [2, 1]]\nk = 16";
}

/// Returns the errors that need several parameters, each with its key.
fn mistakes(table: &[SlEntry], k: u32, flit: Bytes) -> Vec<(&'static str, String)> {
    let mut mistakes = vec![];
    if k == 0 {
        mistakes.push(("k", "a unit of weight must be at least 1 flit".into()));
    }
    if flit.0 == 0 || flit.0 > u64::from(u32::MAX) {
        let message = format!("expected a flit of 1 byte to 4 GiB, found {flit}");
        mistakes.push(("flit", message));
    }
    if let Err(error) = QuantumTable::new(table.to_vec(), k) {
        mistakes.push(("table", error.to_string()));
    }
    mistakes
}

impl Policy for BxiTable {
    fn build(&self) -> Box<dyn Arbiter> {
        let walk = walk(&self.table, self.k, Leftover::Lost);
        Box::new(BxiArbiter::new(walk, &self.table, self.k, self.flit))
    }

    fn faults(&self, context: &PortContext) -> Vec<Fault> {
        let mut faults: Vec<Fault> = no_entries(sls(&self.table, self.k)).into_iter().collect();
        self.packets_that_never_leave(context, &mut faults);
        faults
    }

    fn speaks(&self) -> Speaks {
        Speaks::Sls
    }

    fn sendable_sls(&self) -> u32 {
        sls(&self.table, self.k)
    }

    /// True for every service level of the table whose packets fit in its largest quantum.
    fn serves_everyone(&self) -> bool {
        true
    }
}

impl BxiTable {
    /// Returns the policy for a planned table.
    pub fn from_table(table: &QuantumTable, flit: Bytes) -> BxiTable {
        BxiTable {
            table: table.entries().to_vec(),
            k: table.k,
            flit,
        }
    }

    fn packets_that_never_leave(&self, context: &PortContext, faults: &mut Vec<Fault>) {
        for (sl, largest) in (0..).zip(context.largest_of_sl) {
            let of_sl = self.table.iter().filter(|e| e.sl.0 == sl && e.weight > 0);
            let (Some(weight), Some(bytes)) = (of_sl.map(|e| e.weight).max(), largest) else {
                continue;
            };
            let quantum = u32::from(weight).saturating_mul(self.k);
            let flits = in_flits(bytes, self.flit);
            if quantum < flits {
                let message = format!(
                    "SL{sl} may send at most {quantum} flits per turn, but a packet has up to \
                     {flits}: it would never leave"
                );
                let help = format!(
                    "use a weight times k of at least {flits} for SL{sl}, or use bxi-deficit"
                );
                faults.push(Fault::error("table", message, help));
            }
        }
    }
}

impl BxiDeficit {
    /// Returns the policy for a planned table.
    pub fn from_table(table: &QuantumTable, flit: Bytes) -> BxiDeficit {
        BxiDeficit {
            table: table.entries().to_vec(),
            k: table.k,
            flit,
        }
    }
}

impl Policy for BxiDeficit {
    fn build(&self) -> Box<dyn Arbiter> {
        let walk = walk(&self.table, self.k, Leftover::Retained);
        Box::new(BxiArbiter::new(walk, &self.table, self.k, self.flit))
    }

    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        no_entries(sls(&self.table, self.k)).into_iter().collect()
    }

    fn speaks(&self) -> Speaks {
        Speaks::Sls
    }

    fn sendable_sls(&self) -> u32 {
        sls(&self.table, self.k)
    }

    /// True for every service level of the table.
    fn serves_everyone(&self) -> bool {
        true
    }
}

fn sls(table: &[SlEntry], k: u32) -> u32 {
    if k == 0 {
        0
    } else {
        crate::tables::live_sls(table)
    }
}

fn in_flits(bytes: u32, flit: Bytes) -> u32 {
    let flits = Bytes(u64::from(bytes)).in_flits(flit);
    flits.max(1) as u32
}

fn walk(table: &[SlEntry], k: u32, leftover: Leftover) -> QuantumWalk {
    let turn = |entry: &SlEntry| Turn {
        class: entry.sl.0,
        quantum: u32::from(entry.weight).saturating_mul(k),
    };
    QuantumWalk::new(table.iter().map(turn), leftover)
}

/// A grant carries the result of the walk; that of management has no active classes.
struct BxiArbiter {
    walk: QuantumWalk,
    sls: u32,
    flit: Bytes,
    round_robin: SlRoundRobin,
}

impl BxiArbiter {
    fn new(walk: QuantumWalk, table: &[SlEntry], k: u32, flit: Bytes) -> BxiArbiter {
        BxiArbiter {
            walk,
            sls: sls(table, k),
            flit,
            round_robin: SlRoundRobin::default(),
        }
    }

    /// Returns the queue that sends next, and the walk to its entry.
    #[inline]
    fn look(&self, heads: &SlHeads, view: &View<'_>) -> Option<(u8, Found)> {
        let size = |sl: u8| {
            let queue = heads.queue[usize::from(sl)];
            in_flits(view.heads[usize::from(queue)].bytes, self.flit)
        };
        let (sl, found) = self.walk.choose(heads.sls & self.sls, size)?;
        Some((heads.queue[usize::from(sl)], found))
    }
}

impl Arbiter for BxiArbiter {
    /// Returns `None` if only service levels without an entry are eligible. Without deficits, also
    /// if every head is longer than its entries allow.
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let heads = self.round_robin.heads(view);
        if heads.has_management {
            return view.management().map(Grant::of_management);
        }
        let (queue, [active, steps, flits]) = self.look(&heads, view)?;
        Some(Grant {
            queue,
            registers: [active, steps, flits, 0, 0, 0],
        })
    }

    fn commit(&mut self, grant: Grant) {
        let [active, steps, flits, ..] = grant.registers;
        if active != 0 {
            let sl = self.walk.commit([active, steps, flits]);
            self.round_robin.sent(usize::from(sl), grant.queue);
        }
    }

    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        let heads = self.round_robin.heads(view);
        if heads.has_management {
            return view.management();
        }
        let (queue, found) = self.look(&heads, view)?;
        let sl = self.walk.commit(found);
        self.round_robin.sent(usize::from(sl), queue);
        Some(queue)
    }

    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, _heads: &mut [Head; N_QUEUES]) -> bool {
        if head.vl == MANAGEMENT_VL {
            return true;
        }
        let sl = u32::from(head.sl.0);
        let flits = in_flits(head.bytes, self.flit);
        let Some((_, found)) = self.walk.choose(self.sls & 1 << sl, |_| flits) else {
            return false;
        };
        self.walk.commit(found);
        self.round_robin.sent(head.sl.index(), queue);
        true
    }

    fn save(&self, out: &mut Vec<u64>) {
        self.walk.save(out);
        self.round_robin.save(out);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        self.walk.restore(from)?;
        self.round_robin.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a port with two service levels, whose largest packets have 10 and 20 flits.
    fn port() -> PortContext {
        let mut largest_of_sl = [None; 16];
        largest_of_sl[0] = Some(640);
        largest_of_sl[1] = Some(1280);
        PortContext {
            largest_of_sl,
            ..PortContext::default()
        }
    }

    fn faults(pairs: &[(u8, u16)], k: u32) -> Vec<(bool, String)> {
        let table = QuantumTable::from_pairs(pairs, k).unwrap();
        let faults = BxiTable::from_table(&table, Bytes(64)).faults(&port());
        let deficit = BxiDeficit::from_table(&table, Bytes(64)).faults(&port());
        assert!(
            deficit.is_empty(),
            "deficits send every packet: {deficit:?}"
        );
        faults
            .into_iter()
            .map(|f| (f.is_error, f.message))
            .collect()
    }

    #[test]
    fn a_packet_above_every_quantum_of_its_service_level_is_a_fault_without_deficits() {
        assert_eq!(faults(&[(0, 2), (1, 2), (1, 0)], 10), []);
        // Another entry of the service level is long enough.
        assert_eq!(faults(&[(0, 1), (0, 2)], 10), []);
        // A service level without traffic has no packets that could be too long.
        assert_eq!(faults(&[(0, 10), (1, 20), (2, 1)], 1), []);
        let message = |sl, quantum, flits| {
            format!(
                "SL{sl} may send at most {quantum} flits per turn, but a packet has up to {flits}: \
                 it would never leave"
            )
        };
        assert_eq!(faults(&[(0, 19), (1, 9)], 1), [(true, message(1, 9, 20))]);
        assert_eq!(faults(&[(0, 9)], 1), [(true, message(0, 9, 10))]);
    }
}
