//! One port of a switch: the crossbar input of one direction, the crossbar output of the other.

use netloom_units::Tick;

use crate::mask::Mask;
use crate::room::Room;

/// No record.
pub(crate) const NIL: u32 = u32::MAX;

/// Who is at the other end of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// Nobody.
    Nobody,
    /// A port of a switch in this partition.
    Port(u32),
    /// A port of a switch in another partition.
    Remote(u16, u32),
    /// A NIC, always in this partition.
    Nic(u32),
}

/// State of a port. `A` arbitrates its link; `W` words hold a set of ports, `R` words a set of queues.
#[repr(align(64))]
pub(crate) struct Port<A, const W: usize, const R: usize> {
    // As an input of the crossbar.
    /// Queues with a header that may be allocated.
    pub(crate) ready: Mask<R>,
    /// The crossbar holds this input until then.
    pub(crate) input_until: Tick,
    /// Round robin over queues.
    pub(crate) next_queue: u16,
    /// Round robin over outputs (iSLIP accept).
    pub(crate) next_output: u16,
    /// A release of this input is on its way.
    pub(crate) input_watched: bool,

    // As an output of the crossbar.
    /// A release of this output is on its way.
    pub(crate) output_watched: bool,
    /// Round robin over inputs.
    pub(crate) next_input: u16,
    /// Inputs that found this output busy or full and are to be woken.
    pub(crate) waiters: Mask<W>,
    /// The crossbar holds this output until then.
    pub(crate) output_until: Tick,
    /// When waiters for room are woken.
    pub(crate) room_wake: Tick,
    /// Lanes for which an input waits and nothing is known to come free.
    pub(crate) short: u32,
    /// The least that a waiter for room needs.
    pub(crate) short_need: u32,
    /// Room in the output buffer.
    pub(crate) space: Room,

    // As the sender on a link.
    /// Lanes with a packet in the output buffer that can be scheduled.
    pub(crate) present: u32,
    /// Packets on the crossbar towards this output.
    pub(crate) crossing: u16,
    /// Room that will come free by an event of its own: while there is some, all later room does.
    pub(crate) drains: u16,
    /// The link is busy until then.
    pub(crate) link_until: Tick,
    /// When the link is looked at again.
    pub(crate) link_wake: Tick,
    /// When the last header sent may be allocated at the other end.
    pub(crate) last_header: Tick,
    /// Room in the buffer at the other end.
    pub(crate) credit: Room,
    pub(crate) arbiter: A,
    pub(crate) usage: PortUse,

    // What never changes.
    pub(crate) peer: Peer,
    pub(crate) switch: u32,
    /// Its number on the switch.
    pub(crate) number: u16,
    /// Its link class.
    pub(crate) wire: u8,
    /// The guarded ring that leaves by this port; 0 is none. On a ring, room is counted in slots.
    pub(crate) ring_out: u8,
    /// The guarded ring that comes in by this port.
    pub(crate) ring_in: u8,
}

/// The queue of one lane (or lane and output) at an input: a list of packets and a copy of what the
/// allocator needs of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) flits: u16,
    /// The output that the first packet wants.
    pub(crate) output: u16,
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
            vl: 0,
        }
    }
}

/// The queue of one lane at an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputQueue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) flits: u16,
}

impl Default for OutputQueue {
    fn default() -> Self {
        OutputQueue {
            head: NIL,
            tail: NIL,
            flits: 0,
        }
    }
}

/// What a port has done since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// Flits sent over its link.
    pub flits: u64,
    /// Packets sent over its link.
    pub packets: u64,
    /// Packets sent when more than one lane could have been.
    pub choices: u64,
    /// Flits times ticks spent in its input buffer.
    pub input_residence: u64,
    /// Flits times ticks spent in its output buffer.
    pub output_residence: u64,
    /// The most flits (or slots) of its output buffer ever in use, reservations included.
    pub output_peak: u32,
}
