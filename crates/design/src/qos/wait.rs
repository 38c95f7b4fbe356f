//! The longest wait of a class at one output: from its packet at the head of the queue with all credits
//! held, to the first flit of it (decision 17).
//!
//! Every other class may always have something to send, in packets of any size up to its largest. The bound
//! is a number of bytes that the link sends meanwhile:
//!
//! ```text
//! one packet of the own class in flight   the head became the head behind it
//! + what the table grants to others between two entries of the class
//! + what the other table of an InfiniBand port gets in between
//! + one management packet (VL15), which goes before all tables
//! ```
//!
//! A foreign packet in flight when the head appears was granted by the tables, so it is in the second or
//! third line already. The bound is of one output. Along a path waits add up only as long as credits are
//! guaranteed at every hop, which tables alone do not give.

use netloom_arbitration::{
    DeficitTable, LIMIT_UNIT, N_SLS, NO_LIMIT, SlEntry, VlArbitrationTable, WEIGHT_UNIT,
};
use netloom_units::{Bytes, Rate, Sl, Time, Vl};

/// What every bound here takes for granted, to be printed with it.
pub const ASSUMPTION: &str = "per output, one queue per class: the head is present and keeps the credits \
    for its whole packet; all other classes may always send; at most one management packet meanwhile; no \
    bound along a path, for the tables guarantee no credits downstream";

/// The largest packets on a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketSizes {
    /// The largest packet of each class (service level or lane, as the table speaks); 0 sends nothing.
    pub largest: [Bytes; N_SLS],
    /// The largest management packet; 0 where there is no VL15.
    pub management: Bytes,
}

impl PacketSizes {
    fn of(&self, class: usize) -> u64 {
        self.largest.get(class).map_or(0, |bytes| bytes.0)
    }

    fn credits(&self, class: usize) -> u64 {
        self.of(class).div_ceil(WEIGHT_UNIT.into())
    }
}

/// The longest wait of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Not longer than the link needs for this.
    AtMost(Bound),
    /// There is no bound, because of this.
    Unbounded(String),
}

/// What the link sends at most while a class waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The packet of the class itself that is in flight.
    pub own: Bytes,
    /// What other entries of the table of the class send.
    pub table: Bytes,
    /// What the other table of an InfiniBand port sends; 0 for DTable.
    pub other_table: Bytes,
    /// The management packet.
    pub management: Bytes,
}

impl Bound {
    /// All of it.
    pub fn total(&self) -> Bytes {
        Bytes(self.own.0 + self.table.0 + self.other_table.0 + self.management.0)
    }

    /// How long the link needs for it.
    pub fn time(&self, rate: Rate) -> Time {
        rate.time_for(self.total())
    }
}

/// The longest wait of a service level under a DTable.
pub fn dtable_wait(table: &DeficitTable, sizes: &PacketSizes, sl: Sl) -> Wait {
    match dtable_gap(table, sizes, sl) {
        Some(credits) => Wait::AtMost(Bound {
            own: Bytes(sizes.of(sl.index())),
            table: Bytes(credits * u64::from(WEIGHT_UNIT)),
            other_table: Bytes(0),
            management: sizes.management,
        }),
        None => Wait::Unbounded(format!("{sl} is in no entry of the table with a weight")),
    }
}

/// The most credits that a DTable gives to others between two services of a service level (V000-13); `None`
/// if it has no entry.
///
/// Over any run of entries a class sends no more than their weights and the deficit it had before, which is
/// below its largest message. The run ends where the own weights have added up to a largest message: at the
/// next own entry, unless the weights are smaller than messages.
pub fn dtable_gap(table: &DeficitTable, sizes: &PacketSizes, sl: Sl) -> Option<u64> {
    let can_send = |e: &&SlEntry| e.weight > 0 && (e.sl == sl || sizes.of(e.sl.index()) > 0);
    let live: Vec<SlEntry> = table.entries().iter().filter(can_send).copied().collect();
    let own = (0..live.len()).filter(|&at| live[at].sl == sl);
    own.map(|start| foreign_credits(&live, start, sizes)).max()
}

/// What others send after the entry at `start` is left and before its service level sends again.
fn foreign_credits(live: &[SlEntry], start: usize, sizes: &PacketSizes) -> u64 {
    let sl = live[start].sl;
    let message = sizes.credits(sl.index());
    let (mut own, mut foreign, mut met) = (0, 0, [false; N_SLS]);
    for step in 1.. {
        let entry = live[(start + step) % live.len()];
        if entry.sl == sl {
            own += u64::from(entry.weight);
            if own >= message {
                break;
            }
            continue;
        }
        foreign += u64::from(entry.weight);
        if !std::mem::replace(&mut met[entry.sl.index()], true) {
            foreign += sizes.credits(entry.sl.index()) - 1;
        }
    }
    foreign
}

/// The tables of an InfiniBand port.
#[derive(Clone, Copy, Debug)]
pub struct IbTables<'a> {
    /// The high-priority table.
    pub high: &'a VlArbitrationTable,
    /// The low-priority table.
    pub low: &'a VlArbitrationTable,
    /// LimitOfHighPriority, as written: times 4096 bytes, 255 for none.
    pub limit: u8,
}

/// The longest wait of a lane under the two tables of InfiniBand. A lane in both tables waits for the
/// earlier of the two, so the smaller bound holds.
pub fn ib_wait(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Wait {
    let bounds = [high_bound(tables, sizes, vl), low_bound(tables, sizes, vl)];
    let least = bounds.into_iter().flatten().min_by_key(Bound::total);
    if let Some(bound) = least {
        return Wait::AtMost(bound);
    }
    let is_low = tables.low.vls() & bit(vl) != 0;
    Wait::Unbounded(if is_low {
        format!("{vl} is in the low table only, and a limit of 255 lets the high one send for ever")
    } else {
        format!("{vl} is in no table with a weight")
    })
}

fn bit(vl: Vl) -> u32 {
    1u32.checked_shl(vl.0.into()).unwrap_or(0)
}

/// What entries of others send between two entries of a lane.
#[derive(Clone, Copy)]
struct Turn {
    bytes: u64,
    packets: u64,
}

/// The turns of others between every two consecutive entries of a lane in one table.
///
/// An entry sends while its counter is above zero: all of its weight but one unit, and then a largest
/// packet. No packet costs less than one unit, so it sends no more packets than its weight.
fn turns(table: &VlArbitrationTable, sizes: &PacketSizes, vl: Vl) -> Vec<Turn> {
    let live = table.entries().iter().filter(|e| e.weight > 0);
    let live: Vec<_> = live
        .filter(|e| e.vl == vl || sizes.of(e.vl.index()) > 0)
        .collect();
    let own = (0..live.len()).filter(|&at| live[at].vl == vl);
    let turn = |start: usize| {
        let after = live.iter().cycle().skip(start + 1).take(live.len());
        let others = after.take_while(|e| e.vl != vl);
        others.fold(
            Turn {
                bytes: 0,
                packets: 0,
            },
            |turn, e| {
                let weight = u64::from(e.weight);
                let begun = (weight - 1) * u64::from(WEIGHT_UNIT);
                Turn {
                    bytes: turn.bytes + begun + sizes.of(e.vl.index()),
                    packets: turn.packets + weight,
                }
            },
        )
    };
    own.map(turn).collect()
}

/// The largest packet that a table can send of other lanes; 0 if it can send none.
fn largest_of_others(table: &VlArbitrationTable, sizes: &PacketSizes, vl: Vl) -> u64 {
    let others = (0..N_SLS).filter(|&lane| table.vls() & !bit(vl) & 1 << lane != 0);
    others.map(|lane| sizes.of(lane)).max().unwrap_or(0)
}

/// While a lane of the high table waits, the low table sends one packet whenever the limit is spent: at
/// once if it just was, and then after at least the limit (and at least a packet) of high priority.
fn high_bound(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Option<Bound> {
    let low = largest_of_others(tables.low, sizes, vl);
    let limit = u64::from(tables.limit) * u64::from(LIMIT_UNIT);
    let own = sizes.of(vl.index());
    let bound = |turn: Turn| {
        let (own, n_low) = match tables.limit {
            // Without a limit a low packet can only be in flight already, and then no own one is.
            NO_LIMIT if low > own => (0, 1),
            NO_LIMIT => (own, 0),
            _ => (
                own,
                1 + turn
                    .packets
                    .min(turn.bytes.checked_div(limit).unwrap_or(u64::MAX)),
            ),
        };
        Bound {
            own: Bytes(own),
            table: Bytes(turn.bytes),
            other_table: Bytes(n_low * low),
            management: sizes.management,
        }
    };
    let all = turns(tables.high, sizes, vl).into_iter().map(bound);
    all.max_by_key(Bound::total)
}

/// While a lane of the low table waits, the high table sends a burst before every low packet: what the
/// limit allows to begin, and the rest of the packet that passes it.
fn low_bound(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Option<Bound> {
    let high = largest_of_others(tables.high, sizes, vl);
    if high > 0 && tables.limit == NO_LIMIT {
        return None;
    }
    let limit = u64::from(tables.limit) * u64::from(LIMIT_UNIT);
    let burst = if high > 0 { limit.max(1) - 1 + high } else { 0 };
    let bound = |turn: Turn| Bound {
        own: Bytes(sizes.of(vl.index())),
        table: Bytes(turn.bytes),
        other_table: Bytes((turn.packets + 1) * burst),
        management: sizes.management,
    };
    let all = turns(tables.low, sizes, vl).into_iter().map(bound);
    all.max_by_key(Bound::total)
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
