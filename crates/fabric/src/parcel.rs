//! A packet as it crosses partitions: its record and flags.

use netloom_encoding::Encoded;
use netloom_packet::Packet;

/// Flags of a packet, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Encoded)]
pub(crate) struct Flags(u8);

impl Flags {
    /// It acknowledges another packet.
    pub(crate) const ACKNOWLEDGEMENT: u8 = 1;
    /// It passed a congested input; in an acknowledgement, the acknowledged packet did.
    pub(crate) const MARKED: u8 = 2;
    /// In an acknowledgement: the acknowledged packet was damaged.
    pub(crate) const NEGATIVE: u8 = 4;
    /// A switch has damaged it.
    pub(crate) const CORRUPT: u8 = 8;
    /// An acknowledgement that its endpoint has to ignore.
    pub(crate) const VOID: u8 = 16;
    /// The arbiter of its output has been informed about it.
    pub(crate) const ANNOUNCED: u8 = 32;
    /// A copy for a stash.
    pub(crate) const COPY: u8 = 64;
    /// It entered its current switch from an endpoint.
    pub(crate) const INJECTED: u8 = 128;

    #[inline(always)]
    pub(crate) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, flag: u8, on: bool) {
        self.0 = self.0 & !flag | if on { flag } else { 0 };
    }

    #[inline(always)]
    pub(crate) fn with(mut self, flag: u8, on: bool) -> Self {
        self.set(flag, on);
        self
    }
}

/// A packet between two partitions, or between an endpoint and a switch.
#[derive(Clone, Copy, Debug, Default, Encoded)]
pub(crate) struct Parcel {
    pub(crate) packet: Packet,
    pub(crate) flags: Flags,
    /// Number of retransmissions, modulo 256.
    pub(crate) attempt: u8,
}

impl Parcel {
    /// Creates a parcel for data that are sent for the first time.
    #[inline(always)]
    pub(crate) fn data(packet: Packet) -> Self {
        Parcel {
            packet,
            flags: Flags::default(),
            attempt: 0,
        }
    }
}
