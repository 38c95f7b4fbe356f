//! The first switch as seen by a NIC: space for its packets, and their entry.

use netloom_engine::Outbox;
use netloom_routing::Occasion;
use netloom_units::{Clock, Port, Tick};

use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::parcel::Parcel;
use crate::shared::Shared;
use crate::switch::Candidate;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::ramp;
use crate::switch::crossbar::{Crossbars, Stored};

impl<S: Shape> Crossbars<S> {
    /// Returns the queue that the next packet of a NIC joins at the first switch.
    pub(super) fn queue_from_nic(&self, shared: &Shared, candidate: Candidate) -> u32 {
        let occasion = Occasion {
            source: candidate.source,
            sequence: candidate.sequence,
            hop: 0,
        };
        let input = &self.ports[candidate.port];
        let (switch, port) = (self.states[input.switch].id, Port(input.number));
        let (vl, destination) = (candidate.vl, candidate.destination);
        self.queue_at(shared, switch, port, vl, destination, occasion)
    }
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Handles credits that return from the first switch, the first of them at `from`.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(super) fn nic_credits_arrive(
        &mut self,
        now: Tick,
        nic: u32,
        class: u16,
        units: u16,
        pace: u8,
        from: Tick,
        out: &mut Outbox<Self>,
    ) {
        let state = &mut self.endpoints.nics[nic];
        let wires = &self.switches.wires;
        let paces = || &wires[u32::from(state.wire)].credits;
        let ramp = ramp::<S>(from, units, class, pace, paces);
        state.credits_coming -= 1;
        let held = state.credit.release(ramp, now);
        assert!(held, "credits of a link come back one packet after another");
        self.nic_has_room(now, nic, out);
    }

    /// Puts a packet on the link of its NIC and schedules its arrival at the first switch.
    #[inline(always)]
    pub(super) fn launch_from_nic(
        &mut self,
        now: Tick,
        nic: u32,
        mut parcel: Parcel,
        class: u16,
        out: &mut Outbox<Self>,
    ) {
        let state = &mut self.endpoints.nics[nic];
        let wire = &self.switches.wires[u32::from(state.wire)];
        let stages = &self.switches.stages;
        parcel.packet.arrival = now + wire.head;
        let packet = &parcel.packet;
        let (flits, vl, destination) = (packet.flits, packet.vl, packet.destination.0);
        let when = wire.allocatable::<S>(now, flits, stages, &mut state.last_header);
        let port = state.port;
        state.credit.take(class, flits);
        if S::Flow::IS_PAUSE {
            let known = packet.arrival + stages.pause + wire.delay;
            let when = Clock::new(wire.flit).edge_at_or_after(known);
            out.at(when, Event::NicCounted { vl, flits, nic });
        }
        let packet = self.switches.packets.insert(Stored::new(parcel));
        out.at(
            when,
            Event::Head {
                vl,
                flits,
                port,
                packet,
                destination,
            },
        );
    }
}
