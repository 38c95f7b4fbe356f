//! What a simulated system must offer to be run: its events, its two phases, its border.

use netloom_units::Tick;

use crate::{EventQueue, Outbox};

/// The part of a simulated system that lives in one partition: plain arrays per kind of component.
pub trait Model: Sized + Send {
    /// Plain data without time; the queue knows when. Keep it at 16 bytes.
    ///
    /// The order serves only the reference heap and never a decision.
    type Event: Copy + Send + Ord;
    /// What crosses a partition by value together with an event (a packet record).
    type Parcel: Copy + Send;

    /// Phase A: an update that commutes with every other update of the same tick.
    fn apply<Q: EventQueue<Self::Event>>(
        &mut self,
        now: Tick,
        event: Self::Event,
        out: &mut Outbox<Self, Q>,
    );

    /// Whether the state outgrows caches, so that [`prefetch`](Self::prefetch) and
    /// [`prefetch_decision`](Self::prefetch_decision) pay.
    fn outgrows_caches(&self) -> bool {
        false
    }

    /// An event is about to be applied: what it will touch may be asked for. Nothing changes.
    #[inline(always)]
    fn prefetch(&self, _event: Self::Event) {}

    /// Whether decisions ask for anything ahead, by the two functions below.
    const LOOKS_AHEAD: bool = false;

    /// A component decides soon: what it will read may be asked for. Nothing changes.
    #[inline(always)]
    fn prefetch_decision(&self, _component: u32) {}

    /// A component decides next but one, and what was asked for by [`prefetch_decision`](Self::prefetch_decision) has come: what is
    /// found by it may be asked for.
    #[inline(always)]
    fn prefetch_behind(&self, _component: u32) {}

    /// Phase B: a marked component decides once, from its own state.
    ///
    /// Its effects on other components come at least one tick later.
    fn decide<Q: EventQueue<Self::Event>>(
        &mut self,
        component: u32,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    );

    /// An event with its parcel enters this partition: stores the parcel and returns the event as it is
    /// known here.
    ///
    /// Messages arrive in any order, so nothing that a decision reads may depend on it.
    fn receive(&mut self, event: Self::Event, parcel: Self::Parcel) -> Self::Event;
}
