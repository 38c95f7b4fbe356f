//! Computes the longest wait under a table of BXI, without and with deficits.
//!
//! The largest packet of a class waits longest: an entry that sends it sends any smaller one too.
//! It waits from just after one own entry to the own entry that sends it, and other entries send in
//! between:
//!
//! | | without deficits | with deficits |
//! |---|---|---|
//! | own entry that sends it | the next whose quantum holds it | the first to have added it up, lap by lap |
//! | another entry sends | its quantum | its quantum at every visit, and a deficit below a packet |
//!
//! Deficits belong to entries, so the class's own deficits do not add up over its entries, and
//! every entry of another class may have saved one.

use netloom_arbitration::{QuantumTable, SlEntry};
use netloom_units::{Bytes, Sl};

use super::{Bound, PacketSizes, Wait};

/// An entry that can send: the class and its quantum in flits.
#[derive(Clone, Copy)]
struct Turn {
    class: usize,
    quantum: u64,
}

/// Returns the longest wait of a service level under a table of BXI.
///
/// # Panics
///
/// If a flit has no bytes.
pub fn bxi_wait(
    table: &QuantumTable,
    keeps_deficits: bool,
    flit: Bytes,
    sizes: &PacketSizes,
    sl: Sl,
) -> Wait {
    let own = sl.index();
    let turn = |e: &SlEntry| Turn {
        class: e.sl.index(),
        quantum: table.quantum(e).into(),
    };
    let can_send = |t: &Turn| t.quantum > 0 && (t.class == own || sizes.of(t.class) > 0);
    let live: Vec<Turn> = table.entries().iter().map(turn).filter(can_send).collect();
    let packet = sizes.units(own, flit);
    let Some(quantum) = live
        .iter()
        .filter(|t| t.class == own)
        .map(|t| t.quantum)
        .max()
    else {
        return Wait::Unbounded(format!("no entry of {sl} has a weight"));
    };
    if !keeps_deficits && packet > quantum {
        return Wait::Unbounded(format!(
            "a packet of {sl} has up to {packet} flits, but its entries send at most {quantum}, so \
             it would never leave without deficits"
        ));
    }
    let starts = (0..live.len()).filter(|&at| live[at].class == own);
    let foreign = |start: usize| {
        let steps = steps_until_sent(&live, start, packet, keeps_deficits);
        let others = (1..=live.len()).map(|offset| (offset, live[(start + offset) % live.len()]));
        let others = others.filter(|(_, turn)| turn.class != own);
        let sent = others.map(|(offset, turn)| {
            let n_visits = visits(offset, steps, live.len());
            let deficit = sizes.units(turn.class, flit) - 1;
            let flits = match keeps_deficits && n_visits > 0 {
                true => n_visits * turn.quantum + deficit,
                false => n_visits * turn.quantum,
            };
            flits * sizes.bytes_per_unit(turn.class, flit)
        });
        sent.sum::<u64>()
    };
    Wait::AtMost(Bound {
        own: Bytes(sizes.of(own)),
        table: Bytes(starts.map(foreign).max().unwrap_or(0)),
        other_table: Bytes(0),
        management: sizes.management,
    })
}

/// Returns the number of entries until the packet is sent, for a class that has no deficits saved
/// at its entries.
fn steps_until_sent(live: &[Turn], start: usize, packet: u64, keeps_deficits: bool) -> u64 {
    let n = live.len();
    let steps = (1..=n).filter_map(|offset| {
        let turn = live[(start + offset) % n];
        if turn.class != live[start].class {
            return None;
        }
        let n_visits = packet.div_ceil(turn.quantum).max(1);
        let is_sent = keeps_deficits || n_visits == 1;
        is_sent.then_some((n_visits - 1) * n as u64 + offset as u64)
    });
    // An own entry sends it: the caller has checked this.
    steps.min().unwrap_or(0)
}

/// Returns how often the entry at distance `offset`, from 1 to `n`, is visited within `steps`
/// steps.
fn visits(offset: usize, steps: u64, n: usize) -> u64 {
    (steps + n as u64 - 1 - offset as u64) / n as u64
}
