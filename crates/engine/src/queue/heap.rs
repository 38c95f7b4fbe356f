//! The reference queue: simple, with two to three times the instructions of the wheel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use netloom_units::Tick;

use super::EventQueue;

/// The standard library's binary heap, keyed by tick, then by event.
pub struct Heap<E> {
    events: BinaryHeap<Reverse<(Tick, E)>>,
}

impl<E: Ord> Default for Heap<E> {
    fn default() -> Self {
        Heap {
            events: BinaryHeap::new(),
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
        Some(first)
    }

    #[inline]
    fn next(&mut self) -> Option<Tick> {
        self.events.peek().map(|&Reverse((when, _))| when)
    }

    fn len(&self) -> usize {
        self.events.len()
    }
}
