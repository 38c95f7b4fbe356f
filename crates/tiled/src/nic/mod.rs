//! Endpoints: a send queue per destination, windows, an acknowledgement for every packet, programs.
//!
//! An endpoint has one port. Acknowledgements go first; behind them flows (send queues) with something to send
//! stand in a ring and take turns packet by packet. A flow whose window is full leaves the ring until an
//! acknowledgement or time opens it. What arrives is taken in at once.

mod program;
mod receive;
mod send;

use std::collections::VecDeque;

use netloom_units::{NicId, Tick};
use rustc_hash::FxHashMap;

use crate::event::Event;
use crate::pool::Pool;
use crate::record::NIL;
use crate::window::EcnFlow;

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

impl Created {
    /// As what happens to a NIC.
    pub(crate) fn event(self, nic: u32) -> Event {
        Event::Arrival {
            class: self.class,
            sl: self.sl,
            flow: self.flow,
            nic,
            destination: self.destination.0,
            bytes: self.bytes,
        }
    }
}

/// A message that waits at its NIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) generation: Tick,
    /// Payload bytes not yet in a packet.
    pub(crate) left: u32,
    /// Number among the messages of the NIC in this row.
    pub(crate) number: u32,
    /// Packets cut off so far.
    pub(crate) index: u32,
    /// The next message of the same flow.
    pub(crate) next: u32,
    /// The recorder's row.
    pub(crate) row: u8,
    pub(crate) sl: u8,
    pub(crate) flow: u8,
}

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// Nothing to send.
    Idle,
    /// In the ring, or about to be.
    Active,
    /// Its window is full.
    Parked,
}

/// Everything from one NIC to another: its send queue and its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) destination: NicId,
    pub(crate) standing: Standing,
    /// Messages.
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// The next flow of the ring.
    pub(crate) next: u32,
    /// Flits not yet acknowledged.
    pub(crate) in_flight: u32,
    pub(crate) window: EcnFlow,
    /// When it is looked at although nothing was acknowledged.
    pub(crate) wake: Tick,
}

/// An acknowledgement to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) destination: NicId,
    /// The packet it is about.
    pub(crate) sequence: u32,
    pub(crate) flits: u16,
    pub(crate) row: u8,
    pub(crate) sl: u8,
    pub(crate) is_marked: bool,
    pub(crate) is_negative: bool,
    pub(crate) created: Tick,
}

/// State of a NIC.
#[derive(Debug)]
pub(crate) struct Nic {
    pub(crate) id: NicId,
    /// The switch port at the other end of its link, always in this partition.
    pub(crate) port: u32,
    /// Its link class.
    pub(crate) wire: u8,
    pub(crate) is_marked: bool,
    /// Room has come free at the first switch, and nothing was sent since for want of it.
    pub(crate) is_blocked: bool,
    pub(crate) link_until: Tick,
    /// When the link is looked at again.
    pub(crate) link_wake: Tick,
    /// Room in the input buffer of the first switch.
    pub(crate) credit: Pool,
    /// Packets sent so far, acknowledgements included.
    pub(crate) sequence: u32,
    /// Messages created in this tick.
    pub(crate) created: Vec<Created>,
    pub(crate) answers: VecDeque<Answer>,
    /// First and last flow of the ring.
    pub(crate) ring: (u32, u32),
    /// Flows by destination.
    pub(crate) flows: FxHashMap<u32, u32>,
    /// Flows that became active in this tick.
    pub(crate) activated: Vec<u32>,
    /// Programs have something to do in this tick.
    pub(crate) runs_program: bool,
    /// The next step of the program of each class that has one.
    pub(crate) steps: Vec<u32>,
}

impl Nic {
    pub(crate) fn new(id: NicId, port: u32, wire: u8, credit: Pool, n_programs: usize) -> Self {
        Nic {
            id,
            port,
            wire,
            is_marked: false,
            is_blocked: false,
            link_until: Tick::ZERO,
            link_wake: Tick::NEVER,
            credit,
            sequence: 0,
            created: Vec::new(),
            answers: VecDeque::new(),
            ring: (NIL, NIL),
            flows: FxHashMap::default(),
            activated: Vec::new(),
            runs_program: false,
            steps: vec![0; n_programs],
        }
    }
}
