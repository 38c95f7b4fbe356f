//! Input side: headers join queues, inputs are woken.

use netloom_arbitration::Arbiter;
use netloom_engine::{EventQueue, Outbox};
use netloom_routing::Occasion;
use netloom_units::{NicId, Port, Tick, Vl};

use crate::event::Event;
use crate::fabric::Fabric;
use crate::port::NIL;
use crate::ramp::Ramp;
use crate::shape::Shape;
use crate::trace::Stage;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// A header has passed the input and routing stages.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(crate) fn header_arrives<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        vl: u8,
        flits: u16,
        destination: NicId,
        out: &mut Outbox<Self, Q>,
    ) {
        let input = &self.ports[port];
        let (switch, number) = (input.switch, Port(input.number));
        let at = self.switches[switch].id;
        let lane = self.routing_lane(vl);
        let stored = &mut self.packets[id];
        let packet = &mut stored.packet;
        let occasion = Occasion {
            source: packet.source,
            sequence: packet.sequence,
            hop: packet.hops,
        };
        let hop = self
            .forwarding
            .route(at, number, lane, destination, occasion);
        packet.hops = packet.hops.wrapping_add(1);
        let level = self
            .channels
            .at_switch(at, number, hop.port, packet.label.sc());
        stored.vl = level + hop.lane * self.lanes_per_level;
        stored.output = hop.port.0;
        stored.next = NIL;
        stored.is_announced = false;
        let (output, out_vl) = (stored.output, stored.vl);
        if self.watch.is_some() {
            let packet = stored.packet;
            self.note(&packet, packet.arrival, |_| Stage::Received {
                switch: at,
                input: number,
            });
            self.note(&packet, now, |_| Stage::Routed {
                switch: at,
                output: hop.port,
                vl: Vl(out_vl),
            });
        }
        if S::IS_HIERARCHICAL {
            let is_central = self.crossbar_output(switch, number.0, output) != output;
            let input = &self.ports[port];
            let (received, wire) = (self.packets[id].packet.arrival, u32::from(input.wire));
            let when = self.wires[wire].fed(received, flits, is_central, &self.stages);
            if when > now {
                out.at(when, Event::Join { port, packet: id });
                return;
            }
        }
        let q = self.queue_map.queue(vl, output, destination) as usize;
        self.join(now, port, id, q, output, out_vl, flits, out);
    }

    /// A packet that had to wait for its feed, or that has crossed to the centre, joins its queue.
    pub(crate) fn packet_joins<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let input = &self.ports[port];
        let stored = &self.packets[id];
        let (output, vl, flits) = (stored.output, stored.vl, stored.packet.flits);
        let lane = if input.number >= self.switches[input.switch].n_ports {
            vl
        } else {
            stored.packet.vl
        };
        let q = self
            .queue_map
            .queue(lane, output, stored.packet.destination);
        self.join(now, port, id, q as usize, output, vl, flits, out);
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn join<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        q: usize,
        output: u16,
        vl: u8,
        flits: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let input = &self.ports[port];
        let (switch, number) = (input.switch, input.number);
        let queue = &mut self.input_queues[port * self.n_queues as u32 + q as u32];
        if queue.head != NIL {
            let last = std::mem::replace(&mut queue.tail, id);
            self.packets[last].next = id;
            return;
        }
        let class = if S::HAS_OUTPUT_BUFFER {
            0
        } else {
            let base = self.switches[switch].base;
            self.class_ahead(base + u32::from(output), vl, &self.packets[id].packet)
        };
        let crossing = self.crossbar_output(switch, number, output);
        let queue = &mut self.input_queues[port * self.n_queues as u32 + q as u32];
        queue.head = id;
        queue.tail = id;
        queue.flits = flits;
        queue.output = crossing;
        if !S::HAS_OUTPUT_BUFFER {
            queue.class = class;
        }
        queue.vl = vl;
        let input = &mut self.ports[port];
        input.ready.set(q);
        if input.input_until > now {
            if !input.input_watched {
                input.input_watched = true;
                out.at(input.input_until, Event::ReleaseInput { port });
            }
            return;
        }
        self.switches[switch].woken.set(usize::from(number));
        self.mark_switch(switch, out);
    }

    /// The crossbar has let go of an input.
    #[inline]
    pub(crate) fn input_released<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let input = &mut self.ports[port];
        input.input_watched = false;
        if !input.ready.is_empty() {
            let (switch, number) = (input.switch, input.number);
            self.switches[switch].woken.set(usize::from(number));
            self.mark_switch(switch, out);
        }
    }

    /// The crossbar has let go of an output.
    #[inline]
    pub(crate) fn output_released<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        self.ports[port].output_watched = false;
        self.wake_waiters(port, out);
    }

    /// Room may have come free in an output buffer.
    pub(crate) fn room_wakes<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let output = &mut self.ports[port];
        if output.room_wake <= now {
            output.room_wake = Tick::NEVER;
        }
        self.wake_waiters(port, out);
    }

    /// Inputs that wait for an output look again; those that still find it closed register anew.
    #[inline]
    pub(super) fn wake_waiters<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let output = &mut self.ports[port];
        if output.short != 0 {
            output.short = 0;
            output.short_need = u32::MAX;
        }
        let waiters = std::mem::take(&mut output.waiters);
        if !waiters.is_empty() {
            let switch = output.switch;
            self.switches[switch].woken.union(waiters);
            self.mark_switch(switch, out);
        }
    }

    /// Inputs that lost an allocation try again.
    pub(crate) fn losers_return<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.switches[switch];
        state.again = false;
        let losers = std::mem::take(&mut state.losers);
        state.woken.union(losers);
        self.mark_switch(switch, out);
    }

    /// Room that was not foreseen begins to come free.
    pub(crate) fn drain_begins<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        vl: u8,
        units: u16,
        lag: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let output = &mut self.ports[port];
        output.drains -= 1;
        let paces = &self.wires[u32::from(output.wire_out)].drain;
        let from = Tick(now.0 - u64::from(lag));
        let ramp = Ramp::new(from, units, u16::from(vl), 0, paces);
        let held = output.space.release(ramp, now);
        assert!(held, "earlier ramps are over when a later one starts");
        if self.ports[port].short != 0 {
            self.wake_waiters(port, out);
        }
    }
}
