//! A tile: a small crossbar with queues per output in front of it, allocated output first.

use netloom_engine::Outbox;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::parcel::Flags;
use crate::switch::tiled::Tiles;
use crate::switch::tiled::event::Event;
use crate::switch::tiled::geometry::{Geometry, MOST_AT_TILE};
use crate::switch::tiled::{after, first_from, members};

impl Fabric<Tiles> {
    /// Handles a header in a row buffer.
    #[inline]
    pub(crate) fn row_reached(
        &mut self,
        port: u32,
        id: u32,
        channel: u32,
        output: u32,
        out: &mut Outbox<Self>,
    ) {
        let geometry = &self.switches.geometry;
        let (column, at) = geometry.tile_place(output);
        let tile_input = geometry.tile_input(port, column);
        let queue = geometry.queue_towards(port, output, channel);
        let queue = &mut self.switches.row_queues[queue];
        if !queue.push(id, &mut self.switches.packets) {
            return;
        }
        self.switches.tile_inputs[tile_input].requests |= 1 << (channel * geometry.outputs + at);
        let input = &self.switches.ports[port];
        let (switch, number) = (input.switch, u32::from(input.number));
        let (first_tile, at_tile) = geometry.input_place(number);
        let tile = first_tile + column;
        self.switches.tiles[switch * geometry.tiles + tile].waiting |= 1 << at_tile;
        self.make_due(switch, out, |due| due.tiles |= 1 << tile);
    }

    /// Handles the scheduled check of a tile.
    pub(crate) fn tile_wakes(&mut self, now: Tick, switch: u32, tile: u8, out: &mut Outbox<Self>) {
        let at_tile = switch * self.switches.geometry.tiles + u32::from(tile);
        let state = &mut self.switches.tiles[at_tile];
        if state.wake <= now {
            state.wake = Tick::NEVER;
        }
        if state.waiting != 0 {
            self.make_due(switch, out, |due| due.tiles |= 1 << tile);
        }
    }

    /// Decides a tile: directly if there is no choice, otherwise by a round of allocation.
    #[inline]
    pub(super) fn decide_tile(
        &mut self,
        now: Tick,
        switch: u32,
        tile: u32,
        out: &mut Outbox<Self>,
    ) {
        let place = Place::new(&self.switches.geometry, switch, tile);
        let waiting = self.switches.tiles[place.at_tile].waiting;
        if !waiting.is_power_of_two() || !self.decide_tile_alone(now, place, out) {
            self.allocate(now, place, out);
        }
    }

    /// Runs one round of separable allocation, output first. Each output picks an input, and each
    /// input accepts one of the outputs that picked it. It then sends round robin over channels.
    /// Pointers move only past accepted grants.
    // Not inlined, since most tiles have no choice.
    #[inline(never)]
    fn allocate(&mut self, now: Tick, place: Place, out: &mut Outbox<Self>) {
        let Place {
            switch,
            tile,
            at_tile,
            row,
            column,
            first_input,
            first_output,
        } = place;
        let waiting = self.switches.tiles[at_tile].waiting;
        let mut round = Round::new();
        for input in members(u64::from(waiting)) {
            let tile_input = self
                .switches
                .geometry
                .tile_input(first_input + input, column);
            let state = &self.switches.tile_inputs[tile_input];
            if state.until > now {
                round.later = round.later.min(state.until);
                continue;
            }
            self.ask(now, input, tile_input, first_output, row, &mut round);
        }
        let mut is_granted = 0u64;
        for output in members(round.asked) {
            let tile_output = self
                .switches
                .geometry
                .tile_output(first_output + output, row);
            let pointer = self.switches.tile_outputs[tile_output].next_input;
            let asking = round.first_for(output as usize);
            let input = first_from(u64::from(asking), pointer);
            round.picks[input as usize % MOST_AT_TILE] |= 1 << output;
            is_granted |= 1 << input;
        }
        let (mut inputs_left, mut outputs_left) = (!is_granted as u16, round.asked);
        for input in members(is_granted) {
            let tile_input = self
                .switches
                .geometry
                .tile_input(first_input + input, column);
            let picks = u64::from(round.picks[input as usize % MOST_AT_TILE]);
            let output = first_from(picks, self.switches.tile_inputs[tile_input].next_output);
            let aside = round.aside[input as usize % MOST_AT_TILE];
            let port = first_output + output;
            let until = self.cross(now, tile_input, port, row, output, aside, out);
            round.later = round.later.min(until);
            self.switches.tile_outputs[self
                .switches
                .geometry
                .tile_output(first_output + output, row)]
            .next_input = after(input, self.switches.geometry.inputs);
            if self.switches.tile_inputs[tile_input].requests == 0 {
                self.switches.tiles[at_tile].waiting &= !(1 << input);
            }
            outputs_left &= !(1 << output);
            // Space in the row buffer is free again.
            self.wake_bus(first_input + input);
        }
        // Losers try again on the next edge, if their output is still free or they may choose
        // another one.
        inputs_left &= waiting;
        let loses = |output: u32| round.by_output[output as usize] & inputs_left != 0;
        let may_turn = |input: u32| round.aside[input as usize % MOST_AT_TILE] != u8::MAX;
        if members(outputs_left).any(loses) || members(u64::from(inputs_left)).any(may_turn) {
            self.switches.states[switch].due.tiles |= 1 << tile;
        } else {
            self.look_at_tile(place, round.later, out);
        }
    }

    /// Does the same where one input waits with one request that is not for a stash, so that there
    /// is no choice. Returns `false`, and does nothing, if that input has more requests.
    #[inline(always)]
    fn decide_tile_alone(&mut self, now: Tick, place: Place, out: &mut Outbox<Self>) -> bool {
        let geometry = &self.switches.geometry;
        let input = self.switches.tiles[place.at_tile].waiting.trailing_zeros();
        let port_in = place.first_input + input;
        let tile_input = geometry.tile_input(port_in, place.column);
        let state = &self.switches.tile_inputs[tile_input];
        if !state.requests.is_power_of_two() {
            return false;
        }
        let bit = state.requests.trailing_zeros();
        let (channel, output) = geometry.request[bit as usize % 64];
        let (channel, output) = (u32::from(channel), u32::from(output));
        if channel == geometry.store() {
            return false;
        }
        let port = place.first_output + output;
        let tile_output = geometry.tile_output(port, place.row);
        let mut later = state.until;
        if later <= now {
            let until = self.switches.tile_outputs[tile_output].until;
            if until > now {
                later = until;
            } else if self.column_has_room(tile_input, tile_output, output, channel) {
                later = self.cross_on(now, tile_input, port, place.row, output, channel, out);
                self.switches.tile_outputs[tile_output].next_input =
                    after(input, self.switches.geometry.inputs);
                self.wake_bus(port_in);
                if self.switches.tile_inputs[tile_input].requests == 0 {
                    self.switches.tiles[place.at_tile].waiting = 0;
                    return true;
                }
            } else {
                later = Tick::NEVER;
                self.switches.ports[port].rows_blocked |= 1 << place.row;
            }
        }
        self.look_at_tile(place, later, out);
        true
    }

    /// Schedules the next check of a tile at which packets wait.
    #[inline(always)]
    fn look_at_tile(&mut self, place: Place, when: Tick, out: &mut Outbox<Self>) {
        let state = &mut self.switches.tiles[place.at_tile];
        if state.waiting != 0 && when < state.wake {
            state.wake = when;
            let (tile, switch) = (place.tile as u8, place.switch);
            out.at(when, Event::Tile { tile, switch });
        }
    }

    /// Requests the outputs to which a tile input could send now. Everything that it waits for
    /// wakes the tile: outputs without space record that this row waits.
    #[inline]
    fn ask(
        &mut self,
        now: Tick,
        input: u32,
        tile_input: u32,
        first_output: u32,
        row: u32,
        round: &mut Round,
    ) {
        let mut requests = self.switches.tile_inputs[tile_input].requests;
        while requests != 0 {
            let bit = requests.trailing_zeros();
            requests &= requests - 1;
            let (channel, output) = self.switches.geometry.request[bit as usize % 64];
            let (channel, output) = (u32::from(channel), u32::from(output));
            if channel == self.switches.geometry.store() {
                let later = &mut round.later;
                let chosen = self.stash_output(now, tile_input, first_output, row, later);
                if let Some(output) = chosen {
                    round.aside[input as usize % MOST_AT_TILE] = output as u8;
                    let is_first = self.goes_first(tile_input, 0, channel);
                    round.asks(input, output, is_first);
                }
                continue;
            }
            let port = first_output + output;
            let tile_output = self.switches.geometry.tile_output(port, row);
            let until = self.switches.tile_outputs[tile_output].until;
            if until > now {
                round.later = round.later.min(until);
            } else if self.column_has_room(tile_input, tile_output, output, channel) {
                let is_first = self.goes_first(tile_input, output, channel);
                round.asks(input, output, is_first);
            } else {
                self.switches.ports[port].rows_blocked |= 1 << row;
            }
        }
    }

    /// Whether the first packet of a row queue has priority.
    #[inline]
    fn goes_first(&self, tile_input: u32, output: u32, channel: u32) -> bool {
        self.switches.puts_transit_first && {
            let queue = self
                .switches
                .geometry
                .row_queue(tile_input, output, channel);
            let head = self.switches.row_queues[queue].head;
            !self.switches.packets[head].flags.has(Flags::INJECTED)
        }
    }

    /// Whether the first packet of a row queue fits into its column buffer.
    #[inline]
    fn column_has_room(
        &self,
        tile_input: u32,
        tile_output: u32,
        output: u32,
        channel: u32,
    ) -> bool {
        let queue = self
            .switches
            .geometry
            .row_queue(tile_input, output, channel);
        let used =
            self.switches.column_used[tile_output * self.switches.geometry.channels + channel];
        used + self.switches.row_queues[queue].flits <= self.switches.column_buffer
    }

    /// Returns the output by which the first packet for a stash would leave. Of the free outputs
    /// with space in front of them, it is the one with the most space there, or there and in the
    /// stash (join the shortest queue).
    fn stash_output(
        &mut self,
        now: Tick,
        tile_input: u32,
        first_output: u32,
        row: u32,
        later: &mut Tick,
    ) -> Option<u32> {
        let geometry = &self.switches.geometry;
        let channel = geometry.store();
        let flits = self.switches.row_queues[geometry.row_queue(tile_input, 0, channel)].flits;
        let (mut most, mut equal) = (None, 0u64);
        for output in 0..self.switches.geometry.outputs {
            let port = first_output + output;
            if self.switches.ports[port].stash_capacity == 0 {
                continue;
            }
            let tile_output = self.switches.geometry.tile_output(port, row);
            let until = self.switches.tile_outputs[tile_output].until;
            if until > now {
                *later = (*later).min(until);
                continue;
            }
            let used =
                self.switches.column_used[tile_output * self.switches.geometry.channels + channel];
            if used + flits > self.switches.column_buffer {
                self.switches.ports[port].rows_blocked |= 1 << row;
                continue;
            }
            let state = &self.switches.ports[port];
            let room_in_stash = state.stash_capacity - state.stash_used;
            let room = u32::from(self.switches.column_buffer - used) + room_in_stash;
            if most < Some(room) {
                (most, equal) = (Some(room), 0);
            }
            if most == Some(room) {
                equal |= 1 << output;
            }
        }
        most.map(|_| first_from(equal, self.switches.tile_inputs[tile_input].next_stash))
    }

    /// Sends a packet across the tile; returns until when. `aside` is the output requested by the
    /// channel to stashes.
    #[allow(clippy::too_many_arguments)]
    fn cross(
        &mut self,
        now: Tick,
        tile_input: u32,
        port: u32,
        row: u32,
        output: u32,
        aside: u8,
        out: &mut Outbox<Self>,
    ) -> Tick {
        let geometry = &self.switches.geometry;
        let outputs = geometry.outputs;
        let tile_output = geometry.tile_output(port, row);
        let store = geometry.store();
        let requests = self.switches.tile_inputs[tile_input].requests;
        let mut asking = 0u64;
        for bit in members(requests & geometry.requests_for[output as usize % MOST_AT_TILE]) {
            let channel = u32::from(geometry.request[bit as usize % 64].0);
            let has_room = self.column_has_room(tile_input, tile_output, output, channel);
            asking |= u64::from(has_room) << channel;
        }
        if u32::from(aside) == output {
            asking |= (requests >> (store * outputs) & 1) << store;
        }
        let channel = first_from(asking, self.switches.tile_inputs[tile_input].next_channel);
        self.cross_on(now, tile_input, port, row, output, channel, out)
    }

    /// Does the same on a channel that has been chosen.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn cross_on(
        &mut self,
        now: Tick,
        tile_input: u32,
        port: u32,
        row: u32,
        output: u32,
        channel: u32,
        out: &mut Outbox<Self>,
    ) -> Tick {
        let geometry = &self.switches.geometry;
        let (outputs, channels, store) = (geometry.outputs, geometry.channels, geometry.store());
        let tile_output = geometry.tile_output(port, row);
        let at = if channel == store { 0 } else { output };
        let queue = &mut self.switches.row_queues
            [self.switches.geometry.row_queue(tile_input, at, channel)];
        let flits = queue.flits;
        let packet = queue.pop(&self.switches.packets);
        let is_empty = queue.is_empty();
        let stage = self.switches.stages.tile;
        let until = self.switches.pass(now, packet, flits, stage);
        let state = &mut self.switches.tile_inputs[tile_input];
        if is_empty {
            state.requests &= !(1 << (channel * outputs + at));
        }
        state.until = until;
        state.next_output = after(output, outputs);
        state.next_channel = after(channel, channels);
        if channel == store {
            state.next_stash = after(output, outputs);
        }
        self.switches.tile_outputs[tile_output].until = until;
        self.switches.row_used[self.switches.geometry.row_space(tile_input, at, channel)] -= flits;
        self.switches.column_used[tile_output * channels + channel] += flits;
        let when = now + self.switches.cycles(self.switches.stages.tile);
        out.at(
            when,
            Event::Column {
                channel: channel as u8,
                row: row as u8,
                port,
                packet,
            },
        );
        until
    }

    /// Schedules a check of a row bus that waits for space on the next edge.
    #[inline]
    fn wake_bus(&mut self, port: u32) {
        let input = &self.switches.ports[port];
        let switch = &mut self.switches.states[input.switch];
        let own = 1 << input.number;
        if switch.blocked & own != 0 {
            switch.blocked &= !own;
            switch.due.buses |= own;
        }
    }
}

/// A tile and its position.
#[derive(Clone, Copy)]
struct Place {
    switch: u32,
    /// Number of the tile in its switch, and over all switches of the partition.
    tile: u32,
    at_tile: u32,
    row: u32,
    column: u32,
    /// Ports (numbered over the partition) of its first input and of its first output.
    first_input: u32,
    first_output: u32,
}

impl Place {
    #[inline(always)]
    fn new(geometry: &Geometry, switch: u32, tile: u32) -> Self {
        let (row, column) = geometry.tile_at(tile);
        let base = switch * geometry.ports;
        Place {
            switch,
            tile,
            at_tile: switch * geometry.tiles + tile,
            row,
            column,
            first_input: base + row * geometry.inputs,
            first_output: base + column * geometry.outputs,
        }
    }
}

/// Requests and choices of one round.
struct Round {
    /// Inputs that request each output.
    by_output: [u16; MOST_AT_TILE],
    /// Those of them with priority.
    first: [u16; MOST_AT_TILE],
    /// Outputs that picked each input.
    picks: [u16; MOST_AT_TILE],
    /// The output that each input requests on the channel to stashes.
    aside: [u8; MOST_AT_TILE],
    /// Outputs that are requested.
    asked: u64,
    /// The earliest time at which a resource with waiting packets becomes free.
    later: Tick,
}

impl Round {
    fn new() -> Self {
        Round {
            by_output: [0; MOST_AT_TILE],
            first: [0; MOST_AT_TILE],
            picks: [0; MOST_AT_TILE],
            aside: [u8::MAX; MOST_AT_TILE],
            asked: 0,
            later: Tick::NEVER,
        }
    }

    #[inline]
    fn asks(&mut self, input: u32, output: u32, is_first: bool) {
        self.asked |= 1 << output;
        let output = output as usize % MOST_AT_TILE;
        self.by_output[output] |= 1 << input;
        self.first[output] |= u16::from(is_first) << input;
    }

    /// Returns the inputs from which an output picks one.
    #[inline]
    fn first_for(&self, output: usize) -> u16 {
        match self.first[output % MOST_AT_TILE] {
            0 => self.by_output[output % MOST_AT_TILE],
            first => first,
        }
    }
}
