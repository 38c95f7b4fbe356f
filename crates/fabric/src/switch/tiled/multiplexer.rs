//! The multiplexer of an output: one packet at a time from the column buffers of all rows into the
//! output buffer.

use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::link::pool::Pool;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::{after, members};

impl Fabric<Tiles> {
    /// Handles a header in a column buffer.
    #[inline]
    pub(crate) fn column_reached(
        &mut self,
        port: u32,
        id: u32,
        channel: u32,
        row: u32,
        out: &mut Outbox<Self>,
    ) {
        let geometry = &self.switches.geometry;
        let index = row * geometry.channels + channel;
        let at = port * geometry.column_queues + index;
        let queue = &mut self.switches.column_queues[at];
        if !queue.push(id, &mut self.switches.packets) {
            return;
        }
        let output = &mut self.switches.ports[port];
        output.columns |= 1 << index;
        let (switch, number) = (output.switch, output.number);
        let is_aside = channel == self.switches.geometry.store();
        self.make_due(switch, out, |due| {
            let blocks = match is_aside {
                true => &mut due.stashes,
                false => &mut due.multiplexers,
            };
            *blocks |= 1 << number;
        });
    }

    /// Handles a multiplexer that was busy, or whose output buffer has space again.
    pub(crate) fn multiplexer_wakes(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if output.multiplexer_wake <= now {
            output.multiplexer_wake = Tick::NEVER;
        }
        let (switch, number) = (output.switch, output.number);
        self.make_due(switch, out, |due| due.multiplexers |= 1 << number);
    }

    /// Grants the multiplexer to the next packet that fits into the output buffer, round robin over
    /// rows and channels.
    #[inline]
    pub(super) fn decide_multiplexer(&mut self, now: Tick, port: u32, out: &mut Outbox<Self>) {
        let first_queue = port * self.switches.geometry.column_queues;
        let output = &mut self.switches.ports[port];
        let mut asking = output.columns & !self.switches.store_columns;
        if asking == 0 {
            return;
        }
        if output.multiplexer_until > now {
            self.look_at_multiplexer(port, self.switches.ports[port].multiplexer_until, out);
            return;
        }
        let shares = &self.switches.output_shares[u32::from(output.wire)];
        output.settle(now, shares);
        while asking != 0 {
            let output = &self.switches.ports[port];
            let head = |index| self.switches.column_queues[first_queue + index].head;
            let index = self.switches.next_of(asking, output.next_column, head);
            asking &= !(1 << index);
            let queue = self.switches.column_queues[first_queue + index];
            if output.space.fits(queue.vc, queue.flits, shares) {
                self.merge(now, port, index, queue.vc, out);
                return;
            }
        }
        self.switches.ports[port].multiplexer_blocked = true;
        self.await_room(port, out);
    }

    /// Schedules the next check if no packet fits: when sent flits leave enough space for one. If
    /// they are not enough, packets that are still to be sent will trigger the check.
    pub(super) fn await_room(&mut self, port: u32, out: &mut Outbox<Self>) {
        let first_queue = port * self.switches.geometry.column_queues;
        let output = &self.switches.ports[port];
        let shares = &self.switches.output_shares[u32::from(output.wire)];
        let asking = output.columns & !self.switches.store_columns;
        let fits = |space: &Pool| {
            members(asking).any(|index| {
                let queue = self.switches.column_queues[first_queue + index];
                space.fits(queue.vc, queue.flits, shares)
            })
        };
        if let Some(when) = output.when_free(shares, fits) {
            let when = self.switches.clock.edge_at_or_after(when);
            self.look_at_multiplexer(port, when, out);
        }
    }

    #[inline]
    pub(super) fn look_at_multiplexer(&mut self, port: u32, when: Tick, out: &mut Outbox<Self>) {
        let output = &mut self.switches.ports[port];
        if when < output.multiplexer_wake {
            output.multiplexer_wake = when;
            out.at(when, Event::Multiplexer { port });
        }
    }

    /// Moves a packet to the output buffer, back on its own virtual channel if it came from a
    /// stash.
    #[inline]
    fn merge(&mut self, now: Tick, port: u32, index: u32, vc: u8, out: &mut Outbox<Self>) {
        let n_queues = self.switches.geometry.column_queues;
        let (packet, flits) = self.leave_column(port, index);
        let stage = self.switches.stages.multiplexer;
        let until = self.switches.pass(now, packet, flits, stage);
        let output = &mut self.switches.ports[port];
        output.multiplexer_blocked = false;
        output.next_column = after(index, n_queues);
        output.multiplexer_until = until;
        let shares = &self.switches.output_shares[u32::from(output.wire)];
        output.space.take(vc, flits, shares);
        output.output_peak = output.output_peak.max(output.space.total());
        let wire = output.wire;
        let when = now + self.switches.cycles(self.switches.stages.multiplexer);
        let tail = std::mem::replace(&mut self.switches.packets[packet].packet.arrival, when);
        let flit = self.switches.wires[u32::from(wire)].flit;
        let when = self.switches.fed(when, tail, flits, flit);
        out.at(when, Event::Output { port, packet });
        let output = &self.switches.ports[port];
        if output.columns & !self.switches.store_columns != 0 {
            self.look_at_multiplexer(port, output.multiplexer_until, out);
        }
    }

    /// Removes the first packet of a column buffer, whose tile may have waited for that.
    #[inline(always)]
    pub(super) fn leave_column(&mut self, port: u32, index: u32) -> (u32, u16) {
        let geometry = &self.switches.geometry;
        let at = port * geometry.column_queues + index;
        let queue = &mut self.switches.column_queues[at];
        let flits = queue.flits;
        let packet = queue.pop(&self.switches.packets);
        let is_empty = queue.is_empty();
        self.switches.column_used[at] -= flits;
        let output = &mut self.switches.ports[port];
        if is_empty {
            output.columns &= !(1 << index);
        }
        if output.rows_blocked != 0 {
            let row = geometry.row_of_column_queue(index);
            if output.rows_blocked >> row & 1 == 1 {
                output.rows_blocked &= !(1 << row);
                let tile = row * geometry.columns + geometry.column(u32::from(output.number));
                self.switches.states[output.switch].due.tiles |= 1 << tile;
            }
        }
        (packet, flits)
    }
}
