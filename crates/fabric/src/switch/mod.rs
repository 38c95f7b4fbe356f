//! Switches and their interface to the fabric.
//!
//! A fabric consists of endpoints around one kind of switch ([`Switches`]). The behaviour of
//! endpoints, links and routing is implemented once, in `endpoint/`, `header.rs` and
//! `announcing.rs`. A kind of switch implements the arrival of headers, the decisions on its edges,
//! and the entry of packets from NICs.

pub(crate) mod announcing;
pub(crate) mod crossbar;
mod header;
pub(crate) mod tiled;

use netloom_encoding::{Encoded, State, Validity};
use netloom_engine::Outbox;
use netloom_routing::Occupancy;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::parcel::Parcel;
use crate::recorder::PortUse;
use crate::shared::Shared;
use crate::switch::announcing::Announcing;
use crate::validation::{Bounds, RemainingRoutes};

pub(crate) use header::{Exit, Header};

/// Marks the absence of a record.
pub(crate) const NIL: u32 = u32::MAX;

/// The other end of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PeerRecord {
    /// The port has no link.
    Nobody,
    /// A port of a switch in this partition.
    Port(u32),
    /// A port of a switch in another partition.
    Remote(u16, u32),
    /// A NIC, always in this partition.
    Nic(u32),
}

/// The events common to all kinds of switch, as events of one kind. A flat set for each kind keeps
/// them at 16 bytes.
pub(crate) trait Events: Copy + Send + Ord + std::fmt::Debug + Encoded {
    /// A workload creates a message.
    fn arrival(nic: u32, created: Created) -> Self;
    /// The programs of a NIC start.
    fn begin(nic: u32) -> Self;
    /// A NIC is checked.
    fn nic_link(nic: u32) -> Self;
    /// The window of a flow has grown enough.
    fn grown(nic: u32, destination: NicId, slot: u8) -> Self;
    /// A switch announces its queues to its neighbours.
    fn announce(switch: u32) -> Self;
    /// A neighbour has announced the queue of an output, to the port that is cabled to it.
    fn announced(port: u32, output: u16, flits: u32) -> Self;
}

/// Implements [`Events`] for a set of events with variants of the same names.
macro_rules! events_beside_every_switch {
    ($event:ident) => {
        impl $crate::switch::Events for $event {
            #[inline(always)]
            fn arrival(nic: u32, created: $crate::endpoint::Created) -> Self {
                $event::Arrival {
                    class: created.class,
                    sl: created.sl,
                    flow: created.flow,
                    nic,
                    destination: created.destination.0,
                    bytes: created.bytes,
                }
            }

            fn begin(nic: u32) -> Self {
                $event::Begin { nic }
            }

            #[inline(always)]
            fn nic_link(nic: u32) -> Self {
                $event::NicLink { nic }
            }

            fn grown(nic: u32, destination: netloom_units::NicId, slot: u8) -> Self {
                $event::Grown {
                    slot,
                    nic,
                    destination: destination.0,
                }
            }

            fn announce(switch: u32) -> Self {
                $event::Announce { switch }
            }

            fn announced(port: u32, output: u16, flits: u32) -> Self {
                $event::Announced {
                    output,
                    port,
                    flits,
                }
            }
        }
    };
}

pub(crate) use events_beside_every_switch;

/// The next packet of a NIC, as far as its lane and path at the first switch matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// The port of the first switch.
    pub(crate) port: u32,
    pub(crate) source: NicId,
    pub(crate) sequence: u32,
    pub(crate) destination: NicId,
    pub(crate) vl: u8,
}

/// All switches of a partition, of one kind.
pub(crate) trait Switches: Sized + Send + State {
    type Event: Events;
    /// A NIC's view of the buffer at the other end of its link.
    type Credit: Send + State;
    /// Whether switches are not checked for rare features
    /// ([`FabricPlan::has_plain_switches`](crate::FabricPlan::has_plain_switches)).
    const IS_PLAIN: bool = false;
    /// Whether endpoints are not checked for rare features
    /// ([`FabricPlan::has_plain_endpoints`](crate::FabricPlan::has_plain_endpoints)).
    const HAS_PLAIN_ENDPOINTS: bool = false;
    /// Whether the class of a packet at the first switch may differ from its lane.
    const MAY_LOOK_AHEAD: bool = false;

    /// Applies an event.
    fn apply(
        fabric: &mut Fabric<Self>,
        now: Tick,
        event: Self::Event,
        out: &mut Outbox<Fabric<Self>>,
    );

    /// Whether the switches exceed the caches.
    fn outgrow_caches(&self) -> bool {
        false
    }

    /// Prefetches the state that an event will touch.
    #[inline(always)]
    fn prefetch(fabric: &Fabric<Self>, event: Self::Event) {
        let _ = (fabric, event);
    }

    /// Whether decisions prefetch the state that they will read.
    const LOOKS_AHEAD: bool = false;

    /// Prefetches the state that a switch will read when it decides.
    #[inline(always)]
    fn prefetch_decision(fabric: &Fabric<Self>, switch: u32) {
        let _ = (fabric, switch);
    }

    /// Prefetches what is found through that state.
    #[inline(always)]
    fn prefetch_indirect(fabric: &Fabric<Self>, switch: u32) {
        let _ = (fabric, switch);
    }

    /// Runs all decisions of a switch in a tick.
    fn decide(fabric: &mut Fabric<Self>, switch: u32, now: Tick, out: &mut Outbox<Fabric<Self>>);

    /// Whether an event takes a packet to another partition.
    fn has_packet(event: Self::Event) -> bool;

    /// Takes an event from another partition, with its packet if it has one, and returns the event
    /// in the form used here.
    fn take_over(fabric: &mut Fabric<Self>, event: Self::Event, parcel: Parcel) -> Self::Event;

    /// Returns the number of switches.
    fn len(&self) -> usize;

    /// Removes a packet from the fabric.
    fn remove(&mut self, id: u32) -> Parcel;

    /// Returns one flit on the link of a NIC, in ticks: the cycle of the NIC.
    fn nic_cycle(&self, wire: u8) -> u64;

    /// Whether a packet of a class fits into the first switch now; otherwise when, if known.
    fn may_send(
        &self,
        credit: &Self::Credit,
        wire: u8,
        class: u16,
        flits: u16,
        now: Tick,
    ) -> Result<(), Tick>;

    /// Returns the class of a packet at the first switch, if it may differ from its lane.
    fn class_at_first(&self, shared: &Shared, candidate: Candidate) -> u16 {
        let _ = shared;
        u16::from(candidate.vl)
    }

    /// Returns the queue that a packet joins at the first switch, if NICs have injection queues.
    fn queue_at_first(&self, shared: &Shared, candidate: Candidate) -> u32 {
        let _ = (shared, candidate);
        0
    }

    /// Returns the lane of data of a flow whose channel has the lane `vl`.
    fn data_lane(vl: u8) -> u8 {
        vl
    }

    /// Returns the lane of an acknowledgement of data on a lane.
    fn answer_lane(vl: u8) -> u8 {
        vl
    }

    /// Puts a packet on the link of its NIC.
    fn launch(
        fabric: &mut Fabric<Self>,
        now: Tick,
        nic: u32,
        parcel: Parcel,
        class: u16,
        out: &mut Outbox<Fabric<Self>>,
    );

    /// Returns the flits that wait in a switch for an output, and beyond as far as its credits
    /// show.
    fn queued(&self, output: u32, now: Tick) -> u32;

    /// Whether the other end of a link has stopped the lane that a packet would leave on (PAUSE).
    fn is_stopped(fabric: &Fabric<Self>, exit: Exit) -> bool {
        let _ = (fabric, exit);
        false
    }

    /// Whether a packet of `flits` flits could not start to leave now: the link is in use, or the
    /// other end has no space for it on its lane.
    fn is_blocked(fabric: &Fabric<Self>, exit: Exit, flits: u16, now: Tick) -> bool;

    /// Returns the use of the buffer that the other end of a link grants to a lane.
    fn occupancy(fabric: &Fabric<Self>, exit: Exit, now: Tick) -> Occupancy;

    /// Returns the state of announcements between switches, if a routing needs it.
    fn announcing(&self) -> Option<&Announcing>;

    fn announcing_mut(&mut self) -> Option<&mut Announcing>;

    /// Returns the other end of a port, and the delay of announcements to it.
    fn cable(&self, port: u32) -> (PeerRecord, u64);

    /// Makes a switch decide in this tick and check its announcements.
    fn wake(fabric: &mut Fabric<Self>, switch: u32, out: &mut Outbox<Fabric<Self>>);

    /// Returns the counts of every port, in any order.
    fn port_uses(&self, now: Tick) -> Vec<(SwitchId, Port, PortUse)>;

    /// Returns the packets in the buffers and on the links of this partition, each once.
    fn packets_in_flight(fabric: &Fabric<Self>) -> u64;

    /// Adds all waits of this partition as pairs of keys ([`Waiting`](crate::Waiting)).
    /// `wait_limit` is how long a packet must have waited at an input before the search starts;
    /// returns `false` if none has.
    fn waits(
        fabric: &Fabric<Self>,
        now: Tick,
        wait_limit: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) -> bool;

    /// Validates that a run could have saved the restored switches and all pending events.
    ///
    /// # Errors
    /// If no run could.
    fn validate(
        fabric: &Fabric<Self>,
        bounds: &Bounds<'_>,
        routes: &mut RemainingRoutes<'_>,
        pending: &[(Tick, Self::Event)],
    ) -> Validity;

    /// Checks the invariants of this kind of switch between ticks.
    fn check_laws(fabric: &Fabric<Self>) {
        let _ = fabric;
    }

    /// Whether all buffers are empty.
    fn is_idle(&mut self) -> bool;

    /// Whether the buffer that a NIC sends to is empty, as far as the NIC knows.
    fn is_credit_idle(&self, credit: &Self::Credit, wire: u8) -> bool;

    /// Returns the flits in the stashes of each switch; empty without stashes.
    fn stash_flits(&self) -> Vec<(SwitchId, u32)> {
        Vec::new()
    }
}
