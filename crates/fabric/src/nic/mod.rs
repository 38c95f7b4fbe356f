//! The network interface of a host: it cuts messages into packets, sends them through the same kind of
//! output arbiter as a switch, and takes in what arrives.
//!
//! A NIC has one unbounded queue per service channel (one per service level unless a level has several), so a workload is never held back and latency counts
//! from the creation of a message. Its clock has one cycle per flit of its link.

mod admittance;
mod receive;
mod send;

use netloom_units::{NicId, Tick};

pub(crate) use admittance::Admittance;

/// What a workload hands over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Created {
    pub(crate) class: u8,
    pub(crate) sl: u8,
    pub(crate) flow: u8,
    pub(crate) destination: NicId,
    /// Payload.
    pub(crate) bytes: u32,
}

/// A message waiting at its NIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) generation: Tick,
    pub(crate) destination: NicId,
    /// Payload bytes not yet in a packet.
    pub(crate) left: u32,
    /// Number among all messages of the NIC, given with its first packet: decisions have an order that means
    /// something, arrivals of one tick have none.
    pub(crate) number: u32,
    /// Packets cut off so far.
    pub(crate) index: u32,
    /// The next message of the same queue.
    pub(crate) next: u32,
    pub(crate) class: u8,
    pub(crate) flow: u8,
}

// Two messages to a cache line.
const _: () = assert!(size_of::<Message>() == 32);

/// The queue of one service channel: a list of messages, and the packet that would be next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NicQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) payload: u32,
    pub(crate) bytes: u32,
    pub(crate) flits: u16,
    pub(crate) vl: u8,
    pub(crate) sl: u8,
    pub(crate) sc: u8,
}

/// State of a NIC.
pub(crate) struct Nic<A, F> {
    pub(crate) id: NicId,
    /// The switch port at the other end of its link, always in this partition.
    pub(crate) port: u32,
    /// Queues that are not empty.
    pub(crate) present: u32,
    pub(crate) link_until: Tick,
    /// Room in the input buffer of the first switch.
    pub(crate) credit: F,
    pub(crate) arbiter: A,
    /// When the link is looked at again.
    pub(crate) link_wake: Tick,
    /// When the last header sent may be allocated at the first switch.
    pub(crate) last_header: Tick,
    /// Packets sent so far.
    pub(crate) sequence: u32,
    /// Messages of which a packet was cut so far.
    pub(crate) messages: u32,
    /// Its link class.
    pub(crate) wire: u8,
    pub(crate) is_marked: bool,
}

impl<A, F> Nic<A, F> {
    /// The number of the next message.
    #[inline(always)]
    pub(crate) fn next_message(&mut self) -> u32 {
        let number = self.messages;
        self.messages += 1;
        number
    }
}
