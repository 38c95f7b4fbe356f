//! Computes the longest wait under the two tables of InfiniBand.

use netloom_arbitration::{LIMIT_UNIT, N_SLS, NO_LIMIT, VlArbitrationTable, WEIGHT_UNIT};
use netloom_units::{Bytes, Vl};

use super::{Bound, PacketSizes, Wait};

/// The tables of an InfiniBand port.
#[derive(Clone, Copy, Debug)]
pub struct IbTables<'a> {
    pub high: &'a VlArbitrationTable,
    pub low: &'a VlArbitrationTable,
    /// LimitOfHighPriority, as written: times 4096 bytes, 255 for none.
    pub limit: u8,
}

/// Returns the longest wait of a lane under the two tables of InfiniBand. A lane in both tables
/// waits for the earlier of the two, so the smallest bound holds.
pub fn ib_wait(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Wait {
    let bounds = [
        high_bound(tables, sizes, vl),
        low_bound(tables, sizes, vl),
        both_bound(tables, sizes, vl),
    ];
    let least = bounds.into_iter().flatten().min_by_key(Bound::total);
    if let Some(bound) = least {
        return Wait::AtMost(bound);
    }
    let is_low = tables.low.vls() & bit(vl) != 0;
    Wait::Unbounded(if is_low {
        format!("{vl} is only in the low table, and a limit of 255 lets the high one send forever")
    } else {
        format!("no entry of {vl} has a weight")
    })
}

fn bit(vl: Vl) -> u32 {
    1u32.checked_shl(vl.0.into()).unwrap_or(0)
}

/// The amounts that entries of others send between two entries of a lane.
#[derive(Clone, Copy)]
struct Turn {
    bytes: u64,
    packets: u64,
}

/// Returns the turns of others between every two consecutive entries of a lane in one table.
///
/// An entry of weight w sends while its counter is above zero. Let u be the units of the smallest
/// packet of its lane, at least one, and L the bytes of the largest.
///
/// - Packets: a packet begins only if those before it cost less than w. After k packets these cost
///   at least k u, so the last that begins has k u <= w - 1 before it: there are at most (w - 1) /
///   u + 1, rounded down.
/// - Bytes: all packets but the last cost at most w - 1 units, and the last has at most L bytes. No
///   packet has more than L, so there are at most L times the packets. If all packets have one
///   size, this bound is exact.
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
                let unit = sizes.bytes_per_unit(e.vl.index(), Bytes(WEIGHT_UNIT.into()));
                let least = sizes.least_units(e.vl.index(), Bytes(WEIGHT_UNIT.into()));
                let packets = (weight - 1) / least + 1;
                let largest = sizes.of(e.vl.index());
                let bytes = ((weight - 1) * unit + largest).min(packets * largest);
                Turn {
                    bytes: turn.bytes + bytes,
                    packets: turn.packets + packets,
                }
            },
        )
    };
    own.map(turn).collect()
}

/// Returns the largest packet that a table can send of other lanes; 0 if it can send none.
fn largest_of_others(table: &VlArbitrationTable, sizes: &PacketSizes, vl: Vl) -> u64 {
    let others = (0..N_SLS).filter(|&lane| table.vls() & !bit(vl) & 1 << lane != 0);
    others.map(|lane| sizes.of(lane)).max().unwrap_or(0)
}

/// Bounds the wait of a lane of the high table: the low table sends one packet whenever the limit
/// is spent. This is immediately, if it was just spent, and then after at least the limit (and at
/// least a packet) of high priority.
fn high_bound(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Option<Bound> {
    let low = largest_of_others(tables.low, sizes, vl);
    let limit = u64::from(tables.limit) * u64::from(LIMIT_UNIT);
    let own = sizes.of(vl.index());
    let bound = |turn: Turn| {
        let (own, n_low) = match tables.limit {
            // Without a limit, a low packet can only be in flight already, and then no own packet
            // is.
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

/// Bounds the wait of a lane of the low table: the high table sends a burst before every low
/// packet. A burst is what the limit allows to begin, and the rest of the packet that exceeds it.
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

/// Bounds the wait of a lane in both tables: at most one turn of each, however they alternate.
fn both_bound(tables: IbTables<'_>, sizes: &PacketSizes, vl: Vl) -> Option<Bound> {
    let longest = |table| turns(table, sizes, vl).into_iter().map(|t| t.bytes).max();
    Some(Bound {
        own: Bytes(sizes.of(vl.index())),
        table: Bytes(longest(tables.high)?),
        other_table: Bytes(longest(tables.low)?),
        management: sizes.management,
    })
}
