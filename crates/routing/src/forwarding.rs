//! Compiled routings, called once per packet and switch.

use std::num::NonZero;
use std::sync::Arc;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::damaged::DamagedPlan;
use crate::ecmp::EcmpPlan;
use crate::grid::GridPlan;
use crate::group_plan::GroupPlan;
use crate::own::{self, Route};
use crate::table::TablePlan;
use crate::tree::TreePlan;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hop {
    pub port: Port,
    /// The lane on the link of that port (0 towards NICs).
    pub lane: u8,
}

/// The key of random choices: a packet and its progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Occasion {
    pub source: NicId,
    /// The packet's sequence number at that NIC.
    pub sequence: u32,
    /// Switches that it passed before this one.
    pub hop: u8,
}

/// Bits of the routing word that a packet carries from switch to switch; its value is below `1 <<
/// WORD_BITS`.
///
/// The word is 0 when a packet is injected. Only its routing interprets it; switches store and
/// forward it.
pub const WORD_BITS: u32 = 2;

/// What a switch sees when it chooses among its outputs. A decision may depend on nothing else.
pub trait QueueView {
    /// Returns the flits that wait in this switch for an output, and those after it as far as
    /// credits show them.
    fn queued(&self, output: Port) -> u32;

    /// Returns the same for an output of the switch at the other end of a cable, as last announced
    /// by that switch; see [`Forwarding::announcements`].
    fn announced(&self, cable: Port, output: Port) -> u32;

    /// Whether a lane of an output cannot send now, because it is paused or has no credits left.
    /// Such an output is worse than any queue.
    #[inline]
    fn is_stopped(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// Whether the packet being routed could not start on a lane of an output now: the link is in
    /// use, the lane has too few credits, or it is paused.
    #[inline]
    fn is_blocked(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// Returns the flits in use of the buffer that the other end of a link grants to a lane, as far
    /// as the switch knows: stored there or on the link.
    #[inline]
    fn occupancy(&self, _output: Port, _lane: u8) -> Occupancy {
        Occupancy { used: 0, most: 1 }
    }
}

/// A part of a whole, in flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    pub used: u32,
    /// Maximum of `used`; not 0.
    pub most: u32,
}

/// Lets a `&dyn QueueView` be passed on as a view.
impl<V: QueueView + ?Sized> QueueView for &V {
    #[inline]
    fn queued(&self, output: Port) -> u32 {
        (**self).queued(output)
    }

    #[inline]
    fn announced(&self, cable: Port, output: Port) -> u32 {
        (**self).announced(cable, output)
    }

    #[inline]
    fn is_stopped(&self, output: Port, lane: u8) -> bool {
        (**self).is_stopped(output, lane)
    }

    #[inline]
    fn is_blocked(&self, output: Port, lane: u8) -> bool {
        (**self).is_blocked(output, lane)
    }

    #[inline]
    fn occupancy(&self, output: Port, lane: u8) -> Occupancy {
        (**self).occupancy(output, lane)
    }
}

/// What a switch announces to its neighbours about its queues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announcements {
    /// The announced outputs, in order.
    pub outputs: Vec<Port>,
    /// The ports whose other ends receive the announcements, in order.
    pub cables: Vec<Port>,
}

/// A view of a switch in which no packets wait.
#[derive(Clone, Copy, Debug)]
pub struct EmptyQueues;

impl QueueView for EmptyQueues {
    fn queued(&self, _: Port) -> u32 {
        0
    }

    fn announced(&self, _: Port, _: Port) -> u32 {
        0
    }
}

/// A routing compiled for one fabric. Immutable, so all partitions share it.
#[derive(Clone, Debug)]
pub struct Forwarding {
    pub(crate) plan: Plan,
    facts: Facts,
    /// Whether there are rings that need the bubble rule.
    bubble: bool,
}

/// A byte as the tag of the plans. Otherwise the compiler encodes it in a length, which takes
/// longer to test.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Plan {
    Tree(TreePlan),
    Grid(GridPlan),
    Table(TablePlan),
    Groups(GroupPlan),
    Ecmp(EcmpPlan),
    Damaged(Arc<DamagedPlan>),
    Own(Arc<dyn Route>),
}

impl Plan {
    /// Returns the arithmetic of a fat tree, if the plan follows one.
    pub(crate) fn tree(&self) -> Option<&TreePlan> {
        match self {
            Plan::Tree(plan) => Some(plan),
            Plan::Ecmp(plan) => Some(plan.tree()),
            Plan::Damaged(plan) => Some(plan.tree()),
            _ => None,
        }
    }
}

/// Properties that hold for all packets of a routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Whether all packets from one NIC to another take the same path and lanes.
    pub keeps_order: bool,
    /// Whether routes depend on the [`Occasion`].
    pub needs_occasion: bool,
    /// Number of lanes that packets use, which are numbered from 0.
    pub lanes: u8,
    /// Whether the routing is designed to be free of deadlock;
    /// [`deadlock::check`](crate::deadlock::check) verifies it.
    pub claims_no_deadlock: bool,
    /// Whether routes depend on the [`QueueView`], or change the word of a packet. Such a routing
    /// is called when the switch decides.
    pub adaptive: bool,
}

impl Facts {
    /// Returns the facts of a routing with one path per pair of NICs that is designed to be free of
    /// deadlock. For other routings, change single fields: `Facts { keeps_order: false,
    /// ..Facts::new(2) }`.
    pub fn new(lanes: u8) -> Self {
        Facts {
            keeps_order: true,
            needs_occasion: false,
            lanes,
            claims_no_deadlock: true,
            adaptive: false,
        }
    }
}

impl Forwarding {
    pub(crate) fn new(plan: Plan, facts: Facts) -> Self {
        Forwarding {
            plan,
            facts,
            bubble: false,
        }
    }

    #[cfg(test)]
    pub(crate) fn facts(&self) -> Facts {
        self.facts
    }

    /// Enables or disables the bubble rule at the entries of the rings.
    pub(crate) fn with_bubble(self, bubble: bool) -> Self {
        Forwarding { bubble, ..self }
    }

    /// Returns the next hop. `from` is the input port and `lane` the lane of arrival (0 at
    /// injection). An adaptive routing sees empty queues.
    #[inline(always)]
    pub fn route(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
    ) -> Hop {
        // The most common plan has its own inlined path.
        if let Plan::Tree(plan) = &self.plan
            && let Some(hop) = plan.route_by_destination(at, destination)
        {
            return hop;
        }
        self.route_any(at, from, lane, destination, occasion)
    }

    #[inline(never)]
    fn route_any(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
    ) -> Hop {
        match &self.plan {
            Plan::Tree(plan) => plan.route(at, from, destination, occasion),
            Plan::Grid(plan) => plan.route(at, from, lane, destination, occasion),
            Plan::Table(plan) => plan.route(at, from, destination, occasion),
            Plan::Groups(plan) => {
                let view = &EmptyQueues;
                plan.route_seeing(at, from, lane, destination, occasion, &mut 0, view)
            }
            Plan::Ecmp(plan) => plan.route_seeing(at, destination, occasion, &EmptyQueues),
            Plan::Damaged(plan) => plan.route_seeing(at, from, destination, occasion, &EmptyQueues),
            Plan::Own(route) => {
                let (view, mut word) = (&EmptyQueues, 0);
                let hop = own::ask(
                    &**route,
                    at,
                    from,
                    lane,
                    destination,
                    occasion,
                    &mut word,
                    view,
                );
                assert!(
                    word == 0 || self.facts.adaptive,
                    "expected Facts::adaptive for a routing that writes words"
                );
                hop
            }
        }
    }

    /// Returns the next hop, depending on the queues of the switch. `word` is the routing word of
    /// the packet, see [`WORD_BITS`].
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn route_seeing(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
        word: &mut u8,
        view: &impl QueueView,
    ) -> Hop {
        match &self.plan {
            Plan::Groups(plan) => {
                plan.route_seeing(at, from, lane, destination, occasion, word, view)
            }
            Plan::Ecmp(plan) => plan.route_seeing(at, destination, occasion, view),
            Plan::Damaged(plan) => plan.route_seeing(at, from, destination, occasion, view),
            Plan::Own(route) => {
                own::ask(&**route, at, from, lane, destination, occasion, word, view)
            }
            _ => self.route(at, from, lane, destination, occasion),
        }
    }

    /// Adds every hop that [`Forwarding::route_seeing`] may return for some occasion and view; none
    /// if there is no path.
    pub fn choices(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        hops: &mut Vec<Hop>,
    ) {
        match &self.plan {
            Plan::Tree(plan) => plan.choices(at, from, destination, hops),
            Plan::Grid(plan) => plan.choices(at, from, lane, destination, hops),
            Plan::Table(plan) => plan.choices(at, from, destination, hops),
            Plan::Groups(plan) => plan.choices(at, from, lane, destination, hops),
            Plan::Ecmp(plan) => plan.choices(at, destination, hops),
            Plan::Damaged(plan) => plan.choices(at, from, destination, hops),
            Plan::Own(route) => route.choices(at, from, lane, destination, hops),
        }
    }

    /// Returns destinations that together cover every turn a packet can take between switches.
    pub fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        match &self.plan {
            Plan::Tree(plan) => plan.representatives(),
            // NICs of one leaf have the same choices.
            Plan::Ecmp(plan) => plan.tree().one_per_leaf(),
            Plan::Damaged(plan) => plan.representatives(),
            // NICs of one switch may have different routes.
            Plan::Own(_) => topology.nics().collect(),
            Plan::Table(plan) if plan.tells_nics_apart() => topology.nics().collect(),
            Plan::Grid(_) | Plan::Table(_) | Plan::Groups(_) => one_per_switch(topology),
        }
    }

    /// Whether all packets from one NIC to another take the same path and lanes.
    pub fn keeps_order(&self) -> bool {
        self.facts.keeps_order
    }

    /// Whether [`Forwarding::route`] depends on the occasion.
    pub fn needs_occasion(&self) -> bool {
        self.facts.needs_occasion
    }

    /// Whether routes depend on queues, so that [`Forwarding::route_seeing`] may return another hop
    /// than [`Forwarding::route`].
    pub fn is_adaptive(&self) -> bool {
        self.facts.adaptive
    }

    /// Returns what a switch announces to its neighbours; `None` if it announces nothing.
    pub fn announcements(&self, at: SwitchId) -> Option<Announcements> {
        match &self.plan {
            Plan::Groups(plan) => plan.announcements(at),
            _ => None,
        }
    }

    /// Returns the core cycles between two announcements of a switch, if switches announce their
    /// queues.
    pub fn announced_every(&self) -> Option<NonZero<u32>> {
        match &self.plan {
            Plan::Groups(plan) => plan.announced_every(),
            _ => None,
        }
    }

    /// Returns the number of lanes that packets use (2 for datelines, 2 to 8 on dragonflies,
    /// otherwise 1).
    pub fn lanes(&self) -> u8 {
        self.facts.lanes
    }

    /// Adapts the routing to switches in which packets of one lane for different outputs share a
    /// buffer. Over groups of switches it then uses a lane per position on a path.
    pub fn for_shared_buffers(self) -> Self {
        let Plan::Groups(plan) = &self.plan else {
            return self;
        };
        match plan.apart() {
            Some((plan, lanes)) => {
                let facts = Facts {
                    lanes,
                    ..self.facts
                };
                Forwarding::new(Plan::Groups(plan), facts)
            }
            None => self,
        }
    }

    /// Returns the lanes used on links of a class, one bit each.
    pub fn lanes_on(&self, class: &str) -> u32 {
        let lanes = self.facts.lanes.max(1);
        let all = (1 << lanes) - 1;
        let climb = match &self.plan {
            Plan::Groups(plan) => plan.climb(lanes),
            _ => None,
        };
        match (class, climb) {
            ("host", _) => 1,
            ("local", Some(climb)) => climb.local,
            ("global", Some(climb)) => climb.global,
            _ => all,
        }
    }

    /// Whether a route to another destination than the last one takes long, as with tables that
    /// are filled for one destination at a time.
    pub fn is_slow_to_turn(&self) -> bool {
        matches!(&self.plan, Plan::Own(route) if route.is_slow_to_turn())
    }

    /// Whether there are rings that need the bubble rule at every entry.
    pub fn bubble(&self) -> bool {
        self.bubble
    }

    /// Whether this routing is designed to be free of deadlock, with the bubble rule if it needs
    /// it; [`deadlock::check`](crate::deadlock::check) verifies it.
    pub fn claims_no_deadlock(&self) -> bool {
        self.facts.claims_no_deadlock
    }

    /// Returns the ring of a packet that comes in by a port; 0 if there is none, or no bubble rule.
    ///
    /// A packet stays in its ring if this equals the [`Forwarding::ring_of_output`] of its output;
    /// otherwise, if that is not 0, it enters a ring. A ring is a dimension, direction and trunk
    /// member.
    #[inline]
    pub fn ring_of_input(&self, _at: SwitchId, port: Port) -> u8 {
        match &self.plan {
            Plan::Grid(plan) if self.bubble => plan.ring_of_input(port),
            _ => 0,
        }
    }

    /// Returns the ring of a packet that leaves by a port; 0 if there is none, or no bubble rule.
    #[inline]
    pub fn ring_of_output(&self, _at: SwitchId, port: Port) -> u8 {
        match &self.plan {
            Plan::Grid(plan) if self.bubble => plan.ring_of_output(port),
            _ => 0,
        }
    }
}

/// Returns the first NIC of each switch that has any.
pub(crate) fn one_per_switch(topology: &Topology) -> Vec<NicId> {
    let mut seen = vec![false; topology.n_switches() as usize];
    let is_first = |nic: &NicId| {
        let switch = topology.attachment(*nic).0;
        !std::mem::replace(&mut seen[switch.index()], true)
    };
    topology.nics().filter(is_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers;

    impl QueueView for Numbers {
        fn queued(&self, output: Port) -> u32 {
            u32::from(output.0)
        }

        fn announced(&self, cable: Port, output: Port) -> u32 {
            u32::from(cable.0 * 100 + output.0)
        }

        fn is_stopped(&self, output: Port, lane: u8) -> bool {
            output.0 == 3 && lane == 1
        }
    }

    #[test]
    fn a_view_is_the_same_behind_a_reference() {
        fn ask(view: &impl QueueView) -> (u32, u32, [bool; 2]) {
            let stopped = [0, 1].map(|lane| view.is_stopped(Port(3), lane));
            (
                view.queued(Port(7)),
                view.announced(Port(2), Port(5)),
                stopped,
            )
        }
        let hidden: &dyn QueueView = &Numbers;
        assert_eq!(ask(&hidden), (7, 205, [false, true]));
        assert_eq!(ask(&Numbers), ask(&hidden));
        assert_eq!(ask(&EmptyQueues), (0, 0, [false; 2]));
    }
}
