//! Measurements during a run: integer sums per traffic class and service level, so that results do
//! not depend on the partitioning.

use netloom_encoding::Encoded;
use netloom_metrics::{Digest, Histogram, Tally};
use netloom_units::Tick;

/// One row per (class, service level), with counts since the row was last taken.
#[derive(Clone, Debug, Default, Encoded)]
pub struct Row {
    /// Messages created by workloads.
    pub offered_messages: u64,
    /// Flits of these messages on the wire.
    pub offered_flits: u64,
    /// Packets that started to leave a NIC.
    pub injected_packets: u64,
    /// Flits of these packets.
    pub injected_flits: u64,
    /// Packets received completely.
    pub delivered_packets: u64,
    /// Flits of these packets.
    pub delivered_flits: u64,
    /// Messages received completely.
    pub delivered_messages: u64,
    /// Switches on the paths of delivered packets.
    pub hops: u64,
    /// Packets that arrived after a later one of their flow.
    pub reordered: u64,
    /// Number of later packets that overtook each of them.
    pub reorder_distance: Tally,
    /// From the creation of a one-packet message to its last flit, in ticks. It is the latency of
    /// both the message and the packet, and is added to both before a row is returned.
    pub single_latency: Histogram,
    /// From the creation of a message to its last flit.
    pub message_latency: Histogram,
    /// From the creation of a message to the last flit of each packet.
    pub packet_latency: Histogram,
    /// From the first flit leaving the NIC to the last flit received.
    pub network_latency: Histogram,
    /// Change of message latency between consecutive messages of the row at a receiver.
    pub jitter: Tally,
    /// Wait of each packet in its application, if NICs have bounded buffers.
    pub application_wait: Tally,
    /// When the last message was received completely; `None` if none was.
    pub last_delivery: Option<Tick>,
}

impl Row {
    /// Returns the counters, for validation.
    pub fn counts(&self) -> [u64; 9] {
        [
            self.offered_messages,
            self.offered_flits,
            self.injected_packets,
            self.injected_flits,
            self.delivered_packets,
            self.delivered_flits,
            self.delivered_messages,
            self.hops,
            self.reordered,
        ]
    }

    /// Records the arrival of a packet that is a whole message.
    #[inline]
    pub(crate) fn record_single(&mut self, latency: u64) {
        self.single_latency.record(latency);
    }

    /// Records that a packet was overtaken by `by` later ones of its flow.
    #[cold]
    pub(crate) fn overtaken(&mut self, by: u64) {
        self.reordered += 1;
        self.reorder_distance.record(by);
    }

    /// Completes the latencies of messages and packets.
    pub fn settle(&mut self) {
        self.message_latency.merge(&self.single_latency);
        self.packet_latency.merge(&self.single_latency);
        self.single_latency.clear();
    }

    /// Adds another row; both must be settled.
    pub fn merge(&mut self, other: &Row) {
        self.offered_messages += other.offered_messages;
        self.offered_flits += other.offered_flits;
        self.injected_packets += other.injected_packets;
        self.injected_flits += other.injected_flits;
        self.delivered_packets += other.delivered_packets;
        self.delivered_flits += other.delivered_flits;
        self.delivered_messages += other.delivered_messages;
        self.hops += other.hops;
        self.reordered += other.reordered;
        self.reorder_distance.merge(&other.reorder_distance);
        self.message_latency.merge(&other.message_latency);
        self.packet_latency.merge(&other.packet_latency);
        self.network_latency.merge(&other.network_latency);
        self.jitter.merge(&other.jitter);
        self.application_wait.merge(&other.application_wait);
        self.last_delivery = self.last_delivery.max(other.last_delivery);
    }

    /// Removes all counts and keeps the memory.
    pub fn clear(&mut self) {
        let empty = |histogram: &mut Histogram| {
            histogram.clear();
            std::mem::take(histogram)
        };
        *self = Row {
            single_latency: empty(&mut self.single_latency),
            message_latency: empty(&mut self.message_latency),
            packet_latency: empty(&mut self.packet_latency),
            network_latency: empty(&mut self.network_latency),
            ..Row::default()
        };
    }
}

/// Totals of the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encoded)]
pub struct Counters {
    /// Packets that passed a switch: one for each switch of each packet's path.
    pub packet_hops: u64,
    /// The same in flits.
    pub flit_hops: u64,
    /// Packets that started to leave a NIC.
    pub injected: u64,
    /// Packets received completely.
    pub delivered: u64,
    /// Packets handed to another partition.
    pub emigrated: u64,
    /// Packets taken from another partition.
    pub immigrated: u64,
    /// Decisions of switch output schedulers with more than one eligible lane. Every packet-hop
    /// that is not in progress is one decision.
    pub choices: u64,
    /// Packets whose link was granted together with the crossbar.
    pub fused: u64,
    /// Order-independent digest of all deliveries.
    pub digest: Digest,
}

impl Counters {
    /// Adds the counters of another partition.
    pub fn merge(&mut self, other: &Counters) {
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.emigrated += other.emigrated;
        self.immigrated += other.immigrated;
        self.choices += other.choices;
        self.fused += other.fused;
        self.digest.merge(other.digest);
    }
}

/// Actions of endpoints and switches other than carrying packets, since the start of the run:
/// acknowledgements, congestion control, stashes, errors.
#[derive(Clone, Debug, Default, Encoded)]
pub struct Protocol {
    /// Acknowledgements that reached their endpoint and were not ignored.
    pub acknowledgements: u64,
    /// Packets marked by congested inputs, once for each input.
    pub marked: u64,
    /// Marked acknowledgements that cut a window.
    pub cuts: u64,
    /// Packets, or copies of packets, sent to a stash.
    pub stashed: u64,
    /// Packets that continued from a stash (congestion).
    pub retrieved: u64,
    /// Copies that were no longer needed (reliability).
    pub deleted: u64,
    /// Acknowledgements that arrived before the location of the copy was known.
    pub early_acknowledgements: u64,
    /// Packets sent again from a stash.
    pub retransmitted: u64,
    /// Retransmissions after a timeout, and attempts that had to wait.
    pub timeouts: u64,
    /// Packets damaged by a switch, once for each switch.
    pub corrupted: u64,
    /// Packets lost by a switch.
    pub lost: u64,
    /// Transmissions that a link had to repeat.
    pub link_repeats: u64,
    /// Packets that their receiver discarded: damaged, or duplicates.
    pub discarded: u64,
    /// Discarded packets that were duplicates.
    pub duplicates: u64,
    /// How long copies were kept, in ticks, from the bus grant of the packet to its
    /// acknowledgement.
    pub copy_time: Histogram,
}

impl Protocol {
    /// Returns the counters, for validation.
    pub(crate) fn counts(&self) -> [u64; 14] {
        [
            self.acknowledgements,
            self.marked,
            self.cuts,
            self.stashed,
            self.retrieved,
            self.deleted,
            self.early_acknowledgements,
            self.retransmitted,
            self.timeouts,
            self.corrupted,
            self.lost,
            self.link_repeats,
            self.discarded,
            self.duplicates,
        ]
    }

    /// Adds the counts of another partition.
    pub fn merge(&mut self, other: &Protocol) {
        self.acknowledgements += other.acknowledgements;
        self.marked += other.marked;
        self.cuts += other.cuts;
        self.stashed += other.stashed;
        self.retrieved += other.retrieved;
        self.deleted += other.deleted;
        self.early_acknowledgements += other.early_acknowledgements;
        self.retransmitted += other.retransmitted;
        self.timeouts += other.timeouts;
        self.corrupted += other.corrupted;
        self.lost += other.lost;
        self.link_repeats += other.link_repeats;
        self.discarded += other.discarded;
        self.duplicates += other.duplicates;
        self.copy_time.merge(&other.copy_time);
    }
}

/// Counts of a port since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encoded)]
pub struct PortUse {
    /// Flits sent over its link.
    pub flits: u64,
    /// Packets sent over its link.
    pub packets: u64,
    /// Packets sent when more than one lane was eligible.
    pub choices: u64,
    /// Flits times ticks spent in its input buffer.
    pub input_residence: u64,
    /// Flits times ticks spent in its output buffer.
    pub output_residence: u64,
    /// Maximum of its output buffer ever in use, in flits (or slots), reservations included.
    pub output_peak: u32,
}
