//! Level 0 of the wheel: one slot per tick, over a window of 1024 ticks that slides with time.

use netloom_units::Tick;

use super::chunks::{Bag, Pool};
use super::occupancy::{Occupancy, SLOT_MASK, SLOTS};

/// The events of the ticks from `base` to `base + 1023`. The slot implies their time.
pub(super) struct Near<E> {
    /// No event is earlier. Raised to a tick only when all events are at or after it.
    base: u64,
    bags: Box<[Bag; SLOTS]>,
    occupancy: Occupancy,
    pool: Pool<E>,
}

impl<E> Default for Near<E> {
    fn default() -> Self {
        Near {
            base: 0,
            bags: Box::new([Bag::EMPTY; SLOTS]),
            occupancy: Occupancy::default(),
            pool: Pool::default(),
        }
    }
}

impl<E: Copy> Near<E> {
    /// Returns the start of the window.
    #[inline]
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Slides the window. The caller ensures that no event of the whole wheel is earlier than
    /// `base`.
    #[inline]
    pub(super) fn slide(&mut self, base: u64) {
        debug_assert!(base >= self.base, "time moves forward");
        self.base = base;
    }

    /// Whether the tick lies in the window.
    #[inline]
    pub(super) fn reaches(&self, when: u64) -> bool {
        when.wrapping_sub(self.base) < SLOTS as u64
    }

    /// Adds an event that lies in the window.
    #[inline(always)]
    pub(super) fn push(&mut self, when: u64, event: E) {
        let slot = when as usize & SLOT_MASK;
        if !self.pool.try_push(self.bags[slot], event) {
            self.open(slot, event);
        }
    }

    /// Adds the first event of a slot or of its next chunk. A slot becomes occupied only here.
    #[inline(never)]
    fn open(&mut self, slot: usize, event: E) {
        let slot = slot & SLOT_MASK;
        self.occupancy.set(slot);
        self.bags[slot] = self.pool.open(self.bags[slot], event);
    }

    /// Returns the earliest tick with an event, or [`Tick::NEVER`].
    #[inline]
    pub(super) fn first(&self) -> u64 {
        match self.occupancy.distance(self.base as usize & SLOT_MASK) {
            Some(distance) => self.base + distance as u64,
            None => Tick::NEVER.0,
        }
    }

    /// Moves the events of a tick of the window to the end of `batch`.
    #[inline]
    pub(super) fn take(&mut self, when: u64, batch: &mut Vec<E>) {
        let slot = when as usize & SLOT_MASK;
        self.occupancy.clear(slot);
        let bag = std::mem::replace(&mut self.bags[slot], Bag::EMPTY);
        self.pool.drain(bag, batch);
    }
}
