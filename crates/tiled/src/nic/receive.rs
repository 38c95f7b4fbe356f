//! Receiving: packets end here, are answered, and complete messages.

use std::num::NonZero;

use netloom_engine::{EventQueue, Outbox};
use netloom_fabric::Stage;
use netloom_metrics::Delivery;
use netloom_packet::Packet;
use netloom_units::Tick;

use crate::event::Event;
use crate::model::TiledFabric;
use crate::nic::{Answer, Standing};
use crate::record::{Flags, Record};
use crate::window::{Control, Echo};

impl TiledFabric {
    /// The last flit of a packet has arrived.
    #[inline]
    pub(crate) fn deliver<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        id: u32,
        out: &mut Outbox<Self, Q>,
    ) {
        let record = self.packets.remove(id);
        assert_eq!(
            record.packet.destination, self.nics[nic].id,
            "a packet reaches the NIC it was sent to"
        );
        if record.is_data() {
            self.data_arrives(now, nic, &record);
        } else {
            self.answer_arrives(now, nic, &record, out);
        }
        let state = &self.nics[nic];
        if !state.answers.is_empty() || !state.activated.is_empty() || state.runs_program {
            self.mark_nic(nic, out);
        }
    }

    /// Counts a delivery.
    fn count(&mut self, packet: &Packet, now: Tick) {
        self.counters.delivered += 1;
        self.counters.digest.add(&Delivery {
            source: packet.source.0,
            sequence: packet.sequence,
            destination: packet.destination.0,
            generation: packet.generation.0,
            tail: now.0,
            flits: packet.flits,
            sl: packet.sl.0,
            row: packet.class,
        });
    }

    /// A data packet: it is answered, and counts if it is whole and new.
    fn data_arrives(&mut self, now: Tick, nic: u32, record: &Record) {
        let packet = record.packet;
        let is_corrupt = record.flags.has(Flags::CORRUPT);
        if self.acknowledgement.is_some() {
            self.nics[nic].answers.push_back(Answer {
                destination: packet.source,
                sequence: packet.sequence,
                flits: packet.flits,
                row: packet.class,
                sl: packet.sl.0,
                is_marked: record.flags.has(Flags::MARKED),
                is_negative: is_corrupt,
                created: now,
            });
        }
        if is_corrupt {
            self.protocol.discarded += 1;
            return;
        }
        if self.chances.is_some() && !self.seen.insert((packet.source, packet.sequence)) {
            self.protocol.discarded += 1;
            self.protocol.duplicates += 1;
            return;
        }
        self.count(&packet, now);
        let is_late = self.is_late(&packet);
        let is_complete = self.completes(&packet);
        let row = usize::from(packet.class);
        let at = nic as usize * self.rows.len() + row;
        let recorded = &mut self.rows[row];
        recorded.delivered_packets += 1;
        recorded.delivered_flits += u64::from(packet.flits);
        recorded.hops += u64::from(packet.hops);
        recorded.reordered += u64::from(is_late);
        let latency = now - packet.generation;
        recorded.network_latency.record(now - packet.injection);
        let is_single = packet.label.is_last() && packet.index == 0;
        if is_single {
            recorded.record_single(latency);
        } else {
            recorded.packet_latency.record(latency);
        }
        if is_complete {
            recorded.delivered_messages += 1;
            recorded.last_delivery = Some(now);
            if !is_single {
                recorded.message_latency.record(latency);
            }
            if let Some(last) = self.last_latency[at] {
                recorded.jitter.record(last.get().abs_diff(latency));
            }
            self.last_latency[at] = NonZero::new(latency);
            if self.is_program[row] {
                let key = (packet.destination, packet.source, packet.message);
                self.arrived.insert(key);
                self.nics[nic].runs_program = true;
            }
        }
        if self.watch.is_some() {
            let nic = packet.destination;
            self.note(&packet, now, Stage::Delivered { nic });
        }
    }

    /// An acknowledgement: its flow may send more.
    fn answer_arrives<Q: EventQueue<Event>>(
        &mut self,
        now: Tick,
        nic: u32,
        record: &Record,
        out: &mut Outbox<Self, Q>,
    ) {
        let packet = record.packet;
        if record.flags.has(Flags::CORRUPT) {
            self.protocol.discarded += 1;
            return;
        }
        self.count(&packet, now);
        if record.flags.has(Flags::VOID) {
            return;
        }
        self.protocol.acknowledgements += 1;
        let Some(&at) = self.nics[nic].flows.get(&packet.source.0) else {
            unreachable!("a flow lives until all it sent is acknowledged");
        };
        let flow = &mut self.flows[at];
        flow.in_flight -= packet.index;
        let is_marked = record.flags.has(Flags::MARKED);
        if let Some(window) = &self.window {
            let echo = Echo {
                is_marked,
                sequence: packet.message,
                next: self.nics[nic].sequence,
            };
            let is_cut = window.acknowledged(&mut flow.window, echo, now);
            self.protocol.cuts += u64::from(is_cut);
        }
        match flow.standing {
            Standing::Parked => self.nics[nic].activated.push(at),
            Standing::Idle => self.forget_flow(now, nic, at),
            // Cut, it may have to leave its turn to the next flow, although it waited for room at the switch.
            Standing::Active if is_marked && self.nics[nic].is_blocked => self.mark_nic(nic, out),
            Standing::Active => {}
        }
    }

    /// Whether this packet completes its message: packets may overtake each other, so they are counted until all
    /// up to the last are here.
    fn completes(&mut self, packet: &Packet) -> bool {
        if packet.label.is_last() && packet.index == 0 {
            return true;
        }
        let key = (packet.source, packet.class, packet.message);
        let (arrived, total) = self.partial.entry(key).or_insert((0, u32::MAX));
        *arrived += 1;
        if packet.label.is_last() {
            *total = packet.index + 1;
        }
        let is_complete = arrived == total;
        if is_complete {
            self.partial.remove(&key);
        }
        is_complete
    }

    /// Whether a later packet of the same flow was here first.
    fn is_late(&mut self, packet: &Packet) -> bool {
        let Some(last) = &mut self.last_sequence else {
            return false;
        };
        let key = (packet.source, packet.destination, packet.sl);
        let flow = last.entry(key).or_insert(packet.sequence);
        let is_late = packet.sequence < *flow;
        *flow = (*flow).max(packet.sequence);
        is_late
    }
}
