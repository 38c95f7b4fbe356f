//! Levels 1 to 3 of the wheel and beyond: events outside the near window.
//!
//! A slot of level `k` is a block of 2^(10 k) ticks. Blocks are emptied when the earliest of all
//! far events is due, not when time enters them. [`Far::next`] is that tick, updated by every
//! change, so the near level needs one comparison to know that it may continue alone. It also keeps
//! the cascade simple:
//!
//! * Time moves to a tick `m` only if no event is earlier. The block of `m` is then at distance
//!   zero in a window that starts at `m`, and every other event of the block is less than the
//!   block's length away. So it moves to a lower level. An event moves at most four times.
//! * An event of a block that time has entered stays there until it is due. Later pushes into that
//!   block go to lower levels, so each block is emptied once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netloom_units::Tick;

use super::chunks::{Bag, Pool};
use super::near::Near;
use super::occupancy::Occupancy;

/// The blocks of a level with events.
type Blocks = Occupancy<16, 1>;
/// Slots of a level; they are reused cyclically.
pub(super) const SLOTS: usize = Blocks::SLOTS;
const SLOT_MASK: usize = SLOTS - 1;
/// Bits of a tick that a level resolves.
const SLOT_BITS: u32 = SLOTS.ilog2();

/// An event with its tick, which a block does not imply.
type Timed<E> = (u64, E);

/// One cycle of 1024 blocks.
struct Level {
    /// A block is 2^shift ticks.
    shift: u32,
    bags: Box<[Bag; SLOTS]>,
    /// The earliest tick in each block, [`Tick::NEVER`] if it is empty.
    earliest: Box<[u64; SLOTS]>,
    occupancy: Blocks,
}

impl Level {
    fn new(number: u32) -> Self {
        Level {
            shift: number * SLOT_BITS,
            bags: Box::new([Bag::EMPTY; SLOTS]),
            earliest: Box::new([Tick::NEVER.0; SLOTS]),
            occupancy: Blocks::new(),
        }
    }

    /// Whether the tick's block is among the 1024 blocks that begin with that of `base`.
    fn reaches(&self, base: u64, when: u64) -> bool {
        (when >> self.shift) - (base >> self.shift) < SLOTS as u64
    }

    fn slot(&self, when: u64) -> usize {
        (when >> self.shift) as usize & SLOT_MASK
    }

    /// Returns the earliest tick on this level. It is in the first occupied block, because blocks
    /// are in order.
    fn first(&self, base: u64) -> u64 {
        let from = self.slot(base);
        match self.occupancy.distance(from) {
            Some(distance) => self.earliest[(from + distance) & SLOT_MASK],
            None => Tick::NEVER.0,
        }
    }
}

/// All events outside the near window.
pub(super) struct Far<E> {
    /// The earliest tick here, [`Tick::NEVER`] if there is none.
    next: u64,
    levels: [Level; 3],
    pool: Pool<Timed<E>>,
    /// Events 2^40 ticks or more ahead: about two minutes with ticks of 0.1 ns.
    beyond: BinaryHeap<Reverse<Timed<E>>>,
    /// The contents of one block while it is being emptied; kept for its capacity.
    emptied: Vec<Timed<E>>,
}

impl<E: Copy + Ord> Default for Far<E> {
    fn default() -> Self {
        Far {
            next: Tick::NEVER.0,
            levels: [Level::new(1), Level::new(2), Level::new(3)],
            pool: Pool::default(),
            beyond: BinaryHeap::new(),
            emptied: Vec::new(),
        }
    }
}

impl<E: Copy + Ord> Far<E> {
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds an event that the near window from `base` does not reach.
    #[inline(never)]
    pub(super) fn push(&mut self, base: u64, when: u64, event: E) {
        self.next = self.next.min(when);
        let Some(level) = self
            .levels
            .iter_mut()
            .find(|level| level.reaches(base, when))
        else {
            self.beyond.push(Reverse((when, event)));
            return;
        };
        let slot = level.slot(when);
        level.earliest[slot] = level.earliest[slot].min(when);
        if !self.pool.try_push(level.bags[slot], (when, event)) {
            level.occupancy.set(slot);
            level.bags[slot] = self.pool.open(level.bags[slot], (when, event));
        }
    }

    /// Slides the near window to [`next`](Self::next) and moves the events of that tick, and the
    /// others of their blocks, nearer. The caller ensures that no near event is earlier.
    #[cold]
    pub(super) fn release(&mut self, near: &mut Near<E>) {
        let due = self.next;
        near.slide(due);
        debug_assert!(self.emptied.is_empty());
        let top = &self.levels[2];
        if self
            .beyond
            .peek()
            .is_some_and(|&Reverse((when, _))| when == due)
        {
            while let Some(&Reverse((when, event))) = self.beyond.peek()
                && top.reaches(due, when)
            {
                self.beyond.pop();
                self.emptied.push((when, event));
            }
        }
        for level in &mut self.levels {
            let slot = level.slot(due);
            if level.earliest[slot] == due {
                level.occupancy.clear(slot);
                level.earliest[slot] = Tick::NEVER.0;
                let bag = std::mem::replace(&mut level.bags[slot], Bag::EMPTY);
                self.pool.drain(bag, &mut self.emptied);
            }
        }
        let mut emptied = std::mem::take(&mut self.emptied);
        for (when, event) in emptied.drain(..) {
            if near.reaches(when) {
                near.push(when, event);
            } else {
                self.push(due, when, event);
            }
        }
        self.emptied = emptied;
        let beyond = self
            .beyond
            .peek()
            .map_or(Tick::NEVER.0, |&Reverse((when, _))| when);
        self.next = self
            .levels
            .iter()
            .map(|level| level.first(due))
            .fold(beyond, u64::min);
    }
}
