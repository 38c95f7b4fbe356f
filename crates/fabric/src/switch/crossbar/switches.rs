//! The implementation of [`Switches`] for crossbar switches.

use netloom_encoding::Validity;
use netloom_engine::Outbox;
use netloom_routing::Occupancy;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::link::flow::Flow;
use crate::parcel::Parcel;
use crate::recorder::PortUse;
use crate::shared::Shared;
use crate::switch::announcing::Announcing;
use crate::switch::crossbar::event::Event;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::{Crossbars, Stored};
use crate::switch::{Candidate, Exit, PeerRecord, Switches, events_beside_every_switch};
use crate::validation::{Bounds, RemainingRoutes};

events_beside_every_switch!(Event);

impl<S: Shape> Switches for Crossbars<S> {
    type Event = Event;
    type Credit = S::Flow;
    const MAY_LOOK_AHEAD: bool = S::Flow::MAY_LOOK_AHEAD;
    const IS_PLAIN: bool = S::IS_PLAIN;
    const HAS_PLAIN_ENDPOINTS: bool = S::HAS_PLAIN_ENDPOINTS;

    #[inline(always)]
    fn apply(fabric: &mut Fabric<Self>, now: Tick, event: Event, out: &mut Outbox<Fabric<Self>>) {
        match event {
            Event::Head {
                vl,
                flits,
                port,
                packet,
                destination,
            } => {
                fabric.header_arrives(now, port, packet, vl, flits, NicId(destination), out);
            }
            Event::Credit {
                pace,
                class,
                units,
                port,
                lag,
            } => {
                let from = Tick(now.0 - u64::from(lag));
                fabric.credits_arrive(now, port, class, units, pace, from, out);
            }
            Event::Counted { vl, flits, port } => {
                fabric.switches.ports[port]
                    .credit
                    .count(u16::from(vl), flits, now);
            }
            Event::NicCounted { vl, flits, nic } => {
                fabric.endpoints.nics[nic]
                    .credit
                    .count(u16::from(vl), flits, now);
            }
            Event::Join { port, packet } => fabric.packet_joins(now, port, packet, out),
            Event::ReleaseInput { port } => fabric.input_released(port, out),
            Event::ReleaseOutput { port } => fabric.output_released(port, out),
            Event::ReleaseBoth { input, output } => {
                fabric.input_released(input, out);
                fabric.output_released(output, out);
            }
            Event::Output {
                vl,
                flits,
                port,
                packet,
            } => {
                fabric.output_arrives(now, port, packet, vl, flits, out);
            }
            Event::Link { port } => fabric.link_wakes(now, port, out),
            Event::Again { switch } => fabric.losers_return(switch, out),
            Event::Room { port } => fabric.room_wakes(now, port, out),
            Event::Drain {
                vl,
                units,
                pace,
                phase,
                port,
                lag,
            } => {
                let from = Tick(now.0 - u64::from(lag));
                fabric.drain_begins(now, port, (vl, units), (pace, phase), from, out);
            }
            Event::Arrival {
                class,
                sl,
                flow,
                nic,
                destination,
                bytes,
            } => {
                let created = Created {
                    class,
                    sl,
                    flow,
                    destination: NicId(destination),
                    bytes,
                };
                fabric.message_arrives(now, nic, created, out);
            }
            Event::NicCredit {
                pace,
                class,
                units,
                nic,
                lag,
            } => {
                let from = Tick(now.0 - u64::from(lag));
                fabric.nic_credits_arrive(now, nic, class, units, pace, from, out);
            }
            Event::NicLink { nic } => fabric.nic_link_wakes(now, nic, out),
            Event::Deliver { nic, packet } => fabric.deliver(now, nic, packet, out),
            Event::Announce { switch } => fabric.announcement_due(switch, out),
            Event::Announced {
                output,
                port,
                flits,
            } => fabric.announcement_heard(port, output, flits),
            Event::Begin { nic } => fabric.programs_begin(nic, out),
            Event::Grown {
                slot,
                nic,
                destination,
            } => fabric.flow_wakes(nic, NicId(destination), slot, out),
        }
    }

    fn outgrow_caches(&self) -> bool {
        self.is_large
    }

    #[inline(always)]
    fn prefetch(fabric: &Fabric<Self>, event: Event) {
        fabric.ask_for(event);
    }

    #[inline(always)]
    fn decide(fabric: &mut Fabric<Self>, switch: u32, now: Tick, out: &mut Outbox<Fabric<Self>>) {
        fabric.decide_switch(switch, now, out);
    }

    #[inline(always)]
    fn has_packet(event: Event) -> bool {
        matches!(event, Event::Head { .. })
    }

    fn take_over(fabric: &mut Fabric<Self>, event: Event, parcel: Parcel) -> Event {
        match event {
            Event::Head {
                vl,
                flits,
                port,
                destination,
                ..
            } => {
                fabric.shared.counters.immigrated += 1;
                Event::Head {
                    vl,
                    flits,
                    port,
                    packet: fabric.switches.packets.insert(Stored::new(parcel)),
                    destination,
                }
            }
            other => other,
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.states.len()
    }

    #[inline(always)]
    fn remove(&mut self, id: u32) -> Parcel {
        self.packets.remove(id).parcel()
    }

    #[inline(always)]
    fn nic_cycle(&self, wire: u8) -> u64 {
        self.wires[u32::from(wire)].flit::<S>()
    }

    #[inline(always)]
    fn may_send(
        &self,
        credit: &S::Flow,
        wire: u8,
        class: u16,
        flits: u16,
        now: Tick,
    ) -> Result<(), Tick> {
        let (paces, limits) = (
            &self.wires[u32::from(wire)].credits,
            &self.input_buffer.flits,
        );
        let need = u32::from(flits);
        if credit.has(class, need, now, limits, || paces) {
            return Ok(());
        }
        let when = credit.when(class, need, now, paces, limits);
        Err(when.unwrap_or(Tick::NEVER))
    }

    fn class_at_first(&self, shared: &Shared, candidate: Candidate) -> u16 {
        if !self.credits_per_queue {
            return u16::from(candidate.vl);
        }
        self.queue_from_nic(shared, candidate) as u16
    }

    fn queue_at_first(&self, shared: &Shared, candidate: Candidate) -> u32 {
        self.queue_from_nic(shared, candidate)
    }

    #[inline(always)]
    fn launch(
        fabric: &mut Fabric<Self>,
        now: Tick,
        nic: u32,
        parcel: Parcel,
        class: u16,
        out: &mut Outbox<Fabric<Self>>,
    ) {
        fabric.launch_from_nic(now, nic, parcel, class, out);
    }

    fn queued(&self, output: u32, now: Tick) -> u32 {
        Crossbars::queued(self, output, now)
    }

    fn is_stopped(fabric: &Fabric<Self>, exit: Exit) -> bool {
        if !S::Flow::IS_PAUSE {
            return false;
        }
        let port = &fabric.switches.ports[fabric.output_of(exit)];
        port.credit.is_stopped(fabric.class_of(exit))
    }

    fn is_blocked(fabric: &Fabric<Self>, exit: Exit, flits: u16, now: Tick) -> bool {
        let output = fabric.output_of(exit);
        let (switches, vl) = (&fabric.switches, fabric.class_of(exit));
        let paces = switches.ports[output].credit_paces(&switches.wires);
        let limits = &switches.input_buffer.flits;
        let (link_until, credit) = switches.seen(output, now);
        link_until > now || credit.room_of(vl, now, paces, limits) < u32::from(flits)
    }

    fn occupancy(fabric: &Fabric<Self>, exit: Exit, now: Tick) -> Occupancy {
        let output = fabric.output_of(exit);
        let (switches, vl) = (&fabric.switches, fabric.class_of(exit));
        let paces = switches.ports[output].credit_paces(&switches.wires);
        let (_, credit) = switches.seen(output, now);
        credit.occupancy_of(vl, now, paces, &switches.input_buffer.flits)
    }

    fn announcing(&self) -> Option<&Announcing> {
        self.adaptive_view.as_ref()?.announcing.as_ref()
    }

    fn announcing_mut(&mut self) -> Option<&mut Announcing> {
        self.adaptive_view.as_mut()?.announcing.as_mut()
    }

    fn cable(&self, port: u32) -> (PeerRecord, u64) {
        let port = &self.ports[port];
        let wire = &self.wires[u32::from(port.wire_out)];
        let period = self.stages.clock.period;
        let delay = (self.stages.credit + wire.delay).div_ceil(period) * period;
        (port.receiver, delay)
    }

    fn wake(fabric: &mut Fabric<Self>, switch: u32, out: &mut Outbox<Fabric<Self>>) {
        fabric.mark_switch(switch, out);
    }

    fn port_uses(&self, now: Tick) -> Vec<(SwitchId, Port, PortUse)> {
        let is_port = |at: u32| self.ports[at].number < self.states[self.ports[at].switch].n_ports;
        let ports = (0..self.ports.len() as u32).filter(|&at| is_port(at));
        let usage = |at: u32| {
            let port = &self.ports[at];
            let usage = self.use_of(at, now);
            (self.states[port.switch].id, Port(port.number), usage)
        };
        ports.map(usage).collect()
    }

    fn packets_in_flight(fabric: &Fabric<Self>) -> u64 {
        fabric.switches.packets.len() as u64
    }

    fn waits(
        fabric: &Fabric<Self>,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) -> bool {
        fabric.waits(now, wait_limit, edges, remote)
    }

    fn validate(
        fabric: &Fabric<Self>,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        pending: &[(Tick, Event)],
    ) -> Validity {
        fabric.validate_switches(bounds, routes, pending)
    }

    fn is_idle(&mut self) -> bool {
        let mut ports = self.ports.iter();
        ports.all(|port| port.credit.is_idle() && port.space.is_idle())
    }

    fn is_credit_idle(&self, credit: &S::Flow, _: u8) -> bool {
        credit.is_idle()
    }
}
