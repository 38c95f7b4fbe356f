//! The part of a fabric in one partition: endpoints around one kind of switch.

use netloom_encoding::{State, Validity};
use netloom_engine::{Model, Outbox, Wheel};
use netloom_units::Tick;

use crate::endpoint::Endpoints;
use crate::parcel::Parcel;
use crate::plan::FabricPlan;
use crate::shared::Shared;
use crate::switch::Switches;
use crate::validation::{Bounds, NicLanes, RemainingRoutes};

/// One partition. Its parts are independent of each other and borrow the shared state.
#[derive(State)]
pub(crate) struct Fabric<S: Switches> {
    #[state(part)]
    pub(crate) shared: Shared,
    #[state(part)]
    pub(crate) endpoints: Endpoints<S::Credit>,
    #[state(part)]
    pub(crate) switches: S,
}

impl<S: Switches> Fabric<S> {
    /// Validates that a run of the plan could have saved this partition at that time, with all
    /// pending events.
    pub(crate) fn validate(
        &self,
        plan: &FabricPlan,
        now: Tick,
        pending: &[(Tick, S::Event)],
    ) -> Validity {
        let lanes = NicLanes {
            data: S::data_lane,
            answer: S::answer_lane,
        };
        let (bounds, mut routes) = (Bounds::new(plan, now, lanes), RemainingRoutes::new(plan));
        self.shared.validate(&bounds)?;
        self.endpoints
            .validate(&self.shared, &bounds, &mut routes)?;
        S::validate(self, &bounds, &mut routes, pending)
    }

    /// Whether packets are followed.
    #[inline(always)]
    pub(crate) fn is_watching(&self) -> bool {
        !S::IS_PLAIN && self.shared.watch.is_some()
    }
}

impl<S: Switches> Model for Fabric<S> {
    type Event = S::Event;
    type Parcel = Parcel;
    type Queue = Wheel<S::Event>;

    #[inline(always)]
    fn apply(&mut self, now: Tick, event: S::Event, out: &mut Outbox<Self>) {
        S::apply(self, now, event, out);
    }

    fn outgrows_caches(&self) -> bool {
        self.switches.outgrow_caches()
    }

    fn is_scrambled(&self) -> bool {
        self.shared.is_reference
    }

    fn usual_delay(&self) -> u64 {
        self.shared.usual_delay
    }

    #[inline(always)]
    fn prefetch(&self, event: S::Event) {
        S::prefetch(self, event);
    }

    const LOOKS_AHEAD: bool = S::LOOKS_AHEAD;

    #[inline(always)]
    fn prefetch_decision(&self, component: u32) {
        if (component as usize) < self.switches.len() {
            S::prefetch_decision(self, component);
        }
    }

    #[inline(always)]
    fn prefetch_indirect(&self, component: u32) {
        if (component as usize) < self.switches.len() {
            S::prefetch_indirect(self, component);
        }
    }

    #[inline(always)]
    fn decide(&mut self, component: u32, now: Tick, out: &mut Outbox<Self>) {
        match (component as usize).checked_sub(self.switches.len()) {
            None => S::decide(self, component, now, out),
            Some(nic) => self.decide_nic(nic as u32, now, out),
        }
    }

    #[inline(always)]
    fn has_parcel(event: S::Event) -> bool {
        S::has_packet(event)
    }

    fn receive(&mut self, event: S::Event, parcel: Parcel) -> S::Event {
        S::take_over(self, event, parcel)
    }
}
