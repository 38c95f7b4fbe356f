//! The link of an output: virtual channels take turns while the other end has space.

use crate::Stage;
use netloom_engine::Outbox;
use netloom_units::{Port, Tick, Vl};

use crate::fabric::Fabric;
use crate::parcel::Flags;
use crate::switch::PeerRecord;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::held::Held;
use crate::switch::tiled::{TiledPort, after, members};

impl TiledPort {
    /// Whether an endpoint is at the other end.
    #[inline]
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.peer, PeerRecord::Nic(_))
    }

    /// Whether its input marks packets.
    #[inline]
    pub(crate) fn is_congested(&self) -> bool {
        self.occupancy > self.marks_above
    }
}

impl Fabric<Tiles> {
    /// Handles a header in an output buffer.
    #[inline]
    pub(crate) fn output_reached(&mut self, port: u32, id: u32, out: &mut Outbox<Self>) {
        let vc = self.switches.packets[id].vc;
        let queue =
            &mut self.switches.output_queues[port * self.switches.geometry.lanes + u32::from(vc)];
        if queue.push(id, &mut self.switches.packets) {
            let output = &mut self.switches.ports[port];
            output.present |= 1 << vc;
            let (switch, number) = (output.switch, output.number);
            self.make_due(switch, out, |due| due.links |= 1 << number);
        }
    }

    /// Handles returned credits.
    #[inline]
    pub(crate) fn credit_arrives(&mut self, port: u32, vc: u8, flits: u16, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        let shares = &self.switches.input_shares[u32::from(output.wire)];
        output.credit.give(vc, flits, shares);
        if output.present != 0 {
            let (switch, number) = (output.switch, output.number);
            self.make_due(switch, out, |due| due.links |= 1 << number);
        }
    }

    /// Handles a link that was busy.
    #[inline]
    pub(crate) fn link_wakes(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.link_wake <= now {
            output.link_wake = Tick::NEVER;
        }
        let (switch, number) = (output.switch, output.number);
        self.make_due(switch, out, |due| due.links |= 1 << number);
    }

    /// Grants the link to the next virtual channel whose packet fits at the other end, early enough
    /// that the link does not pause.
    #[inline]
    pub(super) fn decide_link(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &self.switches.ports[port];
        if output.present == 0 {
            return;
        }
        let ahead = self.switches.cycles(self.switches.stages.output + 1);
        if now + ahead <= output.link_until {
            self.look_at_link(port, out);
            return;
        }
        let shares = &self.switches.input_shares[u32::from(output.wire)];
        let is_end = output.is_end();
        let fits = |vc: u32| {
            let flits = self.switches.output_queues[port * self.switches.geometry.lanes + vc].flits;
            is_end || output.credit.fits(vc as u8, flits, shares)
        };
        let eligible = members(u64::from(output.present)).filter(|&vc| fits(vc));
        let eligible = eligible.fold(0, |set, vc| set | 1u64 << vc);
        if eligible == 0 {
            return;
        }
        let head = |vc| self.switches.output_queues[port * self.switches.geometry.lanes + vc].head;
        let vc = self.switches.next_of(eligible, output.next_lane, head) as u8;
        let has_choice = eligible & (eligible - 1) != 0;
        self.send(now, port, vc, has_choice, out);
    }

    /// Schedules a check of a busy link when its next packet may be chosen.
    #[inline]
    fn look_at_link(&mut self, port: u32, out: &mut Outbox<Self>) {
        let ahead = self.switches.cycles(self.switches.stages.output + 1);
        let output = &mut self.switches.ports[port];
        let when = self
            .switches
            .clock
            .edge_at_or_after(Tick(output.link_until.0 + 1 - ahead));
        if when < output.link_wake {
            output.link_wake = when;
            out.at(when, Event::Link { port });
        }
    }

    /// Sends a packet on the link.
    fn send(&mut self, now: Tick, port: u32, vc: u8, has_choice: bool, out: &mut Outbox<Self>) {
        let queue =
            &mut self.switches.output_queues[port * self.switches.geometry.lanes + u32::from(vc)];
        let flits = queue.flits;
        let id = queue.pop(&self.switches.packets);
        let is_empty = queue.is_empty();
        let repeats = match &self.switches.chances {
            Some(chances) => {
                chances.link_failures(&self.switches.draws, &self.switches.packets[id])
            }
            None => 0,
        };
        let output = &mut self.switches.ports[port];
        let wire = &self.switches.wires[u32::from(output.wire)];
        let occupancy = wire.occupancy(flits);
        let begin =
            (now + self.switches.stages.output * self.switches.clock.period).max(output.link_until);
        // A damaged packet is sent again after a report from the other end; the packets after it
        // are repeated.
        let mut start = begin;
        if repeats > 0 {
            start = begin + repeats * (occupancy + 2 * wire.delay);
            self.shared.protocol.link_repeats += repeats;
        }
        let end = start + occupancy;
        output.link_until = end;
        if is_empty {
            output.present &= !(1 << vc);
        }
        output.next_lane = after(u32::from(vc), self.switches.geometry.lanes);
        output.committed -= u32::from(flits);
        output.flits += u64::from(flits);
        output.packets += 1;
        output.choices += u64::from(has_choice);
        let held = Held::new(self.switches.retransmission, wire, start, vc, flits);
        output.held.push_back(held);
        // The flits kept before came too late, or were too few.
        let is_awaited = output.multiplexer_blocked && output.multiplexer_wake == Tick::NEVER;
        self.shared.counters.packet_hops += 1;
        self.shared.counters.flit_hops += u64::from(flits);
        self.shared.counters.choices += u64::from(has_choice);

        let record = &mut self.switches.packets[id];
        output.output_residence += held.residence(record.packet.arrival);
        record.packet.arrival = wire.arrival(start);
        record.packet.vl = vc;
        let peer = output.peer;
        if self.shared.watch.is_some() {
            let packet = self.switches.packets[id].packet;
            let stage = Stage::Sent {
                switch: self.switches.states[self.switches.ports[port].switch].id,
                output: Port(u16::from(self.switches.ports[port].number)),
                vl: Vl(vc),
            };
            self.shared.note(&packet, start, stage);
        }
        match peer {
            PeerRecord::Nic(nic) => {
                let when = end + wire.delay;
                if self.switches.packets[id].flags.has(Flags::ACKNOWLEDGEMENT) {
                    self.acknowledgement_passes(now, port, id, out);
                }
                out.at(when, Event::Deliver { nic, packet: id });
            }
            PeerRecord::Port(next) => {
                let when = wire.ready(start, flits, self.switches.clock);
                self.take_credit(port, vc, flits);
                out.at(
                    when,
                    Event::Head {
                        port: next,
                        packet: id,
                    },
                );
            }
            PeerRecord::Remote(partition, next) => {
                let when = wire.ready(start, flits, self.switches.clock);
                self.take_credit(port, vc, flits);
                self.shared.counters.emigrated += 1;
                let parcel = self.switches.packets.remove(id).parcel();
                let event = Event::Head {
                    port: next,
                    packet: 0,
                };
                out.send(partition, when, event, parcel);
            }
            // tidy: allow the name of a variant
            PeerRecord::Nobody => unreachable!("a packet is routed over a cable"),
        }
        if is_awaited {
            self.await_room(port, out);
        }
        if self.switches.ports[port].present != 0 {
            self.look_at_link(port, out);
        }
    }

    #[inline]
    fn take_credit(&mut self, port: u32, vc: u8, flits: u16) {
        let output = &mut self.switches.ports[port];
        let shares = &self.switches.input_shares[u32::from(output.wire)];
        output.credit.take(vc, flits, shares);
    }
}
