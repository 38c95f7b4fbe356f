//! The plan of a tiled switch.
//!
//! ```text
//!             row bus            tile crossbar    column channel        output multiplexer
//!  input p ─►─┬────────┬──── …   (row r, column c)      │                 (R rows to 1)
//!             ▼        ▼          I inputs, O outputs   ▼
//!        row buffer  row buffer ─►  allocator  ─►  column buffer (output, row) ─► output buffer ─► link
//! ```
//!
//! Input p is input p mod I of all tiles of row p / I; output q is output q mod O of all tiles of
//! column q / O. The model is in `switch/tiled`.

use netloom_catalog::choice;

use crate::link::room::Sizes;
use crate::plan::CrossbarStart;

#[derive(Clone, PartialEq, Debug)]
pub struct Tiled {
    /// Ticks between two edges of its core clock.
    pub period: u64,
    /// Rows of tiles (R).
    pub rows: u16,
    /// Columns of tiles (C).
    pub columns: u16,
    /// Inputs of a tile (I): a switch has R × I ports.
    pub inputs: u16,
    /// Outputs of a tile (O): a switch has C × O ports.
    pub outputs: u16,
    /// Flits in front of a tile input for each virtual channel.
    pub row_buffer: u32,
    /// Whether that is for all outputs of the tile, or for each.
    pub row_space: RowSpace,
    /// Flits that one virtual channel may have between a row and an output.
    pub column_buffer: u32,
    /// Latencies of the stages.
    pub stages: TileStages,
    /// When a stage starts a packet whose flits arrive slower than it could pass them.
    pub start: CrossbarStart,
    /// How long an output keeps sent flits.
    pub retransmission: Retransmission,
    /// The priority of packets that compete.
    pub priority: Priority,
    /// The buffers of a port, by the class of its link.
    pub ports: Vec<PortBuffers>,
    /// The use of spare port buffers, if any.
    pub stash: Option<StashUse>,
    /// Injected errors.
    pub faults: Faults,
}

impl Tiled {
    /// Whether it may send a packet again: after a fault, or because an answer takes longer than
    /// the timeout.
    pub(crate) fn may_repeat(&self) -> bool {
        let has_timeout = matches!(self.stash, Some(StashUse::Reliability { timeout: Some(_) }));
        has_timeout || !self.faults.are_off()
    }
}

choice! {
    /// Division of the buffer of a virtual channel in front of a tile, which has a queue for each
    /// output.
    pub enum RowSpace {
        /// The queues share it: packets for a busy output may block others.
        Shared = "shared",
        /// Each queue has its own. The channel to stashes has one queue, because its output is
        /// chosen when it is served.
        PerOutput = "per-output",
    }
}

choice! {
    /// Priority at tiles, multiplexers and links, where packets take turns.
    pub enum Priority {
        /// Equal: the paper treats all virtual channels the same.
        Equal = "equal",
        /// Packets from other switches precede those of the switch's own hosts, which may starve.
        TransitFirst = "transit-first",
    }
}

choice! {
    /// How long the buffer of an output keeps sent flits, in case the link damages them. One link
    /// round trip passes between the end of a flit and its acknowledgement.
    pub enum Retransmission {
        /// A packet as a whole, until the acknowledgement of its last flit.
        Packet = "packet",
        /// Each flit until its own acknowledgement.
        PerFlit = "per-flit",
        /// Each flit until it is sent: the link never sends again.
        Nothing = "none",
    }
}

impl Retransmission {
    /// Returns the number of link delays after which the space of a sent flit is free.
    pub(crate) fn delays(self) -> u64 {
        match self {
            Retransmission::Packet | Retransmission::PerFlit => 2,
            Retransmission::Nothing => 0,
        }
    }

    /// Whether the space of a packet is freed flit by flit.
    pub(crate) fn is_by_flit(self) -> bool {
        self != Retransmission::Packet
    }
}

/// Latencies inside a tiled switch, in cycles of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileStages {
    /// From a completely received header to its first request for the row bus: writing and routing.
    pub before_bus: u64,
    /// From the grant of the bus to the header in the row buffer.
    pub row_bus: u64,
    /// From the grant of the tile crossbar to the header in the column buffer: allocation,
    /// crossbar, channel.
    pub tile: u64,
    /// From the grant of the multiplexer to the header in the output buffer (or in a stash).
    pub multiplexer: u64,
    /// From the grant of the link to the header on it.
    pub output: u64,
    /// A message of the side band between ports of a switch.
    pub side_band: u64,
}

/// The buffers of a port, in flits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortBuffers {
    /// For incoming packets, shared by the virtual channels.
    pub input: Sizes,
    /// For outgoing packets, until the other end has acknowledged them.
    pub output: Sizes,
    /// For packets of any port of the switch.
    pub stash: u32,
}

/// The use of spare port buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StashUse {
    /// The first switch keeps a copy of every data packet until its endpoint has acknowledged it.
    Reliability {
        /// Ticks without an answer after which a copy is sent again; `None` for never.
        timeout: Option<u64>,
    },
    /// Congested inputs stash packets for an endpoint of the switch that cannot advance.
    Congestion,
}

/// Errors, drawn for every packet at every switch on its path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Faults {
    /// The seed of the draws.
    pub seed: u64,
    /// Probability that a switch corrupts a packet.
    pub corrupt: f64,
    /// Probability that a switch loses a packet.
    pub lose: f64,
    /// Probability that a packet is damaged on the link after a switch; the link sends it again.
    pub link: f64,
}

impl Faults {
    /// Whether there are no errors.
    pub fn are_off(&self) -> bool {
        self.corrupt == 0.0 && self.lose == 0.0 && self.link == 0.0
    }
}
