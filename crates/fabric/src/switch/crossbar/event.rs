//! What can happen: a closed set of plain records without time, 16 bytes each.
//!
//! Ports and NICs are named by their index inside the partition that receives the event.

/// One update of one component.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// A packet's header has passed the buffer and routing stages of an input: it may be allocated.
    Head {
        /// Lane it came by.
        vl: u8,
        /// Its length.
        flits: u16,
        /// The input port.
        port: u32,
        /// Its record.
        packet: u32,
        /// The NIC it goes to.
        destination: u32,
    },
    /// A packet's header is in an output buffer and can be scheduled.
    Output {
        /// Lane it leaves by.
        vl: u8,
        /// Its length.
        flits: u16,
        /// The output port.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// Credits come back to an output port from its link's other end, from `lag` ticks ago on.
    Credit {
        /// At which pace.
        pace: u8,
        /// Their class: a lane or a queue.
        class: u16,
        /// How many.
        units: u16,
        /// The output port.
        port: u32,
        /// Ticks since the first of them.
        lag: u32,
    },
    /// The other end of a port's link has counted a packet (PAUSE).
    Counted {
        /// Its lane.
        vl: u8,
        /// Its length.
        flits: u16,
        /// The output port.
        port: u32,
    },
    /// The same for a NIC.
    NicCounted {
        /// Its lane.
        vl: u8,
        /// Its length.
        flits: u16,
        /// The NIC.
        nic: u32,
    },
    /// A packet that waited so as not to run dry, or that has crossed to the centre, joins its queue.
    Join {
        /// The input port or central link.
        port: u32,
        /// Its record.
        packet: u32,
    },
    /// Room in an output buffer comes free from `lag` ticks ago on (only where it was not foreseen).
    Drain {
        /// Its lane.
        vl: u8,
        /// How much.
        units: u16,
        /// At which pace.
        pace: u8,
        /// Flits that went before at that pace.
        phase: u16,
        /// The output port.
        port: u32,
        /// Ticks since the first of it.
        lag: u32,
    },
    /// The crossbar lets go of an input.
    ReleaseInput {
        /// The input port.
        port: u32,
    },
    /// The crossbar lets go of an output.
    ReleaseOutput {
        /// The output port.
        port: u32,
    },
    /// The crossbar lets go of both ends of a transfer.
    ReleaseBoth {
        /// The input port.
        input: u32,
        /// The output port.
        output: u32,
    },
    /// Inputs that lost an allocation try again.
    Again {
        /// The switch.
        switch: u32,
    },
    /// Inputs that wait for room in this output try again.
    Room {
        /// The output port.
        port: u32,
    },
    /// A link can be given its next packet.
    Link {
        /// The output port.
        port: u32,
    },
    /// A workload hands a NIC its next message of a class.
    Arrival {
        /// The traffic class.
        class: u8,
        /// The service level.
        sl: u8,
        /// The flow within (NIC, class).
        flow: u8,
        /// The NIC.
        nic: u32,
        /// To whom.
        destination: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// Credits come back to a NIC, from `lag` ticks ago on.
    NicCredit {
        /// At which pace.
        pace: u8,
        /// Their class.
        class: u16,
        /// How many.
        units: u16,
        /// The NIC.
        nic: u32,
        /// Ticks since the first of them.
        lag: u32,
    },
    /// A NIC's link can be given its next packet.
    NicLink {
        /// The NIC.
        nic: u32,
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
    /// The programs of a NIC begin.
    Begin {
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
    /// The last flit of a packet has reached its NIC.
    Deliver {
        /// The NIC.
        nic: u32,
        /// Its record.
        packet: u32,
    },
}

netloom_encoding::encoded!(
    enum Event {
        Head { vl, flits, port, packet, destination },
        Output { vl, flits, port, packet },
        Credit { pace, class, units, port, lag },
        Counted { vl, flits, port },
        NicCounted { vl, flits, nic },
        Join { port, packet },
        Drain { vl, units, pace, phase, port, lag },
        ReleaseInput { port },
        ReleaseOutput { port },
        ReleaseBoth { input, output },
        Again { switch },
        Room { port },
        Link { port },
        Arrival { class, sl, flow, nic, destination, bytes },
        NicCredit { pace, class, units, nic, lag },
        NicLink { nic },
        Announce { switch },
        Announced { output, port, flits },
        Begin { nic },
        Grown { slot, nic, destination },
        Deliver { nic, packet },
    }
);

const _: () = assert!(size_of::<Event>() == 16);
