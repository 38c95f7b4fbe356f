//! The differences between kinds of switch, known when a fabric is built. Each kind is a separate
//! instance, so it has no cost for features of others.

use std::marker::PhantomData;

use crate::link::flow::Flow;
use crate::link::lane_room::LaneRoom;
use crate::link::pause::Pause;
use crate::link::room::{Queues, Room};
use crate::switch::Peer;

/// A kind of switch as types and constants.
pub(crate) trait Shape: Send + 'static {
    /// Flow control of its links.
    type Flow: Flow;
    /// Space in its own buffers.
    type Space: Flow;
    /// Whether every lane of an input has its own connection to the crossbar.
    const INPUT_PER_LANE: bool = false;
    /// Whether a packet waits at its output; otherwise it crosses only when its link accepts it.
    const HAS_OUTPUT_BUFFER: bool = true;
    /// Whether ports are grouped around a central crossbar.
    const IS_HIERARCHICAL: bool = false;
    /// Whether the fabric has no rare feature
    /// ([`FabricPlan::is_plain`](crate::FabricPlan::is_plain)), so that none is checked for.
    const IS_PLAIN: bool = false;
    /// Whether a flit takes the same time everywhere: on links, over crossbars, and in the clock.
    const ONE_PACE: bool = false;
    /// Whether that time is one tick.
    const ONE_TICK: bool = false;
    /// Whether credits may be registered with a sender before they arrive. This excludes receivers
    /// that pause, which report the current state, and lanes that cross independently, which need
    /// more than two ramps.
    const MAY_FORESEE: bool = !Self::Flow::IS_PAUSE && !Self::INPUT_PER_LANE;
    /// Whether a NIC accepts every packet.
    const NIC_IS_SINK: bool = Self::Flow::NIC_IS_SINK || !Self::HAS_OUTPUT_BUFFER;

    /// Whether the receiver of an output accepts every packet.
    #[inline(always)]
    fn is_sink(receiver: Peer) -> bool {
        Self::NIC_IS_SINK && matches!(receiver, Peer::Nic(_))
    }

    /// Returns the guarded ring, if this kind can have any.
    #[inline(always)]
    fn ring(number: u8) -> u8 {
        if Self::IS_PLAIN { 0 } else { number }
    }
}

/// A kind of switch in a plain fabric. `ONE_PACE` if a flit takes the same time everywhere,
/// `ONE_TICK` if it takes one tick everywhere.
pub(crate) struct Plain<S, const ONE_PACE: bool, const ONE_TICK: bool>(PhantomData<S>);

impl<S: Shape, const ONE_PACE: bool, const ONE_TICK: bool> Shape for Plain<S, ONE_PACE, ONE_TICK> {
    type Flow = S::Flow;
    type Space = S::Space;
    const INPUT_PER_LANE: bool = S::INPUT_PER_LANE;
    const HAS_OUTPUT_BUFFER: bool = S::HAS_OUTPUT_BUFFER;
    const IS_HIERARCHICAL: bool = S::IS_HIERARCHICAL;
    const IS_PLAIN: bool = true;
    const ONE_PACE: bool = ONE_PACE || ONE_TICK;
    const ONE_TICK: bool = ONE_TICK;
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
    /// Credits per lane, and lanes that cross independently.
    CioqLanes: LaneRoom, Room, INPUT_PER_LANE = true;
    /// Buffers at inputs only; credits per queue or lane.
    Iq: Room<Queues>, Room, HAS_OUTPUT_BUFFER = false;
    /// The same with PAUSE.
    IqPause: Pause, Room, HAS_OUTPUT_BUFFER = false;
    /// Groups of ports around a buffered central crossbar, credits per lane.
    Hierarchical: Room, Room, IS_HIERARCHICAL = true;
    /// The same with lanes that cross independently.
    HierarchicalLanes: LaneRoom, LaneRoom, IS_HIERARCHICAL = true, INPUT_PER_LANE = true;
    /// The same with PAUSE.
    HierarchicalPause: Pause, Room, IS_HIERARCHICAL = true;
}
