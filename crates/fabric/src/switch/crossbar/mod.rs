//! Crossbar switches: the blocks between input buffers and links.
//!
//! ```text
//!  CIOQ          link ─► input buffer ─► queues ─► allocation ─► crossbar ─► output buffer ─► scheduler ─► link
//!                           IB      RT              VA-SA           X                            OB
//!  input-queued  link ─► input buffer ─► queues ─► allocation with the scheduler ─► crossbar ─► link
//!  hierarchical  link ─► input buffer ─► MPort crossbar ─► central buffer ─► central crossbar ─► output buffer ─► …
//!                                          └───────────────── own MPort ─────────────────────────┘
//! ```
//!
//! - `input.rs`: a header has been buffered and routed; it joins its queue.
//! - `allocate.rs`, `islip.rs`: which inputs may cross to which outputs, once per clock edge.
//! - `input_queued.rs`: the same if a packet crosses directly onto its link.
//! - `hierarchy.rs`: transfers if ports are grouped around a central crossbar.
//! - `ahead.rs`: the queue that a packet will join one hop further on.
//! - `cut_through.rs`: how flits pass a crossbar that is faster than they arrive.
//! - `transfer.rs`: a grant occupies both crossbar ports, returns credits and fills the output
//!   buffer.
//! - `output.rs`: the output scheduler chooses a lane and the packet leaves on the link.
//!
//! A switch decides only on its clock edges, from its own state. It sleeps while nothing can be
//! granted; every reason why a packet waits registers a wake-up.

mod adaptive_view;
mod ahead;
mod allocate;
mod build;
mod cut_through;
mod event;
mod hierarchy;
mod input;
mod input_queued;
mod islip;
pub(crate) mod mask;
mod nic;
mod output;
mod port;
mod prefetch;
pub(crate) mod shape;
mod stall;
mod switches;
mod transfer;
mod validate;
mod wire;

use netloom_arbitration::{Grant, Head};
use netloom_encoding::{Encoded, State};
use netloom_engine::Outbox;
use netloom_packet::Packet;
use netloom_routing::deadlock::Centre;
use netloom_units::{NicId, SwitchId, Vl};

use crate::fabric::Fabric;
use crate::link::room::Limits;
use crate::parcel::{Flags, Parcel};
use crate::plan::Allocation;
use crate::queue_scheme::QueueMap;
use crate::rows::Rows;
use crate::slab::Slab;
use crate::switch::NIL;

use adaptive_view::{AdaptiveView, Marks};
use ahead::Beyond;
use cut_through::Feed;
use mask::Ports;
use port::{CrossbarPort, InputQueue, OutputQueue};
use shape::Shape;
use wire::{Stages, Wire};

pub(crate) use build::partition;
pub(crate) use hierarchy::n_records;

/// A packet in a buffer: its record and this switch's decisions about it, in one cache line.
#[derive(Clone, Copy, Debug, Encoded)]
#[repr(align(64))]
pub(crate) struct Stored {
    pub(crate) packet: Packet,
    /// The next packet of the same queue.
    pub(crate) next: u32,
    /// The requested output.
    pub(crate) output: u16,
    /// The lane on which it leaves.
    pub(crate) vl: u8,
    pub(crate) flags: Flags,
}

const _: () = assert!(size_of::<Stored>() == 64);

impl Stored {
    #[inline(always)]
    fn new(parcel: Parcel) -> Self {
        Stored {
            packet: parcel.packet,
            next: NIL,
            output: 0,
            vl: 0,
            flags: parcel.flags,
        }
    }

    #[inline(always)]
    fn parcel(&self) -> Parcel {
        Parcel {
            packet: self.packet,
            flags: self.flags,
            attempt: 0,
        }
    }
}

/// Returns what the arbiter of an output sees of a packet.
#[inline(always)]
fn head(packet: &Packet, vl: u8) -> Head {
    Head {
        born: packet.generation,
        bytes: packet.bytes,
        sl: packet.sl,
        vl: Vl(vl),
    }
}

/// The size of a buffer, in flits and, on guarded rings, in slots.
pub(crate) struct Buffer {
    flits: Limits,
    slots: Limits,
}

impl Buffer {
    #[inline]
    fn of(&self, ring: u8) -> &Limits {
        if ring == 0 { &self.flits } else { &self.slots }
    }
}

/// The switches of a partition.
#[derive(State)]
pub(crate) struct Crossbars<S: Shape> {
    // Constants.
    #[state(constant)]
    stages: Stages,
    #[state(constant)]
    wires: Rows<Wire>,
    #[state(constant)]
    lanes_per_level: u8,
    #[state(constant)]
    n_vls: usize,
    #[state(constant)]
    n_queues: usize,
    /// The queue of an input that a packet joins.
    #[state(constant)]
    queue_map: QueueMap,
    #[state(constant)]
    input_buffer: Buffer,
    #[state(constant)]
    output_buffer: Buffer,
    /// Of one central link.
    #[state(constant)]
    central_buffer: Limits,
    /// Whether credits are per queue, so that a sender looks one hop ahead.
    #[state(constant)]
    credits_per_queue: bool,
    /// The other end of each port, if senders look ahead.
    #[state(constant)]
    beyond: Rows<Beyond>,
    /// The centre of a hierarchical switch.
    #[state(constant)]
    centre: Option<Centre>,
    #[state(constant)]
    allocation: Allocation,

    /// Whether the switches exceed the caches, so that prefetching is worthwhile.
    #[state(constant)]
    is_large: bool,

    #[state(part)]
    states: Rows<Switch<S::Ports>>,
    #[state(part)]
    ports: Rows<CrossbarPort<S::Layout>>,
    #[state(records)]
    input_queues: Rows<InputQueue>,
    #[state(records)]
    output_queues: Rows<OutputQueue>,
    /// Packets that the local and the central writer of a port have brought in this tick
    /// (hierarchical).
    #[state(records)]
    arriving: Rows<[u32; 2]>,
    #[state(constant)]
    requests: Requests<S::Ports>,
    /// How packets arrive in central buffers, by their record (hierarchical).
    feeds: Vec<Feed>,
    /// The view for an adaptive routing, if there is one.
    #[state(part)]
    adaptive_view: Option<Box<AdaptiveView>>,
    /// The inputs that mark packets, if any.
    #[state(part)]
    marks: Option<Box<Marks>>,
    packets: Slab<Stored>,
    #[state(constant)]
    heads: Box<[Head; 32]>,
}

impl<S: Shape> Crossbars<S> {
    /// Returns the routing's lane for a lane of a link.
    #[inline(always)]
    fn routing_lane(&self, vl: u8) -> u8 {
        if S::IS_PLAIN || self.lanes_per_level as usize == self.n_vls {
            0
        } else {
            vl / self.lanes_per_level
        }
    }

    /// Returns the queue of an input that a packet joins.
    #[inline(always)]
    fn queue(&self, vl: u8, output: u16, destination: NicId) -> usize {
        if S::IS_PLAIN && S::HAS_OUTPUT_BUFFER {
            return usize::from(vl);
        }
        self.queue_map.queue(vl, output, destination) as usize
    }
}

impl<S: Shape> Fabric<Crossbars<S>> {
    #[inline]
    fn mark_switch(&mut self, switch: u32, out: &mut Outbox<Self>) {
        let marked = &mut self.switches.states[switch].is_marked;
        if !*marked {
            *marked = true;
            out.mark(switch);
        }
    }

    /// Returns the fabric-wide id of a port's switch.
    fn switch_id(&self, port: u32) -> SwitchId {
        self.switches.states[self.switches.ports[port].switch].id
    }
}

/// State of a switch in addition to its ports.
#[derive(Clone, Debug, State)]
#[repr(align(64))]
#[state(bound = "P: Ports")]
pub(crate) struct Switch<P> {
    #[state(constant)]
    pub(crate) id: SwitchId,
    /// Index of its first port.
    #[state(constant)]
    pub(crate) base: u32,
    /// Its ports; other records of a hierarchical switch follow them.
    #[state(constant)]
    pub(crate) n_ports: u16,
    #[state(constant)]
    pub(crate) n_central: u16,
    /// The first record of a lane, if lanes cross independently.
    #[state(constant)]
    pub(crate) first_lane: u16,
    /// Whether it decides in this tick.
    pub(crate) is_marked: bool,
    /// Whether losers return on the next edge.
    pub(crate) again: bool,
    /// Inputs to be processed.
    pub(crate) woken: P,
    /// Outputs to be processed.
    pub(crate) sending: P,
    /// Inputs that lost an allocation.
    pub(crate) losers: P,
}

/// Scratch space of an allocation, reused by all switches.
#[derive(Clone, Debug)]
pub(crate) struct Requests<P> {
    /// Inputs that request each output.
    pub(crate) by_output: Vec<P>,
    /// The queue with which an input requests.
    pub(crate) queue: Vec<u16>,
    /// Outputs that each input requests (iSLIP).
    pub(crate) by_input: Vec<P>,
    /// The output matched to each input (iSLIP).
    pub(crate) matched: Vec<Option<u16>>,
    /// The proposal of the arbiter of each output (input-queued).
    pub(crate) grants: Vec<Option<Grant>>,
    /// Whether the arbiter had a choice (input-queued).
    pub(crate) had_choice: Vec<bool>,
    /// By input and output: lanes with a packet that could cross (iSLIP).
    pub(crate) lanes: Vec<u32>,
    /// By input, output and lane: the next queue (iSLIP).
    pub(crate) candidates: Vec<u16>,
    /// Number of separate lanes.
    pub(crate) n_lanes: usize,
    /// Records of the largest switch.
    pub(crate) radix: usize,
}

impl<P: Ports> Requests<P> {
    /// Creates scratch space for switches of `radix` records, with `n_lanes` separate lanes for
    /// iSLIP.
    pub(crate) fn new(radix: usize, n_lanes: usize) -> Self {
        let pairs = if n_lanes == 0 { 0 } else { radix * radix };
        Requests {
            by_output: vec![P::default(); radix],
            queue: vec![0; radix],
            by_input: vec![P::default(); radix],
            matched: vec![None; radix],
            grants: vec![None; radix],
            had_choice: vec![false; radix],
            lanes: vec![0; pairs],
            candidates: vec![0; pairs * n_lanes],
            n_lanes,
            radix,
        }
    }
}
