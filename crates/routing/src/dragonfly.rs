//! Routings for fabrics of groups (dragonflies): straight to the destination's group, or by way of another one.
//!
//! Minimal takes at most one global link, Valiant goes through a random group. UGAL chooses between the two by what waits
//! at the outputs of the first switch and, if asked to, by what others of its group announce; `par-ugal` asks once more at
//! the second switch. PAR leaves the minimal way wherever that is blocked, also within a group. The compiled form of all
//! of them is a [`GroupPlan`](crate::group_plan::GroupPlan).

use std::num::NonZero;
use std::sync::Arc;

use netloom_catalog::{Described, choice, params};
use netloom_topology::Topology;

use crate::group_plan::{Adaptive, Asks, Detours, GroupPlan};
use crate::in_transit::{InTransit, Policy};
use crate::{Forwarding, Routing};

params! {
    /// Minimal on dragonflies: at most one global link.
    #[derive(Clone, Debug)]
    pub struct Minimal {}
}

params! {
    /// Valiant on dragonflies: every packet to another group goes through a third one, drawn for each packet.
    #[derive(Clone, Debug)]
    pub struct Valiant {}
}

choice! {
    /// Whose queues a decision looks at.
    pub enum Knowledge {
        /// Those of the switch that decides (UGAL-L).
        Local = "local",
        /// Also those of the global links of its group, as their switches last announced them (UGAL-G).
        Global = "global",
    }
}

params! {
    /// UGAL on dragonflies: the first switch compares the minimal way with one through a random group and decides
    /// for good.
    #[derive(Clone, Debug)]
    pub struct Ugal {
        /// Flits by which the minimal way may be worse before a packet takes the other one.
        pub threshold: u32 = 24,
        /// Whose queues are compared.
        pub knowledge: Knowledge = Knowledge::Local,
        /// Core cycles between two announcements of a switch, if the knowledge is "global".
        pub every: u32 = 32,
    }
}

params! {
    /// PAR-6/2 on dragonflies: every switch asks whether the minimal output of a packet is blocked (its link is in use, or
    /// has too few credits for the packet) and, if so, takes another one that is not, in the first group to a third group,
    /// in later groups and within one by way of another switch. Occupancies are credits in use of a lane, in per cent of all
    /// it can have, what is under way included. The thresholds are ours: the paper does not print them.
    #[derive(Clone, Debug)]
    pub struct Par {
        /// Per cent that the minimal output has in use at least before another one is thought of.
        pub threshold_min: u8 = 30,
        /// Per cent that a local output taken instead has in use at most.
        pub threshold_local: u8 = 80,
        /// Per cent that a global output taken instead has in use at most.
        pub threshold_global: u8 = 80,
        /// Whether these two are per cent of what the minimal output has in use, or of all it can have.
        pub relative: bool = true,
        /// By which links a packet may leave its first group beside the minimal one.
        pub policy: Policy = Policy::Mixed,
    }
    check |it, section| {
        let all = [("threshold-min", it.threshold_min), ("threshold-local", it.threshold_local), ("threshold-global", it.threshold_global)];
        for (key, percent) in all {
            if percent > 100 {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("{percent} per cent")).help("write 0 to 100");
            }
        }
    }
}

params! {
    /// Progressive adaptive routing on dragonflies by the test of UGAL: as `ugal`, but a packet that was left on its minimal
    /// way is asked about again at the next switch of its group.
    #[derive(Clone, Debug)]
    pub struct ParUgal {
        /// Flits by which the minimal way may be worse before a packet takes the other one (G002-2).
        pub threshold: u32 = 24,
    }
}

impl Routing for Minimal {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        GroupPlan::compile("minimal", Detours::Never, topology, seed)
    }
}

impl Routing for Valiant {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        GroupPlan::compile("valiant", Detours::Always, topology, seed)
    }
}

impl Routing for Ugal {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let announced_every = match self.knowledge {
            Knowledge::Local => None,
            Knowledge::Global => Some(NonZero::new(self.every).ok_or(
                "every = 0 is no time between two announcements; write at least every = 1",
            )?),
        };
        let adaptive = Adaptive {
            threshold: self.threshold,
            asks: Asks::Once,
            announced_every,
        };
        GroupPlan::compile("ugal", Detours::Adaptive(adaptive), topology, seed)
    }
}

impl Routing for Par {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let rules = InTransit {
            least: self.threshold_min,
            local: self.threshold_local,
            global: self.threshold_global,
            is_relative: self.relative,
            policy: self.policy,
        };
        GroupPlan::compile("par", Detours::InTransit(rules), topology, seed)
    }
}

impl Routing for ParUgal {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let adaptive = Adaptive {
            threshold: self.threshold,
            asks: Asks::InSourceGroup,
            announced_every: None,
        };
        GroupPlan::compile("par-ugal", Detours::Adaptive(adaptive), topology, seed)
    }
}

impl Described for Minimal {
    const NAME: &'static str = "minimal";
    const SUMMARY: &'static str = "Straight to the destination's group on dragonflies.";
    const PAPER: Option<&'static str> = Some(
        "J. Kim, W. Dally, S. Scott, D. Abts, \"Technology-driven, highly-scalable dragonfly topology\", \
         ISCA 2008",
    );
    const EXAMPLE: &'static str = "";
}

impl Described for Valiant {
    const NAME: &'static str = "valiant";
    const SUMMARY: &'static str = "Through a random third group on dragonflies, packet by packet.";
    const PAPER: Option<&'static str> = Some(
        "L. Valiant, \"A scheme for fast parallel communication\", SIAM J. Computing 11, 1982; on \
         dragonflies: J. Kim et al., ISCA 2008",
    );
    const EXAMPLE: &'static str = "";
}

impl Described for Ugal {
    const NAME: &'static str = "ugal";
    const SUMMARY: &'static str = "Minimal or through a random group on dragonflies, chosen at the first switch by its queues (UGAL-L) or those of its group (UGAL-G).";
    const PAPER: Option<&'static str> = Some(
        "A. Singh, \"Load-balanced routing in interconnection networks\", PhD thesis, Stanford 2005; on \
         dragonflies: J. Kim et al., ISCA 2008",
    );
    const EXAMPLE: &'static str = "threshold = 24\nknowledge = \"global\"\nevery = 32";
}

impl Described for Par {
    const NAME: &'static str = "par";
    const SUMMARY: &'static str = "Away from the minimal output on dragonflies wherever it is blocked, to another group or by way of another switch of a group (PAR-6/2).";
    const PAPER: Option<&'static str> = Some(
        "M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, M. Valero, \"Efficient routing mechanisms for dragonfly \
         networks\", ICPP 2013; policies: M. Garcia et al., \"Global misrouting policies in two-level hierarchical \
         networks\", INA-OCMC 2013",
    );
    const EXAMPLE: &'static str = "threshold-min = 30\npolicy = \"mixed\"";
}

impl Described for ParUgal {
    const NAME: &'static str = "par-ugal";
    const SUMMARY: &'static str = "Minimal or through a random group on dragonflies, asked at every switch of the first group by the test of UGAL.";
    const PAPER: Option<&'static str> = Some(
        "N. Jiang, J. Kim, W. Dally, \"Indirect adaptive routing on large scale interconnection networks\", \
         ISCA 2009",
    );
    const EXAMPLE: &'static str = "threshold = 24";
}
