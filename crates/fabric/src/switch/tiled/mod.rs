//! The blocks of a tiled switch, in the order in which a packet passes them.
//!
//! ```text
//!  link ─► input queue ─► row bus ─► row buffer ─► tile ─► column buffer ─► multiplexer ─► output queue ─► link
//!            header.rs     bus.rs                  tile.rs                 multiplexer.rs                link.rs
//!                             │  S ────────────────────────────────────────► stash  (stash.rs, tracking.rs)
//!                             └◄─────────────────────────────────────── R ────┘
//! ```
//!
//! All blocks of a switch decide on the edges of its core clock, from the state at the start of the
//! edge. They are processed upstream first, so a block sees what a later one frees one cycle later,
//! like a credit inside the switch. Data take at least one cycle too. A block sleeps while nothing
//! can be granted; everything that it waits for makes it due again.
//!
//! Buffer space is counted in whole packets. It is taken when the packet is granted the path into
//! the buffer, and freed when its header leaves. The rest follows at the pace of the core, at least
//! as fast as flits can arrive, so every flit finds its space free. Only an output buffer keeps
//! what it has sent until the other end of the link has acknowledged it, packet by packet or flit
//! by flit (`held.rs`).

mod build;
mod bus;
mod edges;
mod event;
mod faults;
mod geometry;
mod header;
mod held;
mod link;
mod multiplexer;
mod prefetch;
mod record;
mod stall;
mod stash;
mod switches;
mod tails;
mod tile;
mod tracking;
mod validate;
mod wire;

use std::collections::VecDeque;

use netloom_encoding::{Encoded, State};
use netloom_engine::Outbox;
use netloom_random::Stream;
use netloom_units::{SwitchId, Tick};
use rustc_hash::FxHashMap;

use crate::fabric::Fabric;
use crate::link::pool::{Pool, Shares};
use crate::parcel::Flags;
use crate::plan::tiles::{Retransmission, StashUse, TileStages};
use crate::rows::Rows;
use crate::slab::Slab;
use crate::switch::PeerRecord;
use crate::switch::announcing::Announcing;

use edges::Edges;
use event::Event;
use faults::Chances;
use geometry::Geometry;
use held::Held;
use record::{Fifo, Record};
use tracking::Entry;
use wire::Wire;

pub(crate) use build::{n_ports, partition};

/// The tiled switches of a partition.
#[derive(State)]
pub(crate) struct Tiles {
    // Constants.
    #[state(constant)]
    geometry: Geometry,
    /// Column queues of the channel to stashes, as bits of [`TiledPort::columns`].
    #[state(constant)]
    store_columns: u64,
    #[state(constant)]
    clock: Edges,
    #[state(constant)]
    stages: TileStages,
    #[state(constant)]
    retransmission: Retransmission,
    /// Whether packets from other switches precede those of endpoints.
    #[state(constant)]
    puts_transit_first: bool,
    /// Whether the switches exceed the caches.
    #[state(constant)]
    is_large: bool,
    #[state(constant)]
    wires: Rows<Wire>,
    /// The input and output pools of a port, by link class.
    #[state(constant)]
    input_shares: Rows<Shares>,
    #[state(constant)]
    output_shares: Rows<Shares>,
    #[state(constant)]
    row_buffer: u16,
    #[state(constant)]
    column_buffer: u16,
    #[state(constant)]
    stash_use: Option<StashUse>,
    #[state(constant)]
    chances: Option<Chances>,
    #[state(constant)]
    draws: Stream,

    #[state(part)]
    states: Rows<Switch>,
    #[state(part)]
    ports: Rows<TiledPort>,
    /// By input port and virtual channel.
    #[state(records)]
    input_queues: Rows<Fifo>,
    /// By port: packets that continue from its stash.
    #[state(records)]
    retrievals: Rows<Fifo>,
    /// By switch and tile.
    #[state(records)]
    tiles: Rows<Tile>,
    #[state(records)]
    tile_inputs: Rows<TileInput>,
    #[state(records)]
    tile_outputs: Rows<TileOutput>,
    /// By tile input, output of the tile and channel.
    #[state(records)]
    row_queues: Rows<Fifo>,
    /// Flits in use by tile input and channel.
    #[state(records)]
    row_used: Rows<u16>,
    /// By tile output and channel.
    #[state(records)]
    column_queues: Rows<Fifo>,
    /// Flits in use by tile output and channel.
    #[state(records)]
    column_used: Rows<u16>,
    /// By output port and virtual channel.
    #[state(records)]
    output_queues: Rows<Fifo>,
    /// Packets whose copy waits for its acknowledgement, by end port and sequence number at the
    /// source.
    tracked: FxHashMap<(u32, u32), Entry>,
    /// Announcements between switches.
    #[state(part)]
    announcing: Option<Announcing>,
    packets: Slab<Record>,
}

impl Tiles {
    /// Converts core cycles to ticks.
    #[inline]
    fn cycles(&self, n: u64) -> u64 {
        n * self.clock.period
    }

    /// Returns the members of a set with priority: those whose packets are in transit, if that is
    /// the rule and there are any.
    #[inline]
    fn first_of(&self, set: u64, packet: impl Fn(u32) -> u32) -> u64 {
        if !self.puts_transit_first {
            return set;
        }
        let is_transit = |&at: &u32| !self.packets[packet(at)].flags.has(Flags::INJECTED);
        let transit = members(set)
            .filter(is_transit)
            .fold(0, |set, at| set | 1 << at);
        if transit == 0 { set } else { transit }
    }

    /// Returns the next member of a set that is not empty: by priority, then round robin from a
    /// pointer on.
    #[inline]
    fn next_of(&self, set: u64, pointer: u8, packet: impl Fn(u32) -> u32) -> u32 {
        // A single member has nothing to be compared with.
        if set & (set - 1) == 0 {
            return set.trailing_zeros();
        }
        first_from(self.first_of(set, packet), pointer)
    }
}

/// Blocks that are checked on the next edge, one bit each.
#[derive(Clone, Copy, Default, Debug, Encoded)]
pub(crate) struct Due {
    /// Inputs with a header to be routed.
    pub(crate) headers: u64,
    /// Row buses, by input.
    pub(crate) buses: u64,
    pub(crate) tiles: u64,
    /// Multiplexers, by output.
    pub(crate) multiplexers: u64,
    /// Multiplexers into stashes, by port.
    pub(crate) stashes: u64,
    /// Links, by output.
    pub(crate) links: u64,
}

/// State of a switch in addition to its ports and tiles.
#[derive(Clone, Debug, State)]
pub(crate) struct Switch {
    #[state(constant)]
    pub(crate) id: SwitchId,
    /// Ports in the topology.
    #[state(constant)]
    pub(crate) n_ports: u16,
    /// Whether it decides in this tick.
    pub(crate) is_marked: bool,
    /// Whether an edge event is scheduled.
    pub(crate) is_awaited: bool,
    pub(crate) due: Due,
    /// Columns with a stash.
    #[state(constant)]
    pub(crate) stash_columns: u64,
    /// By column: space in its stashes that is reserved for packets on their way there.
    #[state(records)]
    pub(crate) promised: Box<[u32]>,
    /// Inputs with a packet that could not advance when their bus was last checked, for lack of
    /// space in a row buffer or in a stash.
    pub(crate) blocked: u64,
    /// Whether there is work before packets move: one of the lists below is not empty, or an
    /// announcement is due.
    pub(crate) has_messages: bool,
    /// Copies to be sent again in this tick: (port, copy, attempt).
    pub(crate) returning: Vec<(u32, u32, u8)>,
    /// Copies that are no longer needed, in this tick: (port, copy).
    pub(crate) leaving: Vec<(u32, u32)>,
    /// Packets that timed out in this tick: (end port, sequence number at the source, attempt).
    pub(crate) expired: Vec<(u32, u32, u8)>,
    /// Packets that leave stashes on this edge, by port and length: their space is visible on the
    /// next.
    pub(crate) retrieved: Vec<(u32, u16)>,
}

/// State of a port, with fields grouped by the cache line that they share.
#[derive(Clone, Debug, State)]
#[repr(C, align(64))]
pub(crate) struct TiledPort {
    // Line 0: as an input, and the contents of its stash.
    #[state(constant)]
    pub(crate) switch: u32,
    #[state(constant)]
    pub(crate) number: u8,
    #[state(constant)]
    pub(crate) wire: u8,
    /// Round robin over virtual channels and the stash.
    pub(crate) next_channel: u8,
    /// Round robin over columns with equally free stashes.
    pub(crate) next_stash_column: u8,
    #[state(constant)]
    pub(crate) peer: PeerRecord,
    /// The header to be routed.
    pub(crate) arriving: u32,
    /// Virtual channels with a packet; the next bit tells whether the stash has one to send.
    pub(crate) ready: u32,
    pub(crate) bus_until: Tick,
    /// Flits of packets that have not yet started to leave the input buffer.
    pub(crate) occupancy: u32,
    /// Flits above which the input is congested; `u32::MAX` for never.
    #[state(constant)]
    pub(crate) marks_above: u32,
    pub(crate) input_residence: u64,
    /// Whether an event at the end of the bus's packet is scheduled.
    pub(crate) bus_watched: bool,
    pub(crate) stash_watched: bool,
    /// Whether a packet waits for space in the stash.
    pub(crate) stash_blocked: bool,
    /// Round robin over rows at the multiplexer into the stash.
    pub(crate) next_row: u8,
    #[state(constant)]
    pub(crate) stash_capacity: u32,
    pub(crate) stash_used: u32,

    // Line 1: as an output, what its multiplexer and its link wait for.
    /// Column queues with a packet: row times channels plus channel.
    pub(crate) columns: u64,
    pub(crate) multiplexer_until: Tick,
    /// When the multiplexer is checked again.
    pub(crate) multiplexer_wake: Tick,
    /// Rows whose tile waits for space in a column buffer.
    pub(crate) rows_blocked: u64,
    pub(crate) link_until: Tick,
    pub(crate) link_wake: Tick,
    /// Virtual channels with a packet in the output buffer.
    pub(crate) present: u32,
    /// Flits routed to this output that have not been granted the link.
    pub(crate) committed: u32,
    /// Whether a packet waits for space in the output buffer.
    pub(crate) multiplexer_blocked: bool,
    pub(crate) next_column: u8,
    pub(crate) next_lane: u8,

    // Line 2: its output buffer.
    pub(crate) flits: u64,
    pub(crate) packets: u64,
    /// Space in the output buffer.
    #[state(part)]
    pub(crate) space: Pool,
    pub(crate) output_peak: u32,

    // Line 3: the other end.
    pub(crate) choices: u64,
    pub(crate) output_residence: u64,
    pub(crate) stash_until: Tick,
    /// Space in the input buffer there.
    #[state(part)]
    pub(crate) credit: Pool,

    // Line 4: sent packets.
    /// Flits still kept, in the order in which they are freed.
    pub(crate) held: VecDeque<Held>,
}

const _: () = assert!(
    size_of::<TiledPort>() == 5 * 64
        && std::mem::offset_of!(TiledPort, columns) == 64
        && std::mem::offset_of!(TiledPort, flits) == 2 * 64
        && std::mem::offset_of!(TiledPort, choices) == 3 * 64
        && std::mem::offset_of!(TiledPort, held) == 4 * 64
);

#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct Tile {
    /// Inputs with a packet.
    pub(crate) waiting: u16,
    /// When it is checked again.
    pub(crate) wake: Tick,
}

/// An input of a tile.
#[derive(Clone, Copy, Debug, Default, Encoded)]
pub(crate) struct TileInput {
    pub(crate) until: Tick,
    /// Queues with a packet: channel times O plus output.
    pub(crate) requests: u64,
    pub(crate) next_output: u8,
    pub(crate) next_channel: u8,
    /// Round robin over outputs with equally free stashes.
    pub(crate) next_stash: u8,
}

/// An output of a tile.
#[derive(Clone, Copy, Debug, Default, Encoded)]
pub(crate) struct TileOutput {
    pub(crate) until: Tick,
    pub(crate) next_input: u8,
}

/// Iterates over the members of a set of bits, smallest first.
#[inline]
pub(crate) fn members(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let member = set.trailing_zeros();
            set &= set - 1;
            member
        })
    })
}

/// Returns the number after `at` in the cycle of the `n` numbers from 0.
#[inline]
pub(crate) fn after(at: u32, n: u32) -> u8 {
    if at + 1 < n { at as u8 + 1 } else { 0 }
}

/// Returns the smallest member not below a pointer, or else the smallest of all.
#[inline]
pub(crate) fn first_from(set: u64, pointer: u8) -> u32 {
    let above = set & (u64::MAX << pointer);
    if above != 0 { above } else { set }.trailing_zeros()
}

impl Fabric<Tiles> {
    /// Makes the switch decide in this tick, which is an edge.
    #[inline]
    pub(crate) fn mark_switch(&mut self, switch: u32, out: &mut Outbox<Self>) {
        let marked = &mut self.switches.states[switch].is_marked;
        if !*marked {
            *marked = true;
            out.mark(switch);
        }
    }

    /// Records that a switch has work before its packets move.
    #[inline]
    pub(crate) fn tell_switch(&mut self, switch: u32, out: &mut Outbox<Self>) {
        self.switches.states[switch].has_messages = true;
        self.mark_switch(switch, out);
    }

    /// Checks everything of a switch that was made due.
    #[inline]
    pub(crate) fn make_due(
        &mut self,
        switch: u32,
        out: &mut Outbox<Self>,
        change: impl FnOnce(&mut Due),
    ) {
        change(&mut self.switches.states[switch].due);
        self.mark_switch(switch, out);
    }

    /// Handles the scheduled edge.
    pub(crate) fn edge_comes(&mut self, switch: u32, out: &mut Outbox<Self>) {
        self.switches.states[switch].is_awaited = false;
        self.mark_switch(switch, out);
    }

    /// Runs all decisions of a switch on one edge.
    #[inline]
    pub(crate) fn decide_switch(&mut self, switch: u32, now: Tick, out: &mut Outbox<Self>) {
        let state = &mut self.switches.states[switch];
        state.is_marked = false;
        if state.has_messages {
            self.take_in_side_band(now, switch, out);
        }
        let mut due = std::mem::take(&mut self.switches.states[switch].due);
        let base = switch * self.switches.geometry.ports;
        for port in members(due.headers) {
            due.buses |= self.route_header(now, base + port, out);
        }
        for port in members(due.buses) {
            self.decide_bus(now, base + port, out);
        }
        for tile in members(due.tiles) {
            self.decide_tile(now, switch, tile, out);
        }
        for port in members(due.multiplexers) {
            self.decide_multiplexer(now, base + port, out);
        }
        for port in members(due.stashes) {
            self.decide_stash_multiplexer(now, base + port, out);
        }
        for port in members(due.links) {
            self.decide_link(now, base + port, out);
        }
        // Space freed on this edge is visible on the next.
        if !self.switches.states[switch].retrieved.is_empty() {
            self.free_retrieved(switch);
        }
        let state = &mut self.switches.states[switch];
        let due = &state.due;
        let is_due = due.buses | due.tiles | due.multiplexers | due.stashes | due.links != 0;
        if is_due && !state.is_awaited {
            state.is_awaited = true;
            out.at(now + self.switches.clock.period, Event::Edge { switch });
        }
    }

    /// Frees the space of packets that left stashes on this edge.
    #[inline(never)]
    fn free_retrieved(&mut self, switch: u32) {
        let mut retrieved = std::mem::take(&mut self.switches.states[switch].retrieved);
        for (port, flits) in retrieved.drain(..) {
            self.free_stash(port, flits);
        }
        self.switches.states[switch].retrieved = retrieved;
    }

    /// Handles the messages of the side band and of neighbours before packets move.
    #[inline(never)]
    fn take_in_side_band(&mut self, now: Tick, switch: u32, out: &mut Outbox<Self>) {
        self.switches.states[switch].has_messages = false;
        if self.switches.announcing.is_some() {
            self.announce(now, switch, out);
        }
        if !self.switches.states[switch].expired.is_empty() {
            self.send_expired(now, switch, out);
        }
        if !self.switches.states[switch].returning.is_empty() {
            let buses = self.take_in_retransmissions(now, switch);
            self.switches.states[switch].due.buses |= buses;
            self.await_announcement(now, switch, out);
        }
        if !self.switches.states[switch].leaving.is_empty() {
            self.delete_copies(switch);
        }
    }
}
