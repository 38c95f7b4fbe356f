//! What differs between kinds of switch, known when a fabric is built: each kind is an instance of its own
//! and pays only for what it has.

use crate::link::flow::Flow;
use crate::link::lane_room::LaneRoom;
use crate::link::pause::Pause;
use crate::link::room::{Queues, Room};

/// A kind of switch as types and constants.
pub(crate) trait Shape: Send + 'static {
    /// Flow control of its links.
    type Flow: Flow;
    /// Room in its own buffers.
    type Space: Flow;
    /// Whether every lane of an input has its own way into the crossbar.
    const INPUT_PER_LANE: bool = false;
    /// Whether a packet waits at its output; otherwise it crosses only when its link takes it.
    const HAS_OUTPUT_BUFFER: bool = true;
    /// Whether ports are grouped around a central crossbar.
    const IS_HIERARCHICAL: bool = false;
    /// Whether a NIC takes in whatever comes.
    const NIC_IS_SINK: bool = Self::Flow::NIC_IS_SINK || !Self::HAS_OUTPUT_BUFFER;
}

macro_rules! shapes {
    ($($(#[$about:meta])* $name:ident: $flow:ty, $space:ty $(, $constant:ident = $value:literal)*;)*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl Shape for $name {
            type Flow = $flow;
            type Space = $space;
            $(const $constant: bool = $value;)*
        }
    )*};
}

shapes! {
    /// Buffers at inputs and outputs, credits per lane.
    Cioq: Room, Room;
    /// The same with credits per queue.
    CioqQueues: Room<Queues>, Room;
    /// The same with PAUSE.
    CioqPause: Pause, Room;
    /// Credits per lane, and lanes that cross beside each other.
    CioqLanes: LaneRoom, Room, INPUT_PER_LANE = true;
    /// Buffers at inputs only; credits per queue or lane.
    Iq: Room<Queues>, Room, HAS_OUTPUT_BUFFER = false;
    /// The same with PAUSE.
    IqPause: Pause, Room, HAS_OUTPUT_BUFFER = false;
    /// Groups of ports around a buffered central crossbar, credits per lane.
    Hierarchical: Room, Room, IS_HIERARCHICAL = true;
    /// The same with lanes that cross beside each other.
    HierarchicalLanes: LaneRoom, LaneRoom, IS_HIERARCHICAL = true, INPUT_PER_LANE = true;
    /// The same with PAUSE.
    HierarchicalPause: Pause, Room, IS_HIERARCHICAL = true;
}
