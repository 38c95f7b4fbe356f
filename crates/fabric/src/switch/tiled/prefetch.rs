//! Prefetching for events and decisions: a large fabric waits for memory, so the accesses of
//! many events are overlapped.
//!
//! The lines of a port are those of [`TiledPort`](super::TiledPort): 0 is its input side, 1 its
//! output side, 2 the space in its buffer, 3 the space at the other end, 4 sent packets.

use crate::fabric::Fabric;
use crate::rows::{Rows, prefetch_line};
use crate::switch::tiled::event::Event;
use crate::switch::tiled::record::Fifo;
use crate::switch::tiled::{Tiles, members};

/// Number of ports, with their tiles at some 4 KB each, that fit into the nearest caches together
/// with everything else. Tests always prefetch, so that every access of it is checked.
pub(super) const MOST_IN_CACHE: usize = if cfg!(debug_assertions) { 0 } else { 500 };

impl Tiles {
    /// Prefetches lines of a port.
    #[inline(always)]
    fn port_lines(&self, port: u32, lines: &[usize]) {
        for &line in lines {
            self.ports.prefetch(port, line);
        }
    }

    /// Returns the inputs of a tile with packets.
    #[inline(always)]
    fn waiting_at(&self, switch: u32, tile: u32) -> impl Iterator<Item = u32> {
        let geometry = &self.geometry;
        let (row, column) = geometry.tile_at(tile);
        let first = switch * geometry.ports + row * geometry.inputs;
        let waiting = self.tiles[switch * geometry.tiles + tile].waiting;
        members(u64::from(waiting)).map(move |input| geometry.tile_input(first + input, column))
    }

    /// Prefetches the queues of a port's virtual channels.
    #[inline(always)]
    fn lanes_of(&self, queues: &Rows<Fifo>, port: u32) {
        for line in 0..2 {
            queues.prefetch(port * self.geometry.lanes, line);
        }
    }
}

impl Fabric<Tiles> {
    /// Prefetches the state that an event touches first.
    // Not inlined: it would crowd the registers of the loop over events, even if nothing is
    // prefetched.
    #[inline(never)]
    pub(super) fn ask_for(&self, event: Event) {
        let (tiles, endpoints) = (&self.switches, &self.endpoints);
        let geometry = &tiles.geometry;
        let nic_lines = |nic: u32| {
            for line in 0..3 {
                endpoints.nics.prefetch(nic, line);
            }
        };
        match event {
            Event::Head { port, packet } => {
                tiles.port_lines(port, &[0]);
                tiles.packets.prefetch(packet);
                tiles.lanes_of(&tiles.input_queues, port);
            }
            Event::Row {
                channel,
                output,
                port,
                packet,
            } => {
                tiles.port_lines(port, &[0]);
                tiles.packets.prefetch(packet);
                let (column, at) = geometry.tile_place(u32::from(output));
                let tile_input = geometry.tile_input(port, column);
                let queue = geometry.row_queue(tile_input, at, u32::from(channel));
                tiles.tile_inputs.prefetch(tile_input, 0);
                tiles.row_queues.prefetch(queue, 0);
            }
            Event::Column {
                channel,
                row,
                port,
                packet,
            } => {
                tiles.port_lines(port, &[0, 1, 2, 4]);
                tiles.packets.prefetch(packet);
                let tile_output = geometry.tile_output(port, u32::from(row));
                let queue = tile_output * geometry.channels + u32::from(channel);
                tiles.column_queues.prefetch(queue, 0);
            }
            Event::Output { port, packet } => {
                tiles.port_lines(port, &[0, 1, 3, 4]);
                tiles.packets.prefetch(packet);
                tiles.lanes_of(&tiles.output_queues, port);
            }
            Event::Credit { port, .. } | Event::Link { port } => {
                tiles.port_lines(port, &[0, 1, 3, 4]);
                tiles.lanes_of(&tiles.output_queues, port);
            }
            Event::Bus { port } => {
                tiles.port_lines(port, &[0]);
                tiles.lanes_of(&tiles.input_queues, port);
            }
            Event::Multiplexer { port } | Event::StashMultiplexer { port } => {
                tiles.port_lines(port, &[0, 1, 2, 4]);
            }
            Event::Tile { tile, switch } => {
                let at_tile = switch * geometry.tiles + u32::from(tile);
                tiles.tiles.prefetch(at_tile, 0);
            }
            Event::Stashed { port, packet }
            | Event::Located { port, packet }
            | Event::Delete { port, packet } => {
                tiles.port_lines(port, &[0]);
                tiles.packets.prefetch(packet);
            }
            Event::Deliver { nic, packet } => {
                tiles.packets.prefetch(packet);
                endpoints.nics.prefetch(nic, 0);
            }
            Event::Arrival { nic, .. } | Event::NicCredit { nic, .. } | Event::NicLink { nic } => {
                nic_lines(nic);
            }
            _ => {}
        }
    }

    /// Prefetches the state that the due blocks of a switch will read.
    #[inline(always)]
    pub(super) fn ask_for_decision(&self, switch: u32) {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let due = &tiles.states[switch].due;
        let base = switch * geometry.ports;
        for port in members(due.buses).map(|port| base + port) {
            tiles.port_lines(port, &[0]);
            tiles.lanes_of(&tiles.input_queues, port);
        }
        for tile in members(due.tiles) {
            for tile_input in tiles.waiting_at(switch, tile) {
                tiles.tile_inputs.prefetch(tile_input, 0);
            }
            let (row, column) = geometry.tile_at(tile);
            let first_output = base + column * geometry.outputs;
            for output in 0..geometry.outputs {
                let tile_output = geometry.tile_output(first_output + output, row);
                tiles.tile_outputs.prefetch(tile_output, 0);
                tiles
                    .column_used
                    .prefetch(tile_output * geometry.channels, 0);
            }
        }
        for port in members(due.multiplexers).map(|port| base + port) {
            tiles.port_lines(port, &[1, 2, 4]);
        }
        for port in members(due.links).map(|port| base + port) {
            tiles.port_lines(port, &[1, 3, 4]);
            tiles.lanes_of(&tiles.output_queues, port);
        }
    }

    /// Prefetches what is found through that state: queues, first packets of queues, and the oldest
    /// packet that an output has sent.
    #[inline(always)]
    pub(super) fn ask_indirect(&self, switch: u32) {
        let tiles = &self.switches;
        let geometry = &tiles.geometry;
        let due = &tiles.states[switch].due;
        let base = switch * geometry.ports;
        for port in members(due.buses).map(|port| base + port) {
            let ready = u64::from(tiles.ports[port].ready) & ((1 << geometry.lanes) - 1);
            for vc in members(ready) {
                let head = tiles.input_queues[port * geometry.lanes + vc].head;
                tiles.packets.prefetch(head);
            }
        }
        for tile in members(due.tiles) {
            for tile_input in tiles.waiting_at(switch, tile) {
                for bit in members(tiles.tile_inputs[tile_input].requests) {
                    let (channel, output) = geometry.request[bit as usize % 64];
                    let (channel, output) = (u32::from(channel), u32::from(output));
                    let queue = geometry.row_queue(tile_input, output, channel);
                    tiles.row_queues.prefetch(queue, 0);
                }
            }
        }
        for port in members(due.multiplexers).map(|port| base + port) {
            let output = &tiles.ports[port];
            if let Some(held) = output.held.front() {
                prefetch_line(held);
            }
            let first = port * geometry.column_queues;
            for index in members(output.columns & !tiles.store_columns) {
                tiles.column_queues.prefetch(first + index, 0);
            }
        }
        for port in members(due.links).map(|port| base + port) {
            for vc in members(u64::from(tiles.ports[port].present)) {
                let head = tiles.output_queues[port * geometry.lanes + vc].head;
                tiles.packets.prefetch(head);
            }
        }
    }
}
