//! NICs: messages arrive, wait, are cut into packets and sent; packets are received.

use std::collections::VecDeque;

use netloom_arbitration::{Head, View};
use netloom_fabric::NicQueues;
use netloom_metrics::Delivery;
use netloom_units::{NicId, Sc, Sl, Tick, Vl};

use super::Twin;
use super::state::{Class, Kind, Message, Packet, Ready, Sender};

/// A packet that a slot of a NIC could send now.
#[derive(Clone, Copy)]
struct Candidate {
    ready: Ready,
    class: Class,
    from: From,
}

/// Where it waits.
#[derive(Clone, Copy)]
enum From {
    Channel,
    Injection(usize),
    Flow,
}

impl Twin<'_> {
    pub(super) fn draw_next(&mut self, nic: usize, class: usize) {
        let state = &mut self.nics[nic];
        let source = &self.plan.classes[class].source;
        if source.program().is_some() {
            return;
        }
        let arrival = source.next(NicId(nic as u32), &mut state.cursors[class]);
        let flit = self.plan.nic_link(NicId(nic as u32)).flit;
        state.next[class] = arrival.map(|a| (a.cycle * flit, a.destination.0, a.bytes));
    }

    pub(super) fn arrivals(&mut self, nic: usize) {
        for class in 0..self.plan.classes.len() {
            while let Some((when, destination, bytes)) = self.nics[nic].next[class] {
                if when > self.now {
                    break;
                }
                self.create(nic, class, destination, bytes);
                self.draw_next(nic, class);
            }
        }
    }

    /// Returns the recorder's row of a class.
    pub(super) fn row_of(&self, class: usize) -> u8 {
        let sl = self.plan.classes[class].sl;
        let rows = netloom_fabric::rows(self.plan);
        let row = rows.iter().position(|row| *row == (class, sl));
        row.expect("a row per class and level") as u8
    }

    /// Returns the initial channel of the packets of a flow.
    pub(super) fn channel(&self, sl: u8, from: u32, to: u32) -> Sc {
        self.plan.channels.choose(Sl(sl), NicId(from), NicId(to))
    }

    /// Creates a message and adds it to its queue.
    pub(super) fn create(&mut self, nic: usize, class: usize, destination: u32, bytes: u32) {
        let (row, sl) = (self.row_of(class), self.plan.classes[class].sl);
        let sc = self.channel(sl.0, nic as u32, destination);
        let number = &mut self.nics[nic].numbers[usize::from(row)];
        *number += 1;
        let message = Message {
            born: self.now,
            destination,
            left: bytes,
            sc,
            sl,
            row,
            number: *number - 1,
            index: 0,
        };
        if self.has_flows() {
            self.join_flow(nic, message);
        } else {
            self.admit(nic, self.slot_of(message.sc), message);
        }
    }

    fn admit(&mut self, nic: usize, slot: usize, message: Message) {
        if self.plan.endpoints.queues == NicQueues::PerChannel {
            self.nics[nic].queues[slot].push_back(message);
            return;
        }
        let queue = self.first_queue(nic, self.slots[slot].0, message.destination);
        let state = &mut self.nics[nic];
        let waiting: &mut VecDeque<Message> =
            state.voqs[slot].entry(message.destination).or_default();
        if waiting.is_empty() {
            let active = &mut state.injection[slot][queue].active;
            active.push_back(message.destination);
        }
        waiting.push_back(message);
    }

    /// Returns the queue of the first switch that packets of a channel to a destination take.
    fn first_queue(&self, nic: usize, sc: Sc, destination: u32) -> usize {
        assert!(
            !self.plan.forwarding.needs_occasion(),
            "all packets to a destination go one way"
        );
        let packet = Packet {
            source: nic as u32,
            destination,
            ..Packet::default()
        };
        let (at, from) = self.plan.topology.attachment(NicId(nic as u32));
        self.queue_ahead(
            at,
            from,
            &packet,
            self.plan.channels.at_nic(NicId(nic as u32), sc),
        )
    }

    /// Fills injection queues from VOQs, destination after destination.
    fn refill(&mut self, nic: usize) {
        let plan = self.plan;
        for (slot, &(sc, _)) in self.slots.iter().enumerate() {
            let limit = plan.switch.crossbar().queue_flits
                [usize::from(plan.channels.at_nic(NicId(nic as u32), sc))];
            let state = &mut self.nics[nic];
            for injection in &mut state.injection[slot] {
                while let Some(&destination) = injection.active.front() {
                    let waiting = state.voqs[slot].get_mut(&destination);
                    let waiting = waiting.expect("an active destination");
                    let message = waiting.front_mut().expect("an active destination");
                    let mut rest = *message;
                    let ready = rest.cut(plan);
                    if injection.used + u32::from(ready.flits) > limit {
                        break;
                    }
                    injection.used += u32::from(ready.flits);
                    injection.packets.push_back(ready);
                    *message = rest;
                    if ready.is_last {
                        waiting.pop_front();
                    }
                    injection.active.pop_front();
                    if !waiting.is_empty() {
                        injection.active.push_back(destination);
                    }
                }
            }
        }
    }

    /// Returns the class of a packet, if it could be sent now.
    fn may_inject(&self, nic: usize, ready: Ready) -> Option<Class> {
        let vl = self.plan.channels.at_nic(NicId(nic as u32), ready.sc);
        let packet = Packet {
            source: nic as u32,
            sequence: self.nics[nic].sequence,
            destination: ready.destination,
            ..Packet::default()
        };
        let class = self.class_ahead(Sender::Nic(nic), &packet, vl);
        self.may_send(Sender::Nic(nic), class, vl, u64::from(ready.flits))
            .then_some(class)
    }

    /// Returns the packet that a slot would send now.
    fn candidate(&mut self, nic: usize, slot: usize) -> Option<Candidate> {
        if self.has_flows() {
            let ready = self.first_admitted(nic, slot)?;
            return self.may_inject(nic, ready).map(|class| Candidate {
                ready,
                class,
                from: From::Flow,
            });
        }
        let state = &self.nics[nic];
        if self.plan.endpoints.queues == NicQueues::PerChannel {
            let mut message = *state.queues[slot].front()?;
            let ready = message.cut(self.plan);
            return self.may_inject(nic, ready).map(|class| Candidate {
                ready,
                class,
                from: From::Channel,
            });
        }
        let n = state.injection[slot].len();
        let first = state.next_injection[slot];
        (0..n).map(|k| (first + k) % n).find_map(|queue| {
            let ready = *state.injection[slot][queue].packets.front()?;
            let class = self.may_inject(nic, ready)?;
            Some(Candidate {
                ready,
                class,
                from: From::Injection(queue),
            })
        })
    }

    /// Removes a packet that is sent from its queue.
    fn take(&mut self, nic: usize, slot: usize, candidate: Candidate) {
        let state = &mut self.nics[nic];
        match candidate.from {
            From::Injection(queue) => {
                let injection = &mut state.injection[slot][queue];
                injection.packets.pop_front();
                injection.used -= u32::from(candidate.ready.flits);
                state.next_injection[slot] = (queue + 1) % state.injection[slot].len();
            }
            From::Channel => {
                let message = state.queues[slot].front_mut().expect("a message");
                if message.cut(self.plan).is_last {
                    state.queues[slot].pop_front();
                }
            }
            From::Flow => self.take_from_flow(nic, slot),
        }
    }

    pub(super) fn inject(&mut self, nic: usize) {
        if self.nics[nic].far.link_until > self.now {
            return;
        }
        if self.answer(nic) {
            return;
        }
        if self.plan.endpoints.queues == NicQueues::PerDestination {
            self.refill(nic);
        }
        let mut heads = Box::new([Head::default(); 32]);
        let mut eligible = 0u32;
        let mut candidates = vec![None; self.slots.len()];
        for slot in 0..self.slots.len() {
            candidates[slot] = self.candidate(nic, slot);
            if let Some(Candidate { ready, .. }) = candidates[slot] {
                eligible |= 1 << slot;
                heads[slot] = Head {
                    born: Tick(ready.born),
                    bytes: ready.bytes,
                    sl: ready.sl,
                    vl: Vl(self.plan.channels.at_nic(NicId(nic as u32), ready.sc)),
                };
            }
        }
        if eligible == 0 {
            return;
        }
        let Some(grant) = self.nic_arbiters[nic].choose(&View {
            eligible,
            heads: &heads,
        }) else {
            return;
        };
        self.nic_arbiters[nic].commit(grant);
        let slot = usize::from(grant.queue);
        let chosen = candidates[slot].expect("an eligible slot");
        self.take(nic, slot, chosen);
        let ready = chosen.ready;
        let packet = Packet {
            source: nic as u32,
            sequence: self.nics[nic].sequence,
            destination: ready.destination,
            generation: ready.born,
            bytes: ready.bytes,
            flits: u64::from(ready.flits),
            sl: ready.sl.0,
            row: ready.row,
            sc: ready.sc,
            message: ready.message,
            index: ready.index,
            is_last: ready.is_last,
            next_vl: self.plan.channels.at_nic(NicId(nic as u32), ready.sc),
            next_class: chosen.class,
            ..Packet::default()
        };
        self.launch(nic, packet);
    }

    /// Puts a packet on the link of its NIC.
    pub(super) fn launch(&mut self, nic: usize, packet: Packet) {
        self.nics[nic].sequence += 1;
        self.injected += 1;
        let id = self.packets.len();
        self.packets.push(packet);
        self.take_credits(Sender::Nic(nic), packet.next_class, packet.flits);
        self.transmit(Sender::Nic(nic), id, self.now);
    }

    pub(super) fn received_by_nic(&mut self, nic: usize, id: usize, k: u64) {
        let packet = self.packets[id];
        assert_eq!(packet.destination as usize, nic);
        if k + 1 == packet.flits {
            self.delivered += 1;
            self.delivered_flits += packet.flits;
            let delivery = Delivery {
                source: packet.source,
                sequence: packet.sequence,
                destination: packet.destination,
                generation: packet.generation,
                tail: self.now,
                flits: packet.flits as u16,
                sl: packet.sl,
                row: packet.row,
            };
            self.digest.add(&delivery);
            self.deliveries.push(delivery);
            if packet.kind == Kind::Data {
                self.owe_answer(nic, packet);
                self.complete(nic, packet);
            } else {
                self.acknowledged(nic, packet);
            }
        }
    }
}
