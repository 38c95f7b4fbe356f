//! Events of tiled switches: a closed set of plain records without time, 16 bytes each.
//!
//! Ports and NICs are named by their index inside the partition that receives the event.

use netloom_encoding::Encoded;

/// An update of one component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Encoded)]
pub(crate) enum Event {
    /// A header has been written at an input and may be routed.
    Head {
        /// The input.
        port: u32,
        packet: u32,
    },
    /// A header is in a row buffer and may request its tile.
    Row {
        /// The channel inside the switch.
        channel: u8,
        /// The requested output, or the first of the column for a packet to a stash, whose output
        /// is chosen when it is served.
        output: u8,
        /// The input of arrival.
        port: u32,
        packet: u32,
    },
    /// A header is in a column buffer and may request its multiplexer.
    Column {
        /// The channel inside the switch.
        channel: u8,
        /// The row of the tile.
        row: u8,
        /// The output.
        port: u32,
        packet: u32,
    },
    /// A header is in an output buffer and may request the link.
    Output {
        /// The output.
        port: u32,
        packet: u32,
    },
    /// A header is in a stash, from which it continues by itself.
    Stashed {
        /// The port of the stash.
        port: u32,
        packet: u32,
    },
    /// Credits have returned to an output.
    Credit {
        vc: u8,
        flits: u16,
        /// The output.
        port: u32,
    },
    /// A row bus is checked.
    Bus {
        /// Its input.
        port: u32,
    },
    /// A tile is checked.
    Tile {
        /// Its number on the switch.
        tile: u8,
        switch: u32,
    },
    /// A multiplexer is checked.
    Multiplexer {
        /// Its output.
        port: u32,
    },
    /// A multiplexer into a stash is checked.
    StashMultiplexer {
        /// Its port.
        port: u32,
    },
    /// A link is checked.
    Link {
        /// Its output.
        port: u32,
    },
    /// Blocks that are due are checked.
    Edge { switch: u32 },
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
    /// Side band: a copy has been stored.
    Located {
        /// The port where its packet came in.
        port: u32,
        /// The copy.
        packet: u32,
    },
    /// Side band: a copy is no longer needed.
    Delete {
        /// The port of its stash.
        port: u32,
        /// The copy.
        packet: u32,
    },
    /// Side band: a copy is to be sent again.
    Retransmit {
        /// The number of the attempt.
        attempt: u8,
        /// The port of its stash.
        port: u32,
        /// The copy.
        packet: u32,
    },
    /// An attempt may have timed out.
    Timeout {
        /// The number of the attempt.
        attempt: u8,
        /// The port where the packet came in.
        port: u32,
        /// Sequence number at its source.
        sequence: u32,
    },
    /// A workload creates a message.
    Arrival {
        class: u8,
        sl: u8,
        flow: u8,
        nic: u32,
        destination: u32,
        /// Bytes of payload.
        bytes: u32,
    },
    /// The programs of a NIC start.
    Begin { nic: u32 },
    /// Space has been freed at the first switch.
    NicCredit { vc: u8, flits: u16, nic: u32 },
    /// A NIC is checked.
    NicLink { nic: u32 },
    /// The window of a flow has grown enough.
    Grown {
        /// The channel of the flow.
        slot: u8,
        nic: u32,
        /// The destination of the flow.
        destination: u32,
    },
    /// A packet has arrived completely.
    Deliver { nic: u32, packet: u32 },
}

const _: () = assert!(size_of::<Event>() == 16);
