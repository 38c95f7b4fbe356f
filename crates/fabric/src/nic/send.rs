//! Sending: messages arrive, packets are cut and injected.

use netloom_arbitration::{Arbiter, Head, View};
use netloom_engine::{EventQueue, Outbox};
use netloom_packet::{Arrival, Label, Packet};
use netloom_units::{Clock, NicId, Sc, Sl, Tick, Vl};

use crate::event::Event;
use crate::fabric::{Fabric, Stored};
use crate::nic::{Created, Message};
use crate::port::NIL;
use crate::ramp::Ramp;
use crate::trace::Stage;

impl<A: Arbiter, const W: usize, const R: usize> Fabric<A, W, R> {
    /// The next message of a class at a NIC: when, and as an event.
    pub(crate) fn next_arrival(&mut self, nic: u32, class: u8) -> Option<(Tick, Event)> {
        let cursor = &mut self.cursors[nic as usize * self.classes.len() + usize::from(class)];
        let state = &self.nics[nic];
        let plan = &self.classes[usize::from(class)];
        let Arrival {
            cycle,
            destination,
            bytes,
            sl,
            flow,
        } = plan.source.next(state.id, cursor)?;
        let when = Tick(cycle * self.wires[u32::from(state.wire)].flit);
        let sl = sl.unwrap_or(plan.sl.0);
        Some((
            when,
            Event::Arrival {
                class,
                sl,
                flow,
                nic,
                destination: destination.0,
                bytes,
            },
        ))
    }

    /// A workload hands over a message, and perhaps more at the same instant.
    pub(crate) fn message_arrives<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        created: Created,
        out: &mut Outbox<Self, Q>,
    ) {
        let class = created.class;
        self.enqueue(now, nic, created);
        loop {
            match self.next_arrival(nic, class) {
                Some((when, event)) if when > now => {
                    out.at(when, event);
                    break;
                }
                Some((
                    _,
                    Event::Arrival {
                        sl,
                        flow,
                        destination,
                        bytes,
                        ..
                    },
                )) => {
                    let created = Created {
                        class,
                        sl,
                        flow,
                        destination: NicId(destination),
                        bytes,
                    };
                    self.enqueue(now, nic, created);
                }
                _ => break,
            }
        }
        self.nic_link_wakes(now, nic, out);
    }

    fn enqueue(&mut self, now: Tick, nic: u32, created: Created) {
        let Created {
            class,
            sl,
            flow,
            destination,
            bytes,
        } = created;
        let row = self.row_of[usize::from(class)][usize::from(sl & 15)];
        let recorded = &mut self.rows[usize::from(row)];
        recorded.offered_messages += 1;
        let segmentation = self.segmentation.of(Sl(sl));
        recorded.offered_flits += segmentation.flits_of(bytes);
        let state = &mut self.nics[nic];
        let number = state.messages;
        state.messages += 1;
        let message = Message {
            generation: now,
            destination,
            left: bytes,
            number,
            index: 0,
            next: NIL,
            class: row,
            flow,
        };
        let id = self.messages.insert(message);
        let sc = self.channels.choose(Sl(sl), state.id, destination);
        let slot = usize::from(self.slot_of[sc.index()]);
        let queue = &mut self.nic_queues[nic * self.n_slots as u32 + slot as u32];
        if queue.head == NIL {
            let cut = segmentation.cut(bytes);
            queue.head = id;
            queue.tail = id;
            (queue.payload, queue.bytes, queue.flits) = (cut.payload, cut.bytes, cut.flits);
            state.present |= 1 << slot;
        } else {
            let last = std::mem::replace(&mut queue.tail, id);
            self.messages[last].next = id;
        }
    }

    /// A NIC with messages is looked at now if its link can be given, and otherwise when it can.
    #[inline]
    pub(crate) fn nic_link_wakes<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        if state.link_wake <= now {
            state.link_wake = Tick::NEVER;
        }
        if state.present == 0 {
            return;
        }
        if state.link_until <= now {
            self.mark_nic(nic, out);
        } else if state.link_until < state.link_wake {
            state.link_wake = state.link_until;
            out.at(state.link_until, Event::NicLink { nic });
        }
    }

    /// Credits have come back from the first switch.
    #[inline]
    pub(crate) fn nic_credits_arrive<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        vl: u8,
        units: u16,
        lag: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let ramp = Ramp::new(
            Tick(now.0 - u64::from(lag)),
            units,
            vl,
            self.stages.crossbar,
        );
        let state = &mut self.nics[nic];
        let held = state.credit.release(ramp, now);
        assert!(held, "credits of a link come back one packet after another");
        if state.present != 0 && state.link_until <= now {
            self.mark_nic(nic, out);
        }
    }

    /// The arbiter of a NIC: of the queues whose next packet fits into the first switch, one sends.
    #[inline]
    pub(crate) fn decide_nic<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        state.is_marked = false;
        if state.present == 0 || state.link_until > now {
            return;
        }
        let pace = self.stages.crossbar;
        let limits = &self.input_buffer.flits;
        let mut eligible = 0u32;
        let mut wake = Tick::NEVER;
        let mut slots = state.present;
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let queue = &self.nic_queues[nic * self.n_slots as u32 + slot as u32];
            let need = u32::from(queue.flits);
            if state.credit.has(queue.vl, need, now, limits, || pace) {
                let born = self.messages[queue.head].generation;
                self.heads[slot] = Head {
                    born,
                    bytes: queue.bytes,
                    sl: Sl(queue.sl),
                    vl: Vl(queue.vl),
                };
                eligible |= 1 << slot;
            } else if let Some(when) = state.credit.when(queue.vl, need, now, pace, limits) {
                wake = wake.min(when);
            }
        }
        let chosen = if eligible == 0 {
            None
        } else {
            state.arbiter.choose(&View {
                eligible,
                heads: &self.heads,
            })
        };
        let Some(grant) = chosen else {
            if wake != Tick::NEVER {
                let period = self.wires[u32::from(state.wire)].flit;
                let when = Clock { period, phase: 0 }.edge_at_or_after(wake.max(now + 1));
                if when < state.link_wake {
                    state.link_wake = when;
                    out.at(when, Event::NicLink { nic });
                }
            }
            return;
        };
        state.arbiter.commit(grant);
        self.inject(now, nic, usize::from(grant.queue), out);
    }

    /// The next packet of a queue leaves the NIC.
    #[inline]
    fn inject<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        slot: usize,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        let wire = &self.wires[u32::from(state.wire)];
        let queue = &mut self.nic_queues[nic * self.n_slots as u32 + slot as u32];
        let (flits, vl) = (queue.flits, queue.vl);
        let message = &mut self.messages[queue.head];
        message.left -= queue.payload;
        let is_last = message.left == 0;
        let packet = Packet {
            generation: message.generation,
            injection: now,
            arrival: now + wire.head,
            source: state.id,
            destination: message.destination,
            sequence: state.sequence,
            message: message.number,
            index: message.index,
            bytes: queue.bytes,
            flits,
            class: message.class,
            sl: Sl(queue.sl),
            vl,
            hops: 0,
            label: Label::new(Sc(queue.sc), is_last),
            flow: message.flow,
        };
        message.index += 1;
        state.sequence += 1;
        if is_last {
            let next = message.next;
            self.messages.remove(queue.head);
            queue.head = next;
        }
        if queue.head == NIL {
            queue.tail = NIL;
            state.present &= !(1 << slot);
        } else {
            let left = self.messages[queue.head].left;
            let cut = self.segmentation.of(Sl(queue.sl)).cut(left);
            (queue.payload, queue.bytes, queue.flits) = (cut.payload, cut.bytes, cut.flits);
        }
        state.link_until = now + u64::from(flits) * wire.flit;
        let when = wire.allocatable(now, flits, &self.stages, &mut state.last_header);
        let port = state.port;
        if state.present != 0 && state.link_until < state.link_wake {
            state.link_wake = state.link_until;
            out.at(state.link_until, Event::NicLink { nic });
        }
        state.credit.take(vl, flits);
        let row = usize::from(packet.class);
        self.nic_flits[nic as usize * self.rows.len() + row] += u64::from(flits);
        self.rows[row].injected_packets += 1;
        self.rows[row].injected_flits += u64::from(flits);
        self.counters.injected += 1;
        if self.watch.is_some() {
            self.note(&packet, packet.generation, |_| Stage::Created {
                nic: packet.source,
            });
            self.note(&packet, now, |_| Stage::Injected {
                nic: packet.source,
                vl: Vl(vl),
            });
        }
        let destination = packet.destination.0;
        let id = self.packets.insert(Stored {
            packet,
            next: NIL,
            output: 0,
            vl: 0,
            is_announced: false,
        });
        out.at(
            when,
            Event::Head {
                vl,
                flits,
                port,
                packet: id,
                destination,
            },
        );
    }
}
