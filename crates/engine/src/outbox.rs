//! What a model may cause: events here, messages to other partitions, decisions in this tick.

use netloom_units::Tick;

use crate::transport::{Message, MessageOf};
use crate::{EventQueue, Model};

/// The way from a model back to the kernel; one per partition.
pub struct Outbox<M: Model, Q> {
    /// The tick being run.
    pub(crate) now: Tick,
    /// The partition's pending events.
    pub(crate) queue: Q,
    /// Components to decide in this tick, in the order of marking.
    pub(crate) marked: Vec<u32>,
    /// Messages of the present window, by destination.
    pub(crate) outgoing: Vec<Vec<MessageOf<M>>>,
    /// Destinations whose list in `outgoing` is not empty: most partitions have few neighbours.
    pub(crate) addressed: Vec<u16>,
    /// The earliest message of the present window.
    pub(crate) earliest_sent: Tick,
    /// The first tick after the present window; messages take effect then or later.
    pub(crate) horizon: Tick,
}

impl<M: Model, Q: EventQueue<M::Event>> Outbox<M, Q> {
    /// An outbox of one partition of `n_partitions`. A lone partition has no destinations at all, so that
    /// a message, which nobody would collect, is an error.
    pub(crate) fn new(n_partitions: usize) -> Self {
        let n_destinations = if n_partitions == 1 { 0 } else { n_partitions };
        Outbox {
            now: Tick::ZERO,
            queue: Q::default(),
            marked: Vec::new(),
            outgoing: (0..n_destinations).map(|_| Vec::new()).collect(),
            addressed: Vec::new(),
            earliest_sent: Tick::NEVER,
            horizon: Tick::ZERO,
        }
    }

    /// An event of this partition, later than now.
    #[inline(always)]
    pub fn at(&mut self, when: Tick, event: M::Event) {
        debug_assert!(
            when > self.now,
            "an effect at {when} is not later than its cause at {}",
            self.now
        );
        self.queue.push(when, event);
    }

    /// An event of another partition, at least the engine's lookahead after now.
    // Not inlined: it would crowd the registers of every caller, and most effects stay at home.
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
            partition,
        });
    }

    /// The component decides in this tick. The caller marks it once: there is no search for doubles.
    #[inline]
    pub fn mark(&mut self, component: u32) {
        self.marked.push(component);
    }
}
