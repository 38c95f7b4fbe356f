//! A packet inside a switch: its record, the switch's decisions about it, and lists of such
//! records.

use netloom_encoding::Encoded;
use netloom_packet::Packet;

use crate::parcel::{Flags, Parcel};
use crate::slab::Slab;
use crate::switch::NIL;

/// A packet in a buffer; one cache line.
#[derive(Clone, Copy, Debug, Encoded)]
#[repr(align(64))]
pub(crate) struct Record {
    pub(crate) packet: Packet,
    /// The next packet of the same list.
    pub(crate) next: u32,
    /// The requested output; for a copy in a stash, the port of that stash.
    pub(crate) output: u8,
    /// The channel on which it leaves; for a copy, the port of its arrival.
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

/// A FIFO list of records, with cached data of the first one.
#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct Fifo {
    pub(crate) head: u32,
    tail: u32,
    /// Length of the first packet.
    pub(crate) flits: u16,
    /// The channel on which it leaves.
    pub(crate) vc: u8,
}

const _: () = assert!(size_of::<Fifo>() == 12);

impl Default for Fifo {
    fn default() -> Self {
        Fifo {
            head: NIL,
            tail: NIL,
            flits: 0,
            vc: 0,
        }
    }
}

impl Fifo {
    /// Returns the last record, if there is one.
    pub(crate) fn tail(&self) -> u32 {
        self.tail
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// Appends a record; returns whether it is the first.
    #[inline]
    pub(crate) fn push(&mut self, id: u32, packets: &mut Slab<Record>) -> bool {
        let record = &mut packets[id];
        record.next = NIL;
        if self.head == NIL {
            (self.flits, self.vc) = (record.packet.flits, record.vc);
            (self.head, self.tail) = (id, id);
            return true;
        }
        let last = std::mem::replace(&mut self.tail, id);
        packets[last].next = id;
        false
    }

    /// Removes the first record, which must exist.
    #[inline]
    pub(crate) fn pop(&mut self, packets: &Slab<Record>) -> u32 {
        let first = self.head;
        self.head = packets[first].next;
        if self.head != NIL {
            let record = &packets[self.head];
            (self.flits, self.vc) = (record.packet.flits, record.vc);
        }
        first
    }
}
