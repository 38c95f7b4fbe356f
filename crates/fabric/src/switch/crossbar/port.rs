//! A port of a switch: the crossbar input of one direction, the crossbar output of the other.

use netloom_encoding::{Encoded, State};
use netloom_units::Tick;

use crate::arbiter_state;
use crate::recorder::PortUse;
use crate::rows::Rows;
use crate::switch::{NIL, PeerRecord};

use crate::link::flow::Flow;
use crate::link::ramp::{Paces, Ramp};
use crate::port_arbiter::PortArbiter;
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::shape::{Layout, PlainTick, Shape};
use crate::switch::crossbar::wire::Wire;

/// Starts a cache line. Fields that are used together share a line, since a large fabric waits for
/// memory.
#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
struct Line;

/// State of a port.
///
/// A hierarchical switch has more records than ports. There is one for each central link, which is
/// an output of an MPort crossbar and an input of the central one, and one for each central writer
/// of an output buffer. They follow the ports, in this order. If every lane of an input has its own
/// connection to the crossbar, a record for each lane of each port and central link follows. That
/// record is the input, and its owner keeps only the common state.
///
/// The fields are in five cache lines: the input side, the output side, space in the output buffer,
/// space at the other end of the link, and arbiter and counters. The arrival of a header touches
/// the first line; a grant the first of its input and the others of its output; a credit the second
/// and fourth.
#[derive(State)]
#[repr(C, align(64))]
pub(crate) struct CrossbarPort<L: Layout> {
    // As an input of the crossbar.
    /// Queues with a header that may be allocated.
    pub(crate) ready: L::Queues,
    /// The crossbar occupies this input until then.
    pub(crate) input_until: Tick,
    /// Flits times ticks spent in its input buffer.
    pub(crate) input_residence: u64,
    /// When the last header sent may be allocated at the other end.
    pub(crate) last_header: Tick,
    #[state(constant)]
    pub(crate) peer: PeerRecord,
    #[state(constant)]
    pub(crate) switch: u32,
    #[state(constant)]
    pub(crate) number: u16,
    /// Round robin over queues.
    pub(crate) next_queue: u16,
    /// Round robin over outputs (iSLIP accept).
    pub(crate) next_output: u16,
    /// Link class.
    #[state(constant)]
    pub(crate) wire: u8,
    /// The guarded ring that comes in by this port; 0 if there is none.
    #[state(constant)]
    pub(crate) ring_in: u8,
    /// Whether a release of this input is scheduled.
    pub(crate) input_watched: bool,
    /// When waiters for space are woken.
    pub(crate) room_wake: Tick,

    // As an output of the crossbar and the sender on a link.
    #[state(constant)]
    output_line: [Line; 0],
    /// The crossbar occupies this output until then.
    pub(crate) output_until: Tick,
    /// The link is busy until then.
    pub(crate) link_until: Tick,
    /// Inputs that found this output busy or full and are to be woken.
    pub(crate) waiters: L::Ports,
    /// When the link is checked again.
    pub(crate) link_wake: Tick,
    /// The other end of its link, duplicated for the sender.
    #[state(constant)]
    pub(crate) receiver: PeerRecord,
    /// Lanes with a packet in the output buffer that can be scheduled.
    pub(crate) present: u32,
    /// Lanes for which an input waits without a known release.
    pub(crate) short: u32,
    /// Packets on the crossbar towards this output.
    pub(crate) crossing: u16,
    /// Releases that are scheduled by an event. While there are any, all later ones are too.
    pub(crate) drains: u16,
    /// Credits that return by an event. While there are any, all later ones do too.
    pub(crate) credits_coming: u16,
    /// Round robin over inputs.
    pub(crate) next_input: u16,
    /// Whether a release of this output is scheduled.
    pub(crate) output_watched: bool,
    /// Link class, duplicated for the sender.
    #[state(constant)]
    pub(crate) wire_out: u8,
    /// The guarded ring that leaves by this port; 0 if there is none. On a ring, space is counted
    /// in slots.
    #[state(constant)]
    pub(crate) ring_out: u8,

    /// Space in the output buffer.
    #[state(part)]
    pub(crate) space: L::Space,

    /// Space in the buffer at the other end.
    #[state(part)]
    pub(crate) credit: L::Flow,

    #[state(constant)]
    counter_line: [Line; 0],
    #[state(with = "arbiter_state")]
    pub(crate) arbiter: PortArbiter,
    /// Flits sent over its link.
    pub(crate) flits: u64,
    /// Flits times ticks spent in its output buffer.
    pub(crate) output_residence: u64,
    /// Packets sent over its link.
    pub(crate) packets: u32,
    /// Packets sent when more than one lane was eligible.
    pub(crate) choices: u32,
    /// The minimum that a waiter for space needs.
    pub(crate) short_need: u32,
    /// Maximum of its output buffer ever in use by one lane.
    pub(crate) output_peak: u16,
}

impl<L: Layout> CrossbarPort<L> {
    /// Creates a port in its initial state.
    pub(crate) fn new(
        place: Place,
        arbiter: PortArbiter,
        credit: L::Flow,
        space: L::Space,
        n_queues: usize,
    ) -> Self {
        CrossbarPort {
            ready: L::Queues::below(n_queues),
            input_until: Tick::ZERO,
            input_residence: 0,
            last_header: Tick::ZERO,
            peer: place.peer,
            switch: place.switch,
            number: place.number,
            next_queue: 0,
            next_output: 0,
            wire: place.wire,
            ring_in: place.ring_in,
            input_watched: false,
            room_wake: Tick::NEVER,
            short_need: u32::MAX,
            output_line: [],
            output_until: Tick::ZERO,
            link_until: Tick::ZERO,
            waiters: L::Ports::default(),
            link_wake: Tick::NEVER,
            receiver: place.peer,
            present: 0,
            short: 0,
            crossing: 0,
            drains: 0,
            credits_coming: 0,
            next_input: 0,
            output_watched: false,
            wire_out: place.wire,
            ring_out: place.ring_out,
            space,
            credit,
            counter_line: [],
            arbiter,
            flits: 0,
            output_residence: 0,
            packets: 0,
            choices: 0,
            output_peak: 0,
        }
    }

    /// Registers a release of its buffer. `false` if it must be scheduled by an event; while there
    /// is such an event, all later releases are too.
    #[inline(always)]
    pub(crate) fn free(&mut self, ramp: Ramp, now: Tick) -> bool {
        let is_foreseen = self.drains == 0 && self.space.release(ramp, now);
        if !is_foreseen {
            self.drains += 1;
        }
        is_foreseen
    }

    /// Returns the paces at which the buffer at the other end of its link is emptied.
    #[inline]
    pub(crate) fn credit_paces<'a>(&self, wires: &'a Rows<Wire>) -> &'a Paces {
        let wire = &wires[u32::from(self.wire_out)];
        match self.receiver {
            PeerRecord::Nic(_) => &wire.drain,
            _ => &wire.credits,
        }
    }

    /// Returns its counts since the start of the run.
    pub(crate) fn usage(&self) -> PortUse {
        PortUse {
            flits: self.flits,
            packets: u64::from(self.packets),
            choices: u64::from(self.choices),
            input_residence: self.input_residence,
            output_residence: self.output_residence,
            output_peak: u32::from(self.output_peak),
        }
    }
}

/// The constant position of a port.
pub(crate) struct Place {
    pub(crate) peer: PeerRecord,
    pub(crate) switch: u32,
    pub(crate) number: u16,
    pub(crate) wire: u8,
    pub(crate) ring_out: u8,
    pub(crate) ring_in: u8,
}

const _: () = assert!(size_of::<CrossbarPort<<PlainTick as Shape>::Layout>>() == 5 * 64);

/// The queue of one lane (or lane and output) at an input: a list of packets, and a copy of what
/// the allocator needs of the first one.
#[derive(Clone, Copy, Debug, Encoded)]
#[repr(align(16))]
pub(crate) struct InputQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) flits: u16,
    /// The crossbar output that the first packet requests.
    pub(crate) output: u16,
    /// Its class at the other end of the output's link, if it needs credits to cross.
    pub(crate) class: u16,
    /// The lane on which it leaves.
    pub(crate) vl: u8,
}

impl Default for InputQueue {
    fn default() -> Self {
        InputQueue {
            head: NIL,
            tail: NIL,
            flits: 0,
            output: 0,
            class: 0,
            vl: 0,
        }
    }
}

const _: () = assert!(size_of::<InputQueue>() == 16);

/// The queue of one lane at an output.
#[derive(Clone, Copy, Debug, Encoded)]
pub(crate) struct OutputQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) flits: u16,
    /// Class of the first packet at the other end of the link.
    pub(crate) class: u16,
}

impl Default for OutputQueue {
    fn default() -> Self {
        OutputQueue {
            head: NIL,
            tail: NIL,
            flits: 0,
            class: 0,
        }
    }
}
