//! The effects of a model: events here, messages to other partitions, decisions in this tick.

use netloom_units::Tick;

use crate::transport::{Message, MessageOf};
use crate::{EventQueue, Model};

/// The interface from a model back to the kernel; one per partition.
pub struct Outbox<M: Model> {
    /// The tick being run.
    pub(crate) now: Tick,
    pub(crate) queue: M::Queue,
    /// Components that decide in this tick, in the order of marking.
    pub(crate) marked: Vec<u32>,
    /// Messages of the current window, by destination.
    pub(crate) outgoing: Vec<Vec<MessageOf<M>>>,
    /// Destinations whose list in `outgoing` is not empty. Most partitions have few neighbours.
    pub(crate) addressed: Vec<u16>,
    /// The earliest message of the current window.
    pub(crate) earliest_sent: Tick,
    /// The first tick after the current window. Messages take effect then or later.
    pub(crate) horizon: Tick,
}

impl<M: Model> Outbox<M> {
    /// Creates the outbox of one of `n_partitions` partitions. A single partition has no
    /// destinations, so that sending a message is an error.
    pub(crate) fn new(queue: M::Queue, n_partitions: usize) -> Self {
        let n_destinations = if n_partitions == 1 { 0 } else { n_partitions };
        Outbox {
            now: Tick::ZERO,
            queue,
            marked: Vec::new(),
            outgoing: (0..n_destinations).map(|_| Vec::new()).collect(),
            addressed: Vec::new(),
            earliest_sent: Tick::NEVER,
            horizon: Tick::ZERO,
        }
    }

    /// Schedules an event of this partition, later than now.
    #[inline(always)]
    pub fn at(&mut self, when: Tick, event: M::Event) {
        debug_assert!(
            when > self.now,
            "an effect at {when} is not later than its cause at {}",
            self.now
        );
        self.queue.push(when, event);
    }

    /// Schedules an event of another partition, at least the engine's lookahead after now.
    // Not inlined: it would crowd the registers of every caller, and most effects are local.
    #[inline(never)]
    pub fn send(&mut self, partition: u16, when: Tick, event: M::Event, parcel: M::Parcel) {
        debug_assert!(
            when >= self.horizon,
            "a message at {} takes effect at {when}, inside its window that ends at {}",
            self.now,
            self.horizon
        );
        self.earliest_sent = self.earliest_sent.min(when);
        let list = &mut self.outgoing[usize::from(partition)];
        if list.is_empty() {
            self.addressed.push(partition);
        }
        list.push(Message {
            when,
            event,
            parcel,
        });
    }

    /// Marks a component to decide in this tick. The caller marks it once; duplicates are not
    /// detected.
    #[inline]
    pub fn mark(&mut self, component: u32) {
        self.marked.push(component);
    }
}
