//! One partition: a model, its pending events, and the loop over its ticks.

use netloom_units::Tick;

use crate::transport::MessageOf;
use crate::windows::Window;
use crate::{EventQueue, Model, Outbox};

/// A model with its queue. On cache lines of its own, because neighbours run on other threads.
#[repr(align(128))]
pub(crate) struct Partition<M: Model, Q> {
    pub(crate) model: M,
    pub(crate) outbox: Outbox<M, Q>,
    /// Events applied so far.
    pub(crate) events: u64,
    /// Events of the present tick; kept for its capacity, as is `deciding`.
    batch: Vec<M::Event>,
    deciding: Vec<u32>,
}

impl<M: Model, Q: EventQueue<M::Event>> Partition<M, Q> {
    pub(crate) fn new(model: M, n_partitions: usize) -> Self {
        Partition {
            model,
            outbox: Outbox::new(n_partitions),
            events: 0,
            batch: Vec::new(),
            deciding: Vec::new(),
        }
    }

    /// Runs every tick of a window.
    pub(crate) fn run(&mut self, window: Window) {
        self.outbox.horizon = window.horizon;
        while let Some(now) = self.outbox.queue.take_next(window.last, &mut self.batch) {
            self.outbox.now = now;
            self.events += self.batch.len() as u64;
            for &event in &self.batch {
                self.model.apply(now, event, &mut self.outbox);
            }
            std::mem::swap(&mut self.deciding, &mut self.outbox.marked);
            self.outbox.queue.order_decisions(&mut self.deciding);
            for &component in &self.deciding {
                self.model.decide(component, now, &mut self.outbox);
                debug_assert!(
                    self.outbox.marked.is_empty(),
                    "component {component} marked one while deciding at {now}: decisions come first, \
                     effects at least one tick later"
                );
            }
            self.deciding.clear();
        }
    }

    /// Takes in what other partitions sent; leaves the list empty.
    pub(crate) fn receive(&mut self, messages: &mut Vec<MessageOf<M>>) {
        for message in messages.drain(..) {
            let event = self.model.receive(message.event, message.parcel);
            self.outbox.queue.push(message.when, event);
        }
    }

    /// The earliest pending event here, or [`Tick::NEVER`].
    pub(crate) fn earliest(&mut self) -> Tick {
        self.outbox.queue.next().unwrap_or(Tick::NEVER)
    }

    /// Ends a window: posts the messages sent in it and returns the earliest event that is pending here
    /// or in one of them.
    pub(crate) fn hand_over(&mut self, mut post: impl FnMut(u16, &mut Vec<MessageOf<M>>)) -> Tick {
        for partition in self.outbox.addressed.drain(..) {
            post(partition, &mut self.outbox.outgoing[usize::from(partition)]);
        }
        let sent = std::mem::replace(&mut self.outbox.earliest_sent, Tick::NEVER);
        self.earliest().min(sent)
    }
}
