//! One partition: a model, its pending events, and the loop over its ticks.

use std::ops::Range;

use netloom_encoding::{Encoded, Invalid, State, Validity, ensure};
use netloom_units::Tick;

use crate::encoded;
use crate::mailbox::Sent;
use crate::scramble::Scramble;
use crate::transport::{MessageOf, Placement};
use crate::windows::Window;
use crate::{EventQueue, Model, Outbox};

/// Number of events that are prefetched together before they are applied: enough to wait for memory
/// once for all of them, few enough to stay in the nearest cache.
const AHEAD: usize = 16;

/// Number of decisions by which prefetching is ahead, for the state of a component and then for
/// what is found through it. It covers the latency of memory.
const DECISIONS_AHEAD: usize = 4;
const NEXT_BUT_ONE: usize = 2;

/// The latest time and the largest count of a saved state. No run comes near, and no sum of them
/// overflows.
pub const LATEST: Tick = Tick(1 << 61);
const MOST_EVENTS: u64 = 1 << 52;

/// A model with its queue, on separate cache lines, since neighbours run on other threads.
#[repr(align(128))]
pub(crate) struct Partition<M: Model> {
    pub(crate) model: M,
    pub(crate) outbox: Outbox<M>,
    /// Events applied so far.
    pub(crate) events: u64,
    /// The partitions of this process, by number.
    here: Range<usize>,
    /// Messages to a partition of another process, encoded. Reused for its capacity.
    bytes: Vec<u8>,
    /// Events of the current tick. Like `deciding`, kept for its capacity.
    batch: Vec<M::Event>,
    deciding: Vec<u32>,
    /// In the reference mode.
    scramble: Option<Scramble>,
}

impl<M: Model> Partition<M> {
    pub(crate) fn new(model: M, placement: &Placement) -> Self {
        let queue = M::Queue::for_delays(model.usual_delay());
        let scramble = model.is_scrambled().then(Scramble::default);
        Partition {
            model,
            outbox: Outbox::new(queue, placement.total),
            events: 0,
            here: placement.here.clone(),
            bytes: Vec::new(),
            batch: Vec::new(),
            deciding: Vec::new(),
            scramble,
        }
    }

    /// Runs every tick of a window.
    pub(crate) fn run(&mut self, window: Window) {
        self.outbox.horizon = window.horizon;
        let prefetches = self.model.outgrows_caches();
        let is_scrambled = self.scramble.is_some();
        // In the reference mode, all events of a tick are shuffled together. Events mark
        // decisions, so their order changes too.
        let at_a_time = if prefetches && !is_scrambled {
            AHEAD
        } else {
            usize::MAX
        };
        let prepares = prefetches || is_scrambled;
        while let Some(now) = self.outbox.queue.take_next(window.last, &mut self.batch) {
            self.outbox.now = now;
            self.events += self.batch.len() as u64;
            for events in self.batch.chunks_mut(at_a_time) {
                if prepares {
                    if let Some(scramble) = &mut self.scramble {
                        scramble.shuffle(events);
                    }
                    events.iter().for_each(|&event| self.model.prefetch(event));
                }
                for &event in &*events {
                    self.model.apply(now, event, &mut self.outbox);
                }
            }
            std::mem::swap(&mut self.deciding, &mut self.outbox.marked);
            for (at, &component) in self.deciding.iter().enumerate() {
                if M::LOOKS_AHEAD && prefetches {
                    self.look_ahead(at);
                }
                self.model.decide(component, now, &mut self.outbox);
                debug_assert!(
                    self.outbox.marked.is_empty(),
                    "component {component} marked one while deciding at {now}: decisions come \
                     first, \
                     effects at least one tick later"
                );
            }
            self.deciding.clear();
        }
    }

    /// Prefetches what the decisions after the one at this index will read.
    // Not inlined, for the same reason as `Outbox::send`.
    #[inline(never)]
    fn look_ahead(&self, at: usize) {
        if let Some(&component) = self.deciding.get(at + DECISIONS_AHEAD) {
            self.model.prefetch_decision(component);
        }
        if let Some(&component) = self.deciding.get(at + NEXT_BUT_ONE) {
            self.model.prefetch_indirect(component);
        }
    }

    /// Takes the messages of other partitions; leaves the list empty.
    pub(crate) fn receive(&mut self, messages: &mut Vec<MessageOf<M>>) {
        messages.drain(..).for_each(|message| self.take(message));
    }

    /// Takes a block of messages of the last window that another process has encoded.
    pub(crate) fn receive_block(&mut self, mut block: &[u8]) {
        // The horizon is equal in all processes, and this window has not yet set its own.
        let horizon = self.outbox.horizon;
        while !block.is_empty() {
            self.take(encoded::take::<M>(&mut block, horizon).expect("ranks of one version"));
        }
    }

    fn take(&mut self, message: MessageOf<M>) {
        let event = self.model.receive(message.event, message.parcel);
        self.outbox.queue.push(message.when, event);
    }

    /// Returns the earliest event that is pending here or in a message sent in this window, or
    /// [`Tick::NEVER`].
    pub(crate) fn earliest(&mut self) -> Tick {
        let here = self.outbox.queue.next().unwrap_or(Tick::NEVER);
        here.min(self.outbox.earliest_sent)
    }

    /// Ends a window: posts the messages sent in it and returns the earliest event that is pending
    /// here or in one of them.
    pub(crate) fn hand_over(&mut self, mut post: impl FnMut(u16, Sent<'_, M>)) -> Tick {
        let horizon = self.outbox.horizon;
        for partition in self.outbox.addressed.drain(..) {
            let messages = &mut self.outbox.outgoing[usize::from(partition)];
            if self.here.contains(&usize::from(partition)) {
                post(partition, Sent::Here(messages));
            } else {
                encoded::put_block::<M>(partition, messages, horizon, &mut self.bytes);
                post(partition, Sent::Leaving(&self.bytes));
                self.bytes.clear();
            }
        }
        let earliest = self.earliest();
        self.outbox.earliest_sent = Tick::NEVER;
        earliest
    }
}

impl<M> Partition<M>
where
    M: Model<Event: std::fmt::Debug> + State,
{
    /// Appends the model and all pending events, between two runs that end and begin at `now`.
    pub(crate) fn save(&mut self, now: Tick, out: &mut Vec<u8>) {
        self.model.save(out);
        self.events.put(out);
        // A queue is saved as the events taken out of it, and filled again.
        let mut pending: Vec<(Tick, M::Event)> = Vec::with_capacity(self.outbox.queue.len());
        while let Some(when) = self.outbox.queue.take_next(Tick::NEVER, &mut self.batch) {
            pending.extend(self.batch.iter().map(|&event| (when, event)));
        }
        self.batch.clear();
        pending.put(out);
        self.refill(now, pending);
    }

    /// Restores a saved state into a partition built from the same plan. `check` validates the
    /// model and all pending events before any of it is used.
    pub(crate) fn restore(
        &mut self,
        now: Tick,
        saved: &[u8],
        check: impl FnOnce(&M, &[(Tick, M::Event)]) -> Validity,
    ) -> Validity {
        let mut rest = saved;
        let mut take = || {
            self.model.restore(&mut rest)?;
            let events = u64::take(&mut rest)?;
            Some((events, Vec::<(Tick, M::Event)>::take(&mut rest)?))
        };
        let taken = take().filter(|_| rest.is_empty());
        let Some((events, pending)) = taken else {
            let place = format!("byte {} of {}", saved.len() - rest.len(), saved.len());
            return Err(Invalid::new(
                place,
                "the state of a partition",
                "other bytes",
            ));
        };
        ensure(events <= MOST_EVENTS, || {
            Invalid::new(
                "events applied",
                format_args!("at most {MOST_EVENTS}"),
                events,
            )
        })?;
        for (when, event) in &pending {
            ensure(*when >= now && *when <= LATEST, || {
                let expected = format!("a time from {} to {}", now.0, LATEST.0);
                Invalid::new(format_args!("event {event:?}"), expected, when.0)
            })?;
        }
        check(&self.model, &pending)?;
        self.events = events;
        self.refill(now, pending);
        Ok(())
    }

    fn refill(&mut self, now: Tick, pending: Vec<(Tick, M::Event)>) {
        let mut queue = M::Queue::for_delays(self.model.usual_delay());
        if now > Tick::ZERO {
            // Its time begins here.
            queue.take_next(Tick(now.0 - 1), &mut self.batch);
        }
        for (when, event) in pending {
            queue.push(when, event);
        }
        self.outbox.queue = queue;
    }
}
