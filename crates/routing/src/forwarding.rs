//! Compiled routings, called once per packet and switch.

use std::num::NonZero;
use std::sync::Arc;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::damaged::DamagedPlan;
use crate::ecmp::EcmpPlan;
use crate::grid::GridPlan;
use crate::group_plan::GroupPlan;
use crate::route::RouteSeeing;
use crate::table::TablePlan;
use crate::tree::TreePlan;
use crate::{Hop, Lookup, QueueView, Route};

/// What a switch announces to its neighbours about its queues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announcements {
    /// The announced outputs, in order.
    pub outputs: Vec<Port>,
    /// The ports whose other ends receive the announcements, in order.
    pub cables: Vec<Port>,
}

/// A routing compiled for one fabric. Immutable, so all partitions share it.
#[derive(Clone, Debug)]
pub struct Forwarding {
    pub(crate) plan: Plan,
    facts: Facts,
    /// By port, the rings under the bubble rule of packets that come in and packets that leave;
    /// empty without the rule.
    rings: Vec<(u8, u8)>,
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
    Damaged(DamagedPlan),
    Own(Arc<dyn Route>),
}

/// Evaluates an expression for the routing of a plan, with its type known.
macro_rules! with_route {
    ($plan:expr, $route:ident => $answer:expr) => {
        match $plan {
            Plan::Tree($route) => $answer,
            Plan::Grid($route) => $answer,
            Plan::Table($route) => $answer,
            Plan::Groups($route) => $answer,
            Plan::Ecmp($route) => $answer,
            Plan::Damaged($route) => $answer,
            Plan::Own(plan) => {
                let $route = &**plan;
                $answer
            }
        }
    };
}

/// Properties that hold for all packets of a routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Whether all packets from one NIC to another take the same path and lanes.
    pub keeps_order: bool,
    /// Whether routes depend on the [`Occasion`](crate::Occasion).
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
            rings: vec![],
        }
    }

    /// Wraps a routing, with facts that hold for all its packets.
    ///
    /// # Panics
    ///
    /// If the facts have no lane, or more than 31.
    pub fn own(route: Arc<dyn Route>, facts: Facts) -> Forwarding {
        let lanes = facts.lanes;
        assert!(
            (1..32).contains(&lanes),
            "expected 1 to 31 lanes, found {lanes}"
        );
        Forwarding::new(Plan::Own(route), facts)
    }

    /// Sets the bubble rule at the entries of rings.
    pub(crate) fn with_rings(self, rings: Vec<(u8, u8)>) -> Self {
        Forwarding { rings, ..self }
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts
    }

    /// Returns the routing for everything but [`Forwarding::route`].
    pub(crate) fn as_route(&self) -> &dyn Route {
        with_route!(&self.plan, route => route)
    }

    /// Returns the next hop. An adaptive routing sees empty queues.
    #[inline(always)]
    pub fn route(&self, lookup: &Lookup) -> Hop {
        // The most common plan has its own inlined path.
        if let Plan::Tree(plan) = &self.plan
            && let Some(hop) = plan.route_by_destination(lookup)
        {
            return hop;
        }
        // Only the copy is in memory, so the path above keeps the lookup in registers.
        let copy = *lookup;
        self.route_unseeing(&copy)
    }

    #[inline(never)]
    fn route_unseeing(&self, lookup: &Lookup) -> Hop {
        with_route!(&self.plan, route => route.route_unseeing(lookup, self.facts))
    }

    /// Returns the next hop, depending on the queues of the switch. `word` is the routing word of
    /// the packet, see [`WORD_BITS`](crate::WORD_BITS).
    #[inline]
    pub fn route_seeing(&self, lookup: &Lookup, word: &mut u8, view: &impl QueueView) -> Hop {
        with_route!(&self.plan, route => route.route_seeing(lookup, word, view))
    }

    /// Adds every hop that [`Forwarding::route_seeing`] may return for some occasion and view; none
    /// if there is no path.
    pub fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        self.as_route().choices(lookup, hops);
    }

    /// Returns destinations that together cover every turn a packet can take between switches.
    pub fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        self.as_route().representatives(topology)
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
        self.as_route().announcements(at)
    }

    /// Returns the core cycles between two announcements of a switch, if switches announce their
    /// queues.
    pub fn announced_every(&self) -> Option<NonZero<u32>> {
        self.as_route().announced_every()
    }

    /// Returns the number of lanes that packets use (2 for datelines, 2 to 8 on dragonflies,
    /// otherwise 1).
    pub fn lanes(&self) -> u8 {
        self.facts.lanes
    }

    /// Adapts the routing to switches in which packets of one lane for different outputs share a
    /// buffer. Over groups of switches it then uses a lane per position on a path.
    pub fn for_shared_buffers(self) -> Self {
        let other = self.as_route().for_shared_buffers(self.facts);
        other.unwrap_or(self)
    }

    /// Returns the lanes used on links of a class, one bit each.
    pub fn lanes_on(&self, class: &str) -> u32 {
        let lanes = self.facts.lanes.max(1);
        match class {
            "host" => 1,
            _ => {
                let own = self.as_route().lanes_on(class, lanes);
                own.unwrap_or((1 << lanes) - 1)
            }
        }
    }

    /// Whether a route to another destination than the last one takes long.
    pub fn is_slow_to_turn(&self) -> bool {
        self.as_route().is_slow_to_turn()
    }

    /// Whether there are rings that need the bubble rule at every entry.
    pub fn bubble(&self) -> bool {
        !self.rings.is_empty()
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
    pub fn ring_of_input(&self, _at: SwitchId, port: Port) -> u8 {
        self.rings.get(port.index()).map_or(0, |rings| rings.0)
    }

    /// Returns the ring of a packet that leaves by a port; 0 if there is none, or no bubble rule.
    pub fn ring_of_output(&self, _at: SwitchId, port: Port) -> u8 {
        self.rings.get(port.index()).map_or(0, |rings| rings.1)
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
