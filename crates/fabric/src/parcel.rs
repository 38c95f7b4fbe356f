//! A packet as it crosses partitions: its record and what is true of it.

use netloom_packet::Packet;

/// What is true of a packet, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags(u8);

netloom_encoding::encoded!(Flags(_));

impl Flags {
    /// It acknowledges another packet.
    pub(crate) const ACKNOWLEDGEMENT: u8 = 1;
    /// It passed a congested input; of an acknowledgement: the packet it acknowledges did.
    pub(crate) const MARKED: u8 = 2;
    /// Of an acknowledgement: the packet it is about was damaged.
    pub(crate) const NEGATIVE: u8 = 4;
    /// A switch has damaged it.
    pub(crate) const CORRUPT: u8 = 8;
    /// An acknowledgement that its endpoint is to ignore.
    pub(crate) const VOID: u8 = 16;
    /// The arbiter of its output has been told of it.
    pub(crate) const ANNOUNCED: u8 = 32;
    /// A copy for a stash.
    pub(crate) const COPY: u8 = 64;
    /// It came into the switch that it is at from an endpoint.
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
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) packet: Packet,
    pub(crate) flags: Flags,
    /// How often it has been sent again, modulo 256.
    pub(crate) attempt: u8,
}

netloom_encoding::encoded!(Parcel {
    packet,
    flags,
    attempt,
});

impl Parcel {
    /// Of data, sent for the first time.
    #[inline(always)]
    pub(crate) fn data(packet: Packet) -> Self {
        Parcel {
            packet,
            flags: Flags::default(),
            attempt: 0,
        }
    }
}
