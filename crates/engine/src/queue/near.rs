//! Level 0 of the wheel: one slot per tick, over a window that slides with time.

use netloom_units::Tick;

use super::chunks::{Bag, Pool};
use super::far;
use super::occupancy::Occupancy;

/// A bit for each of 16384 slots. Their number is constant, so that it costs nothing to find a
/// slot. A short window uses few of them at a time.
type Slots = Occupancy<256, 4>;
const SLOTS: usize = Slots::SLOTS;
const SLOT_MASK: usize = SLOTS - 1;

/// Minimum length of a window: a block of level 1, whose events move here together.
const LEAST: u64 = far::SLOTS as u64;

/// The events of the ticks of a window from `base` on. The slot implies their time.
pub(super) struct Near<E> {
    /// No event is earlier. Raised to a tick only when all events are at or after it.
    base: u64,
    /// Ticks of the window.
    length: u64,
    bags: Box<[Bag; SLOTS]>,
    occupancy: Slots,
    pool: Pool<E>,
}

impl<E: Copy> Near<E> {
    /// Creates a window for events that are pushed at most `ticks` ahead, as far as possible.
    pub(super) fn new(ticks: u64) -> Self {
        Near {
            base: 0,
            length: ticks.saturating_add(1).clamp(LEAST, SLOTS as u64),
            bags: Box::new([Bag::EMPTY; SLOTS]),
            occupancy: Slots::new(),
            pool: Pool::default(),
        }
    }

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
        when.wrapping_sub(self.base) < self.length
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
