//! The interface of a simulated system: its events, its two phases, its boundary.

use netloom_encoding::Encoded;
use netloom_units::Tick;

use crate::{EventQueue, Outbox};

/// The part of a simulated system in one partition: plain arrays per kind of component.
pub trait Model: Sized + Send {
    /// Plain data without time, which the queue adds. Keep it at 16 bytes.
    ///
    /// The order is used only by the reference heap, never by a decision.
    type Event: Copy + Send + Ord + Encoded;
    /// Data that crosses a partition by value together with an event (a packet record).
    type Parcel: Copy + Send + Encoded + Default;
    /// The queue of pending events: [`Wheel`](crate::Wheel), except in tests of the engine.
    type Queue: EventQueue<Self::Event>;

    /// Phase A: applies an update that commutes with every other update of the same tick.
    fn apply(&mut self, now: Tick, event: Self::Event, out: &mut Outbox<Self>);

    /// Whether the state exceeds the caches, so that [`prefetch`](Self::prefetch) and
    /// [`prefetch_decision`](Self::prefetch_decision) are worthwhile.
    fn outgrows_caches(&self) -> bool {
        false
    }

    /// Returns within how many ticks most events take place after their cause. Affects only the
    /// speed.
    fn usual_delay(&self) -> u64 {
        0
    }

    /// Whether the events of each tick are applied in scrambled order. This is the reference mode.
    /// It also changes the order of decisions, since events mark them. Updates of one tick must
    /// commute, and decisions must not see each other. A model that violates either rule gives
    /// another result in this mode.
    fn is_scrambled(&self) -> bool {
        false
    }

    /// Prefetches the state that an event will touch. Changes nothing.
    #[inline(always)]
    fn prefetch(&self, _event: Self::Event) {}

    /// Whether the two functions below prefetch anything for decisions.
    const LOOKS_AHEAD: bool = false;

    /// Prefetches the state that a decision will read. Changes nothing.
    #[inline(always)]
    fn prefetch_decision(&self, _component: u32) {}

    /// Prefetches what is found through the state that
    /// [`prefetch_decision`](Self::prefetch_decision) fetched, which has arrived by now. Called
    /// shortly before the component decides.
    #[inline(always)]
    fn prefetch_indirect(&self, _component: u32) {}

    /// Phase B: lets a marked component decide once, from its own state.
    ///
    /// Its effects on other components come at least one tick later.
    fn decide(&mut self, component: u32, now: Tick, out: &mut Outbox<Self>);

    /// Whether an event takes a parcel to another partition. Other events reach another process
    /// without one, and [`receive`](Self::receive) gets the default parcel.
    #[inline(always)]
    fn has_parcel(_event: Self::Event) -> bool {
        true
    }

    /// Takes an event from another partition with its parcel: stores the parcel and returns the
    /// event in the form used in this partition.
    ///
    /// Messages arrive in any order, so no decision may depend on it.
    fn receive(&mut self, event: Self::Event, parcel: Self::Parcel) -> Self::Event;
}
