//! Sending: messages join their flows, flows and acknowledgements take turns on the link.

use netloom_engine::{EventQueue, Outbox};
use netloom_fabric::Stage;
use netloom_packet::{Label, Packet};
use netloom_units::{Clock, Sc, Sl, Tick, Vl};

use crate::event::Event;
use crate::model::TiledFabric;
use crate::nic::{Answer, Created, Flow, Message, Standing};
use crate::record::{Flags, NIL, Parcel, Record};
use crate::window::{Control, EcnFlow};

/// Virtual channels of the link to the first switch. Acknowledgements have their own: data at the head of an end port may wait
/// for room in a stash, that is for acknowledgements, and these must not wait behind such data elsewhere.
const DATA: u8 = 0;
const ANSWERS: u8 = 1;

impl TiledFabric {
    #[inline]
    pub(crate) fn mark_nic<Q: EventQueue<Event>>(&mut self, nic: u32, out: &mut Outbox<Self, Q>) {
        let marked = &mut self.nics[nic].is_marked;
        if !*marked {
            *marked = true;
            out.mark(self.switches.len() as u32 + nic);
        }
    }

    /// The next message of a class at a NIC, and when it is created.
    pub(crate) fn next_message(&mut self, nic: u32, class: u8) -> Option<(Tick, Created)> {
        let plan = &self.classes[usize::from(class)];
        if plan.source.program().is_some() {
            return None;
        }
        let cursor = &mut self.cursors[nic as usize * self.classes.len() + usize::from(class)];
        let state = &self.nics[nic];
        let arrival = plan.source.next(state.id, cursor)?;
        let when = Tick(arrival.cycle * self.wires[u32::from(state.wire)].flit);
        let created = Created {
            class,
            sl: arrival.sl.unwrap_or(plan.sl.0),
            flow: arrival.flow,
            destination: arrival.destination,
            bytes: arrival.bytes,
        };
        Some((when, created))
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
        self.nics[nic].created.push(created);
        while let Some((when, created)) = self.next_message(nic, class) {
            if when > now {
                out.at(when, created.event(nic));
                break;
            }
            self.nics[nic].created.push(created);
        }
        self.mark_nic(nic, out);
    }

    /// Messages created in this tick join their flows, in order of class.
    fn take_in_messages(&mut self, now: Tick, nic: u32) {
        let mut created = std::mem::take(&mut self.nics[nic].created);
        // Stable: messages of one class stay in their order.
        created.sort_by_key(|created| created.class);
        for created in created.drain(..) {
            self.enqueue(now, nic, created);
        }
        self.nics[nic].created = created;
    }

    /// A message joins its flow.
    pub(super) fn enqueue(&mut self, now: Tick, nic: u32, created: Created) {
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
        recorded.offered_flits += self.segmentation.of(Sl(sl)).flits_of(bytes);
        let state = &mut self.nics[nic];
        let number = &mut self.nic_messages[nic as usize * self.rows.len() + usize::from(row)];
        let message = Message {
            generation: now,
            left: bytes,
            number: *number,
            index: 0,
            next: NIL,
            row,
            sl,
            flow,
        };
        *number += 1;
        let id = self.messages.insert(message);
        let at = match state.flows.get(&destination.0) {
            Some(&at) => at,
            None => {
                let fresh = Flow {
                    destination,
                    standing: Standing::Idle,
                    head: NIL,
                    tail: NIL,
                    next: NIL,
                    in_flight: 0,
                    window: self.window.map_or(EcnFlow::NONE, |w| w.start(now)),
                    wake: Tick::NEVER,
                };
                let at = self.flows.insert(fresh);
                state.flows.insert(destination.0, at);
                at
            }
        };
        let flow = &mut self.flows[at];
        if flow.head == NIL {
            (flow.head, flow.tail) = (id, id);
        } else {
            let last = std::mem::replace(&mut flow.tail, id);
            self.messages[last].next = id;
        }
        if flow.standing == Standing::Idle {
            flow.standing = Standing::Active;
            state.activated.push(at);
        }
    }

    /// Room has come free at the first switch.
    pub(crate) fn nic_credit_arrives<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        vc: u8,
        flits: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        let shares = &self.input_shares[u32::from(state.wire)];
        state.credit.give(vc, flits, shares);
        if state.is_blocked {
            state.is_blocked = false;
            self.mark_nic(nic, out);
        }
    }

    /// A link that was busy, or the first edge at which something may be sent.
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
        self.mark_nic(nic, out);
    }

    /// The window of a parked flow has grown, unless an acknowledgement was earlier.
    pub(crate) fn window_grown<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        destination: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        if let Some(&at) = self.nics[nic].flows.get(&destination) {
            self.flows[at].wake = Tick::NEVER;
            if self.flows[at].standing == Standing::Parked {
                self.nics[nic].activated.push(at);
                self.mark_nic(nic, out);
            }
        }
    }

    /// Flows that may send again, or have something new to send, join the ring in order of destination.
    fn join_ring<Q: EventQueue<Event>>(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self, Q>) {
        let mut activated = std::mem::take(&mut self.nics[nic].activated);
        activated.sort_unstable_by_key(|&at| self.flows[at].destination);
        activated.dedup();
        for at in activated.drain(..) {
            if self.flows[at].standing == Standing::Parked {
                if let Err(when) = self.admits(now, at) {
                    self.park(nic, at, when, out);
                    continue;
                }
                self.flows[at].standing = Standing::Active;
            }
            self.append(nic, at);
        }
        self.nics[nic].activated = activated;
    }

    fn append(&mut self, nic: u32, at: u32) {
        self.flows[at].next = NIL;
        let ring = &mut self.nics[nic].ring;
        if ring.0 == NIL {
            *ring = (at, at);
        } else {
            let last = std::mem::replace(&mut ring.1, at);
            self.flows[last].next = at;
        }
    }

    /// Flits of the next packet of a flow.
    #[inline]
    fn next_flits(&self, at: u32) -> u16 {
        let message = &self.messages[self.flows[at].head];
        self.segmentation.of(Sl(message.sl)).cut(message.left).flits
    }

    /// Whether the window of a flow has room for its next packet; otherwise when it will have grown to it.
    #[inline]
    fn admits(&self, now: Tick, at: u32) -> Result<(), Tick> {
        let Some(window) = &self.window else {
            return Ok(());
        };
        let flow = &self.flows[at];
        window.admits(&flow.window, flow.in_flight, self.next_flits(at), now)
    }

    /// A flow leaves the ring until its window is open again.
    fn park<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        at: u32,
        when: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let period = self.wires[u32::from(self.nics[nic].wire)].flit;
        let flow = &mut self.flows[at];
        flow.standing = Standing::Parked;
        if when == Tick::NEVER {
            return;
        }
        let when = Clock::new(period).edge_at_or_after(when);
        if when < flow.wake {
            flow.wake = when;
            let destination = flow.destination.0;
            out.at(when, Event::Grown { nic, destination });
        }
    }

    /// All that a NIC does in a tick.
    #[inline]
    pub(crate) fn decide_nic<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        now: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        self.nics[nic].is_marked = false;
        if self.nics[nic].runs_program {
            self.run_programs(now, nic);
        }
        if !self.nics[nic].created.is_empty() {
            self.take_in_messages(now, nic);
        }
        if !self.nics[nic].activated.is_empty() {
            self.join_ring(now, nic, out);
        }
        let state = &self.nics[nic];
        if state.answers.is_empty() && state.ring.0 == NIL {
            return;
        }
        let period = self.wires[u32::from(state.wire)].flit;
        let edge = Clock::new(period).edge_at_or_after(now.max(state.link_until));
        if edge > now {
            self.look_at_nic(nic, edge, out);
            return;
        }
        if self.send_one(now, nic, out) {
            let state = &self.nics[nic];
            if !state.answers.is_empty() || state.ring.0 != NIL {
                self.look_at_nic(nic, state.link_until, out);
            }
        }
    }

    fn look_at_nic<Q: EventQueue<Event>>(
        &mut self,
        nic: u32,
        when: Tick,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        if when < state.link_wake {
            state.link_wake = when;
            out.at(when, Event::NicLink { nic });
        }
    }

    /// Whether a packet fits into the first switch; if not, the NIC waits for room.
    #[inline]
    fn has_credit(&mut self, nic: u32, vc: u8, flits: u16) -> bool {
        let state = &mut self.nics[nic];
        let shares = &self.input_shares[u32::from(state.wire)];
        let fits = state.credit.fits(vc, flits, shares);
        state.is_blocked |= !fits;
        fits
    }

    /// Sends an acknowledgement, or a packet of the first flow that its window lets send; whether anything was
    /// sent.
    fn send_one<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        out: &mut Outbox<Self, Q>,
    ) -> bool {
        if let Some(&answer) = self.nics[nic].answers.front() {
            let flits = self.acknowledgement.expect("who answers has a size for it");
            if !self.has_credit(nic, ANSWERS, flits) {
                return false;
            }
            self.nics[nic].answers.pop_front();
            self.answer(now, nic, answer, flits, out);
            return true;
        }
        loop {
            let at = self.nics[nic].ring.0;
            if at == NIL {
                return false;
            }
            if let Err(when) = self.admits(now, at) {
                self.nics[nic].ring.0 = self.flows[at].next;
                self.park(nic, at, when, out);
                continue;
            }
            let flits = self.next_flits(at);
            if !self.has_credit(nic, DATA, flits) {
                return false;
            }
            self.nics[nic].ring.0 = self.flows[at].next;
            self.inject(now, nic, at, out);
            return true;
        }
    }

    fn answer<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        answer: Answer,
        flits: u16,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &self.nics[nic];
        let packet = Packet {
            generation: answer.created,
            injection: now,
            arrival: now,
            source: state.id,
            destination: answer.destination,
            sequence: state.sequence,
            message: answer.sequence,
            index: u32::from(answer.flits),
            bytes: u32::from(flits) * self.segmentation.flit.0 as u32,
            flits,
            class: answer.row,
            sl: Sl(answer.sl),
            vl: ANSWERS,
            hops: 0,
            flow: 0,
            label: Label::new(Sc(0), true),
        };
        let flags = Flags::default()
            .with(Flags::ACKNOWLEDGEMENT, true)
            .with(Flags::MARKED, answer.is_marked)
            .with(Flags::NEGATIVE, answer.is_negative);
        self.launch(now, nic, packet, flags, out);
    }

    /// The next packet of a flow leaves the NIC.
    fn inject<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        at: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let flow = &mut self.flows[at];
        let head = flow.head;
        let message = &mut self.messages[head];
        let cut = self.segmentation.of(Sl(message.sl)).cut(message.left);
        message.left -= cut.payload;
        let is_last = message.left == 0;
        let state = &self.nics[nic];
        let packet = Packet {
            generation: message.generation,
            injection: now,
            arrival: now,
            source: state.id,
            destination: flow.destination,
            sequence: state.sequence,
            message: message.number,
            index: message.index,
            bytes: cut.bytes,
            flits: cut.flits,
            class: message.row,
            sl: Sl(message.sl),
            vl: DATA,
            hops: 0,
            flow: message.flow,
            label: Label::new(Sc(0), is_last),
        };
        message.index += 1;
        if is_last {
            flow.head = message.next;
            self.messages.remove(head);
        }
        if self.acknowledgement.is_some() {
            flow.in_flight += u32::from(cut.flits);
        }
        if flow.head == NIL {
            flow.tail = NIL;
            flow.standing = Standing::Idle;
            self.forget_flow(now, nic, at);
        } else {
            self.append(nic, at);
        }
        let row = usize::from(packet.class);
        self.nic_flits[nic as usize * self.rows.len() + row] += u64::from(cut.flits);
        self.rows[row].injected_packets += 1;
        self.rows[row].injected_flits += u64::from(cut.flits);
        if self.watch.is_some() {
            let nic = packet.source;
            self.note(&packet, packet.generation, Stage::Created { nic });
            self.note(&packet, now, Stage::Injected { nic, vl: Vl(0) });
        }
        self.launch(now, nic, packet, Flags::default(), out);
    }

    /// A flow with nothing under way and a whole window is as good as none.
    pub(super) fn forget_flow(&mut self, now: Tick, nic: u32, at: u32) {
        let flow = &self.flows[at];
        let is_fresh = self
            .window
            .is_none_or(|window| window.is_fresh(&flow.window, now));
        if flow.standing == Standing::Idle && flow.in_flight == 0 && is_fresh {
            let destination = flow.destination.0;
            self.nics[nic].flows.remove(&destination);
            self.flows.remove(at);
        }
    }

    /// A packet takes the link.
    fn launch<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        mut packet: Packet,
        flags: Flags,
        out: &mut Outbox<Self, Q>,
    ) {
        let state = &mut self.nics[nic];
        let wire = &self.wires[u32::from(state.wire)];
        let flits = packet.flits;
        packet.arrival = wire.arrival(now);
        state.sequence += 1;
        state.link_until = now + wire.occupancy(flits);
        let shares = &self.input_shares[u32::from(state.wire)];
        state.credit.take(packet.vl, flits, shares);
        let port = state.port;
        let when = wire.ready(now, flits, self.clock);
        self.counters.injected += 1;
        let record = Record::new(Parcel {
            packet,
            flags,
            attempt: 0,
        });
        let packet = self.packets.insert(record);
        out.at(when, Event::Head { port, packet });
    }
}
