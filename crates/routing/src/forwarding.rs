//! The compiled routing: one question per packet and switch.

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

/// Where a packet goes next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hop {
    /// The output port.
    pub port: Port,
    /// The lane on the link there (0 towards NICs).
    pub lane: u8,
}

/// What a random choice is keyed by: the packet and how far it has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Occasion {
    /// The NIC that sent the packet.
    pub source: NicId,
    /// The packet's number at that NIC.
    pub sequence: u32,
    /// Switches it has been through before this one.
    pub hop: u8,
}

/// Bits of the routing word that a packet carries from switch to switch: its value is below `1 << WORD_BITS`.
///
/// The word is 0 when a packet is injected. What it means is known to its routing alone; switches keep it and hand it
/// on.
pub const WORD_BITS: u32 = 2;

/// What a switch sees when it chooses among its outputs: nothing else may enter a decision.
pub trait QueueView {
    /// Flits that wait in this switch for an output, and beyond it as far as its credits tell.
    fn queued(&self, output: Port) -> u32;

    /// The same of an output of the switch at the other end of a cable, as that one last announced it; see
    /// [`Forwarding::announcements`].
    fn announced(&self, cable: Port, output: Port) -> u32;

    /// Whether a lane of an output sends nothing now: it is paused, or has no credits left. Such an output is worse
    /// than any queue.
    #[inline]
    fn is_stopped(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// Whether the packet that is routed could not begin to leave by a lane of an output now: the link is in use, or the
    /// lane has too few credits for it, or is paused.
    #[inline]
    fn is_blocked(&self, _output: Port, _lane: u8) -> bool {
        false
    }

    /// How much of what the other end of a link grants to a lane is in use, as far as the switch knows: standing there or
    /// under way.
    #[inline]
    fn occupancy(&self, _output: Port, _lane: u8) -> Occupancy {
        Occupancy { used: 0, most: 1 }
    }
}

/// A part of a whole, in flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// In use.
    pub used: u32,
    /// What can be in use at most; not 0.
    pub most: u32,
}

/// So that a view that is only known as `&dyn QueueView` can be handed on.
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

/// What a switch tells its neighbours of its queues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announcements {
    /// The outputs that it tells about, in order.
    pub outputs: Vec<Port>,
    /// The ports at whose other ends they are told, in order.
    pub cables: Vec<Port>,
}

/// A view of a switch in which nothing waits.
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

/// A routing made ready for one fabric. Immutable, so all partitions share it.
#[derive(Clone, Debug)]
pub struct Forwarding {
    pub(crate) plan: Plan,
    facts: Facts,
    /// Whether there are rings that need the bubble rule.
    bubble: bool,
}

/// A byte tells the plans apart; without it the compiler hides that in a length, which takes longer to ask.
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
    /// The arithmetic of a fat tree, if that is what it follows.
    pub(crate) fn tree(&self) -> Option<&TreePlan> {
        match self {
            Plan::Tree(plan) => Some(plan),
            Plan::Ecmp(plan) => Some(plan.tree()),
            Plan::Damaged(plan) => Some(plan.tree()),
            _ => None,
        }
    }
}

/// What holds for all packets of a routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Whether all packets from one NIC to another take the same path and lanes.
    pub keeps_order: bool,
    /// Whether an answer depends on the [`Occasion`] at all.
    pub needs_occasion: bool,
    /// Lanes that packets use, counted from 0.
    pub lanes: u8,
    /// Whether the routing is meant to be free of deadlock; [`deadlock::check`](crate::deadlock::check) confirms it.
    pub claims_no_deadlock: bool,
    /// Whether an answer depends on the [`QueueView`], or changes the word of a packet: such a routing is asked where a
    /// switch decides.
    pub adaptive: bool,
}

impl Facts {
    /// The facts of a routing that has one way from each NIC to each other, and is meant to be free of deadlock. For
    /// another one, change what differs: `Facts { keeps_order: false, ..Facts::new(2) }`.
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

    /// The same with the bubble rule at the entries of its rings, or without.
    pub(crate) fn with_bubble(self, bubble: bool) -> Self {
        Forwarding { bubble, ..self }
    }

    /// Which output port, which lane. `from` is the port the packet came in by, `lane` the lane it came on
    /// (0 at injection). A routing that looks at queues sees empty ones.
    #[inline(always)]
    pub fn route(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
    ) -> Hop {
        // What most fabrics have is worth a way of its own into the code that asks.
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
                    "a routing that writes words says so by Facts::adaptive"
                );
                hop
            }
        }
    }

    /// The same where a switch chooses by what waits at its outputs. `word` is the routing word of the packet, see
    /// [`WORD_BITS`].
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

    /// Adds every hop that [`Forwarding::route_seeing`] may answer for some occasion and view; none where there is no way.
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

    /// Destinations that between them show every turn a packet can take on its way between switches.
    pub fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        match &self.plan {
            Plan::Tree(plan) => plan.representatives(),
            // NICs of one leaf have the same choices.
            Plan::Ecmp(plan) => plan.tree().one_per_leaf(),
            Plan::Damaged(plan) => plan.representatives(),
            // NICs of one switch may be told apart.
            Plan::Own(_) => topology.nics().collect(),
            Plan::Table(plan) if plan.tells_nics_apart() => topology.nics().collect(),
            Plan::Grid(_) | Plan::Table(_) | Plan::Groups(_) => one_per_switch(topology),
        }
    }

    /// Whether all packets from one NIC to another take the same path and lanes.
    pub fn keeps_order(&self) -> bool {
        self.facts.keeps_order
    }

    /// Whether [`Forwarding::route`] looks at the occasion at all.
    pub fn needs_occasion(&self) -> bool {
        self.facts.needs_occasion
    }

    /// Whether a switch chooses by what waits at its outputs, so that [`Forwarding::route_seeing`] may answer
    /// something else than [`Forwarding::route`].
    pub fn is_adaptive(&self) -> bool {
        self.facts.adaptive
    }

    /// What a switch tells its neighbours of its queues; `None` if it tells them nothing.
    pub fn announcements(&self, at: SwitchId) -> Option<Announcements> {
        match &self.plan {
            Plan::Groups(plan) => plan.announcements(at),
            _ => None,
        }
    }

    /// Core cycles between two announcements of a switch, if switches tell their neighbours of their queues.
    pub fn announced_every(&self) -> Option<NonZero<u32>> {
        match &self.plan {
            Plan::Groups(plan) => plan.announced_every(),
            _ => None,
        }
    }

    /// Number of lanes packets use (2 for datelines, 2 to 8 on dragonflies, otherwise 1).
    pub fn lanes(&self) -> u8 {
        self.facts.lanes
    }

    /// The same routing for switches in which packets of one lane for different outputs share a buffer: over groups
    /// of switches it then takes a lane for each place of a way.
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

    /// Lanes that packets take on links of a class by its name, one bit each.
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

    /// Whether there are rings that need the bubble rule at every entry.
    pub fn bubble(&self) -> bool {
        self.bubble
    }

    /// Whether this routing is meant to be free of deadlock (with the bubble rule, if it asks for it);
    /// [`deadlock::check`](crate::deadlock::check) confirms it.
    pub fn claims_no_deadlock(&self) -> bool {
        self.facts.claims_no_deadlock
    }

    /// The ring a packet is in when it comes in by a port; 0 = none, or no bubble rule.
    ///
    /// A packet goes on in its ring if this equals the [`Forwarding::ring_of_output`] of the port it leaves
    /// by; otherwise, if that is not 0, it enters a ring. A ring is a dimension, direction and trunk member.
    #[inline]
    pub fn ring_of_input(&self, _at: SwitchId, port: Port) -> u8 {
        match &self.plan {
            Plan::Grid(plan) if self.bubble => plan.ring_of_input(port),
            _ => 0,
        }
    }

    /// The ring a packet is in when it leaves by a port; 0 = none, or no bubble rule.
    #[inline]
    pub fn ring_of_output(&self, _at: SwitchId, port: Port) -> u8 {
        match &self.plan {
            Plan::Grid(plan) if self.bubble => plan.ring_of_output(port),
            _ => 0,
        }
    }
}

/// The first NIC of each switch that has some.
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
