//! Reception: packets end here, are acknowledged, and complete messages.

use netloom_engine::Outbox;
use netloom_packet::Packet;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::parcel::{Flags, Parcel};
use crate::switch::Switches;
use crate::trace::Stage;

impl<S: Switches> Fabric<S> {
    /// Delivers a packet whose last flit has arrived.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Tick, nic: u32, id: u32, out: &mut Outbox<Self>) {
        let parcel = self.switches.remove(id);
        assert_eq!(
            parcel.packet.destination, self.endpoints.nics[nic].id,
            "a packet reaches the NIC it was sent to"
        );
        if !self.has_duties() {
            self.data_arrives(now, nic, &parcel);
            return;
        }
        if parcel.flags.has(Flags::ACKNOWLEDGEMENT) {
            self.answer_arrives(now, nic, &parcel, out);
        } else {
            if self.endpoints.acknowledgement.is_some() {
                self.owe_answer(now, nic, &parcel);
            }
            self.data_arrives(now, nic, &parcel);
        }
        if self.has_answers(nic) || self.has_activated_flows(nic) || self.has_due_programs(nic) {
            self.mark_nic(nic, out);
        }
    }

    /// Counts a data packet if it is intact and new.
    #[inline(always)]
    fn data_arrives(&mut self, now: Tick, nic: u32, parcel: &Parcel) {
        let packet = &parcel.packet;
        let (shared, endpoints) = (&mut self.shared, &mut self.endpoints);
        if S::HAS_PLAIN_ENDPOINTS {
            self.hand_over(now, nic, packet);
            return;
        }
        if parcel.flags.has(Flags::CORRUPT) {
            shared.protocol.discarded += 1;
            return;
        }
        if !endpoints.receiver.is_new(packet) {
            shared.protocol.discarded += 1;
            shared.protocol.duplicates += 1;
            return;
        }
        if let Some(reordering) = &mut endpoints.receiver.reordering {
            let distance = reordering.arrive(*packet);
            if distance > 0 {
                shared.rows[usize::from(packet.class)].overtaken(distance);
            }
            self.hand_over_in_order(now, nic, packet);
            return;
        }
        self.hand_over(now, nic, packet);
    }

    /// Delivers the packets that are next in their flow.
    #[cold]
    #[inline(never)]
    fn hand_over_in_order(&mut self, now: Tick, nic: u32, like: &Packet) {
        loop {
            let reordering = self.endpoints.receiver.reordering.as_mut();
            let Some(packet) = reordering.and_then(|all| all.next(like)) else {
                return;
            };
            self.hand_over(now, nic, &packet);
        }
    }

    /// Delivers a packet to the host.
    #[inline(always)]
    fn hand_over(&mut self, now: Tick, nic: u32, packet: &Packet) {
        let (shared, endpoints) = (&mut self.shared, &mut self.endpoints);
        shared.counters.deliver(packet, now);
        let row = &mut shared.rows[usize::from(packet.class)];
        let is_complete = endpoints.receiver.receive(nic, packet, now, row);
        if S::HAS_PLAIN_ENDPOINTS {
            return;
        }
        if is_complete && let Some(programs) = &mut endpoints.programs {
            programs.message_completed(nic, packet);
        }
        if let Some(meters) = &mut endpoints.meters {
            meters.record(packet, now);
        }
        if shared.watch.is_some() {
            let nic = packet.destination;
            shared.note(packet, now, Stage::Delivered { nic });
        }
    }
}
