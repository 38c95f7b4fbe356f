//! The row bus of an input: one packet at a time to the tiles of its row, to several of them
//! simultaneously if needed.

use crate::StashUse;
use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::parcel::{Flags, Parcel};
use crate::switch::PeerRecord;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::record::Record;
use crate::switch::tiled::stash::pages;
use crate::switch::tiled::{after, first_from, members};

/// How the first packet of a queue may advance.
#[derive(Clone, Copy)]
enum BusTarget {
    /// On its own channel.
    Own,
    /// On its own channel, with a copy for a stash through this column.
    Copied(u32),
    /// Into a stash, through this column.
    Aside(u32),
}

impl Fabric<Tiles> {
    /// Handles a bus that was busy, or an input with a new packet.
    #[inline]
    pub(crate) fn bus_wakes(&mut self, port: u32, out: &mut Outbox<Self>) {
        let input = &mut self.switches.ports[port];
        input.bus_watched = false;
        let (switch, number) = (input.switch, input.number);
        self.make_due(switch, out, |due| due.buses |= 1 << number);
    }

    /// Grants the bus to the next packet that may advance, round robin over virtual channels and
    /// the stash.
    #[inline]
    pub(super) fn decide_bus(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let input = &mut self.switches.ports[port];
        if input.ready == 0 {
            return;
        }
        if input.bus_until > now {
            self.watch_bus(port, out);
            return;
        }
        let (switch, own) = (input.switch, 1 << input.number);
        self.switches.states[switch].blocked &= !own;
        let input = &self.switches.ports[port];
        let lanes = self.switches.geometry.lanes;
        let mut asking = u64::from(input.ready);
        let pointer = input.next_channel;
        while asking != 0 {
            let index = first_from(asking, pointer);
            asking &= !(1 << index);
            let until = if index == lanes {
                self.retrieve(now, port, out)
            } else {
                self.advance(now, port, index, out)
            };
            let input = &mut self.switches.ports[port];
            if let Some(until) = until {
                input.next_channel = if index == lanes { 0 } else { index as u8 + 1 };
                input.bus_until = until;
                if input.ready != 0 {
                    self.watch_bus(port, out);
                }
                return;
            }
            self.switches.states[switch].blocked |= own;
        }
    }

    /// Schedules a check of a busy bus when it becomes free.
    #[inline]
    fn watch_bus(&mut self, port: u32, out: &mut Outbox<Self>) {
        let input = &mut self.switches.ports[port];
        if !input.bus_watched {
            input.bus_watched = true;
            out.at(input.bus_until, Event::Bus { port });
        }
    }

    /// Whether there is space in front of the tile that leads to an output.
    #[inline]
    fn row_has_room(&self, port: u32, output: u32, channel: u32, flits: u16) -> bool {
        let space = self.switches.geometry.space_towards(port, output, channel);
        let used = self.switches.row_used[space];
        flits <= self.switches.row_buffer - used
    }

    /// Returns the column whose stashes have the most unreserved space, among those that a packet
    /// can go to (join the shortest queue). A packet goes only where a stash has space for it. If
    /// packets could wait for that in the buffers on the way, these would be a part of the storage
    /// (C002-2).
    fn stash_column(&self, port: u32, flits: u16) -> Option<u32> {
        let input = &self.switches.ports[port];
        let (mut most, mut equal) = (None, 0u64);
        for column in members(self.switches.states[input.switch].stash_columns) {
            let room = self.column_room(input.switch, column);
            let first = column * self.switches.geometry.outputs;
            if room < pages(flits)
                || !self.row_has_room(port, first, self.switches.geometry.store(), flits)
            {
                continue;
            }
            if most < Some(room) {
                (most, equal) = (Some(room), 0);
            }
            if most == Some(room) {
                equal |= 1 << column;
            }
        }
        most.map(|_| first_from(equal, input.next_stash_column))
    }

    /// Returns the unreserved space in the stashes of a column.
    fn column_room(&self, switch: u32, column: u32) -> u32 {
        let first = switch * self.switches.geometry.ports + column * self.switches.geometry.outputs;
        let free = |port: u32| {
            self.switches.ports[port].stash_capacity - self.switches.ports[port].stash_used
        };
        let free: u32 = (first..first + self.switches.geometry.outputs)
            .map(free)
            .sum();
        free - self.switches.states[switch].promised[column as usize]
    }

    /// Returns how the first packet of an input queue may advance, if it may. `has_room`: whether
    /// there is space in front of its tile.
    #[inline(never)]
    fn bus_target(&self, port: u32, record: &Record, has_room: bool) -> Option<BusTarget> {
        let (output, flits) = (u32::from(record.output), record.packet.flits);
        let Some(usage) = self.switches.stash_use else {
            return has_room.then_some(BusTarget::Own);
        };
        let input = &self.switches.ports[port];
        match usage {
            StashUse::Reliability { .. } if record.is_data() && input.is_end() => {
                if !has_room {
                    return None;
                }
                self.stash_column(port, flits).map(BusTarget::Copied)
            }
            StashUse::Congestion if !has_room && record.is_data() => {
                let base = input.switch * self.switches.geometry.ports;
                let is_for_endpoint = self.switches.ports[base + output].is_end();
                if !is_for_endpoint || !input.is_congested() {
                    return None;
                }
                self.stash_column(port, flits).map(BusTarget::Aside)
            }
            _ => has_room.then_some(BusTarget::Own),
        }
    }

    /// Grants the bus to the first packet of an input queue, if it may advance; returns until when.
    #[inline]
    fn advance(&mut self, now: Tick, port: u32, vc: u32, out: &mut Outbox<Self>) -> Option<Tick> {
        let at = port * self.switches.geometry.lanes + vc;
        let id = self.switches.input_queues[at].head;
        let record = &self.switches.packets[id];
        let (output, own, flits) = (u32::from(record.output), record.vc, record.packet.flits);
        let geometry = &self.switches.geometry;
        let space = geometry.space_towards(port, output, u32::from(own));
        let has_room = flits <= self.switches.row_buffer - self.switches.row_used[space];
        // Most packets advance on their own channel; stashes for congestion are a last resort.
        let makes_copies = matches!(self.switches.stash_use, Some(StashUse::Reliability { .. }));
        let target = match has_room && !makes_copies {
            true => BusTarget::Own,
            false => self.bus_target(port, record, has_room)?,
        };
        let is_data = record.is_data();

        let queue = &mut self.switches.input_queues[at];
        queue.pop(&self.switches.packets);
        let is_empty = queue.is_empty();
        let input = &mut self.switches.ports[port];
        if is_empty {
            input.ready &= !(1 << vc);
        }
        let is_congested = input.is_congested();
        input.occupancy -= u32::from(flits);
        if is_data && is_congested {
            self.switches.packets[id].flags.set(Flags::MARKED, true);
            self.shared.protocol.marked += 1;
        }
        let arrival = &mut self.switches.packets[id].packet.arrival;
        input.input_residence += u64::from(flits) * (now - *arrival);
        *arrival = self.switches.wires[u32::from(input.wire)].tail(*arrival, flits);
        let stage = self.switches.stages.row_bus;
        let until = self.switches.pass(now, id, flits, stage);
        self.return_credit(now, port, vc as u8, flits, out);

        match target {
            BusTarget::Own => self.drop_into(now, port, id, output, own, space, flits, out),
            BusTarget::Copied(aside) => {
                let copy = self.copy_for_stash(now, port, id, out);
                self.drop_into(now, port, id, output, own, space, flits, out);
                self.send_aside(now, port, copy, aside, flits, out);
            }
            BusTarget::Aside(aside) => {
                self.shared.protocol.stashed += 1;
                self.send_aside(now, port, id, aside, flits, out);
            }
        }
        Some(until)
    }

    /// Grants the bus of a port to the first packet that continues from its stash, if there is
    /// space; returns until when.
    #[inline(never)]
    fn retrieve(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) -> Option<Tick> {
        let id = self.switches.retrievals[port].head;
        let record = &self.switches.packets[id];
        let (output, flits) = (u32::from(record.output), record.packet.flits);
        let channel = self.switches.geometry.retrieve();
        if !self.row_has_room(port, output, channel, flits) {
            return None;
        }
        self.switches.retrievals[port].pop(&self.switches.packets);
        if self.switches.retrievals[port].is_empty() {
            self.switches.ports[port].ready &= !(1 << self.switches.geometry.lanes);
        }
        if self.switches.stash_use == Some(StashUse::Congestion) {
            self.shared.protocol.retrieved += 1;
            let switch = self.switches.ports[port].switch;
            self.switches.states[switch].retrieved.push((port, flits));
        } else {
            self.attempt_begins(now, port, id, out);
        }
        let stage = self.switches.stages.row_bus;
        let until = self.switches.pass(now, id, flits, stage);
        self.drop_off(now, port, id, output, channel, flits, out);
        Some(until)
    }

    /// Moves a packet to the row buffer that leads to an output, or to any of its column if the
    /// output is chosen later.
    #[allow(clippy::too_many_arguments)]
    fn drop_off(
        &mut self,
        now: Tick,
        port: u32,
        packet: u32,
        output: u32,
        channel: u32,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        let space = self.switches.geometry.space_towards(port, output, channel);
        self.drop_into(now, port, packet, output, channel as u8, space, flits, out);
    }

    /// Does the same where the space in front of the tile is known.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn drop_into(
        &mut self,
        now: Tick,
        port: u32,
        packet: u32,
        output: u32,
        channel: u8,
        space: u32,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        self.switches.row_used[space] += flits;
        let when = now + self.switches.cycles(self.switches.stages.row_bus);
        out.at(
            when,
            Event::Row {
                channel,
                output: output as u8,
                port,
                packet,
            },
        );
    }

    #[inline(never)]
    fn send_aside(
        &mut self,
        now: Tick,
        port: u32,
        packet: u32,
        column: u32,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        self.switches.ports[port].next_stash_column = after(column, self.switches.geometry.columns);
        let switch = self.switches.ports[port].switch;
        self.switches.states[switch].promised[column as usize] += pages(flits);
        let channel = self.switches.geometry.store();
        let first = column * self.switches.geometry.outputs;
        self.drop_off(now, port, packet, first, channel, flits, out);
    }

    /// Returns credits to the sender of an input.
    #[inline(always)]
    pub(super) fn return_credit(
        &mut self,
        now: Tick,
        port: u32,
        vc: u8,
        flits: u16,
        out: &mut Outbox<Self>,
    ) {
        let input = &self.switches.ports[port];
        let wire = &self.switches.wires[u32::from(input.wire)];
        match input.peer {
            PeerRecord::Port(port) => out.at(now + wire.credit, Event::Credit { vc, flits, port }),
            PeerRecord::Remote(partition, port) => {
                let event = Event::Credit { vc, flits, port };
                out.send(partition, now + wire.credit, event, Parcel::default());
            }
            PeerRecord::Nic(nic) => {
                let when = now + (self.switches.clock.period + wire.delay);
                out.at(when, Event::NicCredit { vc, flits, nic });
            }
            // tidy: allow the name of a variant
            PeerRecord::Nobody => unreachable!("a packet came by a link"),
        }
    }
}
