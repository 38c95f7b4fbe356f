//! The implementation of [`Switches`] for tiled switches.

use netloom_encoding::Validity;
use netloom_engine::Outbox;
use netloom_routing::Occupancy;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::link::pool::{Pool, Shares};
use crate::parcel::Parcel;
use crate::recorder::PortUse;
use crate::switch::announcing::Announcing;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::record::Record;
use crate::switch::tiled::{TiledPort, Tiles};
use crate::switch::{Exit, PeerRecord, Switches, events_beside_every_switch};
use crate::validation::{Bounds, RemainingRoutes};

/// The lane of acknowledgements on the link to the first switch. It is separate from data: data at
/// the head of an end port may wait for space in a stash, that is, for acknowledgements. These must
/// not wait behind such data elsewhere.
const ANSWERS: u8 = 1;

/// The lane of data, regardless of the channel.
const DATA: u8 = 0;

events_beside_every_switch!(Event);

impl Switches for Tiles {
    type Event = Event;
    type Credit = Pool;

    #[inline]
    fn apply(fabric: &mut Fabric<Self>, now: Tick, event: Event, out: &mut Outbox<Fabric<Self>>) {
        match event {
            Event::Head { port, packet } => fabric.header_written(port, packet, out),
            Event::Row {
                channel,
                output,
                port,
                packet,
            } => fabric.row_reached(port, packet, u32::from(channel), u32::from(output), out),
            Event::Column {
                channel,
                row,
                port,
                packet,
            } => fabric.column_reached(port, packet, u32::from(channel), u32::from(row), out),
            Event::Output { port, packet } => fabric.output_reached(port, packet, out),
            Event::Stashed { port, packet } => fabric.stash_reached(port, packet, out),
            Event::Credit { vc, flits, port } => fabric.credit_arrives(port, vc, flits, out),
            Event::Bus { port } => fabric.bus_wakes(port, out),
            Event::Tile { tile, switch } => fabric.tile_wakes(now, switch, tile, out),
            Event::Multiplexer { port } => fabric.multiplexer_wakes(now, port, out),
            Event::StashMultiplexer { port } => fabric.stash_multiplexer_wakes(port, out),
            Event::Link { port } => fabric.link_wakes(now, port, out),
            Event::Edge { switch } => fabric.edge_comes(switch, out),
            Event::Announce { switch } => fabric.announcement_due(switch, out),
            Event::Announced {
                output,
                port,
                flits,
            } => fabric.announcement_heard(port, output, flits),
            Event::Located { port, packet } => fabric.copy_located(now, port, packet, out),
            Event::Delete { port, packet } => fabric.copy_deleted(port, packet, out),
            Event::Retransmit {
                attempt,
                port,
                packet,
            } => fabric.copy_sent_again(port, packet, attempt, out),
            Event::Timeout {
                attempt,
                port,
                sequence,
            } => fabric.timeout(port, sequence, attempt, out),
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
            Event::Begin { nic } => fabric.programs_begin(nic, out),
            Event::NicCredit { vc, flits, nic } => {
                fabric.nic_credit_arrives(now, nic, vc, flits, out);
            }
            Event::NicLink { nic } => fabric.nic_link_wakes(now, nic, out),
            Event::Grown {
                slot,
                nic,
                destination,
            } => fabric.flow_wakes(nic, NicId(destination), slot, out),
            Event::Deliver { nic, packet } => fabric.deliver(now, nic, packet, out),
        }
    }

    fn outgrow_caches(&self) -> bool {
        self.is_large
    }

    #[inline(always)]
    fn prefetch(fabric: &Fabric<Self>, event: Event) {
        fabric.ask_for(event);
    }

    const LOOKS_AHEAD: bool = true;

    #[inline(always)]
    fn prefetch_decision(fabric: &Fabric<Self>, switch: u32) {
        fabric.ask_for_decision(switch);
    }

    #[inline(always)]
    fn prefetch_indirect(fabric: &Fabric<Self>, switch: u32) {
        fabric.ask_indirect(switch);
    }

    #[inline]
    fn decide(fabric: &mut Fabric<Self>, switch: u32, now: Tick, out: &mut Outbox<Fabric<Self>>) {
        fabric.decide_switch(switch, now, out);
    }

    #[inline(always)]
    fn has_packet(event: Event) -> bool {
        matches!(event, Event::Head { .. })
    }

    fn take_over(fabric: &mut Fabric<Self>, event: Event, parcel: Parcel) -> Event {
        match event {
            Event::Head { port, .. } => {
                fabric.shared.counters.immigrated += 1;
                let packet = fabric.switches.packets.insert(Record::new(parcel));
                Event::Head { port, packet }
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
        self.wires[u32::from(wire)].flit
    }

    #[inline]
    fn may_send(
        &self,
        credit: &Pool,
        wire: u8,
        class: u16,
        flits: u16,
        _: Tick,
    ) -> Result<(), Tick> {
        let shares = &self.input_shares[u32::from(wire)];
        if credit.fits(class as u8, flits, shares) {
            Ok(())
        } else {
            Err(Tick::NEVER)
        }
    }

    fn data_lane(_: u8) -> u8 {
        DATA
    }

    fn answer_lane(_: u8) -> u8 {
        ANSWERS
    }

    #[inline(always)]
    fn launch(
        fabric: &mut Fabric<Self>,
        now: Tick,
        nic: u32,
        mut parcel: Parcel,
        class: u16,
        out: &mut Outbox<Fabric<Self>>,
    ) {
        let state = &mut fabric.endpoints.nics[nic];
        let switches = &mut fabric.switches;
        let wire = &switches.wires[u32::from(state.wire)];
        parcel.packet.arrival = wire.arrival(now);
        let flits = parcel.packet.flits;
        let shares = &switches.input_shares[u32::from(state.wire)];
        state.credit.take(class as u8, flits, shares);
        let port = state.port;
        let when = wire.ready(now, flits, switches.clock);
        let packet = switches.packets.insert(Record::new(parcel));
        out.at(when, Event::Head { port, packet });
    }

    #[inline]
    fn queued(&self, output: u32, _: Tick) -> u32 {
        let port = &self.ports[output];
        let round_trip = self.wires[u32::from(port.wire)].round_trip;
        port.committed + port.credit.total().saturating_sub(round_trip)
    }

    fn is_blocked(fabric: &Fabric<Self>, exit: Exit, flits: u16, now: Tick) -> bool {
        let (port, shares) = fabric.switches.output_of(exit);
        let has_room = port.is_end() || port.credit.fits(exit.lane, flits, shares);
        port.link_until > now || !has_room
    }

    fn occupancy(fabric: &Fabric<Self>, exit: Exit, _: Tick) -> Occupancy {
        let (port, shares) = fabric.switches.output_of(exit);
        port.credit.occupancy(exit.lane, shares)
    }

    fn announcing(&self) -> Option<&Announcing> {
        self.announcing.as_ref()
    }

    fn announcing_mut(&mut self) -> Option<&mut Announcing> {
        self.announcing.as_mut()
    }

    fn cable(&self, port: u32) -> (PeerRecord, u64) {
        let port = &self.ports[port];
        (port.peer, self.wires[u32::from(port.wire)].credit)
    }

    fn wake(fabric: &mut Fabric<Self>, switch: u32, out: &mut Outbox<Fabric<Self>>) {
        fabric.tell_switch(switch, out);
    }

    fn port_uses(&self, _: Tick) -> Vec<(SwitchId, Port, PortUse)> {
        let mut all = Vec::new();
        for port in &self.ports {
            let switch = &self.states[port.switch];
            if u16::from(port.number) >= switch.n_ports {
                continue;
            }
            let usage = PortUse {
                flits: port.flits,
                packets: port.packets,
                choices: port.choices,
                input_residence: port.input_residence,
                output_residence: port.output_residence,
                output_peak: port.output_peak,
            };
            all.push((switch.id, Port(u16::from(port.number)), usage));
        }
        all
    }

    fn packets_in_flight(fabric: &Fabric<Self>) -> u64 {
        fabric.packets_without_copies()
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

    fn check_laws(fabric: &Fabric<Self>) {
        fabric.check_stashes();
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
        self.has_drained()
    }

    fn is_credit_idle(&self, credit: &Pool, _: u8) -> bool {
        credit.total() == 0
    }

    fn stash_flits(&self) -> Vec<(SwitchId, u32)> {
        let ports = self.ports.as_slice().chunks(self.geometry.ports as usize);
        let flits = ports.map(|ports| ports.iter().map(|port| port.stash_used).sum());
        let switches = self.states.iter().map(|switch| switch.id);
        switches.zip(flits).collect()
    }
}

impl Tiles {
    /// Returns the output of an exit, and the input buffer of its link.
    fn output_of(&self, exit: Exit) -> (&TiledPort, &Shares) {
        let port = &self.ports[exit.header.base + u32::from(exit.output.0)];
        (port, &self.input_shares[u32::from(port.wire)])
    }
}

impl Fabric<Tiles> {
    /// Handles space that has been freed at the first switch.
    fn nic_credit_arrives(
        &mut self,
        now: Tick,
        nic: u32,
        vc: u8,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        let state = &mut self.endpoints.nics[nic];
        let shares = &self.switches.input_shares[u32::from(state.wire)];
        state.credit.give(vc, flits, shares);
        self.nic_has_room(now, nic, out);
    }
}
