//! Headers: a packet that has been written at an input is routed and joins the queue of its virtual channel.

use netloom_engine::{EventQueue, Outbox};
use netloom_fabric::{Stage, StashUse};
use netloom_routing::{Occasion, QueueView};
use netloom_units::{Port as PortNumber, Tick, Vl};

use crate::event::Event;
use crate::model::TiledFabric;
use crate::record::{Flags, NIL};
use crate::switch::Peer;

/// What a switch sees of its own outputs and has heard of others.
struct Outputs<'a> {
    fabric: &'a TiledFabric,
    base: u32,
}

impl QueueView for Outputs<'_> {
    #[inline]
    fn queued(&self, output: PortNumber) -> u32 {
        self.fabric.queued(self.base + u32::from(output.0))
    }

    /// Kept out of line: few routings ask.
    #[cold]
    #[inline(never)]
    fn announced(&self, cable: PortNumber, output: PortNumber) -> u32 {
        let cable = self.base + u32::from(cable.0);
        let announcing = self.fabric.announcing.as_ref();
        announcing.map_or(0, |all| {
            all.heard(cable, output, self.fabric.geometry.ports)
        })
    }
}

impl TiledFabric {
    /// What is on its way to an output inside the switch, and what its credits say is waiting beyond it: those of
    /// flits that are merely on the wire, or whose credit is, do not count.
    #[inline]
    pub(super) fn queued(&self, output: u32) -> u32 {
        let port = &self.ports[output];
        let round_trip = self.wires[u32::from(port.wire)].round_trip;
        port.committed + port.credit.total().saturating_sub(round_trip)
    }

    /// A header is written.
    #[inline]
    pub(crate) fn header_written<Q: EventQueue<Event>>(
        &mut self,
        port: u32,
        id: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let input = &mut self.ports[port];
        debug_assert!(
            input.arriving == NIL,
            "an input takes in one header per edge"
        );
        input.arriving = id;
        let (switch, number) = (input.switch, input.number);
        self.make_due(switch, out, |due| due.headers |= 1 << number);
    }

    /// Routes the header at an input; the set of the bus to be looked at.
    pub(super) fn route_header<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        out: &mut Outbox<Self, Q>,
    ) -> u64 {
        let input = &mut self.ports[port];
        let id = std::mem::replace(&mut input.arriving, NIL);
        let number = input.number;
        let vc = self.packets[id].packet.vl;
        if let Some(chances) = self.chances {
            // The first switch has not kept its copy yet, so it loses nothing.
            if !self.ports[port].is_end() && chances.loses(&self.draws, &self.packets[id]) {
                self.lose(now, port, id, out);
                return 0;
            }
            self.may_corrupt(id);
        }
        self.route(port, id, vc);
        if self.announcing.is_some() {
            self.await_announcement(now, self.ports[port].switch, out);
        }
        let record = &self.packets[id];
        self.ports[port].occupancy += u32::from(record.packet.flits);
        if self.watch.is_some() {
            let (packet, output, vc) = (record.packet, record.output, record.vc);
            let switch = self.switches[self.ports[port].switch].id;
            let input = PortNumber(u16::from(number));
            self.note(&packet, packet.arrival, Stage::Received { switch, input });
            let output = PortNumber(u16::from(output));
            self.note(
                &packet,
                now,
                Stage::Routed {
                    switch,
                    output,
                    vl: Vl(vc),
                },
            );
        }
        let queue = &mut self.input_queues[port * self.geometry.lanes + u32::from(vc)];
        let is_first = queue.push(id, &mut self.packets);
        let input = &mut self.ports[port];
        input.ready |= 1 << vc;
        // An input that has become congested may put aside what it could not move.
        let may_clear = self.stash_use == Some(StashUse::Congestion) && input.is_congested();
        u64::from(is_first || may_clear) << number
    }

    /// Decides the output and the virtual channel of a packet that came by a port and a channel.
    #[inline]
    pub(super) fn route(&mut self, port: u32, id: u32, vc: u8) {
        let input = &self.ports[port];
        let switch = &self.switches[input.switch];
        let base = input.switch * self.geometry.ports;
        let record = &self.packets[id];
        let packet = &record.packet;
        let occasion = Occasion {
            source: packet.source,
            sequence: packet.sequence,
            hop: packet.hops,
        };
        // Endpoints tell data and acknowledgements apart by channel, routings begin with lane 0.
        let lane = if input.is_end() { 0 } else { vc };
        let mut detour = record.flags.has(Flags::DETOUR);
        let view = Outputs { fabric: self, base };
        let hop = self.forwarding.route_seeing(
            switch.id,
            PortNumber(u16::from(input.number)),
            lane,
            packet.destination,
            occasion,
            &mut detour,
            &view,
        );
        let output = base + u32::from(hop.port.0);
        debug_assert!(
            self.ports[output].peer != Peer::Nobody,
            "a route over a cable"
        );
        let record = &mut self.packets[id];
        record.flags.set(Flags::DETOUR, detour);
        record.packet.hops = record.packet.hops.wrapping_add(1);
        record.output = hop.port.0 as u8;
        record.vc = hop.lane;
        let flits = u32::from(record.packet.flits);
        self.ports[output].committed += flits;
    }

    /// The switch may damage a packet that it routes.
    pub(super) fn may_corrupt(&mut self, id: u32) {
        let record = &mut self.packets[id];
        if let Some(chances) = self.chances
            && chances.corrupts(&self.draws, record)
        {
            record.flags.set(Flags::CORRUPT, true);
            self.protocol.corrupted += 1;
        }
    }

    /// The switch loses a packet: its room is free as if it had been granted the bus.
    #[cold]
    fn lose<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        port: u32,
        id: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let record = self.packets.remove(id);
        self.protocol.lost += 1;
        self.return_credit(now, port, record.packet.vl, record.packet.flits, out);
    }
}
