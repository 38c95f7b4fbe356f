//! What can happen: a closed set of plain records without time, 16 bytes each.
//!
//! Ports and NICs are named by their index inside the partition that receives the event.

/// One update of one component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// A header is written at an input and may be routed.
    Head {
        /// The input.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// A header is in a row buffer and may ask its tile.
    Row {
        /// The channel inside the switch.
        channel: u8,
        /// The output that it asks for; the first of the column if it goes to a stash, which is chosen when it is served.
        output: u8,
        /// The input it came by.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// A header is in a column buffer and may ask its multiplexer.
    Column {
        /// The channel inside the switch.
        channel: u8,
        /// The row of the tile.
        row: u8,
        /// The output.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// A header is in an output buffer and may ask for the link.
    Output {
        /// The output.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// A header is in a stash, from which it goes on by itself.
    Stashed {
        /// The port of the stash.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// Credits have come back to an output.
    Credit {
        /// Their virtual channel.
        vc: u8,
        /// How many.
        flits: u16,
        /// The output.
        port: u32,
    },
    /// A row bus is looked at.
    Bus {
        /// Its input.
        port: u32,
    },
    /// A tile is looked at.
    Tile {
        /// Its number on the switch.
        tile: u8,
        /// The switch.
        switch: u32,
    },
    /// A multiplexer is looked at.
    Multiplexer {
        /// Its output.
        port: u32,
    },
    /// A multiplexer into a stash is looked at.
    StashMultiplexer {
        /// Its port.
        port: u32,
    },
    /// A link is looked at.
    Link {
        /// Its output.
        port: u32,
    },
    /// Blocks that are due look again.
    Edge {
        /// Their switch.
        switch: u32,
    },
    /// A switch tells its neighbours of its queues.
    Announce {
        /// The switch.
        switch: u32,
    },
    /// A neighbour has told of a queue.
    Announced {
        /// Its output.
        output: u16,
        /// The port it is cabled to.
        port: u32,
        /// What waits there.
        flits: u32,
    },
    /// Side band: a copy is stored.
    Located {
        /// The port where its packet came in.
        port: u32,
        /// The copy.
        packet: u32,
    },
    /// Side band: a copy is not needed any more.
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
    /// Nothing has come back for long.
    Timeout {
        /// Of this attempt.
        attempt: u8,
        /// The port where the packet came in.
        port: u32,
        /// Its number at its source.
        sequence: u32,
    },
    /// A workload creates a message.
    Arrival {
        /// Its traffic class.
        class: u8,
        /// Its service level.
        sl: u8,
        /// Its flow.
        flow: u8,
        /// The NIC.
        nic: u32,
        /// To whom.
        destination: u32,
        /// Payload.
        bytes: u32,
    },
    /// The programs of a NIC begin.
    Begin {
        /// The NIC.
        nic: u32,
    },
    /// Room has come free at the first switch.
    NicCredit {
        /// On which virtual channel.
        vc: u8,
        /// How much.
        flits: u16,
        /// The NIC.
        nic: u32,
    },
    /// A NIC is looked at.
    NicLink {
        /// The NIC.
        nic: u32,
    },
    /// The window of a flow has grown enough.
    Grown {
        /// The channel of the flow.
        slot: u8,
        /// The NIC.
        nic: u32,
        /// The destination of the flow.
        destination: u32,
    },
    /// A packet has wholly arrived.
    Deliver {
        /// At this NIC.
        nic: u32,
        /// Its record.
        packet: u32,
    },
}

netloom_encoding::encoded!(
    enum Event {
        Head { port, packet },
        Row { channel, output, port, packet },
        Column { channel, row, port, packet },
        Output { port, packet },
        Stashed { port, packet },
        Credit { vc, flits, port },
        Bus { port },
        Tile { tile, switch },
        Multiplexer { port },
        StashMultiplexer { port },
        Link { port },
        Edge { switch },
        Announce { switch },
        Announced { output, port, flits },
        Located { port, packet },
        Delete { port, packet },
        Retransmit { attempt, port, packet },
        Timeout { attempt, port, sequence },
        Arrival { class, sl, flow, nic, destination, bytes },
        Begin { nic },
        NicCredit { vc, flits, nic },
        NicLink { nic },
        Grown { slot, nic, destination },
        Deliver { nic, packet },
    }
);

const _: () = assert!(size_of::<Event>() == 16);
