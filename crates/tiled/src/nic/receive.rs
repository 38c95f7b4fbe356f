//! Receiving: packets end here, are answered, and complete messages.

use netloom_engine::{EventQueue, Outbox};
use netloom_fabric::Stage;
use netloom_units::Tick;

use crate::event::Event;
use crate::model::TiledFabric;
use crate::nic::{Answer, Standing};
use crate::record::{Flags, Record};
use crate::window::Control;

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
            self.answer_arrives(now, nic, &record);
        }
        let state = &self.nics[nic];
        if !state.answers.is_empty() || !state.activated.is_empty() || state.runs_program {
            self.mark_nic(nic, out);
        }
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
        self.counters.deliver(&packet, now);
        let row = &mut self.rows[usize::from(packet.class)];
        let is_complete = self.receiver.receive(nic, &packet, now, row);
        if is_complete && !self.nics[nic].steps.is_empty() {
            let key = (packet.destination, packet.source, packet.message);
            self.arrived.insert(key);
            self.nics[nic].runs_program = true;
        }
        if self.watch.is_some() {
            let nic = packet.destination;
            self.note(&packet, now, Stage::Delivered { nic });
        }
    }

    /// An acknowledgement: its flow may send more.
    fn answer_arrives(&mut self, now: Tick, nic: u32, record: &Record) {
        let packet = record.packet;
        if record.flags.has(Flags::CORRUPT) {
            self.protocol.discarded += 1;
            return;
        }
        self.counters.deliver(&packet, now);
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
            window.acknowledged(&mut flow.window, is_marked, now);
            self.protocol.cuts += u64::from(is_marked);
        }
        match flow.standing {
            Standing::Parked => self.nics[nic].activated.push(at),
            Standing::Idle => self.forget_flow(now, nic, at),
            Standing::Active => {}
        }
    }
}
