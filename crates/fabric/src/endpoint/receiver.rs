//! State of receivers: unfinished messages, order of flows, latency of the last message.

use std::num::NonZero;

use netloom_encoding::{Invalid, State, Validity, ensure};
use netloom_metrics::Delivery;
use netloom_packet::Packet;
use netloom_units::{NicId, Sl, Tick};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::endpoint::order::{Recent, Reordering};
use crate::recorder::{Counters, Row};
use crate::validation::Bounds;

/// The receiving side of all NICs of a partition.
#[derive(Debug, State)]
pub(crate) struct Receiver {
    /// Whether the last packet of a message always arrives last.
    #[state(constant)]
    keeps_order: bool,
    #[state(constant)]
    n_rows: usize,
    /// Latency of the last message of each (NIC, row), for jitter.
    #[state(records)]
    last_latency: Vec<Option<NonZero<u64>>>,
    /// Packets received of unfinished messages, if packets may overtake each other.
    partial: FxHashMap<(NicId, u8, u32), (u32, u32)>,
    /// Data packets delivered, if one may arrive twice.
    seen: Option<FxHashSet<(NicId, u32)>>,
    /// The last packet of each (source, destination, service level), if order is checked.
    last_sequence: Option<FxHashMap<(NicId, NicId, Sl), Recent>>,
    /// Held packets, if packets are delivered in the order of sending.
    #[state(part)]
    pub(crate) reordering: Option<Box<Reordering>>,
}

impl Receiver {
    /// Creates empty receivers. `looks_at_order` counts overtaken packets; if the routing keeps
    /// order, there must be none. `may_repeat` is set if a packet may be sent again, `is_strict` if
    /// packets are held until those before them have arrived.
    pub(crate) fn new(
        n_nics: usize,
        n_rows: usize,
        keeps_order: bool,
        looks_at_order: bool,
        may_repeat: bool,
        is_strict: bool,
    ) -> Self {
        Receiver {
            keeps_order,
            n_rows,
            last_latency: vec![None; n_nics * n_rows],
            partial: FxHashMap::default(),
            seen: may_repeat.then(FxHashSet::default),
            last_sequence: looks_at_order.then(FxHashMap::default),
            reordering: is_strict.then(Box::default),
        }
    }

    /// Validates the state of messages and of the order of packets.
    pub(crate) fn validate(&self, bounds: &Bounds<'_>) -> Validity {
        for &(arrived, total) in self.partial.values() {
            ensure(arrived < total, || {
                let expected = format!("fewer than {total} packets");
                Invalid::new("unfinished message", expected, arrived)
            })?;
        }
        for recent in self.last_sequence.iter().flat_map(FxHashMap::values) {
            ensure(recent.is_valid(), || {
                Invalid::new(
                    "last arrivals of a flow",
                    "positions in a list",
                    format_args!("{recent:?}"),
                )
            })?;
        }
        match &self.reordering {
            Some(reordering) => reordering.validate(bounds),
            None => Ok(()),
        }
    }

    /// Whether a packet has not arrived before.
    #[inline(always)]
    pub(crate) fn is_new(&mut self, packet: &Packet) -> bool {
        match &mut self.seen {
            None => true,
            Some(seen) => seen.insert((packet.source, packet.sequence)),
        }
    }

    /// Records a packet that has arrived at a NIC. Returns whether it completes its message. `row`
    /// is the packet's own.
    #[inline]
    pub(crate) fn receive(&mut self, nic: u32, packet: &Packet, now: Tick, row: &mut Row) -> bool {
        let distance = self.overtaken_by(packet);
        let is_complete = self.completes(packet);
        row.delivered_packets += 1;
        row.delivered_flits += u64::from(packet.flits);
        row.hops += u64::from(packet.hops);
        if distance > 0 {
            row.overtaken(distance);
        }
        let latency = now - packet.generation;
        row.network_latency.record(now - packet.injection);
        let is_single = packet.label.is_last() && packet.index == 0;
        if is_single {
            row.record_single(latency);
        } else {
            row.packet_latency.record(latency);
        }
        if is_complete {
            row.delivered_messages += 1;
            // A partition delivers in order of time.
            row.last_delivery = Some(now);
            if !is_single {
                row.message_latency.record(latency);
            }
            let at = nic as usize * self.n_rows + usize::from(packet.class);
            if let Some(last) = self.last_latency[at] {
                row.jitter.record(last.get().abs_diff(latency));
            }
            self.last_latency[at] = NonZero::new(latency);
        }
        is_complete
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
        // Packets may overtake each other: count them until all of the message are here.
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

    /// Returns how many later packets of the same flow have overtaken this one. If the routing
    /// keeps order, it must be none.
    #[inline]
    fn overtaken_by(&mut self, packet: &Packet) -> u64 {
        let Some(last) = &mut self.last_sequence else {
            return 0;
        };
        let key = (packet.source, packet.destination, packet.sl);
        let flow = last.entry(key).or_default();
        let distance = flow.arrive(packet.sequence);
        assert!(
            distance == 0 || !self.keeps_order,
            "order is kept per flow and lane"
        );
        distance
    }
}

impl Counters {
    /// Counts a delivery, and adds it to the digest.
    #[inline]
    pub(crate) fn deliver(&mut self, packet: &Packet, now: Tick) {
        self.delivered += 1;
        self.digest.add(&Delivery {
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
}
