//! Fat trees with a choice: any up port to the nearest common ancestor, then down by any of the
//! parallel cables.
//!
//! A packet goes up while its destination is not below, and never goes up after it came down,
//! whichever ports are chosen (`tree.rs` has the arithmetic, `choice.rs` the choices). So one lane
//! is enough.

use std::sync::Arc;

use netloom_catalog::{Described, params};
use netloom_topology::{Pgft, Topology};
use netloom_units::NicId;

use crate::choice::{Choice, Chooser};
use crate::damaged::DamagedPlan;
use crate::deadlock::{Network, Verdict, of_large_tree};
use crate::forwarding::Plan;
use crate::route::RouteSeeing;
use crate::tree::{TreePlan, tree_of};
use crate::{Facts, Forwarding, Hop, Lookup, QueueView, Route, Routing};

params! {
    /// Equal-cost paths on fat trees: every switch chooses among its up ports, and downwards among
    /// parallel cables.
    #[derive(Clone, Debug)]
    pub struct Ecmp {
        /// How a switch chooses: by a hash of source and destination, at random for each packet, or
        /// by queue length.
        pub choice: Choice = Choice::Hash,
        /// Flits per unit of queue length, where "least" and "least-of-2" compare queues.
        pub granularity: u32 = 1,
    }
}

impl Routing for Ecmp {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let tree = tree_of("ecmp", topology)?;
        if self.granularity == 0 {
            return Err("expected granularity = 1 or more, found granularity = 0".into());
        }
        let n_switches = topology.n_switches();
        let chooser = Chooser::new(self.choice, self.granularity, n_switches, seed);
        EcmpPlan::compile(&tree, topology, self.choice, chooser)
    }
}

impl Described for Ecmp {
    const NAME: &'static str = "ecmp";
    const SUMMARY: &'static str = "Any up port on fat trees, then down; chosen by a hash, at \
         random per packet, or by the shortest queue.";
    const PAPER: Option<&'static str> = Some(
        "C. Hopps, \"Analysis of an equal-cost multi-path algorithm\", RFC 2992, 2000; spray: A. \
         Dixit et al., INFOCOM \
         2013; least: C. Gomez et al., CAC (IPDPS) 2007; least-of-2: M. Mitzenmacher, IEEE TPDS \
         12, 2001",
    );
    const EXAMPLE: &'static str = "choice = \"least\"\ngranularity = 8";
}

/// A compiled tree routing with a choice at every switch.
#[derive(Clone, Debug)]
pub(crate) struct EcmpPlan {
    pub(crate) tree: TreePlan,
    pub(crate) chooser: Chooser,
}

impl EcmpPlan {
    fn compile(
        tree: &Pgft,
        topology: &Topology,
        choice: Choice,
        chooser: Chooser,
    ) -> Result<Forwarding, String> {
        // Parallel cables downwards are up ports of the switch below.
        let has_choice = (1..tree.levels()).any(|level| tree.n_up(level) > 1);
        let plan = EcmpPlan {
            tree: TreePlan::by_destination(tree),
            chooser,
        };
        let facts = Facts {
            keeps_order: !has_choice || choice.keeps_order(),
            needs_occasion: has_choice,
            lanes: 1,
            claims_no_deadlock: true,
            adaptive: has_choice && choice.is_adaptive(),
        };
        let plan = match DamagedPlan::of(tree, topology, &plan.tree, Some(&plan.chooser))? {
            Some(damaged) => Plan::Damaged(damaged),
            None => Plan::Ecmp(plan),
        };
        Ok(Forwarding::new(plan, facts))
    }
}

impl Route for EcmpPlan {
    fn route(&self, lookup: &Lookup, word: &mut u8, view: &dyn QueueView) -> Hop {
        self.route_seeing(lookup, word, &view)
    }

    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>) {
        let ways = self.tree.ways(lookup.at, lookup.destination);
        hops.extend((0..ways.n).map(|i| ways.hop(i)));
    }

    /// NICs of one leaf have the same choices.
    fn representatives(&self, _: &Topology) -> Vec<NicId> {
        self.tree.one_per_leaf()
    }

    fn by_structure(&self, network: Network<'_>, n_targets: u64, _: u64) -> Option<Verdict> {
        of_large_tree(network, &self.tree, n_targets)
    }
}

impl RouteSeeing for EcmpPlan {
    /// Not inlined, so that [`Forwarding::route_seeing`] stays small.
    #[inline(never)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, _: &mut u8, view: &V) -> Hop {
        let ways = self.tree.ways(lookup.at, lookup.destination);
        self.chooser.choose(lookup, ways.n, |i| ways.hop(i), view)
    }
}
