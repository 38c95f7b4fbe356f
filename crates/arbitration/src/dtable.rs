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

/// The position in the table, and what service levels have left.
#[derive(Clone, Debug)]
struct Position {
    deficits: [u32; N_SLS],
    accumulator: u32,
    /// The current entry; at first the last one, so entry 0 is next.
    at: usize,
    /// Whether that entry is being served; false only before the first packet.
    is_serving: bool,
}

impl Position {
    /// Leaves the entry being served: its service level keeps a rest that does not suffice, and
    /// loses a rest that it does not need.
    #[inline]
    fn leave(&mut self, entries: &[SlEntry], active: u32) {
        if self.is_serving {
            let sl = entries[self.at].sl;
            let is_active = active >> sl.0 & 1 == 1;
            self.deficits[sl.index()] = if is_active { self.accumulator } else { 0 };
        }
    }

    /// Walks to the entry that sends next, and returns its service level. `fits` is called at every
    /// entry with something to send, with its service level and what this may send. `active` are
    /// the service levels with something to send, one bit each; at least one has an entry.
    #[inline]
    fn walk(
        &mut self,
        entries: &[SlEntry],
        active: u32,
        mut fits: impl FnMut(usize, u32) -> bool,
    ) -> usize {
        let served = entries[self.at].sl.index();
        let is_served = self.is_serving && active >> served & 1 == 1;
        if is_served && fits(served, self.accumulator) {
            return served;
        }
        self.leave(entries, active);
        loop {
            self.at += 1;
            if self.at >= entries.len() {
                self.at = 0;
            }
            let entry = entries[self.at];
            if active >> entry.sl.0 & 1 == 0 {
                continue;
            }
            let sl = entry.sl.index();
            self.deficits[sl] += u32::from(entry.weight);
            if fits(sl, self.deficits[sl]) {
                self.accumulator = std::mem::take(&mut self.deficits[sl]);
                self.is_serving = true;
                return sl;
            }
        }
    }
}

/// A grant carries `[active, looks, size, …]`: the service levels with something to send, one bit
/// each; the number of entries of the walk at which a head was compared; and the size of the packet
/// in credits. A commit repeats the walk from these. The grant of management has no active levels.
#[derive(Clone, Debug)]
struct DTableArbiter {
    /// Without entries of weight 0.
    entries: Vec<SlEntry>,
    sls: u32,
    position: Position,
    round_robin: SlRoundRobin,
}

impl DTableArbiter {
    fn new(table: &DeficitTable) -> DTableArbiter {
        let live = table.entries().iter().filter(|e| e.weight > 0);
        let entries: Vec<SlEntry> = live.copied().collect();
        DTableArbiter {
            position: Position {
                deficits: [0; N_SLS],
                accumulator: 0,
                at: entries.len().saturating_sub(1),
                is_serving: false,
            },
            entries,
            sls: table.sls(),
            round_robin: SlRoundRobin::default(),
        }
    }

    /// Records that a packet of the entry being served is sent.
    #[inline]
    fn sent(&mut self, sl: usize, size: u32, queue: u8) {
        self.position.accumulator -= size;
        self.round_robin.sent(sl, queue);
    }
}

/// Returns the size of a packet in credits.
#[inline]
fn size(head: &Head) -> u32 {
    weight_units(head.bytes).max(1)
}

impl Arbiter for DTableArbiter {
    /// Returns `None` if only service levels without an entry are eligible.
    fn choose(&self, view: &View<'_>) -> Option<Grant> {
        let heads = self.round_robin.heads(view);
        if heads.has_management {
            return view.management().map(Grant::of_management);
        }
        let active = heads.sls & self.sls;
        if active == 0 {
            return None;
        }
        let size = |sl: usize| size(&view.heads[usize::from(heads.queue[sl])]);
        let mut looks = 0;
        let fits = |sl: usize, may_send: u32| {
            looks += 1;
            size(sl) <= may_send
        };
        let sl = self.position.clone().walk(&self.entries, active, fits);
        Some(Grant {
            queue: heads.queue[sl],
            registers: [active, looks, size(sl), 0, 0, 0],
        })
    }

    fn commit(&mut self, grant: Grant) {
        let [active, mut looks, size, ..] = grant.registers;
        if active == 0 {
            return;
        }
        let fits = |_, _| {
            looks -= 1;
            looks == 0
        };
        let sl = self.position.walk(&self.entries, active, fits);
        self.sent(sl, size, grant.queue);
    }

    fn send(&mut self, view: &View<'_>) -> Option<u8> {
        let heads = self.round_robin.heads(view);
        if heads.has_management {
            return view.management();
        }
        let active = heads.sls & self.sls;
        if active == 0 {
            return None;
        }
        let size = |sl: usize| size(&view.heads[usize::from(heads.queue[sl])]);
        let fits = |sl: usize, may_send: u32| size(sl) <= may_send;
        let sl = self.position.walk(&self.entries, active, fits);
        self.sent(sl, size(sl), heads.queue[sl]);
        Some(heads.queue[sl])
    }

    #[inline]
    fn send_alone(&mut self, queue: u8, head: &Head, _heads: &mut [Head; N_QUEUES]) -> bool {
        if head.vl == MANAGEMENT_VL {
            return true;
        }
        let (active, size) = (self.sls & 1 << head.sl.0, size(head));
        if active == 0 {
            return false;
        }
        let fits = |_, may_send: u32| size <= may_send;
        let sl = self.position.walk(&self.entries, active, fits);
        self.sent(sl, size, queue);
        true
    }

    fn save(&self, out: &mut Vec<u64>) {
        let Position {
            deficits,
            accumulator,
            at,
            is_serving,
        } = &self.position;
        out.extend([*at as u64, (*is_serving).into(), (*accumulator).into()]);
        out.extend(deficits.map(u64::from));
        self.round_robin.save(out);
    }

    fn restore(&mut self, from: &mut &[u64]) -> Option<()> {
        let n = self.entries.len().max(1);
        let position = &mut self.position;
        position.at = take_word(from).filter(|at| *at < n)?;
        position.is_serving = take_word(from).filter(|flag: &u8| *flag < 2)? == 1;
        position.accumulator = take_word(from)?;
        for deficit in &mut position.deficits {
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
        let state = |a: &DTableArbiter| {
            let position = &a.position;
            (
                position.accumulator,
                position.deficits[0],
                position.deficits[1],
            )
        };
        // Round N: 0 + 3, one message; the deficits do not change until the switch-over.
        assert_eq!(send(&mut arbiter, 0b01, &heads), 0);
        assert_eq!(state(&arbiter), (1, 0, 0));
        // The switch-over alone: SL1 would find a deficit of 1 for SL0.
        let mut left = arbiter.position.clone();
        left.leave(&arbiter.entries, 0b01);
        assert_eq!(left.deficits[..2], [1, 0]);
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
        assert_eq!(arbiter.position.deficits[0], 0);
        // Without SL0 in between, its nine credits remain.
        let mut other = self::arbiter(&[(0, 10), (1, 1)]);
        assert_eq!(send(&mut other, 0b11, &heads), 0);
        assert_eq!(other.position.accumulator, 9);
        assert!(
            other
                .choose(&View {
                    eligible: 0,
                    heads: &heads
                })
                .is_none()
        );
        assert_eq!(
            other.position.accumulator, 9,
            "nothing was sent, nothing changed"
        );
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
