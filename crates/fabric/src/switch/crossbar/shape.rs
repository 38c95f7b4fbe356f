//! The differences between kinds of switch, known when a fabric is built. Each kind is a separate
//! instance, so it has no cost for features of others.

use crate::link::flow::Flow;
use crate::link::lane_room::LaneRoom;
use crate::link::pause::Pause;
use crate::link::room::{Queues, Room};
use crate::switch::PeerRecord;
use crate::switch::crossbar::mask::{Many, Mask, Ports, Set};

/// The types of the parts of a switch. What depends only on them is compiled once for all kinds
/// that have them in common.
pub(crate) trait Layout: Send + 'static {
    type Flow: Flow;
    type Space: Flow;
    type Ports: Ports;
    type Queues: Set;
}

impl<F: Flow + 'static, S: Flow + 'static, P: Ports + 'static, Q: Set + 'static> Layout
    for (F, S, P, Q)
{
    type Flow = F;
    type Space = S;
    type Ports = P;
    type Queues = Q;
}

/// A kind of switch as types and constants.
pub(crate) trait Shape: Sized + Send + 'static {
    /// Flow control of its links.
    type Flow: Flow;
    /// Space in its own buffers.
    type Space: Flow;
    /// A set of its ports and other records.
    type Ports: Ports;
    /// A set of the queues of an input.
    type Queues: Set;
    /// These four.
    type Layout: Layout<Flow = Self::Flow, Space = Self::Space, Ports = Self::Ports, Queues = Self::Queues>;
    /// Whether every lane of an input has its own connection to the crossbar.
    const INPUT_PER_LANE: bool = false;
    /// Whether a packet waits at its output; otherwise it crosses only when its link accepts it.
    const HAS_OUTPUT_BUFFER: bool = true;
    /// Whether ports are grouped around a central crossbar.
    const IS_HIERARCHICAL: bool = false;
    /// Whether switches have no rare feature
    /// ([`FabricPlan::has_plain_switches`](crate::FabricPlan::has_plain_switches)), so that none is
    /// checked for.
    const IS_PLAIN: bool = false;
    /// Whether endpoints have none either
    /// ([`FabricPlan::has_plain_endpoints`](crate::FabricPlan::has_plain_endpoints)).
    const HAS_PLAIN_ENDPOINTS: bool = Self::IS_PLAIN;
    /// Whether inputs may mark packets when they are congested; endpoints use the marks.
    const MAY_MARK: bool = !Self::HAS_PLAIN_ENDPOINTS;
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
    fn is_sink(receiver: PeerRecord) -> bool {
        Self::NIC_IS_SINK && matches!(receiver, PeerRecord::Nic(_))
    }

    /// Returns the guarded ring, if this kind can have any.
    #[inline(always)]
    fn ring(number: u8) -> u8 {
        if Self::IS_PLAIN { 0 } else { number }
    }
}

macro_rules! shapes {
    ($(
        #[doc = $about:literal]
        $name:ident: $flow:ty, $space:ty, $ports:ty, $queues:ty $(, $constant:ident = $value:literal)*;
    )*) => {
        $(
            #[doc = $about]
            pub(crate) struct $name;

            impl Shape for $name {
                type Flow = $flow;
                type Space = $space;
                type Ports = $ports;
                type Queues = $queues;
                type Layout = ($flow, $space, $ports, $queues);
                $(const $constant: bool = $value;)*
            }
        )*

        /// The instances of crossbar switches: the name, and the fabrics that need it.
        pub(crate) const INSTANCES: &[(&str, &str)] = &[$((stringify!($name), $about)),*];
    };
}

// What is plain: `plan/plain.rs`. `ONE_TICK` implies `ONE_PACE`.
shapes! {
    /// Plain, buffered outputs, credits per lane, up to 64 ports, a flit takes one tick.
    PlainTick: Room, Room, Mask<1>, Mask<1>, IS_PLAIN = true, ONE_PACE = true, ONE_TICK = true;
    /// The same with up to 128 ports.
    PlainTickWide: Room, Room, Mask<2>, Mask<1>, IS_PLAIN = true, ONE_PACE = true, ONE_TICK = true;
    /// Plain, buffered outputs, credits per lane, up to 64 ports, one flit time everywhere.
    PlainPace: Room, Room, Mask<1>, Mask<1>, IS_PLAIN = true, ONE_PACE = true;
    /// Plain, buffered outputs, credits per lane, up to 64 ports, any rates of links and crossbars.
    Plain: Room, Room, Mask<1>, Mask<1>, IS_PLAIN = true;
    /// Plain, buffered outputs, PFC or PAUSE, up to 64 ports, a flit takes one tick.
    PlainPauseTick: Pause, Room, Mask<1>, Mask<1>, IS_PLAIN = true, ONE_PACE = true, ONE_TICK = true;
    /// Plain, buffered outputs, PFC or PAUSE, up to 64 ports, any times of a flit.
    PlainPause: Pause, Room, Mask<1>, Mask<1>, IS_PLAIN = true;
    /// Plain switches with buffered outputs, credits per lane, up to 64 ports; any endpoints.
    PlainSwitches: Room, Room, Mask<1>, Mask<1>, IS_PLAIN = true, HAS_PLAIN_ENDPOINTS = false;
    /// The same with PFC or PAUSE.
    PlainPauseSwitches: Pause, Room, Mask<1>, Mask<1>, IS_PLAIN = true, HAS_PLAIN_ENDPOINTS = false;
    /// Plain, buffered outputs, lanes that cross independently, up to 128 inputs.
    PlainLanes: LaneRoom, Room, Mask<2>, Mask<1>, IS_PLAIN = true, INPUT_PER_LANE = true;
    /// Plain, input queues, credits, up to 64 ports and queues, a flit takes one tick.
    PlainInputQueuedTick: Room<Queues>, Room, Mask<1>, Mask<1>, HAS_OUTPUT_BUFFER = false, IS_PLAIN = true, ONE_PACE = true, ONE_TICK = true;
    /// Plain, grouped ports with a central crossbar, credits per lane, up to 64 ports and links.
    PlainHierarchical: Room, Room, Mask<1>, Mask<1>, IS_HIERARCHICAL = true, IS_PLAIN = true;
    /// The same with up to 128 ports and links.
    PlainHierarchicalWide: Room, Room, Mask<2>, Mask<1>, IS_HIERARCHICAL = true, IS_PLAIN = true;
    /// Buffered outputs, credits per lane, up to 64 ports and 64 queues at an input.
    Cioq: Room, Room, Mask<1>, Mask<1>;
    /// The same with up to 512 ports and 8192 queues.
    CioqWide: Room, Room, Mask<8>, Many;
    /// Buffered outputs, credits per queue.
    CioqQueuesWide: Room<Queues>, Room, Mask<8>, Many;
    /// Buffered outputs, PFC or PAUSE, up to 64 ports and 64 queues at an input.
    CioqPause: Pause, Room, Mask<1>, Mask<1>;
    /// The same with up to 512 ports and 8192 queues.
    CioqPauseWide: Pause, Room, Mask<8>, Many;
    /// Buffered outputs, lanes that cross independently, up to 512 inputs and 64 queues at each.
    CioqLanes: LaneRoom, Room, Mask<8>, Mask<1>, INPUT_PER_LANE = true;
    /// The same with up to 2048 inputs and 8192 queues.
    CioqLanesWide: LaneRoom, Room, Mask<32>, Many, INPUT_PER_LANE = true;
    /// Input queues, credits, up to 64 ports and 64 queues at an input.
    InputQueued: Room<Queues>, Room, Mask<1>, Mask<1>, HAS_OUTPUT_BUFFER = false;
    /// The same with up to 512 ports and 8192 queues.
    InputQueuedWide: Room<Queues>, Room, Mask<8>, Many, HAS_OUTPUT_BUFFER = false;
    /// Input queues, PFC or PAUSE.
    InputQueuedPauseWide: Pause, Room, Mask<8>, Many, HAS_OUTPUT_BUFFER = false;
    /// Grouped ports with a central crossbar, credits per lane, up to 128 ports and links.
    Hierarchical: Room, Room, Mask<2>, Mask<1>, IS_HIERARCHICAL = true;
    /// The same with up to 2048 ports and links.
    HierarchicalWide: Room, Room, Mask<32>, Many, IS_HIERARCHICAL = true;
    /// Grouped ports with a central crossbar, PFC or PAUSE.
    HierarchicalPauseWide: Pause, Room, Mask<32>, Many, IS_HIERARCHICAL = true;
    /// Grouped ports with a central crossbar, lanes that cross independently.
    HierarchicalLanesWide: LaneRoom, LaneRoom, Mask<32>, Many, IS_HIERARCHICAL = true, INPUT_PER_LANE = true;
}
