//! Sending: messages arrive, packets are cut and injected.

use netloom_arbitration::{Arbiter, Head, View};
use netloom_engine::{EventQueue, Outbox};
use netloom_packet::{Arrival, Label, Packet};
use netloom_routing::Occasion;
use netloom_units::{Clock, NicId, Port, Sc, Sl, Tick, Vl};

use crate::event::Event;
use crate::fabric::{Fabric, Stored};
use crate::flow::Flow;
use crate::nic::{Created, Message, NicQueue};
use crate::port::NIL;
use crate::ramp::Ramp;
use crate::shape::Shape;
use crate::trace::Stage;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
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
        self.take_message(now, nic, created);
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
                    self.take_message(now, nic, created);
                }
                _ => break,
            }
        }
        if self.created.is_some() {
            self.mark_nic(nic, out);
        } else {
            self.nic_link_wakes(now, nic, out);
        }
    }

    /// A message joins its queue; at once where nobody can tell in which order two classes have come.
    #[inline(always)]
    fn take_message(&mut self, now: Tick, nic: u32, created: Created) {
        match &mut self.created {
            None => self.enqueue(now, nic, created),
            Some(waiting) => waiting[nic as usize].push(created),
        }
    }

    /// Where classes share a queue: messages created in this tick join it in order of class.
    #[cold]
    fn take_in_by_class<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let waiting = self.created.as_mut().expect("classes share a queue");
        let mut created = std::mem::take(&mut waiting[nic as usize]);
        if created.is_empty() {
            return;
        }
        // Stable: messages of one class stay in their order.
        created.sort_by_key(|created| created.class);
        for created in created.drain(..) {
            self.enqueue(now, nic, created);
        }
        self.created.as_mut().expect("as above")[nic as usize] = created;
        self.look_when_link_is_free(now, nic, out);
    }

    /// A NIC with messages whose link is busy is looked at when it is free.
    #[inline(always)]
    fn look_when_link_is_free<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        if state.link_until > now && state.link_until < state.link_wake {
            state.link_wake = state.link_until;
            out.at(state.link_until, Event::NicLink { nic });
        }
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
        let message = Message {
            generation: now,
            destination,
            left: bytes,
            number: 0,
            index: 0,
            next: NIL,
            class: row,
            flow,
        };
        let id = self.messages.insert(message);
        let sc = self.channels.choose(Sl(sl), state.id, destination);
        let slot = usize::from(self.slot_of[sc.index()]);
        if self.admittance.is_some() {
            self.admit(nic, slot, destination, id);
            return;
        }
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
        } else {
            self.look_when_link_is_free(now, nic, out);
        }
    }

    /// Credits have come back from the first switch, the first of them at `from`.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub(crate) fn nic_credits_arrive<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        class: u16,
        units: u16,
        pace: u8,
        from: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let ramp = Ramp::new(from, units, class, pace, &self.stages.crossbar);
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
        self.nics[nic].is_marked = false;
        if self.created.is_some() {
            self.take_in_by_class(now, nic, out);
        }
        let state = &mut self.nics[nic];
        if state.present == 0 || state.link_until > now {
            return;
        }
        if self.admittance.is_some() {
            self.decide_admitted(nic, now, out);
            return;
        }
        let state = &self.nics[nic];
        let paces = &self.stages.crossbar;
        let limits = &self.input_buffer.flits;
        let mut classes = [0u16; 32];
        let mut eligible = 0u32;
        let mut wake = Tick::NEVER;
        let mut slots = state.present;
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let queue = &self.nic_queues[nic * self.n_slots as u32 + slot as u32];
            let need = u32::from(queue.flits);
            let class = if S::Flow::MAY_LOOK_AHEAD {
                self.class_at_first_switch(nic, queue)
            } else {
                u16::from(queue.vl)
            };
            if state.credit.has(class, need, now, limits, || paces) {
                if S::Flow::MAY_LOOK_AHEAD {
                    classes[slot % 32] = class;
                }
                let born = self.messages[queue.head].generation;
                self.heads[slot] = Head {
                    born,
                    bytes: queue.bytes,
                    sl: Sl(queue.sl),
                    vl: Vl(queue.vl),
                };
                eligible |= 1 << slot;
            } else if let Some(when) = state.credit.when(class, need, now, paces, limits) {
                wake = wake.min(when);
            }
        }
        if let Some(slot) = self.choose_slot(nic, eligible, wake, now, out) {
            self.inject(now, nic, slot, classes[slot % 32], out);
        }
    }

    /// The arbiter takes one of the queues that may send; if it takes none, it looks again at `wake`.
    #[inline(always)]
    pub(super) fn choose_slot<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        eligible: u32,
        wake: Tick,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) -> Option<usize> {
        let state = &mut self.nics[nic];
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
            return None;
        };
        state.arbiter.commit(grant);
        Some(usize::from(grant.queue))
    }

    /// The class of the next packet of a queue at the first switch.
    fn class_at_first_switch(&self, nic: u32, queue: &NicQueue) -> u16 {
        if !self.credits_per_queue {
            return u16::from(queue.vl);
        }
        let destination = self.messages[queue.head].destination;
        self.queue_at_first_switch(nic, queue.vl, destination) as u16
    }

    /// The queue that the next packet of a NIC joins at the first switch.
    pub(super) fn queue_at_first_switch(&self, nic: u32, vl: u8, destination: NicId) -> u32 {
        let state = &self.nics[nic];
        let occasion = Occasion {
            source: state.id,
            sequence: state.sequence,
            hop: 0,
        };
        let input = &self.ports[state.port];
        let (switch, port) = (self.switches[input.switch].id, Port(input.number));
        self.queue_at(switch, port, vl, destination, occasion)
    }

    /// The next packet of a queue leaves the NIC.
    #[inline]
    fn inject<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        slot: usize,
        class: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let wire = &self.wires[u32::from(self.nics[nic].wire)];
        let queue = &mut self.nic_queues[nic * self.n_slots as u32 + slot as u32];
        let (flits, vl) = (queue.flits, queue.vl);
        let message = &mut self.messages[queue.head];
        let state = &mut self.nics[nic];
        if message.index == 0 {
            message.number = state.next_message();
        }
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
        // Only where classes are not lanes was it looked up.
        let class = if S::Flow::MAY_LOOK_AHEAD {
            class
        } else {
            u16::from(vl)
        };
        self.launch(now, nic, packet, class, out);
    }

    /// A packet leaves the NIC: its link is taken and the first switch awaits it.
    #[inline(always)]
    pub(super) fn launch<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        packet: Packet,
        class: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        let wire = &self.wires[u32::from(state.wire)];
        let (flits, vl) = (packet.flits, packet.vl);
        state.link_until = now + u64::from(flits) * wire.flit;
        let when = wire.allocatable(now, flits, &self.stages, &mut state.last_header);
        let port = state.port;
        if state.present != 0 && state.link_until < state.link_wake {
            state.link_wake = state.link_until;
            out.at(state.link_until, Event::NicLink { nic });
        }
        state.credit.take(class, flits);
        if S::Flow::IS_PAUSE {
            let clock = Clock {
                period: wire.flit,
                phase: 0,
            };
            let known = packet.arrival + self.stages.pause + wire.delay;
            out.at(
                clock.edge_at_or_after(known),
                Event::NicCounted { vl, flits, nic },
            );
        }
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
