//! Headers: a packet that has been written at an input is routed and joins the queue of its virtual
//! channel.

use crate::StashUse;
use netloom_engine::Outbox;
use netloom_units::{Port, Tick};

use crate::fabric::Fabric;
use crate::parcel::Flags;
use crate::switch::NIL;
use crate::switch::tiled::Tiles;
use crate::switch::{Header, PeerRecord};

impl Fabric<Tiles> {
    /// Handles a header that has been written.
    #[inline]
    pub(crate) fn header_written(&mut self, port: u32, id: u32, out: &mut Outbox<Self>) {
        let input = &mut self.switches.ports[port];
        debug_assert!(
            input.arriving == NIL,
            "an input takes in one header per edge"
        );
        input.arriving = id;
        let (switch, number) = (input.switch, input.number);
        self.make_due(switch, out, |due| due.headers |= 1 << number);
    }

    /// Routes the header at an input, and returns the set of the bus to be checked.
    pub(super) fn route_header(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) -> u64 {
        let input = &mut self.switches.ports[port];
        let id = std::mem::replace(&mut input.arriving, NIL);
        let number = input.number;
        let vc = self.switches.packets[id].packet.vl;
        if let Some(chances) = self.switches.chances {
            // The first switch has not stored its copy yet, so it loses no packet.
            if !self.switches.ports[port].is_end()
                && chances.loses(&self.switches.draws, &self.switches.packets[id])
            {
                self.lose(now, port, id, out);
                return 0;
            }
            self.may_corrupt(id);
        }
        self.route(now, port, id, vc);
        if self.switches.announcing.is_some() {
            self.await_announcement(now, self.switches.ports[port].switch, out);
        }
        let record = &self.switches.packets[id];
        self.switches.ports[port].occupancy += u32::from(record.packet.flits);
        if self.shared.watch.is_some() {
            let (packet, output, vc) = (record.packet, record.output, record.vc);
            let switch = self.switches.states[self.switches.ports[port].switch].id;
            let place = (switch, Port(u16::from(number)));
            self.note_header(now, &packet, place, (Port(u16::from(output)), vc));
        }
        let queue =
            &mut self.switches.input_queues[port * self.switches.geometry.lanes + u32::from(vc)];
        let is_first = queue.push(id, &mut self.switches.packets);
        let input = &mut self.switches.ports[port];
        input.ready |= 1 << vc;
        // An input that has become congested may stash a packet that it could not forward.
        let may_clear =
            self.switches.stash_use == Some(StashUse::Congestion) && input.is_congested();
        u64::from(is_first || may_clear) << number
    }

    /// Selects the output and virtual channel of a packet that came by a port and a channel.
    #[inline]
    pub(super) fn route(&mut self, now: Tick, port: u32, id: u32, vc: u8) {
        let input = &self.switches.ports[port];
        let switch = &self.switches.states[input.switch];
        let base = input.switch * self.switches.geometry.ports;
        let is_injected = input.is_end();
        let header = Header {
            at: switch.id,
            base,
            from: Port(u16::from(input.number)),
            // Endpoints separate data and acknowledgements by channel; routings start with lane 0.
            lane: if input.is_end() { 0 } else { vc },
        };
        let packet = &self.switches.packets[id].packet;
        let (hop, word) = self.hop_by_queues(now, header, packet);
        let output = base + u32::from(hop.port.0);
        debug_assert!(
            self.switches.ports[output].peer != PeerRecord::Nobody,
            "a route over a cable"
        );
        let record = &mut self.switches.packets[id];
        record.packet.label.set_word(word);
        record.packet.hops = record.packet.hops.wrapping_add(1);
        record.flags.set(Flags::INJECTED, is_injected);
        record.output = hop.port.0 as u8;
        record.vc = hop.lane;
        let flits = u32::from(record.packet.flits);
        self.switches.ports[output].committed += flits;
    }

    /// Damages a packet that the switch routes, if a draw says so.
    pub(super) fn may_corrupt(&mut self, id: u32) {
        let record = &mut self.switches.packets[id];
        if let Some(chances) = self.switches.chances
            && chances.corrupts(&self.switches.draws, record)
        {
            record.flags.set(Flags::CORRUPT, true);
            self.shared.protocol.corrupted += 1;
        }
    }

    /// Loses a packet: its space is freed as if it had been granted the bus.
    #[cold]
    fn lose(&mut self, now: Tick, port: u32, id: u32, out: &mut Outbox<Self>) {
        let record = self.switches.packets.remove(id);
        self.shared.protocol.lost += 1;
        self.return_credit(now, port, record.packet.vl, record.packet.flits, out);
    }
}
