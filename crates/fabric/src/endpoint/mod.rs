//! Endpoints: network interfaces and the programs on them, identical for all kinds of switch.
//!
//! ```text
//!  workload, program ─► flow (window) ─► queue of a channel ─► arbiter ─► link      answers go first
//!  source.rs program.rs   flows.rs         send.rs voqs.rs                send.rs    answers.rs
//!
//!  link ─► reception ─► order ─► message complete ─► answer, program continues
//!          receive.rs   order.rs   receiver.rs
//! ```
//!
//! Each stage can be absent and then costs nothing. Without windows, answers and programs, a NIC
//! has a FIFO of messages per service channel. It cuts packets and sends them through the same kind
//! of arbiter as a switch. Queues are unbounded, so a workload is never held back, and latency
//! counts from the creation of a message (`buffer.rs` decides which part of them is in a bounded
//! NIC). The clock of a NIC has one cycle per flit of its link.

mod answers;
mod buffer;
mod build;
pub(crate) mod connections;
pub(crate) mod control;
mod flows;
mod order;
mod program;
mod receive;
mod receiver;
mod send;
mod source;
mod validate;
mod voqs;

use netloom_arbitration::Head;
use netloom_encoding::{Encoded, State};
use netloom_packet::{Cursor, N_SCS};
use netloom_units::{NicId, Sl, Tick, Vl};
use rustc_hash::FxHashMap;

use crate::arbiter_state;
pub(crate) use crate::endpoint::connections::Meters;
use crate::fabric::Fabric;
use crate::plan::ClassPlan;
use crate::port_arbiter::PortArbiter;
use crate::rows::Rows;
use crate::slab::Slab;
use crate::switch::{Candidate, Switches};

pub(crate) use buffer::Buffers;
pub(crate) use flows::Flows;
pub(crate) use program::Programs;
pub(crate) use receiver::Receiver;
pub(crate) use voqs::Voqs;

/// A message from a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Created {
    pub(crate) class: u8,
    pub(crate) sl: u8,
    pub(crate) flow: u8,
    pub(crate) destination: NicId,
    /// Bytes of payload.
    pub(crate) bytes: u32,
}

/// A message waiting at its NIC.
#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct Message {
    pub(crate) generation: Tick,
    pub(crate) destination: NicId,
    /// Bytes of payload not yet in a packet.
    pub(crate) left: u32,
    /// Number among all messages of the NIC, assigned with its first packet, since decisions are
    /// ordered but arrivals of one tick are not. With programs, the number among those of its row.
    pub(crate) number: u32,
    /// Packets cut so far.
    pub(crate) index: u32,
    /// The next message of the same queue.
    pub(crate) next: u32,
    /// The recorder's row.
    pub(crate) row: u8,
    pub(crate) flow: u8,
    pub(crate) sl: u8,
    pub(crate) sc: u8,
}

// Two messages per cache line.
const _: () = assert!(size_of::<Message>() == 32);

/// The queue of one service channel: a list of messages, and the next packet.
#[derive(Clone, Copy, Debug, State)]
pub(crate) struct NicQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) payload: u32,
    pub(crate) bytes: u32,
    pub(crate) flits: u16,
    #[state(constant)]
    pub(crate) vl: u8,
    #[state(constant)]
    pub(crate) sl: u8,
    #[state(constant)]
    pub(crate) sc: u8,
}

impl NicQueue {
    /// Returns what the arbiter of the NIC sees of the next packet, of a message created at `born`.
    #[inline(always)]
    pub(super) fn shown(&self, born: Tick) -> Head {
        Head {
            born,
            bytes: self.bytes,
            sl: Sl(self.sl),
            vl: Vl(self.vl),
        }
    }
}

#[derive(State)]
pub(crate) struct Nic<C> {
    #[state(constant)]
    pub(crate) id: NicId,
    /// The switch port at the other end of its link, always in this partition.
    #[state(constant)]
    pub(crate) port: u32,
    /// Queues that are not empty.
    pub(crate) present: u32,
    pub(crate) link_until: Tick,
    /// Space in the input buffer of the first switch.
    #[state(part)]
    pub(crate) credit: C,
    #[state(with = "arbiter_state")]
    pub(crate) arbiter: PortArbiter,
    /// When the link is checked again.
    pub(crate) link_wake: Tick,
    /// When the last header sent may be allocated at the first switch.
    pub(crate) last_header: Tick,
    /// Packets sent so far.
    pub(crate) sequence: u32,
    /// Messages with a packet cut so far.
    pub(crate) messages: u32,
    /// Link class.
    #[state(constant)]
    pub(crate) wire: u8,
    pub(crate) is_marked: bool,
    /// Credits that return by an event. While there are any, all later ones do too.
    pub(crate) credits_coming: u16,
}

impl<C> Nic<C> {
    /// Returns its next packet, as far as the first switch depends on it.
    #[inline(always)]
    pub(crate) fn candidate(&self, destination: NicId, vl: u8) -> Candidate {
        Candidate {
            port: self.port,
            source: self.id,
            sequence: self.sequence,
            destination,
            vl,
        }
    }

    /// Returns the number of the next message.
    #[inline(always)]
    pub(crate) fn next_message(&mut self) -> u32 {
        let number = self.messages;
        self.messages += 1;
        number
    }
}

/// Plain endpoints skip these checks at compile time.
impl<S: Switches> Fabric<S> {
    /// Whether there is work before a NIC sends.
    #[inline(always)]
    pub(crate) fn has_duties(&self) -> bool {
        !S::HAS_PLAIN_ENDPOINTS && self.endpoints.has_duties
    }

    /// Whether there are queues per destination in front of the NICs' own.
    #[inline(always)]
    fn has_voqs(&self) -> bool {
        !S::HAS_PLAIN_ENDPOINTS && self.endpoints.voqs.is_some()
    }
}

/// The endpoints of a partition.
#[derive(State)]
pub(crate) struct Endpoints<C> {
    #[state(part)]
    pub(crate) nics: Rows<Nic<C>>,
    #[state(part)]
    pub(crate) queues: Rows<NicQueue>,
    /// Queues per NIC.
    #[state(constant)]
    pub(crate) n_slots: usize,
    /// The queue of each service channel.
    #[state(constant)]
    pub(crate) slot_of: [u8; N_SCS],
    #[state(constant)]
    pub(crate) classes: Vec<ClassPlan>,
    /// The recorder's row of each (class, service level).
    #[state(constant)]
    pub(crate) row_of: Vec<[u8; 16]>,
    #[state(records)]
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) messages: Slab<Message>,
    /// Flits injected by each (NIC, row).
    #[state(records)]
    pub(crate) nic_flits: Vec<u64>,
    #[state(constant)]
    pub(crate) heads: Box<[Head; 32]>,
    /// The class of each head at the first switch.
    #[state(constant)]
    pub(crate) head_classes: Box<[u16; 32]>,
    /// Whether an arbiter chooses among queues. Send queues of a NIC take turns without one.
    #[state(constant)]
    pub(crate) has_arbiter: bool,
    #[state(part)]
    pub(crate) receiver: Receiver,
    /// Meters of the connections that end here, if any.
    #[state(part)]
    pub(crate) meters: Option<Meters>,
    /// Queues per destination in front of the NICs' own, if any.
    #[state(part)]
    pub(crate) voqs: Option<Voqs>,
    /// Whether there is work before a NIC sends: ordering of new messages, flows or programs.
    #[state(constant)]
    has_duties: bool,
    /// Messages that each NIC received from workloads in this tick, if classes share a queue. They
    /// join it in the decision, in order of class, because arrivals of one tick come in any order.
    #[state(constant)]
    pub(crate) created: Option<Rows<Vec<Created>>>,
    /// Send queues with windows, and acknowledgements.
    #[state(part)]
    pub(crate) flows: Option<Box<Flows>>,
    #[state(part)]
    pub(crate) programs: Option<Box<Programs>>,
    /// Messages created by each (NIC, row), if programs run: a rank knows only its own.
    pub(crate) numbers: Option<Vec<u32>>,
    /// Whether packets are processed when they are sent: numbered, or taken out of a bounded
    /// buffer.
    #[state(constant)]
    pub(crate) follows_packets: bool,
    /// The buffers of NICs, if bounded.
    #[state(part)]
    pub(crate) buffers: Option<Box<Buffers>>,
    /// Packets sent so far from each NIC in a row to a destination, if receivers enforce order.
    pub(crate) sent: Option<FxHashMap<(u32, u8, NicId), u32>>,
    /// The acknowledgements that each NIC has to send; empty if none are sent.
    #[state(records)]
    pub(crate) answers: answers::Answers,
    /// Flits of an acknowledgement; `None` if data packets are not acknowledged.
    #[state(constant)]
    pub(crate) acknowledgement: Option<u16>,
}
