//! A packet inside a switch: its record, what the switch has decided about it, and lists of such records.

use netloom_packet::{Packet, Slab};

/// No record.
pub(crate) const NIL: u32 = u32::MAX;

/// What is true of a packet, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// It acknowledges another packet.
    pub(crate) const ACKNOWLEDGEMENT: u8 = 1;
    /// It passed a congested input; of an acknowledgement: the packet it acknowledges did.
    pub(crate) const MARKED: u8 = 2;
    /// Its content is damaged; an acknowledgement that is not: the packet it is about was.
    pub(crate) const NEGATIVE: u8 = 4;
    /// A switch has damaged it.
    pub(crate) const CORRUPT: u8 = 8;
    /// An acknowledgement that its endpoint is to ignore.
    pub(crate) const VOID: u8 = 16;
    /// It has left its shortest way for good.
    pub(crate) const DETOUR: u8 = 32;
    /// A copy for a stash.
    pub(crate) const COPY: u8 = 64;

    #[inline]
    pub(crate) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, flag: u8, on: bool) {
        self.0 = self.0 & !flag | if on { flag } else { 0 };
    }

    #[inline]
    pub(crate) fn with(mut self, flag: u8, on: bool) -> Self {
        self.set(flag, on);
        self
    }
}

/// A packet as it crosses partitions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) packet: Packet,
    pub(crate) flags: Flags,
    /// How often it has been sent again, modulo 256.
    pub(crate) attempt: u8,
}

/// A packet in a buffer; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Record {
    pub(crate) packet: Packet,
    /// The next packet of the same list.
    pub(crate) next: u32,
    /// The output it wants; of a copy in a stash: the port of that stash.
    pub(crate) output: u8,
    /// The channel on which it leaves; of a copy: the port it came in by.
    pub(crate) vc: u8,
    pub(crate) flags: Flags,
    pub(crate) attempt: u8,
}

const _: () = assert!(size_of::<Record>() == 64);

impl Record {
    pub(crate) fn new(parcel: Parcel) -> Self {
        Record {
            packet: parcel.packet,
            next: NIL,
            output: 0,
            vc: 0,
            flags: parcel.flags,
            attempt: parcel.attempt,
        }
    }

    pub(crate) fn parcel(&self) -> Parcel {
        Parcel {
            packet: self.packet,
            flags: self.flags,
            attempt: self.attempt,
        }
    }

    #[inline]
    pub(crate) fn is_data(&self) -> bool {
        !self.flags.has(Flags::ACKNOWLEDGEMENT)
    }
}

/// A list of records, first in first out, with the length of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub(crate) head: u32,
    tail: u32,
    /// Of the first packet.
    pub(crate) flits: u16,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo {
            head: NIL,
            tail: NIL,
            flits: 0,
        }
    }
}

impl Fifo {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// Appends a record; whether it is the first.
    #[inline]
    pub(crate) fn push(&mut self, id: u32, packets: &mut Slab<Record>) -> bool {
        let record = &mut packets[id];
        record.next = NIL;
        if self.head == NIL {
            self.flits = record.packet.flits;
            (self.head, self.tail) = (id, id);
            return true;
        }
        let last = std::mem::replace(&mut self.tail, id);
        packets[last].next = id;
        false
    }

    /// Takes the first record out; it must be there.
    #[inline]
    pub(crate) fn pop(&mut self, packets: &Slab<Record>) -> u32 {
        let first = self.head;
        self.head = packets[first].next;
        if self.head != NIL {
            self.flits = packets[self.head].packet.flits;
        }
        first
    }
}
