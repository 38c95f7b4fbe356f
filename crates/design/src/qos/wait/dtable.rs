//! Computes the longest wait under a DTable.

use netloom_arbitration::{DeficitTable, N_SLS, SlEntry, WEIGHT_UNIT};
use netloom_units::{Bytes, Sl};

use super::{Bound, PacketSizes, Wait};

/// Bytes per credit.
const UNIT: Bytes = Bytes(WEIGHT_UNIT as u64);

/// Returns the longest wait of a service level under a DTable.
pub fn dtable_wait(table: &DeficitTable, sizes: &PacketSizes, sl: Sl) -> Wait {
    let bytes = |class: usize| sizes.bytes_per_unit(class, UNIT);
    match gap(table, sizes, sl, bytes) {
        Some(foreign) => Wait::AtMost(Bound {
            own: Bytes(sizes.of(sl.index())),
            table: Bytes(foreign),
            other_table: Bytes(0),
            management: sizes.management,
        }),
        None => Wait::Unbounded(format!("no entry of {sl} has a weight")),
    }
}

/// Returns the maximum of credits that a DTable gives to others between two services of a service
/// level; `None` if it has no entry.
pub fn dtable_gap(table: &DeficitTable, sizes: &PacketSizes, sl: Sl) -> Option<u64> {
    gap(table, sizes, sl, |_| 1)
}

/// Returns the same with another value of a credit for each class.
///
/// Over any run of entries a class sends at most their weights and the deficit it had before, which
/// is smaller than its largest message. The run ends where the class's own weights add up to a
/// largest message: at its next entry, unless the weights are smaller than messages.
fn gap(
    table: &DeficitTable,
    sizes: &PacketSizes,
    sl: Sl,
    credit: impl Fn(usize) -> u64,
) -> Option<u64> {
    let can_send = |e: &&SlEntry| e.weight > 0 && (e.sl == sl || sizes.of(e.sl.index()) > 0);
    let live: Vec<SlEntry> = table.entries().iter().filter(can_send).copied().collect();
    let own = (0..live.len()).filter(|&at| live[at].sl == sl);
    own.map(|start| foreign_credits(&live, start, sizes, &credit))
        .max()
}

/// Returns what others send after the entry at `start` and before its service level sends again.
fn foreign_credits(
    live: &[SlEntry],
    start: usize,
    sizes: &PacketSizes,
    credit: impl Fn(usize) -> u64,
) -> u64 {
    let sl = live[start].sl;
    let message = sizes.units(sl.index(), UNIT);
    let (mut own, mut foreign, mut met) = (0, 0, [false; N_SLS]);
    for step in 1.. {
        let entry = live[(start + step) % live.len()];
        let class = entry.sl.index();
        let mut credits = u64::from(entry.weight);
        if entry.sl == sl {
            own += credits;
            if own >= message {
                break;
            }
            continue;
        }
        if !std::mem::replace(&mut met[class], true) {
            credits += sizes.units(class, UNIT) - 1;
        }
        foreign += credits * credit(class);
    }
    foreign
}
