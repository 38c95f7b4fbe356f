//! Receiving: packets end here and messages are completed.

use std::num::NonZero;

use netloom_arbitration::Arbiter;
use netloom_metrics::Delivery;
use netloom_packet::Packet;
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::shape::Shape;
use crate::trace::Stage;

impl<A: Arbiter, S: Shape, const W: usize, const R: usize> Fabric<A, S, W, R> {
    /// The last flit of a packet has arrived.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Tick, nic: u32, id: u32) {
        let packet = self.packets.remove(id).packet;
        assert_eq!(
            packet.destination, self.nics[nic].id,
            "a packet reaches the NIC it was sent to"
        );
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
        let is_late = self.check_order(&packet);
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
            // A partition delivers in order of time.
            recorded.last_delivery = Some(now);
            if !is_single {
                recorded.message_latency.record(latency);
            }
            if let Some(last) = self.last_latency[at] {
                recorded.jitter.record(last.get().abs_diff(latency));
            }
            self.last_latency[at] = NonZero::new(latency);
        }
        if let Some(meters) = &mut self.meters {
            meters.record(&packet, now);
        }
        if self.watch.is_some() {
            self.note(&packet, now, |_| Stage::Delivered {
                nic: packet.destination,
            });
        }
    }

    /// Whether this packet completes its message.
    #[inline]
    fn completes(&mut self, packet: &Packet) -> bool {
        if self.keeps_order {
            return packet.label.is_last();
        }
        if packet.label.is_last() && packet.index == 0 {
            return true;
        }
        // Packets may overtake each other: count them until all up to the last are here.
        let key = (packet.source, packet.message);
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

    /// Whether a later packet of the same flow was here first: a law where the routing keeps order, a
    /// count where it does not.
    #[inline]
    fn check_order(&mut self, packet: &Packet) -> bool {
        let Some(last) = &mut self.last_sequence else {
            return false;
        };
        let flow = last
            .entry((packet.source, packet.destination, packet.sl))
            .or_insert(packet.sequence);
        let is_late = packet.sequence < *flow;
        *flow = (*flow).max(packet.sequence);
        assert!(
            !(is_late && self.keeps_order),
            "order is kept per flow and lane"
        );
        is_late
    }
}
