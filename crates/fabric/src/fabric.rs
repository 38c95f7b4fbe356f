//! The part of a fabric that lives in one partition: plain arrays per kind of component.

use std::sync::Arc;

use netloom_arbitration::{Arbiter, Head};
use netloom_engine::{EventQueue, Model, Outbox};
use netloom_packet::{Cursor, N_SCS, Packet, Rows, SlSegmentation, Slab};
use netloom_routing::Forwarding;
use netloom_routing::deadlock::Centre;
use netloom_units::{NicId, Sl, SwitchId, Tick, Vl};
use rustc_hash::FxHashMap;

use crate::channels::Channels;
use crate::connections::Meters;
use crate::event::Event;
use crate::flow::Flow;
use crate::nic::{Admittance, Created, Message, Nic, NicQueue};
use crate::plan::{Allocation, ClassPlan};
use crate::port::{InputQueue, OutputQueue, Port};
use crate::queue_scheme::QueueMap;
use crate::recorder::{Counters, Row};
use crate::room::Limits;
use crate::shape::Shape;
use crate::switch::{Beyond, Requests, Switch};
use crate::trace::{Stage, Step, Watch};
use crate::wire::{Stages, Wire};

/// A packet in a buffer: its record and what this switch has decided about it; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Stored {
    pub(crate) packet: Packet,
    /// The next packet of the same queue.
    pub(crate) next: u32,
    /// The output it wants.
    pub(crate) output: u16,
    /// The lane on which it leaves.
    pub(crate) vl: u8,
    /// Whether the arbiter of its output has been told of it.
    pub(crate) is_announced: bool,
}

const _: () = assert!(size_of::<Stored>() <= 64);

/// What the arbiter of an output is told of a packet.
#[inline(always)]
pub(crate) fn head(packet: &Packet, vl: u8) -> Head {
    Head {
        born: packet.generation,
        bytes: packet.bytes,
        sl: packet.sl,
        vl: Vl(vl),
    }
}

/// How much a buffer holds, in flits and, on guarded rings, in slots.
pub(crate) struct Buffer {
    pub(crate) flits: Limits,
    pub(crate) slots: Limits,
}

impl Buffer {
    #[inline]
    pub(crate) fn of(&self, ring: u8) -> &Limits {
        if ring == 0 { &self.flits } else { &self.slots }
    }
}

/// One partition. `A` is the arbiter at every output; `W` words hold a set of ports, `R` one of queues.
pub(crate) struct Fabric<A, S: Shape, const W: usize, const R: usize> {
    // What never changes.
    pub(crate) stages: Stages,
    pub(crate) wires: Rows<Wire>,
    pub(crate) forwarding: Arc<Forwarding>,
    pub(crate) channels: Channels,
    pub(crate) lanes_per_level: u8,
    pub(crate) n_vls: usize,
    pub(crate) n_queues: usize,
    /// Which queue of an input a packet joins.
    pub(crate) queue_map: QueueMap,
    pub(crate) input_buffer: Buffer,
    pub(crate) output_buffer: Buffer,
    /// Of one central link.
    pub(crate) central_buffer: Limits,
    /// Whether credits are per queue: then a sender looks one hop ahead.
    pub(crate) credits_per_queue: bool,
    /// Who is at the other end of each port, where senders look ahead.
    pub(crate) beyond: Rows<Beyond>,
    /// The way through a hierarchical switch.
    pub(crate) centre: Option<Centre>,
    /// Packets that the local and the central writer of a port have brought in this tick (hierarchical).
    pub(crate) arriving: Rows<[u32; 2]>,
    pub(crate) allocation: Allocation,
    pub(crate) segmentation: SlSegmentation,
    pub(crate) classes: Vec<ClassPlan>,
    /// The recorder's row of (class, service level).
    pub(crate) row_of: Vec<[u8; 16]>,
    /// The NIC queue of each service channel.
    pub(crate) slot_of: [u8; N_SCS],
    pub(crate) keeps_order: bool,

    // Switches.
    pub(crate) switches: Rows<Switch<W>>,
    pub(crate) ports: Rows<Port<A, S::Flow, W, R>>,
    pub(crate) input_queues: Rows<InputQueue>,
    pub(crate) output_queues: Rows<OutputQueue>,
    pub(crate) requests: Requests<W>,

    // NICs.
    pub(crate) nics: Rows<Nic<A, S::Flow>>,
    /// Queues per destination before the NICs' own, where there are any.
    pub(crate) admittance: Option<Admittance>,
    pub(crate) nic_queues: Rows<NicQueue>,
    pub(crate) n_slots: usize,
    pub(crate) cursors: Vec<Cursor>,
    /// Messages that each NIC was handed in this tick, where classes share a queue: they join it in the decision, in
    /// order of class, because arrivals of one tick come in any order.
    pub(crate) created: Option<Vec<Vec<Created>>>,
    pub(crate) messages: Slab<Message>,
    /// Latency of the last message of each (NIC, row), for jitter.
    pub(crate) last_latency: Vec<Option<std::num::NonZero<u64>>>,
    /// Flits injected by each (NIC, row).
    pub(crate) nic_flits: Vec<u64>,
    /// Packets of unfinished messages that have arrived, where packets may overtake each other.
    pub(crate) partial: FxHashMap<(NicId, u32), (u32, u32)>,
    /// The last packet of each (source, destination, service level).
    pub(crate) last_sequence: Option<FxHashMap<(NicId, NicId, Sl), u32>>,

    // Everything.
    pub(crate) packets: Slab<Stored>,
    pub(crate) heads: Box<[Head; 32]>,
    /// Of the connections that end here, where there are any.
    pub(crate) meters: Option<Meters>,
    pub(crate) rows: Vec<Row>,
    pub(crate) counters: Counters,
    pub(crate) watch: Option<Watch>,
    pub(crate) steps: Vec<Step>,
}

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// Writes down a step of a packet, if it is followed.
    #[cold]
    pub(crate) fn note(&mut self, packet: &Packet, at: Tick, stage: impl FnOnce(&Self) -> Stage) {
        if let Some(watch) = self.watch {
            let stage = stage(self);
            watch.note(&mut self.steps, packet, at, stage);
        }
    }

    #[inline]
    pub(crate) fn mark_switch<Q: EventQueue<Event>>(
        &mut self,
        switch: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let marked = &mut self.switches[switch].is_marked;
        if !*marked {
            *marked = true;
            out.mark(switch);
        }
    }

    #[inline]
    pub(crate) fn mark_nic<Q: EventQueue<Event>>(&mut self, nic: u32, out: &mut Outbox<Self, Q>) {
        let marked = &mut self.nics[nic].is_marked;
        if !*marked {
            *marked = true;
            out.mark(self.switches.len() as u32 + nic);
        }
    }

    /// The lane of the routing that a lane of a link belongs to.
    #[inline(always)]
    pub(crate) fn routing_lane(&self, vl: u8) -> u8 {
        if self.lanes_per_level as usize == self.n_vls {
            0
        } else {
            vl / self.lanes_per_level
        }
    }

    /// The fabric-wide name of a port's switch.
    pub(crate) fn switch_id(&self, port: u32) -> SwitchId {
        self.switches[self.ports[port].switch].id
    }

    /// Flits that are in the buffers and on the links of this partition.
    pub(crate) fn stored_packets(&self) -> u64 {
        self.packets.len() as u64
    }
}

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Model for Fabric<A, S, W, R> {
    type Event = Event;
    type Parcel = Packet;

    #[inline]
    fn apply<Q: EventQueue<Event>>(&mut self, now: Tick, event: Event, out: &mut Outbox<Self, Q>) {
        match event {
            Event::Head {
                vl,
                flits,
                port,
                packet,
                destination,
            } => {
                self.header_arrives(now, port, packet, vl, flits, NicId(destination), out);
            }
            Event::Credit {
                pace,
                class,
                units,
                port,
                lag,
            } => {
                let from = Tick(now.0 - u64::from(lag));
                self.credits_arrive(now, port, class, units, pace, from, out);
            }
            Event::Counted { vl, flits, port } => {
                self.ports[port].credit.count(u16::from(vl), flits, now);
            }
            Event::NicCounted { vl, flits, nic } => {
                self.nics[nic].credit.count(u16::from(vl), flits, now);
            }
            Event::Join { port, packet } => self.packet_joins(now, port, packet, out),
            Event::ReleaseInput { port } => self.input_released(port, out),
            Event::ReleaseOutput { port } => self.output_released(port, out),
            Event::ReleaseBoth { input, output } => {
                self.input_released(input, out);
                self.output_released(output, out);
            }
            Event::Output {
                vl,
                flits,
                port,
                packet,
            } => {
                self.output_arrives(now, port, packet, vl, flits, out);
            }
            Event::Link { port } => self.link_wakes(now, port, out),
            Event::Again { switch } => self.losers_return(switch, out),
            Event::Room { port } => self.room_wakes(now, port, out),
            Event::Drain {
                vl,
                units,
                port,
                lag,
            } => self.drain_begins(now, port, vl, units, lag, out),
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
            Event::NicCredit {
                pace,
                class,
                units,
                nic,
                lag,
            } => {
                let from = Tick(now.0 - u64::from(lag));
                self.nic_credits_arrive(now, nic, class, units, pace, from, out);
            }
            Event::NicLink { nic } => self.nic_link_wakes(now, nic, out),
            Event::Deliver { nic, packet } => self.deliver(now, nic, packet),
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

    fn receive(&mut self, event: Event, parcel: Packet) -> Event {
        match event {
            Event::Head {
                vl,
                flits,
                port,
                destination,
                ..
            } => {
                self.counters.immigrated += 1;
                let packet = self.packets.insert(Stored {
                    packet: parcel,
                    next: crate::port::NIL,
                    output: 0,
                    vl: 0,
                    is_announced: false,
                });
                Event::Head {
                    vl,
                    flits,
                    port,
                    packet,
                    destination,
                }
            }
            other => other,
        }
    }
}
