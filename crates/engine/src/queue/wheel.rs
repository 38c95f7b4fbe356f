//! The hierarchical timing wheel: near events by tick, distant ones in blocks of ticks.
//!
//! ```text
//! level 0   1024 slots of one tick       sliding: base .. base + 1023, events without time
//! level 1   1024 blocks of 2^10 ticks  ┐
//! level 2   1024 blocks of 2^20 ticks  ├ events with their tick, earliest tick of each block known
//! level 3   1024 blocks of 2^30 ticks  ┘
//! beyond    a binary heap
//! ```
//!
//! Almost all events of a fabric are pushed less than 1024 ticks ahead and never leave level 0.
//! Empty ticks cost nothing, since an occupancy bitmap with a summary word finds the next occupied
//! one. So a tick of a thirteenth of a flit is as efficient as a whole flit, and distant timers are
//! cheap, since they wait in a block.

use netloom_units::Tick;

use super::EventQueue;
use super::far::Far;
use super::near::Near;

/// A hierarchical timing wheel over the whole range of [`Tick`].
pub struct Wheel<E> {
    near: Near<E>,
    far: Far<E>,
    n_events: usize,
}

impl<E: Copy + Ord> Default for Wheel<E> {
    fn default() -> Self {
        Wheel {
            near: Near::default(),
            far: Far::default(),
            n_events: 0,
        }
    }
}

impl<E: Copy + Send + Ord> EventQueue<E> for Wheel<E> {
    #[inline(always)]
    fn push(&mut self, when: Tick, event: E) {
        debug_assert!(when.0 >= self.near.base(), "{when} is in the past");
        debug_assert!(when != Tick::NEVER, "an event that never happens");
        self.n_events += 1;
        if self.near.reaches(when.0) {
            self.near.push(when.0, event);
        } else {
            self.far.push(self.near.base(), when.0, event);
        }
    }

    #[inline]
    fn take_next(&mut self, limit: Tick, batch: &mut Vec<E>) -> Option<Tick> {
        batch.clear();
        // Nothing is at NEVER. So a search without limit ends one tick earlier, and an empty level,
        // whose first tick is NEVER, is always past the limit.
        let limit = limit.0.min(Tick::NEVER.0 - 1);
        let mut first = self.near.first();
        if self.far.next() <= first.min(limit) {
            self.far.release(&mut self.near);
            first = self.near.base();
        }
        if first > limit {
            // There is nothing up to the limit, and nothing will be pushed there: the next pushes
            // are near it.
            self.near.slide(limit.max(self.near.base()));
            return None;
        }
        self.near.slide(first);
        self.near.take(first, batch);
        self.n_events -= batch.len();
        Some(Tick(first))
    }

    #[inline]
    fn next(&mut self) -> Option<Tick> {
        let first = Tick(self.near.first().min(self.far.next()));
        (first != Tick::NEVER).then_some(first)
    }

    fn len(&self) -> usize {
        self.n_events
    }
}
