//! One packet's way, stage by stage: a run again with a filter.

use netloom_units::{NicId, Port, SwitchId, Tick, Vl};

/// Which packets are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Packets of this NIC.
    pub source: NicId,
    /// With this number among them.
    pub sequence: u32,
}

/// One step of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// When.
    pub at: Tick,
    /// What and where.
    pub stage: Stage,
}

/// What happened to the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Its message was created.
    Created {
        /// By this NIC.
        nic: NicId,
    },
    /// Its first flit leaves the NIC.
    Injected {
        /// From this NIC.
        nic: NicId,
        /// On this lane.
        vl: Vl,
    },
    /// Its first flit is wholly in an input buffer.
    Received {
        /// Of this switch.
        switch: SwitchId,
        /// At this input.
        input: Port,
    },
    /// It may be allocated: buffered, routed, and not to run dry.
    Routed {
        /// By this switch.
        switch: SwitchId,
        /// To this output.
        output: Port,
        /// On this lane.
        vl: Vl,
    },
    /// The crossbar is granted.
    Granted {
        /// By this switch.
        switch: SwitchId,
        /// To this output.
        output: Port,
    },
    /// Its first flit can be scheduled from the output buffer.
    Buffered {
        /// Of this switch.
        switch: SwitchId,
        /// At this output.
        output: Port,
    },
    /// Its first flit leaves on the link.
    Sent {
        /// From this switch.
        switch: SwitchId,
        /// By this output.
        output: Port,
        /// On this lane.
        vl: Vl,
    },
    /// Its last flit is wholly received.
    Delivered {
        /// By this NIC.
        nic: NicId,
    },
}
