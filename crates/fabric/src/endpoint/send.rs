//! Sending: the arbiter of a NIC chooses a queue, and its next packet takes the link.

use netloom_arbitration::{Arbiter, View};
use netloom_engine::Outbox;
use netloom_packet::{Label, Packet};
use netloom_units::{Clock, Sc, Sl, Tick, Vl};

use crate::endpoint::NicQueue;
use crate::fabric::Fabric;
use crate::parcel::Parcel;
use crate::switch::{Events, NIL, Switches};
use crate::trace::Stage;

impl<S: Switches> Fabric<S> {
    #[inline]
    pub(crate) fn mark_nic(&mut self, nic: u32, out: &mut Outbox<Self>) {
        let marked = &mut self.endpoints.nics[nic].is_marked;
        if !*marked {
            *marked = true;
            out.mark(self.switches.len() as u32 + nic);
        }
    }

    /// Schedules a check of a NIC's link, unless an earlier one is scheduled.
    #[inline(always)]
    pub(super) fn look_at_nic(&mut self, nic: u32, when: Tick, out: &mut Outbox<Self>) {
        let state = &mut self.endpoints.nics[nic];
        if when < state.link_wake {
            state.link_wake = when;
            out.at(when, S::Event::nic_link(nic));
        }
    }

    /// Schedules the next check of a NIC without space at the first switch, as far as the time is
    /// known.
    #[inline(always)]
    pub(super) fn look_for_room(
        &mut self,
        nic: u32,
        when: Tick,
        now: Tick,
        out: &mut Outbox<Self>,
    ) {
        if when != Tick::NEVER {
            let clock = Clock::new(self.switches.nic_cycle(self.endpoints.nics[nic].wire));
            self.look_at_nic(nic, clock.edge_at_or_after(when.max(now + 1)), out);
        }
    }

    /// Checks a NIC with messages now if its link is available, otherwise when it will be.
    #[inline]
    pub(crate) fn nic_link_wakes(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self>) {
        let has_duties = self.has_duties();
        let state = &mut self.endpoints.nics[nic];
        if state.link_wake <= now {
            state.link_wake = Tick::NEVER;
        }
        if has_duties {
            self.mark_nic(nic, out);
            return;
        }
        if state.present == 0 {
            return;
        }
        let free = state.link_until;
        if free <= now {
            self.mark_nic(nic, out);
        } else {
            self.look_at_nic(nic, free, out);
        }
    }

    /// Records that space has been freed at the first switch.
    #[inline(always)]
    pub(crate) fn nic_has_room(&mut self, now: Tick, nic: u32, out: &mut Outbox<Self>) {
        if !S::HAS_PLAIN_ENDPOINTS
            && let Some(flows) = &mut self.endpoints.flows
        {
            if flows.unblock(nic) {
                self.mark_nic(nic, out);
            }
            return;
        }
        let state = &self.endpoints.nics[nic];
        if self.has_duties() || (state.present != 0 && state.link_until <= now) {
            self.mark_nic(nic, out);
        }
    }

    /// Runs everything that a NIC does in a tick.
    #[inline]
    pub(crate) fn decide_nic(&mut self, nic: u32, now: Tick, out: &mut Outbox<Self>) {
        self.endpoints.nics[nic].is_marked = false;
        if self.has_duties() && !self.may_send_after_duties(nic, now, out) {
            return;
        }
        let state = &self.endpoints.nics[nic];
        if state.present == 0 || state.link_until > now {
            return;
        }
        if self.has_voqs() {
            self.decide_admitted(nic, now, out);
            return;
        }
        let endpoints = &mut self.endpoints;
        let state = &mut endpoints.nics[nic];
        let mut eligible = 0u32;
        let mut wake = Tick::NEVER;
        let mut slots = state.present;
        // With one queue that may send, there is nothing to choose.
        if !S::MAY_LOOK_AHEAD && slots.is_power_of_two() {
            let slot = slots.trailing_zeros() as usize;
            let queue = &endpoints.queues[nic * endpoints.n_slots as u32 + slot as u32];
            let class = u16::from(queue.vl);
            let may_send =
                (self.switches).may_send(&state.credit, state.wire, class, queue.flits, now);
            let head = queue.shown(endpoints.messages[queue.head].generation);
            match may_send {
                Err(when) => self.look_for_room(nic, when, now, out),
                Ok(()) => {
                    if (state.arbiter).send_alone(slot as u8, &head, &mut endpoints.heads) {
                        self.inject(now, nic, slot, out);
                    }
                }
            }
            return;
        }
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let queue = &endpoints.queues[nic * endpoints.n_slots as u32 + slot as u32];
            let message = &endpoints.messages[queue.head];
            let class = if S::MAY_LOOK_AHEAD {
                let candidate = state.candidate(message.destination, queue.vl);
                self.switches.class_at_first(&self.shared, candidate)
            } else {
                u16::from(queue.vl)
            };
            let may_send =
                self.switches
                    .may_send(&state.credit, state.wire, class, queue.flits, now);
            match may_send {
                Ok(()) => {
                    if S::MAY_LOOK_AHEAD {
                        endpoints.head_classes[slot % 32] = class;
                    }
                    endpoints.heads[slot % 32] = queue.shown(message.generation);
                    eligible |= 1 << slot;
                }
                Err(when) => wake = wake.min(when),
            }
        }
        if let Some(slot) = self.choose_slot(nic, eligible, wake, now, out) {
            self.inject(now, nic, slot, out);
        }
    }

    /// Does the work before sending: programs continue, messages join in order, flows take their
    /// turns and send. Returns whether the queues of the NIC may send now.
    #[inline(never)]
    fn may_send_after_duties(&mut self, nic: u32, now: Tick, out: &mut Outbox<Self>) -> bool {
        if self.endpoints.programs.is_some() {
            self.run_programs(now, nic, out);
        }
        let created = self.endpoints.created.as_ref();
        if created.is_some_and(|waiting| !waiting[nic].is_empty()) {
            self.take_in_by_class(now, nic);
        }
        if self.endpoints.buffers.is_some() {
            self.fill_buffer(now, nic);
        }
        let has_flows = self.endpoints.flows.is_some();
        if has_flows {
            self.join_rings(now, nic, out);
        }
        let has_answers = self.has_answers(nic);
        let state = &self.endpoints.nics[nic];
        if state.present == 0 && !has_answers {
            return false;
        }
        let clock = Clock::new(self.switches.nic_cycle(state.wire));
        let edge = clock.edge_at_or_after(now.max(state.link_until));
        if edge > now {
            self.look_at_nic(nic, edge, out);
            return false;
        }
        if has_answers {
            self.send_answer(now, nic, out);
            return false;
        }
        if has_flows {
            self.decide_flows(nic, now, out);
        }
        !has_flows
    }

    /// Lets the arbiter choose one of the queues that may send. If it chooses none, the NIC checks
    /// again at `wake`.
    #[inline(always)]
    pub(super) fn choose_slot(
        &mut self,
        nic: u32,
        eligible: u32,
        wake: Tick,
        now: Tick,
        out: &mut Outbox<Self>,
    ) -> Option<usize> {
        let state = &mut self.endpoints.nics[nic];
        if eligible.is_power_of_two() {
            let slot = eligible.trailing_zeros() as usize;
            let head = self.endpoints.heads[slot];
            if state
                .arbiter
                .send_alone(slot as u8, &head, &mut self.endpoints.heads)
            {
                return Some(slot);
            }
            self.look_for_room(nic, wake, now, out);
            return None;
        }
        let chosen = if eligible == 0 {
            None
        } else {
            state.arbiter.send(&View {
                eligible,
                heads: &self.endpoints.heads,
            })
        };
        if chosen.is_none() {
            self.look_for_room(nic, wake, now, out);
        }
        chosen.map(usize::from)
    }

    /// Sends the next packet of a queue.
    #[inline]
    fn inject(&mut self, now: Tick, nic: u32, slot: usize, out: &mut Outbox<Self>) {
        let endpoints = &mut self.endpoints;
        let queue = &mut endpoints.queues[nic * endpoints.n_slots as u32 + slot as u32];
        let NicQueue {
            head,
            payload,
            bytes,
            flits,
            vl,
            sl,
            sc,
            ..
        } = *queue;
        let message = &mut endpoints.messages[head];
        let state = &mut endpoints.nics[nic];
        if message.index == 0 && (S::HAS_PLAIN_ENDPOINTS || endpoints.numbers.is_none()) {
            message.number = state.next_message();
        }
        message.left -= payload;
        let is_last = message.left == 0;
        let packet = Packet {
            generation: message.generation,
            injection: now,
            arrival: now,
            source: state.id,
            destination: message.destination,
            sequence: state.sequence,
            message: message.number,
            index: message.index,
            bytes,
            flits,
            class: message.row,
            sl: Sl(sl),
            vl,
            hops: 0,
            label: Label::new(Sc(sc), is_last),
            flow: message.flow,
        };
        message.index += 1;
        if is_last {
            let next = message.next;
            endpoints.messages.remove(head);
            queue.head = next;
        }
        if queue.head == NIL {
            queue.tail = NIL;
            state.present &= !(1 << slot);
        } else {
            let left = endpoints.messages[queue.head].left;
            let cut = self.shared.segmentation.of(Sl(sl)).cut(left);
            (queue.payload, queue.bytes, queue.flits) = (cut.payload, cut.bytes, cut.flits);
        }
        // It was looked up only if classes are not lanes.
        let class = if S::MAY_LOOK_AHEAD {
            self.endpoints.head_classes[slot % 32]
        } else {
            u16::from(vl)
        };
        self.launch_data(now, nic, packet, class, out);
    }

    /// Numbers a departing packet in its flow, and frees its space in the NIC.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, now: Tick, nic: u32, packet: &mut Packet) {
        if let Some(sent) = &mut self.endpoints.sent {
            let number = sent
                .entry((nic, packet.class, packet.destination))
                .or_default();
            packet.index = *number;
            *number = number.wrapping_add(1);
        }
        let slot = self.endpoints.slot_of[packet.label.sc().index()];
        self.leave_buffer(now, nic, usize::from(slot), packet.flits);
    }

    /// Sends a data packet.
    #[inline(always)]
    pub(super) fn launch_data(
        &mut self,
        now: Tick,
        nic: u32,
        mut packet: Packet,
        class: u16,
        out: &mut Outbox<Self>,
    ) {
        if !S::HAS_PLAIN_ENDPOINTS && self.endpoints.follows_packets {
            self.follow(now, nic, &mut packet);
        }
        let row = usize::from(packet.class);
        let flits = u64::from(packet.flits);
        let recorded = &mut self.shared.rows;
        self.endpoints.nic_flits[nic as usize * recorded.len() + row] += flits;
        recorded[row].injected_packets += 1;
        recorded[row].injected_flits += flits;
        if self.is_watching() {
            let (nic, vl) = (packet.source, Vl(packet.vl));
            self.shared
                .note(&packet, packet.generation, Stage::Created { nic });
            self.shared.note(&packet, now, Stage::Injected { nic, vl });
        }
        self.launch(now, nic, Parcel::data(packet), class, out);
    }

    /// Puts a packet on the link of its NIC, which is checked again when it is free.
    #[inline(always)]
    pub(super) fn launch(
        &mut self,
        now: Tick,
        nic: u32,
        parcel: Parcel,
        class: u16,
        out: &mut Outbox<Self>,
    ) {
        let flits = u64::from(parcel.packet.flits);
        let state = &mut self.endpoints.nics[nic];
        state.sequence += 1;
        state.link_until = now + flits * self.switches.nic_cycle(state.wire);
        if state.present != 0 && state.link_until < state.link_wake {
            state.link_wake = state.link_until;
            out.at(state.link_until, S::Event::nic_link(nic));
        }
        self.shared.counters.injected += 1;
        S::launch(self, now, nic, parcel, class, out);
    }
}
