//! DTable: a table of service levels with a deficit for each (paper 000).
//!
//! ```text
//! table   (SL, weight) …  pointer ─► accumulator = weight + deficit[SL], which is then 0
//! heads ── one queue per SL in turn ──► while the head fits: send, accumulator -= size
//!                                       it does not fit:     deficit[SL] = accumulator, next entry
//!                                       nothing to send:     the rest is discarded, next entry
//! ```
//!
//! Sizes are credits: bytes / 64, rounded up. A deficit belongs to a service level and is shared by
//! all of its entries (unlike BXI, where it belongs to an entry). A weight smaller than a message
//! does not starve it: the deficit accumulates until the message fits. Entries of weight 0, and
//! entries whose service level has nothing to send, are skipped; their deficits remain. Entry 0 is
//! examined first. Several queues of a service level take turns.
//!
//! Whether a service level has something to send is decided when a packet must be chosen. If none
//! has, nothing changes. A service level without an entry is never sent.
//!
//! The 8 bits of the counters in InfiniBand storage are not modelled.
//! [`DeficitTable::fits_ib_registers`] returns whether they would suffice.
//!
//! [`DeficitTable::fits_ib_registers`]: crate::DeficitTable::fits_ib_registers

use netloom_catalog::{Described, params};

use crate::policy::no_entries;
use crate::service_levels::SlRoundRobin;
use crate::{
    Arbiter, DeficitTable, Fault, Grant, Head, MANAGEMENT_VL, N_QUEUES, N_SLS, Policy, PortContext,
    SlEntry, Speaks, View, take_word, weight_units,
};

params! {
    /// A table of service levels with deficits.
    #[derive(Clone, Debug)]
    pub struct DTable {
        /// The entries in order: [service level, weight] pairs, weights in credits of 64 bytes.
        pub table: DeficitTable,
    }
}

impl Described for DTable {
    const NAME: &'static str = "dtable";
    const SUMMARY: &'static str =
        "A table of weighted service levels; the unused rest of a turn is kept for the next one.";
    const PAPER: Option<&'static str> =
        Some("Deficit Table scheduler (DTable), as compared on InfiniBand and Omni-Path switches");
    const EXAMPLE: &'static str = "table = [[0, 64], [1, 64], [0, 64], [2, 32]]";
}

impl Policy for DTable {
    fn build(&self) -> Box<dyn Arbiter> {
        Box::new(DTableArbiter::new(&self.table))
    }

    fn faults(&self, _context: &PortContext) -> Vec<Fault> {
        no_entries(self.table.sls()).into_iter().collect()
    }

    fn speaks(&self) -> Speaks {
        Speaks::Sls
    }

    fn sendable_sls(&self) -> u32 {
        self.table.sls()
    }

    /// True for every service level of the table.
    fn serves_everyone(&self) -> bool {
        true
    }
}

/// A grant carries `[active, turns, size, …]`: the service levels with something to send, one bit
/// each; the number of entries stepped to, the last of which sends (0 is the entry being served);
/// and the size of the packet in credits. A commit repeats the walk from these: an entry that was
/// reached but did not send adds its weight to the deficit, whatever the packet at its head. The
/// grant of management has no active levels.
#[derive(Clone, Debug)]
struct DTableArbiter {
    /// Without entries of weight 0.
    entries: Vec<SlEntry>,
    sls: u32,
    deficits: [u32; N_SLS],
    accumulator: u32,
    /// The current entry; at first the last one, so entry 0 is next.
    at: usize,
    /// Whether that entry is being served; false only before the first packet.
    is_serving: bool,
    round_robin: SlRoundRobin,
}

impl DTableArbiter {
    fn new(table: &DeficitTable) -> DTableArbiter {
        let live = table.entries().iter().filter(|e| e.weight > 0);
        let entries: Vec<SlEntry> = live.copied().collect();
        DTableArbiter {
            at: entries.len().saturating_sub(1),
            entries,
            sls: table.sls(),
            deficits: [0; N_SLS],
            accumulator: 0,
            is_serving: false,
            round_robin: SlRoundRobin::default(),
        }
    }

    /// Returns the next entry whose service level is active; there is one.
    fn next(&self, mut at: usize, active: u32) -> usize {
        loop {
            at = if at + 1 < self.entries.len() {
                at + 1
            } else {
                0
            };
            if active >> self.entries[at].sl.0 & 1 == 1 {
                return at;
            }
        }
    }

    /// Returns the deficits after the entry being served is left: its service level keeps a rest
    /// that does not suffice, and loses a rest that it does not need.
    fn deficits_after_leaving(&self, active: u32) -> [u32; N_SLS] {
        let mut deficits = self.deficits;
        if self.is_serving {
            let sl = self.entries[self.at].sl;
            let is_active = active >> sl.0 & 1 == 1;
            deficits[sl.index()] = if is_active { self.accumulator } else { 0 };
        }
        deficits
    }
}

impl Arbiter for DTableArbiter {
    /// Returns `None` if only service levels without an entry are eligible.
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        if let Some(queue) = view.management() {
            return Some(Grant::of_management(queue));
        }
        let heads = self.round_robin.heads(view);
        let active = heads.sls & self.sls;
        if active == 0 {
            return None;
        }
        let size = |sl: usize| {
            let head = &view.heads[usize::from(heads.queue[sl])];
            weight_units(head.bytes).max(1)
        };
        let grant = |sl: usize, turns: u32| {
            Some(Grant {
                queue: heads.queue[sl],
                registers: [active, turns, size(sl), 0, 0, 0],
            })
        };
        let mut at = self.at;
        let served = self.entries[at].sl.index();
        if self.is_serving && active >> served & 1 == 1 && size(served) <= self.accumulator {
            return grant(served, 0);
        }
        let mut deficits = self.deficits_after_leaving(active);
        let mut turns = 0;
        loop {
            at = self.next(at, active);
            turns += 1;
            let entry = self.entries[at];
            let sl = entry.sl.index();
            deficits[sl] += u32::from(entry.weight);
            if size(sl) <= deficits[sl] {
                return grant(sl, turns);
            }
        }
    }

    fn commit(&mut self, grant: Grant) {
        let [active, turns, size, ..] = grant.registers;
        if active == 0 {
            return;
        }
        if turns > 0 {
            self.deficits = self.deficits_after_leaving(active);
            for _ in 0..turns {
                self.at = self.next(self.at, active);
                let entry = self.entries[self.at];
                self.deficits[entry.sl.index()] += u32::from(entry.weight);
            }
            let sl = self.entries[self.at].sl.index();
            self.accumulator = std::mem::take(&mut self.deficits[sl]);
            self.is_serving = true;
        }
        self.accumulator -= size;
        let sl = self.entries[self.at].sl.index();
        self.round_robin.sent(sl, grant.queue);
    }

    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, _heads: &mut [Head; N_QUEUES]) -> bool {
        if head.vl == MANAGEMENT_VL {
            return true;
        }
        let (sl, size) = (head.sl.index(), weight_units(head.bytes).max(1));
        if self.sls >> sl & 1 == 0 {
            return false;
        }
        let is_served = self.is_serving && self.entries[self.at].sl.index() == sl;
        if !is_served || self.accumulator < size {
            if self.is_serving {
                let left = self.entries[self.at].sl.index();
                self.deficits[left] = if is_served { self.accumulator } else { 0 };
            }
            self.accumulator = std::mem::take(&mut self.deficits[sl]);
            loop {
                self.at = self.next(self.at, 1 << sl);
                self.accumulator += u32::from(self.entries[self.at].weight);
                if size <= self.accumulator {
                    break;
                }
            }
            self.is_serving = true;
        }
        self.accumulator -= size;
        self.round_robin.sent(sl, queue);
        true
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.extend([
            self.at as u64,
            self.is_serving.into(),
            self.accumulator.into(),
        ]);
        out.extend(self.deficits.map(u64::from));
        self.round_robin.save(out);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        let n = self.entries.len().max(1);
        self.at = take_word(from).filter(|at| *at < n)?;
        self.is_serving = take_word(from).filter(|flag: &u8| *flag < 2)? == 1;
        self.accumulator = take_word(from)?;
        for deficit in &mut self.deficits {
            *deficit = take_word(from)?;
        }
        self.round_robin.restore(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;
    use netloom_units::{Sl, Vl};

    fn arbiter(pairs: &[(u8, u16)]) -> DTableArbiter {
        DTableArbiter::new(&DeficitTable::from_pairs(pairs).unwrap())
    }

    /// Returns one queue per service level, with heads of these numbers of credits.
    fn heads(credits: &[u32]) -> [Head; 32] {
        let mut heads = [Head::default(); 32];
        for ((sl, head), credits) in (0..).zip(&mut heads).zip(credits) {
            head.sl = Sl(sl);
            head.bytes = credits * 64;
        }
        heads
    }

    fn send(arbiter: &mut DTableArbiter, eligible: u32, heads: &[Head; 32]) -> u8 {
        let grant = arbiter.choose(&View { eligible, heads }).unwrap();
        arbiter.commit(grant);
        grant.queue
    }

    #[test]
    fn v000_1_figure_3() {
        let mut arbiter = arbiter(&[(0, 3), (1, 5)]);
        let heads = heads(&[2, 2]);
        let state = |a: &DTableArbiter| (a.accumulator, a.deficits[0], a.deficits[1]);
        // Round N: 0 + 3, one message; the deficits do not change until the switch-over.
        assert_eq!(send(&mut arbiter, 0b01, &heads), 0);
        assert_eq!(state(&arbiter), (1, 0, 0));
        // The switch-over alone: SL1 would find a deficit of 1 for SL0.
        assert_eq!(arbiter.deficits_after_leaving(0b01)[..2], [1, 0]);
        // Round N + 1: 1 + 3, two messages.
        assert_eq!(send(&mut arbiter, 0b01, &heads), 0);
        assert_eq!(state(&arbiter), (2, 0, 0));
        assert_eq!(send(&mut arbiter, 0b01, &heads), 0);
        assert_eq!(state(&arbiter), (0, 0, 0));
    }

    #[test]
    fn what_an_idle_service_level_leaves_is_thrown_away() {
        let mut arbiter = arbiter(&[(0, 10), (1, 1)]);
        let heads = heads(&[1, 1]);
        assert_eq!(send(&mut arbiter, 0b11, &heads), 0);
        assert_eq!(send(&mut arbiter, 0b10, &heads), 1);
        assert_eq!(arbiter.deficits[0], 0);
        // Without SL0 in between, its nine credits remain.
        let mut other = self::arbiter(&[(0, 10), (1, 1)]);
        assert_eq!(send(&mut other, 0b11, &heads), 0);
        assert_eq!(other.accumulator, 9);
        assert!(
            other
                .choose(&View {
                    eligible: 0,
                    heads: &heads
                })
                .is_none()
        );
        assert_eq!(other.accumulator, 9, "nothing was sent, nothing changed");
    }

    #[test]
    fn a_weight_below_a_message_grows_until_it_fits() {
        // SL0 needs 5 turns of 2 for a message of 10 credits; SL1 sends one per turn.
        let mut arbiter = arbiter(&[(0, 2), (1, 1)]);
        let heads = heads(&[10, 1]);
        let sent: Vec<u8> = (0..12).map(|_| send(&mut arbiter, 0b11, &heads)).collect();
        assert_eq!(sent, [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1]);
    }

    #[test]
    fn g000_8_queues_of_one_service_level_have_turns() {
        let mut arbiter = arbiter(&[(0, 2), (1, 1)]);
        let mut heads = heads(&[1; 6]);
        for (queue, sl) in [0, 0, 1, 0, 1, 1].into_iter().enumerate() {
            heads[queue].sl = Sl(sl);
            heads[queue].vl = Vl(queue as u8);
        }
        let sent: Vec<u8> = (0..9)
            .map(|_| send(&mut arbiter, 0b11_1111, &heads))
            .collect();
        assert_eq!(sent, [0, 1, 2, 3, 0, 4, 1, 3, 5]);
    }

    #[test]
    fn c000_12_the_counters_of_infiniband_suffice_for_table_4() {
        let table = DeficitTable::from_pairs(&[(0, 4), (2, 41), (3, 94), (5, 39)]).unwrap();
        let mut messages = [0; N_SLS];
        messages[..7].copy_from_slice(&[3, 2, 32, 32, 16, 16, 16]);
        assert_eq!(table.largest_accumulator(&messages), 125);
        assert!(table.fits_ib_registers(&messages));
        messages[3] = 163;
        assert!(!table.fits_ib_registers(&messages));
    }

    #[test]
    fn an_empty_table_is_an_error() {
        for pairs in [&[][..], &[(3, 0)]] {
            let table = DeficitTable::from_pairs(pairs).unwrap();
            let faults = DTable { table }.faults(&PortContext::default());
            assert_eq!(faults.len(), 1);
            assert!(faults[0].is_error);
        }
    }
}
