//! Switches, and what a fabric asks of them.
//!
//! A fabric is endpoints around one kind of switch ([`Switches`]). What endpoints, links and routing do is
//! written once, in `endpoint/`, `header.rs` and `announcing.rs`; a kind of switch says how a header is taken in, what is decided on
//! its edges, and how a NIC's packet gets into it.

pub(crate) mod announcing;
pub(crate) mod crossbar;
mod header;
pub(crate) mod tiled;

use netloom_arbitration::Arbiter;
use netloom_encoding::{Encoded, State, Validity};
use netloom_engine::{EventQueue, Outbox};
use netloom_routing::Occupancy;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::endpoint::Created;
use crate::fabric::Fabric;
use crate::parcel::Parcel;
use crate::recorder::PortUse;
use crate::shared::Shared;
use crate::switch::announcing::Announcing;
use crate::validation::{Bounds, Ways};

pub(crate) use header::{Exit, Header};

/// No record.
pub(crate) const NIL: u32 = u32::MAX;

/// Who is at the other end of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// Nobody.
    Nobody,
    /// A port of a switch in this partition.
    Port(u32),
    /// A port of a switch in another partition.
    Remote(u16, u32),
    /// A NIC, always in this partition.
    Nic(u32),
}

/// What can happen beside every switch, as events of a kind of switch: one flat set for each kind keeps them at 16 bytes.
pub(crate) trait Events: Copy + Send + Ord + std::fmt::Debug + Encoded {
    /// A workload hands over a message.
    fn arrival(nic: u32, created: Created) -> Self;
    /// The programs of a NIC begin.
    fn begin(nic: u32) -> Self;
    /// A NIC is looked at.
    fn nic_link(nic: u32) -> Self;
    /// The window of a flow has grown enough.
    fn grown(nic: u32, destination: NicId, slot: u8) -> Self;
    /// A switch tells its neighbours of its queues.
    fn announce(switch: u32) -> Self;
    /// A neighbour has told of the queue of an output, to the port that is cabled to it.
    fn announced(port: u32, output: u16, flits: u32) -> Self;
}

/// [`Events`] of a set of events that has them under their names.
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

/// The next packet that a NIC would send, as far as its lane and way at the first switch matter.
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
    /// What can happen.
    type Event: Events;
    /// The arbiter at NICs.
    type Arbiter: Arbiter;
    /// What a NIC knows of the buffer at the other end of its link.
    type Credit: Send + State;
    /// Whether nothing is asked for that few fabrics have ([`FabricPlan::is_plain`](crate::FabricPlan::is_plain)).
    const IS_PLAIN: bool = false;
    /// Whether the class of a packet at the first switch may differ from its lane.
    const MAY_LOOK_AHEAD: bool = false;

    /// An update.
    fn apply<Q: EventQueue<Self::Event>>(
        fabric: &mut Fabric<Self>,
        now: Tick,
        event: Self::Event,
        out: &mut Outbox<Fabric<Self>, Q>,
    );

    /// Whether there are so many that what an event touches is seldom in a near cache.
    fn outgrow_caches(&self) -> bool {
        false
    }

    /// Asks for what an event will touch.
    #[inline(always)]
    fn prefetch(fabric: &Fabric<Self>, event: Self::Event) {
        let _ = (fabric, event);
    }

    /// Whether decisions ask for what they will read.
    const LOOKS_AHEAD: bool = false;

    /// Asks for what a switch will read when it decides.
    #[inline(always)]
    fn prefetch_decision(fabric: &Fabric<Self>, switch: u32) {
        let _ = (fabric, switch);
    }

    /// Asks for what is found by that.
    #[inline(always)]
    fn prefetch_behind(fabric: &Fabric<Self>, switch: u32) {
        let _ = (fabric, switch);
    }

    /// All decisions of a switch in a tick.
    fn decide<Q: EventQueue<Self::Event>>(
        fabric: &mut Fabric<Self>,
        switch: u32,
        now: Tick,
        out: &mut Outbox<Fabric<Self>, Q>,
    );

    /// An event with a packet from another partition: the event as it is known here.
    fn take_over(fabric: &mut Fabric<Self>, event: Self::Event, parcel: Parcel) -> Self::Event;

    /// How many there are.
    fn len(&self) -> usize;

    /// Takes a packet out of the fabric.
    fn remove(&mut self, id: u32) -> Parcel;

    /// One flit on the link of a NIC, in ticks: the cycle of the NIC.
    fn nic_cycle(&self, wire: u8) -> u64;

    /// Whether a packet of a class fits into the first switch now; otherwise when, as far as that is known.
    fn may_send(
        &self,
        credit: &Self::Credit,
        wire: u8,
        class: u16,
        flits: u16,
        now: Tick,
    ) -> Result<(), Tick>;

    /// The class of a packet at the first switch, where it may differ from its lane.
    fn class_at_first(&self, shared: &Shared, candidate: Candidate) -> u16 {
        let _ = shared;
        u16::from(candidate.vl)
    }

    /// The queue that a packet joins at the first switch, where NICs have injection queues.
    fn queue_at_first(&self, shared: &Shared, candidate: Candidate) -> u32 {
        let _ = (shared, candidate);
        0
    }

    /// The lane on which data of a flow leaves whose channel has a lane.
    fn data_lane(&self, vl: u8) -> u8 {
        vl
    }

    /// The lane on which an acknowledgement leaves that answers data of a lane.
    fn answer_lane(&self, vl: u8) -> u8 {
        vl
    }

    /// A packet takes the link of its NIC.
    fn launch<Q: EventQueue<Self::Event>>(
        fabric: &mut Fabric<Self>,
        now: Tick,
        nic: u32,
        parcel: Parcel,
        class: u16,
        out: &mut Outbox<Fabric<Self>, Q>,
    );

    /// Flits that wait in a switch for an output, and beyond it as far as its credits tell.
    fn queued(&self, output: u32, now: Tick) -> u32;

    /// Whether the other end of a link has stopped the lane that a packet would leave on (PAUSE).
    fn is_stopped(fabric: &Fabric<Self>, exit: Exit) -> bool {
        let _ = (fabric, exit);
        false
    }

    /// Whether a packet of so many flits could not begin to leave now: the link is in use, or the other end has no room
    /// for it on its lane.
    fn is_blocked(fabric: &Fabric<Self>, exit: Exit, flits: u16, now: Tick) -> bool;

    /// How much of what the other end of a link grants to a lane is in use.
    fn occupancy(fabric: &Fabric<Self>, exit: Exit, now: Tick) -> Occupancy;

    /// What switches tell each other of their queues, where a routing asks for it.
    fn announcing(&self) -> Option<&Announcing>;

    /// The same, to change.
    fn announcing_mut(&mut self) -> Option<&mut Announcing>;

    /// Who is at the other end of a port, and how long what a switch tells is on its way there.
    fn cable(&self, port: u32) -> (Peer, u64);

    /// A switch decides in this tick, and looks at what it has to tell.
    fn wake<Q: EventQueue<Self::Event>>(
        fabric: &mut Fabric<Self>,
        switch: u32,
        out: &mut Outbox<Fabric<Self>, Q>,
    );

    /// What every port has done, in any order.
    fn port_uses(&self, now: Tick) -> Vec<(SwitchId, Port, PortUse)>;

    /// Packets in the buffers and on the links of this partition, each once.
    fn packets_under_way(fabric: &Fabric<Self>) -> u64;

    /// Adds all waits of this partition as pairs of keys ([`Waiting`](crate::Waiting)). `patience` is how long a packet must have
    /// waited at an input for the search to begin at all; `false` if none has.
    fn waits(
        fabric: &Fabric<Self>,
        now: Tick,
        patience: u64,
        edges: &mut Vec<(u64, u64)>,
        remote: &dyn Fn(u16, u32) -> (SwitchId, Port),
    ) -> bool;

    /// Whether restored switches, and all that is pending, are such that a run could have saved them.
    ///
    /// # Errors
    /// If they are not.
    fn validate(
        fabric: &Fabric<Self>,
        bounds: &Bounds<'_>,
        ways: &mut Ways<'_>,
        pending: &[(Tick, Self::Event)],
    ) -> Validity;

    /// Checks what holds between ticks in this kind of switch.
    fn check_laws(fabric: &Fabric<Self>) {
        let _ = fabric;
    }

    /// Whether all room is free.
    fn is_idle(&mut self) -> bool;

    /// Whether the room that a NIC knows of is free.
    fn is_credit_idle(&self, credit: &Self::Credit, wire: u8) -> bool;

    /// Flits in the stashes of each switch; nothing without stashes.
    fn stash_flits(&self) -> Vec<(SwitchId, u32)> {
        Vec::new()
    }
}
