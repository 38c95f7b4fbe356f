//! Improves a table step by step: exchanges entries and moves packets.
//!
//! The search takes the first step that brings the table nearer to the request, so it is
//! deterministic. It examines a fixed number of tables whatever the capacity of the port, so longer
//! tables do not shorten the search among short ones.

use super::compose::{Composition, Search, Slot};

/// Tables examined from one start.
const MOST_TABLES: usize = 300;

/// Longer tables are not improved: their frames are fine enough.
const LONGEST: usize = 16;

/// Tables with a larger distance are not improved.
const FARTHEST: f64 = 1.0;

/// Returns the distance of a table from one that keeps everything.
fn distance(search: &Search<'_>, table: &Composition) -> f64 {
    let late = (table.overrun - 1.0).clamp(0.0, 1e9);
    let slow = (table.strain - 1.0).clamp(0.0, 1e9);
    let wrong = (table.error - search.tolerance).max(0.0);
    late + slow + wrong
}

/// Returns the best table near this one; `None` if no table is nearer to the request.
pub(super) fn improved(search: &Search<'_>, start: &Composition) -> Option<Composition> {
    let has_fixed = search.parts.iter().any(|part| part.entries.is_some());
    if start.slots.len() > LONGEST || has_fixed || distance(search, start) > FARTHEST {
        return None;
    }
    let levels: Option<Vec<Vec<u32>>> = search
        .parts
        .iter()
        .map(|part| part.supply.levels())
        .collect();
    let levels = levels?;
    let mut best = start.clone();
    let (mut looked, mut is_moving) = (0, true);
    while is_moving {
        is_moving = false;
        for step in steps(best.slots.len()) {
            if looked >= MOST_TABLES || !search.effort.is_left() {
                is_moving = false;
                break;
            }
            let Some(slots) = step.from(&best.slots, &levels) else {
                continue;
            };
            looked += 1;
            let there = search.judged(slots);
            if distance(search, &there) < distance(search, &best) {
                best = there;
                is_moving = true;
                if best.is_met(search.tolerance) {
                    return Some(best);
                }
                break;
            }
        }
    }
    (distance(search, &best) < distance(search, start)).then_some(best)
}

/// One change of a table.
#[derive(Clone, Copy)]
enum Step {
    /// Exchanges two entries.
    Exchange(usize, usize),
    /// Moves a packet from one entry of a stream to another.
    Move(usize, usize),
    /// Makes an entry send one packet more.
    More(usize),
    /// Makes an entry send one packet less.
    Less(usize),
}

/// Returns all steps of a table of `n` entries, in a fixed order.
fn steps(n: usize) -> impl Iterator<Item = Step> {
    let pairs = move || (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
    let exchanges = pairs().filter(|(a, b)| a < b);
    let exchanges = exchanges.map(|(a, b)| Step::Exchange(a, b));
    let moves = pairs().filter(|(a, b)| a != b);
    let moves = moves.map(|(a, b)| Step::Move(a, b));
    let single = (0..n).flat_map(|at| [Step::More(at), Step::Less(at)]);
    moves.chain(single).chain(exchanges)
}

impl Step {
    /// Returns the changed entries; `None` if nothing changes, or an entry cannot have the weight.
    fn from(self, slots: &[Slot], levels: &[Vec<u32>]) -> Option<Vec<Slot>> {
        let mut slots = slots.to_vec();
        let change = |slot: &mut Slot, by: isize| -> Option<()> {
            let own = &levels[slot.stream];
            let level = own.partition_point(|&weight| weight <= slot.weight);
            let level = level.checked_sub(1)?.checked_add_signed(by)?;
            slot.weight = *own.get(level)?;
            Some(())
        };
        match self {
            Step::Exchange(a, b) if slots[a] != slots[b] => slots.swap(a, b),
            Step::Move(a, b) if slots[a].stream == slots[b].stream => {
                change(&mut slots[a], -1)?;
                change(&mut slots[b], 1)?;
            }
            Step::More(at) => change(&mut slots[at], 1)?,
            Step::Less(at) => change(&mut slots[at], -1)?,
            _ => return None,
        }
        Some(slots)
    }
}
