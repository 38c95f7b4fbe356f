//! The part of a fabric of tiled switches that lives in one partition: plain arrays per kind of component.

use std::sync::Arc;

use netloom_engine::{EventQueue, Model, Outbox};
use netloom_fabric::{
    ClassPlan, Counters, Protocol, Row, Stage, StashUse, Step, TileStages, Watch, Window,
};
use netloom_packet::{Cursor, Packet, Rows, SlSegmentation, Slab};
use netloom_random::Stream;
use netloom_routing::Forwarding;
use netloom_units::{Clock, NicId, Sl, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Event;
use crate::faults::Chances;
use crate::geometry::Geometry;
use crate::nic::{Created, Flow, Message, Nic};
use crate::pool::Shares;

use crate::record::{Fifo, Parcel, Record};
use crate::switch::{Announcing, Entry, Port, Switch, Tile, TileInput, TileOutput};
use crate::wire::Wire;

/// One partition.
pub(crate) struct TiledFabric {
    // What never changes.
    pub(crate) geometry: Geometry,
    /// Column queues of the channel to stashes, as bits of [`Port::columns`].
    pub(crate) store_columns: u64,
    pub(crate) clock: Clock,
    pub(crate) stages: TileStages,
    pub(crate) wires: Rows<Wire>,
    /// The input and output pools of a port, by link class.
    pub(crate) input_shares: Rows<Shares>,
    pub(crate) output_shares: Rows<Shares>,
    pub(crate) row_buffer: u16,
    pub(crate) column_buffer: u16,
    pub(crate) stash_use: Option<StashUse>,
    pub(crate) forwarding: Arc<Forwarding>,
    pub(crate) segmentation: SlSegmentation,
    pub(crate) classes: Vec<ClassPlan>,
    /// The recorder's row of (class, service level).
    pub(crate) row_of: Vec<[u8; 16]>,
    pub(crate) acknowledgement: Option<u16>,
    pub(crate) window: Option<Window>,
    pub(crate) chances: Option<Chances>,
    pub(crate) draws: Stream,

    // Switches.
    pub(crate) switches: Rows<Switch>,
    pub(crate) ports: Rows<Port>,
    /// By input port and virtual channel.
    pub(crate) input_queues: Rows<Fifo>,
    /// By port: what goes on from its stash.
    pub(crate) retrievals: Rows<Fifo>,
    /// By switch and tile.
    pub(crate) tiles: Rows<Tile>,
    pub(crate) tile_inputs: Rows<TileInput>,
    pub(crate) tile_outputs: Rows<TileOutput>,
    /// By tile input, output of the tile and channel.
    pub(crate) row_queues: Rows<Fifo>,
    /// Flits in use by tile input and channel.
    pub(crate) row_used: Rows<u16>,
    /// By tile output and channel.
    pub(crate) column_queues: Rows<Fifo>,
    /// Flits in use by tile output and channel.
    pub(crate) column_used: Rows<u16>,
    /// By output port and virtual channel.
    pub(crate) output_queues: Rows<Fifo>,
    /// Packets whose copy waits for its acknowledgement, by end port and number at the source.
    pub(crate) tracked: FxHashMap<(u32, u32), Entry>,

    /// What switches tell each other of their queues.
    pub(crate) announcing: Option<Announcing>,

    // NICs.
    pub(crate) nics: Rows<Nic>,
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) messages: Slab<Message>,
    pub(crate) flows: Slab<Flow>,
    /// Latency of the last message of each (NIC, row), for jitter.
    pub(crate) last_latency: Vec<Option<std::num::NonZero<u64>>>,
    /// Flits injected by each (NIC, row).
    pub(crate) nic_flits: Vec<u64>,
    /// Messages created by each (NIC, row). Rows count apart: the program of a rank knows only its own messages.
    pub(crate) nic_messages: Vec<u32>,
    /// Packets of unfinished messages that have arrived, by source, row and number.
    pub(crate) partial: FxHashMap<(NicId, u8, u32), (u32, u32)>,
    /// The rows that programs send in.
    pub(crate) is_program: Vec<bool>,
    /// Messages of programs that have arrived and have not yet been received, by destination, source and number.
    pub(crate) arrived: FxHashSet<(NicId, NicId, u32)>,
    /// Data packets delivered, where one may come twice.
    pub(crate) seen: FxHashSet<(NicId, u32)>,
    /// The last packet of each (source, destination, service level), where reordering is counted.
    pub(crate) last_sequence: Option<FxHashMap<(NicId, NicId, Sl), u32>>,

    // Everything.
    pub(crate) packets: Slab<Record>,
    pub(crate) rows: Vec<Row>,
    pub(crate) counters: Counters,
    pub(crate) protocol: Protocol,
    pub(crate) watch: Option<Watch>,
    pub(crate) steps: Vec<Step>,
}

impl TiledFabric {
    /// Writes down a step of a packet, if it is followed.
    #[cold]
    pub(crate) fn note(&mut self, packet: &Packet, at: Tick, stage: Stage) {
        if let Some(watch) = self.watch {
            watch.note(&mut self.steps, packet, at, stage);
        }
    }

    /// So many core cycles, in ticks.
    #[inline]
    pub(crate) fn cycles(&self, n: u64) -> u64 {
        n * self.clock.period
    }
}

impl Model for TiledFabric {
    type Event = Event;
    type Parcel = Parcel;

    #[inline]
    fn apply<Q: EventQueue<Event>>(&mut self, now: Tick, event: Event, out: &mut Outbox<Self, Q>) {
        match event {
            Event::Head { port, packet } => self.header_written(port, packet, out),
            Event::Row {
                channel,
                column,
                port,
                packet,
            } => self.row_reached(port, packet, u32::from(channel), u32::from(column), out),
            Event::Column {
                channel,
                row,
                port,
                packet,
            } => self.column_reached(port, packet, u32::from(channel), u32::from(row), out),
            Event::Output { port, packet } => self.output_reached(port, packet, out),
            Event::Stashed { port, packet } => self.stash_reached(port, packet, out),
            Event::Credit { vc, flits, port } => self.credit_arrives(port, vc, flits, out),
            Event::Bus { port } => self.bus_wakes(port, out),
            Event::Tile { tile, switch } => self.tile_wakes(now, switch, tile, out),
            Event::Multiplexer { port } => self.multiplexer_wakes(now, port, out),
            Event::StashMultiplexer { port } => self.stash_multiplexer_wakes(port, out),
            Event::Link { port } => self.link_wakes(now, port, out),
            Event::Edge { switch } => self.edge_comes(switch, out),
            Event::Announce { switch } => self.announcement_due(switch, out),
            Event::Announced {
                output,
                port,
                flits,
            } => self.announcement_heard(port, output, flits),
            Event::Located { port, packet } => self.copy_located(now, port, packet, out),
            Event::Delete { port, packet } => self.copy_deleted(port, packet, out),
            Event::Retransmit {
                attempt,
                port,
                packet,
            } => self.copy_sent_again(port, packet, attempt, out),
            Event::Timeout {
                attempt,
                port,
                sequence,
            } => self.timeout(port, sequence, attempt, out),
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
                self.message_arrives(now, nic, created, out);
            }
            Event::Begin { nic } => {
                self.nics[nic].runs_program = true;
                self.mark_nic(nic, out);
            }
            Event::NicCredit { vc, flits, nic } => self.nic_credit_arrives(nic, vc, flits, out),
            Event::NicLink { nic } => self.nic_link_wakes(now, nic, out),
            Event::Grown { nic, destination } => self.window_grown(nic, destination, out),
            Event::Deliver { nic, packet } => self.deliver(now, nic, packet, out),
        }
    }

    #[inline]
    fn decide<Q: EventQueue<Event>>(
        &mut self,
        component: u32,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        match (component as usize).checked_sub(self.switches.len()) {
            None => self.decide_switch(component, now, out),
            Some(nic) => self.decide_nic(nic as u32, now, out),
        }
    }

    fn receive(&mut self, event: Event, parcel: Parcel) -> Event {
        match event {
            Event::Head { port, .. } => {
                self.counters.immigrated += 1;
                let packet = self.packets.insert(Record::new(parcel));
                Event::Head { port, packet }
            }
            other => other,
        }
    }
}
