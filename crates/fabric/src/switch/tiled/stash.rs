//! Stashes: spare buffers of a port as storage for any port of the switch.
//!
//! Packets arrive by the channel S, through a separate multiplexer, and continue by the channel R,
//! which shares the row bus with the input of the port.

use crate::StashUse;
use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::{after, first_from};

/// Returns the number of pages of a packet: a stash is divided into pages of two flits (two
/// interleaved banks).
#[inline]
pub(super) fn pages(flits: u16) -> u32 {
    u32::from(flits).next_multiple_of(2)
}

impl Fabric<Tiles> {
    /// Handles a multiplexer into a stash that was busy.
    pub(crate) fn stash_multiplexer_wakes(&mut self, port: u32, out: &mut Outbox<Self>) {
        let state = &mut self.switches.ports[port];
        state.stash_watched = false;
        let (switch, number) = (state.switch, state.number);
        self.make_due(switch, out, |due| due.stashes |= 1 << number);
    }

    /// Grants the multiplexer into a stash to the next row, round robin, if the stash has space.
    #[inline(never)]
    pub(super) fn decide_stash_multiplexer(
        &mut self,
        now: Tick,
        port: u32,
        out: &mut Outbox<Self>,
    ) {
        let (channels, rows) = (self.switches.geometry.channels, self.switches.geometry.rows);
        let state = &mut self.switches.ports[port];
        if state.columns & self.switches.store_columns == 0 {
            return;
        }
        if state.stash_until > now {
            if !state.stash_watched {
                state.stash_watched = true;
                out.at(state.stash_until, Event::StashMultiplexer { port });
            }
            return;
        }
        let store = self.switches.geometry.store();
        let room = state.stash_capacity - state.stash_used;
        let fits = |row: &u32| {
            let index = row * channels + store;
            let queue = &self.switches.column_queues[port * rows * channels + index];
            state.columns >> index & 1 == 1 && pages(queue.flits) <= room
        };
        let eligible = (0..rows).filter(fits);
        let eligible = eligible.fold(0, |set, row| set | 1u64 << row);
        if eligible == 0 {
            state.stash_blocked = true;
            return;
        }
        let row = first_from(eligible, state.next_row);
        let (packet, flits) = self.leave_column(port, row * channels + store);
        let stash_use = self.switches.stash_use;
        let stage = self.switches.stages.multiplexer;
        let until = self.switches.pass(now, packet, flits, stage);
        let header = now + self.switches.cycles(stage);
        let tail = header + ((until - now) - self.switches.clock.period);
        let side_band = self.switches.cycles(self.switches.stages.side_band);
        let state = &mut self.switches.ports[port];
        state.stash_blocked = false;
        state.next_row = after(row, rows);
        state.stash_until = until;
        state.stash_used += pages(flits);
        let (switch, column) = (
            state.switch,
            self.switches.geometry.column(u32::from(state.number)),
        );
        self.switches.states[switch].promised[column as usize] -= pages(flits);
        let state = &mut self.switches.ports[port];
        assert!(
            state.stash_used <= state.stash_capacity,
            "a stash never exceeds its partition"
        );
        let number = state.number;
        if state.columns & self.switches.store_columns != 0 && !state.stash_watched {
            state.stash_watched = true;
            out.at(state.stash_until, Event::StashMultiplexer { port });
        }
        match stash_use {
            Some(StashUse::Reliability { .. }) => {
                let base = port - u32::from(number);
                let copy = &mut self.switches.packets[packet];
                copy.output = number;
                let origin = base + u32::from(copy.vc);
                let event = Event::Located {
                    port: origin,
                    packet,
                };
                out.at(tail + side_band, event);
            }
            _ => out.at(header, Event::Stashed { port, packet }),
        }
    }

    /// Handles a stashed packet that has arrived, which continues as soon as it can.
    pub(crate) fn stash_reached(&mut self, port: u32, id: u32, out: &mut Outbox<Self>) {
        if self.switches.retrievals[port].push(id, &mut self.switches.packets) {
            let state = &mut self.switches.ports[port];
            state.ready |= 1 << self.switches.geometry.lanes;
            let (switch, number) = (state.switch, state.number);
            self.make_due(switch, out, |due| due.buses |= 1 << number);
        }
    }

    /// Frees the space of a packet that leaves a stash.
    pub(super) fn free_stash(&mut self, port: u32, flits: u16) {
        let state = &mut self.switches.ports[port];
        state.stash_used -= pages(flits);
        let switch = &mut self.switches.states[state.switch];
        if state.stash_blocked {
            state.stash_blocked = false;
            switch.due.stashes |= 1 << state.number;
        }
        // Inputs may have waited for it.
        switch.due.buses |= std::mem::take(&mut switch.blocked);
    }
}

impl Fabric<Tiles> {
    /// Returns the number of records that are packets in transit, not copies.
    pub(super) fn packets_without_copies(&self) -> u64 {
        let copies = match self.switches.stash_use {
            Some(StashUse::Reliability { .. }) => {
                self.shared.protocol.stashed - self.shared.protocol.deleted
            }
            _ => 0,
        };
        self.switches.packets.len() as u64 - copies
    }

    /// Checks that stashes hold what was put there and has not left.
    pub(crate) fn check_stashes(&self) {
        if let Some(StashUse::Congestion) = self.switches.stash_use {
            let left = self.shared.protocol.stashed - self.shared.protocol.retrieved;
            let holds_nothing = self.switches.ports.iter().all(|port| port.stash_used == 0);
            assert!(left > 0 || holds_nothing, "an empty stash holds nothing");
        } else if self.shared.protocol.stashed == self.shared.protocol.deleted {
            let holds_nothing = self.switches.ports.iter().all(|port| port.stash_used == 0);
            assert!(holds_nothing, "a copy leaves its stash exactly once");
        }
    }
}

impl Tiles {
    /// Whether all buffers are empty again.
    pub(super) fn has_drained(&mut self) -> bool {
        let shares = &self.output_shares;
        for port in self.ports.iter_mut() {
            port.settle(Tick::NEVER, &shares[u32::from(port.wire)]);
        }
        self.ports.iter().all(|port| {
            port.credit.total() == 0
                && port.space.total() == 0
                && port.stash_used == 0
                && port.occupancy == 0
                && port.committed == 0
        }) && self.row_used.iter().all(|used| *used == 0)
            && self.column_used.iter().all(|used| *used == 0)
            && self.tracked.is_empty()
    }
}
