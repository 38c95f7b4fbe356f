//! Deadlines at one output: DBTS connections in the high table, with deadline admission.
//!
//! ```text
//! deadline 60 us ─┬─ 20 us ── NIC's output      wait bound of the lane there  ≤ 20 us
//!                 ├─ 20 us ── switch's output                                 ≤ 20 us
//!                 └─ 20 us ── switch's output                                 ≤ 20 us
//! ```
//!
//! The deadline of a connection is divided evenly over the outputs of its path. At each of them the
//! longest wait of its lane under the current tables ([`ib_wait`]) must be within that budget. The
//! assumption is [`crate::qos::wait::ASSUMPTION`]. The time to send the packet itself, cables and
//! the insides of switches are not included.

use std::collections::BTreeMap;

use netloom_arbitration::{
    Entry, LIMIT_UNIT, N_SLS as N_LANES, NO_LIMIT, VlArbitrationTable, WEIGHT_UNIT,
};
use netloom_units::{Bytes, Rate, Ratio, Sl, Time, Vl};

use super::slots::{FRAME, N_SLS, Slots};
use super::table::{Class, PortTable};
use crate::qos::wait::{Bound, IbTables, PacketSizes, Wait, ib_wait};

/// The values other than tables that determine waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packets {
    /// The largest packet of every data lane, header included.
    pub largest: Bytes,
    /// The largest management packet; 0 without VL15.
    pub management: Bytes,
    /// LimitOfHighPriority of every port, as written: times 4096 bytes, 255 for none.
    pub limit: u8,
}

/// The size of an InfiniBand management datagram.
pub const MANAGEMENT_DATAGRAM: Bytes = Bytes(256);

impl Default for Packets {
    /// Returns the paper's larger packets, one management datagram, and no limit.
    fn default() -> Self {
        Packets {
            largest: Bytes(4096),
            management: MANAGEMENT_DATAGRAM,
            limit: NO_LIMIT,
        }
    }
}

impl Packets {
    /// Returns the guaranteed part of a frame for the high table when all lanes always have
    /// packets. Between two packets of the low table it sends the limit or, with a limit of 0, one
    /// packet of at least a slot.
    pub fn surely_high(&self) -> Slots {
        if self.limit == NO_LIMIT {
            return FRAME;
        }
        let high = u64::from((u32::from(self.limit) * LIMIT_UNIT).max(WEIGHT_UNIT));
        Slots(FRAME.0 * high / (high + self.largest.0))
    }

    fn sizes(&self) -> PacketSizes {
        let mut largest = [self.largest; N_LANES];
        // VL15 is in no table.
        largest[N_LANES - 1] = Bytes(0);
        PacketSizes {
            largest,
            smallest: [Bytes(0); N_LANES],
            management: self.management,
        }
    }
}

/// A lane that would wait too long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Late {
    /// The lane of the requested connection, or of an accepted one.
    pub vl: Vl,
    /// The longest wait.
    pub wait: Time,
    /// The wait that the deadline allows.
    pub budget: Time,
}

/// Returns the part of a deadline for each of `n_outputs` outputs: all parts are equal.
pub fn budget(deadline: Time, n_outputs: usize) -> Time {
    Time::from_picos(deadline.picos() / Ratio::whole(n_outputs as u64))
}

/// Returns the longest wait of connections with a deadline at a port; `None` if the service level
/// has none.
pub fn longest_wait(table: &PortTable, packets: &Packets, sl: Sl) -> Option<Bound> {
    let high = VlArbitrationTable::new(table.high_entries().iter().flatten().copied().collect());
    // Of the low table only the set of its lanes matters, and a virtual table has no other form.
    let mut lanes: Vec<Entry> = table.entries().iter().flatten().copied().collect();
    lanes.sort_unstable_by_key(|entry| entry.vl);
    lanes.dedup_by_key(|entry| entry.vl);
    let low = VlArbitrationTable::new(lanes);
    let tables = IbTables {
        high: &high.expect("the high table never outgrows its 64 entries"),
        low: &low.expect("there are fewer lanes than entries"),
        limit: packets.limit,
    };
    let vl = table.lanes().of(Class {
        sl,
        has_deadline: true,
    });
    match ib_wait(tables, &packets.sizes(), vl) {
        Wait::AtMost(bound) => Some(bound),
        Wait::Unbounded(_) => None,
    }
}

/// The budgets of the connections through one output, by service level, each with their number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Budgets([BTreeMap<Time, u32>; N_SLS as usize]);

impl Budgets {
    pub(super) fn add(&mut self, sl: Sl, budget: Time) {
        *self.0[sl.index()].entry(budget).or_default() += 1;
    }

    /// # Panics
    /// If no connection has this budget.
    pub(super) fn remove(&mut self, sl: Sl, budget: Time) {
        let of_sl = &mut self.0[sl.index()];
        let n = of_sl.get_mut(&budget).expect("a budget that was added");
        *n -= 1;
        if *n == 0 {
            of_sl.remove(&budget);
        }
    }

    /// Returns the tightest budget of a service level.
    pub(super) fn tightest(&self, sl: Sl) -> Option<Time> {
        self.0[sl.index()].keys().next().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(BTreeMap::is_empty)
    }

    /// Returns the first lane that would wait longer than its tightest budget with these tables.
    pub(super) fn late(&self, table: &PortTable, packets: &Packets, rate: Rate) -> Option<Late> {
        (0..N_SLS).map(Sl).find_map(|sl| {
            let budget = self.tightest(sl)?;
            let wait = longest_wait(table, packets, sl)
                .expect("connections with a deadline have entries")
                .time(rate);
            let vl = table.lanes().deadlines[sl.index()];
            (wait > budget).then_some(Late { vl, wait, budget })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Lanes;
    use super::*;

    const X1: Rate = Rate(2_500_000_000);

    fn deadline(sl: u8) -> Class {
        Class {
            sl: Sl(sl),
            has_deadline: true,
        }
    }

    #[test]
    fn a_deadline_is_divided_evenly() {
        assert_eq!(budget(Time::from_nanos(60), 3), Time::from_nanos(20));
        assert_eq!(budget(Time::from_nanos(1), 3) * 3, Time::from_nanos(1));
    }

    #[test]
    fn a_wait_is_the_sum_of_its_written_parts() {
        let packets = Packets {
            largest: Bytes(256),
            management: Bytes(256),
            limit: NO_LIMIT,
        };
        let mut table = PortTable::new(Lanes::default());
        assert_eq!(longest_wait(&table, &packets, Sl(3)), None);
        table.reserve(deadline(3), Slots(10));
        // Alone in the high table: its own packet ahead, and management. The low table waits.
        let alone = longest_wait(&table, &packets, Sl(3)).unwrap();
        assert_eq!(alone.total(), Bytes(256 + 256));
        // 512 bytes at 2.5 Gbit/s.
        assert_eq!(alone.time(X1), "1638.4 ns".parse().unwrap());
        // After an entry of 20 slots: 19 of them, and the packet that the last one allows to begin.
        table.reserve(deadline(0), Slots(20));
        let both = longest_wait(&table, &packets, Sl(3)).unwrap();
        assert_eq!(both.total(), Bytes(256 + 256 + 19 * 64 + 256));
        // With a limit of 0, a packet of the low table follows every packet of the high table.
        let limited = Packets {
            limit: 0,
            ..packets
        };
        let low = longest_wait(&table, &limited, Sl(3)).unwrap().other_table;
        assert_eq!(low, Bytes(21 * 256));
    }

    #[test]
    fn a_limit_leaves_the_high_table_less_than_the_link() {
        let high = |limit, largest| {
            let packets = Packets {
                limit,
                largest: Bytes(largest),
                ..Packets::default()
            };
            packets.surely_high().0
        };
        // One packet of 64 bytes for every one of the low table; 4096 bytes for every one; all.
        assert_eq!([high(0, 64), high(0, 4096)], [8160, 251]);
        assert_eq!([high(1, 4096), high(4, 4096)], [8160, 13_056]);
        assert_eq!(high(255, 4096), 16_320);
    }

    #[test]
    fn connections_without_deadlines_delay_nobody_in_the_high_table() {
        let packets = Packets::default();
        let mut table = PortTable::new(Lanes::default());
        table.reserve(deadline(2), Slots(10));
        let before = longest_wait(&table, &packets, Sl(2));
        table.reserve(Sl(3), Slots(13_000));
        assert!(table.has_virtual_entries());
        assert_eq!(longest_wait(&table, &packets, Sl(2)), before);
    }

    #[test]
    fn the_tightest_budget_counts_until_its_last_connection_leaves() {
        let mut budgets = Budgets::default();
        let (short, long) = (Time::from_nanos(5), Time::from_nanos(9));
        for time in [long, short, short] {
            budgets.add(Sl(1), time);
        }
        budgets.remove(Sl(1), short);
        assert_eq!(budgets.tightest(Sl(1)), Some(short));
        budgets.remove(Sl(1), short);
        assert_eq!(budgets.tightest(Sl(1)), Some(long));
        budgets.remove(Sl(1), long);
        assert!(budgets.is_empty());
    }
}
