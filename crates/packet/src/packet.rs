//! One packet as a plain record, which crosses partitions by value.

use netloom_units::{NicId, Sl, Tick};

/// A packet under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// When its message was created.
    pub generation: Tick,
    /// When its first flit left the source NIC.
    pub injection: Tick,
    /// When its first flit was wholly in the buffer where it is now.
    pub arrival: Tick,
    /// Where it comes from.
    pub source: NicId,
    /// Where it goes.
    pub destination: NicId,
    /// Number of this packet among all packets of its source.
    pub sequence: u32,
    /// Number of its message among all messages of its source.
    pub message: u32,
    /// Number of this packet within its message.
    pub index: u32,
    /// Bytes on the wire, headers included.
    pub bytes: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// Traffic class: the index of its description in the experiment.
    pub class: u8,
    /// Service level, kept from end to end.
    pub sl: Sl,
    /// Virtual lane on the link it travels or last travelled.
    pub vl: u8,
    /// Switches crossed so far.
    pub hops: u8,
    /// Whether it is the last packet of its message.
    pub is_last: bool,
}
