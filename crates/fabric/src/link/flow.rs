//! A sender's view of the buffer at the other end of its link: credits per lane, credits per queue,
//! or PAUSE.

use netloom_encoding::{State, Validity};
use netloom_routing::Occupancy;
use netloom_units::Tick;

use crate::link::lane_room::LaneRoom;
use crate::link::pause::Pause;
use crate::link::ramp::{Paces, Ramp};
use crate::link::room::{Lanes, Limits, Queues, Room, RoomBounds};
use crate::plan::{FabricPlan, FlowControl};

/// A kind of flow control, at one sender.
pub(crate) trait Flow: Clone + Send + State {
    /// Whether the receiver stops and restarts lanes, instead of returning credits.
    const IS_PAUSE: bool = false;
    /// Whether classes may be queues, which a sender determines by looking one hop ahead.
    const MAY_LOOK_AHEAD: bool = false;
    /// Whether a NIC accepts every packet without flow control; otherwise it returns credits too.
    const NIC_IS_SINK: bool = true;

    /// Returns the initial state of a sender on a link class.
    fn new(plan: &FabricPlan, link_class: u8) -> Self;

    /// Whether a packet of a class may start now.
    fn has<'a>(
        &self,
        class: u16,
        need: u32,
        now: Tick,
        limits: &Limits,
        paces: impl FnOnce() -> &'a Paces,
    ) -> bool;

    /// Returns when a packet may start, if that is known. Otherwise the change comes as an event.
    fn when(
        &self,
        class: u16,
        need: u32,
        now: Tick,
        paces: &Paces,
        limits: &Limits,
    ) -> Option<Tick>;

    /// Returns the flits in use by a class, reservations included, as far as settled; zero with
    /// PAUSE.
    fn used(&self, class: u16) -> u32 {
        let _ = class;
        0
    }

    /// Records the start of a packet.
    fn take(&mut self, class: u16, amount: u16);

    /// Records space that is freed at the other end.
    fn release(&mut self, ramp: Ramp, now: Tick) -> bool;

    /// Records that the other end has counted a packet (PAUSE only).
    fn count(&mut self, class: u16, flits: u16, now: Tick);

    /// Returns the flits at the other end or on the way there, as far as the sender knows.
    fn in_use(&self, now: Tick, paces: &Paces) -> u32;

    /// Returns the flits that the classes of a lane may still send now.
    fn room_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32;

    /// Returns what the classes of a lane use at the other end or on the way there, and their
    /// maximum.
    fn occupancy_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> Occupancy;

    /// Whether the other end has stopped a class (PAUSE only).
    fn is_stopped(&self, class: u16) -> bool {
        let _ = class;
        false
    }

    /// Whether nothing is in use, as in a drained fabric.
    fn is_idle(&self) -> bool;

    /// Validates that a run could have saved this.
    fn validate(&self, at: &RoomBounds<'_>) -> Validity;

    /// Returns the flits in use by a class without a known release; `None` with PAUSE.
    fn outstanding(&self, class: u16) -> Option<u32>;
}

macro_rules! credits {
    ($room:ty, $new:expr, $($constant:item)*) => {
        impl Flow for $room {
            $($constant)*

            fn new(plan: &FabricPlan, _: u8) -> Self {
                $new(plan)
            }

            #[inline(always)]
            fn has<'a>(
                &self,
                class: u16,
                need: u32,
                now: Tick,
                limits: &Limits,
                paces: impl FnOnce() -> &'a Paces,
            ) -> bool {
                <$room>::has(self, class, need, now, limits, paces)
            }

            #[inline]
            fn when(&self, class: u16, need: u32, now: Tick, paces: &Paces, limits: &Limits) -> Option<Tick> {
                <$room>::when(self, class, need, now, paces, limits)
            }

            #[inline(always)]
            fn used(&self, class: u16) -> u32 {
                <$room>::used(self, class)
            }

            #[inline(always)]
            fn take(&mut self, class: u16, amount: u16) {
                <$room>::take(self, class, amount);
            }

            #[inline(always)]
            fn release(&mut self, ramp: Ramp, now: Tick) -> bool {
                <$room>::release(self, ramp, now)
            }

            fn count(&mut self, _: u16, _: u16, _: Tick) {}

            #[inline(always)]
            fn in_use(&self, now: Tick, paces: &Paces) -> u32 {
                <$room>::in_use(self, now, paces)
            }

            fn room_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> u32 {
                <$room>::room_of(self, lane, now, paces, limits)
            }

            fn occupancy_of(&self, lane: u16, now: Tick, paces: &Paces, limits: &Limits) -> Occupancy {
                <$room>::occupancy_of(self, lane, now, paces, limits)
            }

            fn is_idle(&self) -> bool {
                <$room>::is_idle(self)
            }

            fn validate(&self, at: &RoomBounds<'_>) -> Validity {
                <$room>::validate(self, at)
            }

            fn outstanding(&self, class: u16) -> Option<u32> {
                Some(<$room>::outstanding(self, class))
            }
        }
    };
}

/// Registers credits with a sender before they arrive, if `may` is set and no earlier ones are
/// still to come by an event. Otherwise they come by an event too and are counted among those.
#[inline(always)]
pub(crate) fn foresee<F: Flow>(
    credit: &mut F,
    coming: &mut u16,
    may: bool,
    ramp: impl FnOnce() -> Ramp,
    now: Tick,
) -> bool {
    let is_foreseen = may && *coming == 0 && credit.release(ramp(), now);
    if !is_foreseen {
        *coming += 1;
    }
    is_foreseen
}

fn n_classes(plan: &FabricPlan) -> usize {
    match plan.flow_control {
        FlowControl::QueueCredits => plan.queue_map().n_queues() as usize,
        _ => usize::from(plan.n_vls),
    }
}

credits!(
    Room<Lanes>,
    |plan| Room::new(n_classes(plan)),
    const NIC_IS_SINK: bool = false;
);
credits!(
    Room<Queues>,
    |plan| Room::new(n_classes(plan)),
    const MAY_LOOK_AHEAD: bool = true;
);
credits!(
    LaneRoom,
    |_| LaneRoom::default(),
    const NIC_IS_SINK: bool = false;
);

impl Flow for Pause {
    const IS_PAUSE: bool = true;

    fn new(plan: &FabricPlan, link_class: u8) -> Self {
        let (class, buffer) = (
            usize::from(link_class),
            &plan.switch.crossbar().input_buffer,
        );
        match &plan.flow_control {
            FlowControl::Pfc(thresholds) => Pause::of_lanes(&thresholds[class], buffer),
            FlowControl::Pause(thresholds) => Pause::of_link(thresholds[class], buffer),
            FlowControl::Credits | FlowControl::QueueCredits => {
                unreachable!("PAUSE is built from thresholds")
            }
        }
    }

    #[inline]
    fn has<'a>(
        &self,
        class: u16,
        _: u32,
        _: Tick,
        _: &Limits,
        _: impl FnOnce() -> &'a Paces,
    ) -> bool {
        !self.is_stopped(class)
    }

    fn when(&self, _: u16, _: u32, _: Tick, _: &Paces, _: &Limits) -> Option<Tick> {
        None
    }

    fn take(&mut self, _: u16, _: u16) {}

    fn release(&mut self, ramp: Ramp, now: Tick) -> bool {
        self.take_off(ramp.class, ramp.count, now);
        true
    }

    fn count(&mut self, class: u16, flits: u16, now: Tick) {
        self.add(class, flits, now);
    }

    fn in_use(&self, _: Tick, _: &Paces) -> u32 {
        self.counted()
    }

    fn room_of(&self, lane: u16, _: Tick, _: &Paces, _: &Limits) -> u32 {
        match Pause::is_stopped(self, lane) {
            true => 0,
            false => u32::MAX,
        }
    }

    fn occupancy_of(&self, lane: u16, _: Tick, _: &Paces, _: &Limits) -> Occupancy {
        Pause::occupancy_of(self, lane)
    }

    fn is_stopped(&self, class: u16) -> bool {
        Pause::is_stopped(self, class)
    }

    fn is_idle(&self) -> bool {
        Pause::is_idle(self)
    }

    fn validate(&self, at: &RoomBounds<'_>) -> Validity {
        Pause::validate(self, at)
    }

    fn outstanding(&self, _: u16) -> Option<u32> {
        None
    }
}
