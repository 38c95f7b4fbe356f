//! Events of crossbar switches: a closed set of plain records without time, 16 bytes each.
//!
//! Ports and NICs are named by their index inside the partition that receives the event.

use netloom_encoding::Encoded;

/// An update of one component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Encoded)]
pub(crate) enum Event {
    /// The header of a packet has passed the buffer and routing stages of an input and may be
    /// allocated.
    Head {
        /// Lane of arrival.
        vl: u8,
        flits: u16,
        port: u32,
        packet: u32,
        destination: u32,
    },
    /// The header of a packet is in an output buffer and can be scheduled.
    Output {
        /// Lane of departure.
        vl: u8,
        flits: u16,
        port: u32,
        packet: u32,
    },
    /// Credits return to an output port from the other end of its link, starting `lag` ticks ago.
    Credit {
        pace: u8,
        /// A lane or a queue.
        class: u16,
        units: u16,
        port: u32,
        /// Ticks since the first of them.
        lag: u32,
    },
    /// The other end of a port's link has counted a packet (PAUSE).
    Counted { vl: u8, flits: u16, port: u32 },
    /// The other end of a NIC's link has counted a packet (PAUSE).
    NicCounted { vl: u8, flits: u16, nic: u32 },
    /// A packet that waited for its feed, or that has crossed to the centre, joins its queue.
    Join {
        /// The input port or central link.
        port: u32,
        packet: u32,
    },
    /// Space in an output buffer is freed, starting `lag` ticks ago (only if it was not foreseen).
    Drain {
        vl: u8,
        units: u16,
        pace: u8,
        /// Flits that passed before at that pace.
        phase: u16,
        port: u32,
        /// Ticks since the first of them.
        lag: u32,
    },
    /// The crossbar releases an input.
    ReleaseInput { port: u32 },
    /// The crossbar releases an output.
    ReleaseOutput { port: u32 },
    /// The crossbar releases both ends of a transfer.
    ReleaseBoth { input: u32, output: u32 },
    /// Inputs that lost an allocation try again.
    Again { switch: u32 },
    /// Inputs that wait for space in this output try again.
    Room { port: u32 },
    /// A link can take its next packet.
    Link { port: u32 },
    /// A workload creates the next message of a class at a NIC.
    Arrival {
        class: u8,
        sl: u8,
        /// The flow within (NIC, class).
        flow: u8,
        nic: u32,
        destination: u32,
        bytes: u32,
    },
    /// Credits return to a NIC, starting `lag` ticks ago.
    NicCredit {
        pace: u8,
        class: u16,
        units: u16,
        nic: u32,
        /// Ticks since the first of them.
        lag: u32,
    },
    /// A NIC's link can take its next packet.
    NicLink { nic: u32 },
    /// A switch announces its queues to its neighbours.
    Announce { switch: u32 },
    /// A neighbour has announced a queue.
    Announced {
        /// Its output.
        output: u16,
        /// The port that is cabled to it.
        port: u32,
        /// Length of the queue.
        flits: u32,
    },
    /// The programs of a NIC start.
    Begin { nic: u32 },
    /// The window of a flow has grown enough.
    Grown {
        /// The channel of the flow.
        slot: u8,
        nic: u32,
        /// The destination of the flow.
        destination: u32,
    },
    /// The last flit of a packet has reached its NIC.
    Deliver { nic: u32, packet: u32 },
}

const _: () = assert!(size_of::<Event>() == 16);
