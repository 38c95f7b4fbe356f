//! What a tiled switch is built from.
//!
//! ```text
//!             row bus            tile crossbar    column channel        output multiplexer
//!  input p ─►─┬────────┬──── …   (row r, column c)      │                 (R rows to 1)
//!             ▼        ▼          I inputs, O outputs   ▼
//!        row buffer  row buffer ─►  allocator  ─►  column buffer (output, row) ─► output buffer ─► link
//! ```
//!
//! Input p is input p mod I of all tiles of row p / I; output q is output q mod O of all tiles of column
//! q / O. The model itself is in `switch/tiled`.

use netloom_catalog::choice;

use crate::link::room::Sizes;
use crate::plan::CrossbarStart;

/// A tiled switch.
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
    /// When a stage begins with a packet whose flits come slower than it could pass them.
    pub start: CrossbarStart,
    /// How long an output keeps what it has sent.
    pub retransmission: Retransmission,
    /// Who goes first where packets meet.
    pub priority: Priority,
    /// The buffers of a port, by the class of its link.
    pub ports: Vec<PortBuffers>,
    /// What unused port buffers are used for; nothing if `None`.
    pub stash: Option<StashUse>,
    /// By what a packet finds its stash.
    pub stash_select: StashSelect,
    /// What goes wrong on purpose.
    pub faults: Faults,
}

impl Tiled {
    /// Whether it may send a packet again: after a fault, or because an answer takes longer than the timeout.
    pub(crate) fn may_repeat(&self) -> bool {
        let has_timeout = matches!(self.stash, Some(StashUse::Reliability { timeout: Some(_) }));
        has_timeout || !self.faults.are_off()
    }
}

choice! {
    /// The shortest queue that a packet for a stash joins: the column with the most, and then its output with the most.
    pub enum StashSelect {
        /// Room in stashes: of a column what nobody is on the way to, of an output with what is free before it (G002-4).
        Room = "room",
        /// Credits of the channel to stashes: what is free in front of the tile, and in front of the output.
        Credits = "credits",
    }
}

choice! {
    /// How the buffer of a virtual channel in front of a tile, a queue for each output, is divided.
    pub enum RowSpace {
        /// The queues share it: packets for a busy output may keep others out.
        Shared = "shared",
        /// Each queue has its own. The channel to stashes has one queue, because its output is chosen when it is served.
        PerOutput = "per-output",
    }
}

choice! {
    /// Who goes first at tiles, multiplexers and links, where packets take turns.
    pub enum Priority {
        /// Nobody: the paper calls all virtual channels equal.
        Equal = "equal",
        /// Packets that came from other switches go before those of the hosts of the switch, which may wait for ever.
        TransitFirst = "transit-first",
    }
}

choice! {
    /// How long the buffer of an output keeps what it has sent, in case the link damages it. One link round trip lies
    /// between the end of a flit and its acknowledgement.
    pub enum Retransmission {
        /// A packet as a whole, until the acknowledgement of its last flit (G002-7).
        Packet = "packet",
        /// Each flit until its own acknowledgement.
        PerFlit = "per-flit",
        /// Each flit until it is sent: the link never sends again.
        Nothing = "none",
    }
}

impl Retransmission {
    /// How many link delays after a flit is sent its place is free.
    pub(crate) fn delays(self) -> u64 {
        match self {
            Retransmission::Packet | Retransmission::PerFlit => 2,
            Retransmission::Nothing => 0,
        }
    }

    /// Whether the places of a packet come free one by one.
    pub(crate) fn is_by_flit(self) -> bool {
        self != Retransmission::Packet
    }
}

/// Latencies inside a tiled switch, in cycles of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileStages {
    /// From a header wholly received to its first try for the row bus: writing and routing.
    pub before_bus: u64,
    /// From the bus granted to the header in the row buffer.
    pub row_bus: u64,
    /// From the tile crossbar granted to the header in the column buffer: allocation, crossbar, channel.
    pub tile: u64,
    /// From the multiplexer granted to the header in the output buffer (or in a stash).
    pub multiplexer: u64,
    /// From the link granted to the header on it.
    pub output: u64,
    /// A message of the side band between ports of a switch.
    pub side_band: u64,
}

/// The buffers of a port, in flits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortBuffers {
    /// For what comes in by the link, shared by the virtual channels.
    pub input: Sizes,
    /// For what leaves by the link, until the other end has acknowledged it.
    pub output: Sizes,
    /// Kept for packets of any port of the switch.
    pub stash: u32,
}

/// What unused port buffers are used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StashUse {
    /// The first switch keeps a copy of every data packet until its endpoint has acknowledged it.
    Reliability {
        /// A copy is sent again if nothing has come back after so many ticks; never if `None`.
        timeout: Option<u64>,
    },
    /// Packets for an endpoint of the switch that cannot advance are put aside by congested inputs.
    Congestion,
}

/// Errors, drawn for every packet at every switch it crosses.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Faults {
    /// The seed of the draws.
    pub seed: u64,
    /// Chance that a switch corrupts a packet.
    pub corrupt: f64,
    /// Chance that a switch loses a packet.
    pub lose: f64,
    /// Chance that a packet is damaged on the link behind a switch; the link sends it again.
    pub link: f64,
}

impl Faults {
    /// Whether nothing goes wrong.
    pub fn are_off(&self) -> bool {
        self.corrupt == 0.0 && self.lose == 0.0 && self.link == 0.0
    }
}
