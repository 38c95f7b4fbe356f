//! The entry of messages: workloads create them, and they join their queues.

use netloom_engine::Outbox;
use netloom_units::{Sl, Tick};

use crate::endpoint::{Created, Message};
use crate::fabric::Fabric;
use crate::switch::{Events, NIL, Switches};

impl<S: Switches> Fabric<S> {
    /// Returns the first message of every NIC and class, and the start of programs.
    pub(crate) fn first_arrivals(&mut self, mut each: impl FnMut(Tick, S::Event)) {
        for nic in 0..self.endpoints.nics.len() as u32 {
            if self.endpoints.programs.is_some() {
                each(Tick::ZERO, S::Event::begin(nic));
            }
            for class in 0..self.endpoints.classes.len() as u8 {
                if let Some((when, created)) = self.next_arrival(nic, class) {
                    each(when, S::Event::arrival(nic, created));
                }
            }
        }
    }

    /// Returns the next message of a class at a NIC, and when it is created.
    fn next_arrival(&mut self, nic: u32, class: u8) -> Option<(Tick, Created)> {
        let endpoints = &mut self.endpoints;
        let plan = &endpoints.classes[usize::from(class)];
        if !S::HAS_PLAIN_ENDPOINTS
            && endpoints.programs.is_some()
            && plan.source.program().is_some()
        {
            return None;
        }
        let at = nic as usize * endpoints.classes.len() + usize::from(class);
        let state = &endpoints.nics[nic];
        let arrival = plan.source.next(state.id, &mut endpoints.cursors[at])?;
        let when = Tick(arrival.cycle * self.switches.nic_cycle(state.wire));
        let created = Created {
            class,
            sl: arrival.sl.unwrap_or(plan.sl.0),
            flow: arrival.flow,
            destination: arrival.destination,
            bytes: arrival.bytes,
        };
        Some((when, created))
    }

    /// Takes a message from a workload, and possibly more at the same instant.
    #[inline]
    pub(crate) fn message_arrives(
        &mut self,
        now: Tick,
        nic: u32,
        created: Created,
        out: &mut Outbox<Self>,
    ) {
        let class = created.class;
        self.take_message(now, nic, created);
        while let Some((when, created)) = self.next_arrival(nic, class) {
            if when > now {
                out.at(when, S::Event::arrival(nic, created));
                break;
            }
            self.take_message(now, nic, created);
        }
        if !S::HAS_PLAIN_ENDPOINTS && self.endpoints.created.is_some() {
            self.mark_nic(nic, out);
        } else {
            self.nic_link_wakes(now, nic, out);
        }
    }

    /// Adds a message to its queue; at once if the order of classes cannot matter.
    #[inline(always)]
    fn take_message(&mut self, now: Tick, nic: u32, created: Created) {
        match &mut self.endpoints.created {
            Some(waiting) if !S::HAS_PLAIN_ENDPOINTS => waiting[nic].push(created),
            _ => self.enqueue(now, nic, created),
        }
    }

    /// Adds the messages created in this tick to their queues, in order of class.
    pub(super) fn take_in_by_class(&mut self, now: Tick, nic: u32) {
        let Some(waiting) = &mut self.endpoints.created else {
            return;
        };
        let mut created = std::mem::take(&mut waiting[nic]);
        // Stable: messages of one class keep their order.
        created.sort_by_key(|created| created.class);
        for created in created.drain(..) {
            self.enqueue(now, nic, created);
        }
        if let Some(waiting) = &mut self.endpoints.created {
            waiting[nic] = created;
        }
    }

    /// Adds a message to its queue.
    pub(super) fn enqueue(&mut self, now: Tick, nic: u32, created: Created) {
        let Created {
            class,
            sl,
            flow,
            destination,
            bytes,
        } = created;
        let has_voqs = self.has_voqs();
        let endpoints = &mut self.endpoints;
        let row = endpoints.row_of[usize::from(class)][usize::from(sl & 15)];
        let recorded = &mut self.shared.rows[usize::from(row)];
        recorded.offered_messages += 1;
        let segmentation = self.shared.segmentation.of(Sl(sl));
        let cut = segmentation.cut(bytes);
        // Most messages are one packet.
        recorded.offered_flits += if cut.payload == bytes {
            u64::from(cut.flits)
        } else {
            segmentation.flits_of(bytes)
        };
        let state = &mut endpoints.nics[nic];
        let number = match &mut endpoints.numbers {
            Some(numbers) if !S::HAS_PLAIN_ENDPOINTS => {
                let next = &mut numbers[nic as usize * self.shared.rows.len() + usize::from(row)];
                *next += 1;
                *next - 1
            }
            _ => 0,
        };
        let sc = self.shared.channels.choose(Sl(sl), state.id, destination);
        let message = Message {
            generation: now,
            destination,
            left: bytes,
            number,
            index: 0,
            next: NIL,
            row,
            flow,
            sl,
            sc: sc.0,
        };
        let id = endpoints.messages.insert(message);
        let slot = usize::from(endpoints.slot_of[sc.index()]);
        if !S::HAS_PLAIN_ENDPOINTS && endpoints.flows.is_some() {
            self.join_flow(now, nic, slot, id);
            return;
        }
        if has_voqs {
            self.admit(nic, slot, destination, id);
            return;
        }
        let queue = &mut endpoints.queues[nic * endpoints.n_slots as u32 + slot as u32];
        if queue.head == NIL {
            queue.head = id;
            queue.tail = id;
            (queue.payload, queue.bytes, queue.flits) = (cut.payload, cut.bytes, cut.flits);
            state.present |= 1 << slot;
        } else {
            let last = std::mem::replace(&mut queue.tail, id);
            endpoints.messages[last].next = id;
        }
    }
}
