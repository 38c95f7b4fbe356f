//! The reference queue: simple, with two to three times the instructions of the wheel.
//!
//! It returns the events of a tick, and lets components decide, in scrambled order. Updates of one
//! tick must commute and decisions must not see each other, so a model that violates either gives
//! another result here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netloom_units::Tick;

use super::EventQueue;

/// The standard library's binary heap, keyed by tick, then by event.
pub struct Heap<E> {
    events: BinaryHeap<Reverse<(Tick, E)>>,
    scramble: Scramble,
}

/// A fixed sequence of random numbers (xorshift64), so that the scrambling is the same in every
/// run.
struct Scramble(u64);

impl Scramble {
    /// Shuffles a list (Fisher and Yates).
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            list.swap(at, (self.0 % (at as u64 + 1)) as usize);
        }
    }
}

impl<E: Ord> Default for Heap<E> {
    fn default() -> Self {
        Heap {
            events: BinaryHeap::new(),
            scramble: Scramble(0x9e37_79b9_7f4a_7c15),
        }
    }
}

impl<E: Copy + Send + Ord> EventQueue<E> for Heap<E> {
    #[inline]
    fn push(&mut self, when: Tick, event: E) {
        self.events.push(Reverse((when, event)));
    }

    #[inline]
    fn take_next(&mut self, limit: Tick, batch: &mut Vec<E>) -> Option<Tick> {
        batch.clear();
        let first = self.next().filter(|&first| first <= limit)?;
        while let Some(&Reverse((when, event))) = self.events.peek()
            && when == first
        {
            batch.push(event);
            self.events.pop();
        }
        self.scramble.shuffle(batch);
        Some(first)
    }

    fn order_decisions(&mut self, components: &mut [u32]) {
        self.scramble.shuffle(components);
    }

    #[inline]
    fn next(&mut self) -> Option<Tick> {
        self.events.peek().map(|&Reverse((when, _))| when)
    }

    fn len(&self) -> usize {
        self.events.len()
    }
}
