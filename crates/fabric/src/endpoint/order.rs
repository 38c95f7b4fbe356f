//! The order in which a receiver delivers packets to its host, and the overtaking of packets.
//!
//! If a routing has several paths, packets may overtake each other. A receiver that completes by
//! message places data as they arrive and delivers a message when it is complete. A strict receiver
//! delivers packets in the order of sending and holds early ones until those before them have
//! arrived.

use std::collections::BTreeMap;

use netloom_encoding::{Encoded, State, Validity, ensure_below, ensure_equal};
use netloom_packet::Packet;
use netloom_units::NicId;
use rustc_hash::FxHashMap;

use crate::parcel::Flags;
use crate::validation::Bounds;

/// A flow, as receivers distinguish it: destination, source and row.
type Key = (NicId, NicId, u8);

/// Packets held by strict receivers until those before them have arrived.
#[derive(Debug, Default, State)]
pub(crate) struct Reordering {
    flows: FxHashMap<Key, Waiting>,
    held: u64,
}

#[derive(Debug, Default, Encoded)]
struct Waiting {
    /// Number in its flow of the packet that is delivered next.
    next: u32,
    /// Packets of the current message that have been delivered.
    position: u32,
    /// Packets that came early, by number.
    early: BTreeMap<u32, Packet>,
}

impl Reordering {
    /// Records the arrival of a packet, whose index is its number in its flow. Returns how many
    /// later packets have overtaken it.
    pub(crate) fn arrive(&mut self, packet: Packet) -> u64 {
        let flow = self.flows.entry(key(&packet)).or_default();
        let overtaken_by = flow.early.range(packet.index + 1..).count() as u64;
        flow.early.insert(packet.index, packet);
        self.held += 1;
        overtaken_by
    }

    /// Returns the next packet of the same flow that can be delivered, with its index in its
    /// message.
    pub(crate) fn next(&mut self, like: &Packet) -> Option<Packet> {
        let flow = self.flows.get_mut(&key(like))?;
        let mut packet = flow.early.remove(&flow.next)?;
        self.held -= 1;
        flow.next = flow.next.wrapping_add(1);
        packet.index = flow.position;
        flow.position = match packet.label.is_last() {
            true => 0,
            false => flow.position + 1,
        };
        Some(packet)
    }

    /// Returns the number of held packets.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }
}

impl Reordering {
    /// Validates that packets are held in their own flow, under their number.
    pub(crate) fn validate(&self, bounds: &Bounds<'_>) -> Validity {
        let mut held = 0;
        for (own, flow) in &self.flows {
            ensure_below("packets of a message", flow.position, 1u64 << 31)?;
            for (number, packet) in &flow.early {
                ensure_equal("number of an early packet", *number, packet.index)?;
                ensure_equal("flow of an early packet", *own, key(packet))?;
                bounds.packet(packet, Flags::default())?;
                held += 1;
            }
        }
        ensure_equal("early packets", held, self.held)
    }
}

fn key(packet: &Packet) -> Key {
    (packet.destination, packet.source, packet.class)
}

/// Number of remembered arrivals per flow.
const REMEMBERED: usize = 8;

/// The last arrivals of a flow: enough to count how many of them have overtaken a packet.
#[derive(Clone, Copy, Debug, Default, Encoded)]
pub(crate) struct Recent {
    /// Sequence numbers of the last arrivals, in no order; the first `n` are valid.
    arrived: [u32; REMEMBERED],
    n: u8,
    /// Position of the next entry.
    at: u8,
    /// The largest sequence number.
    last: u32,
}

impl Recent {
    /// Whether its positions are within what is remembered.
    pub(crate) fn is_valid(&self) -> bool {
        usize::from(self.n) <= REMEMBERED && usize::from(self.at) < REMEMBERED
    }

    /// Records an arrival. Returns how many of the remembered packets were sent after it; more than
    /// 7 count as 8.
    pub(crate) fn arrive(&mut self, sequence: u32) -> u64 {
        let known = &self.arrived[..usize::from(self.n)];
        let distance = match self.n > 0 && sequence < self.last {
            // All packets that overtook it may have been forgotten; it was overtaken nevertheless.
            true => known
                .iter()
                .filter(|&&arrived| arrived > sequence)
                .count()
                .max(1),
            false => 0,
        };
        self.last = self.last.max(sequence);
        self.arrived[usize::from(self.at)] = sequence;
        self.at = (self.at + 1) % REMEMBERED as u8;
        self.n = (self.n + 1).min(REMEMBERED as u8);
        distance as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_packet::Label;
    use netloom_units::Sc;
    use proptest::prelude::*;

    fn packet(order: u32, is_last: bool) -> Packet {
        Packet {
            index: order,
            sequence: order,
            label: Label::new(Sc(0), is_last),
            ..Packet::default()
        }
    }

    /// Arrivals 0 2 1 4 3 5, with two packets per message.
    #[test]
    fn t_b_2_messages_complete_with_their_last_packet() {
        let mut reordering = Reordering::default();
        let mut recent = Recent::default();
        let (mut handed, mut most_held, mut distances) = (vec![], 0, vec![]);
        for order in [0, 2, 1, 4, 3, 5] {
            let arrived = packet(order, order % 2 == 1);
            distances.push((reordering.arrive(arrived), recent.arrive(order)));
            while let Some(next) = reordering.next(&arrived) {
                handed.push((order, next.sequence, next.index));
            }
            most_held = most_held.max(reordering.held());
        }
        assert_eq!(distances, [(0, 0), (0, 0), (1, 1), (0, 0), (1, 1), (0, 0)]);
        assert_eq!(most_held, 1);
        let expected = [
            (0, 0, 0),
            (1, 1, 1),
            (1, 2, 0),
            (3, 3, 1),
            (3, 4, 0),
            (5, 5, 1),
        ];
        assert_eq!(
            handed, expected,
            "in order, as soon as all before are there"
        );
    }

    proptest! {
        /// In any order of arrival, packets are delivered in the order of sending, each once.
        /// Distances equal those found by counting pairs.
        #[test]
        fn any_order_of_arrival_becomes_the_order_of_sending(
            order in Just((0u32..40).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut reordering = Reordering::default();
            let mut recent = Recent::default();
            let mut handed = vec![];
            for (at, &number) in order.iter().enumerate() {
                let arrived = packet(number, true);
                let overtaken_by = order[..at].iter().filter(|&&n| n > number).count() as u64;
                prop_assert_eq!(reordering.arrive(arrived), overtaken_by);
                // The remembered arrivals give a part of the distance, and all of it at the
                // beginning.
                let reported = recent.arrive(number);
                prop_assert_eq!(reported > 0, overtaken_by > 0);
                prop_assert!(reported <= overtaken_by);
                if at <= REMEMBERED {
                    prop_assert_eq!(reported, overtaken_by);
                }
                while let Some(next) = reordering.next(&arrived) {
                    handed.push(next.sequence);
                }
            }
            prop_assert_eq!(handed, (0..40).collect::<Vec<_>>());
            prop_assert_eq!(reordering.held(), 0);
        }
    }
}
