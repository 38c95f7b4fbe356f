//! The hierarchical timing wheel: near events by tick, distant ones in blocks of ticks.
//!
//! ```text
//! level 0   slots of one tick            sliding: base .. base + 1023 or more, without time
//! level 1   1024 blocks of 2^10 ticks  ┐
//! level 2   1024 blocks of 2^20 ticks  ├ events with their tick, earliest tick of each block known
//! level 3   1024 blocks of 2^30 ticks  ┘
//! beyond    a binary heap
//! ```
//!
//! Level 0 has as many ticks as the model asks for, from 1024 to 16384. So almost all events of a
//! fabric are pushed into it and never move, also if a tick is a small part of a flit. A wider
//! window than needed is not better, since distant events would occupy a slot, thus a chunk, each.
//! Empty ticks cost nothing, since an occupancy bitmap with a summary finds the next occupied one.
//! Distant timers are cheap, since they wait in a block.

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

impl<E: Copy + Send + Ord> Default for Wheel<E> {
    fn default() -> Self {
        Wheel::for_delays(0)
    }
}

impl<E: Copy + Send + Ord> EventQueue<E> for Wheel<E> {
    fn for_delays(ticks: u64) -> Self {
        Wheel {
            near: Near::new(ticks),
            far: Far::default(),
            n_events: 0,
        }
    }

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
