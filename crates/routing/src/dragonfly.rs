//! Routings for fabrics of groups (dragonflies): straight to the destination's group, or by way of another one.
//!
//! Minimal takes at most one global link, Valiant goes through a random group, UGAL and PAR choose between the two
//! by what waits at the outputs of the switch that decides and, if asked to, by what others of its group announce. The compiled form of all of them is a
//! [`GroupPlan`](crate::group_plan::GroupPlan).

use std::num::NonZero;
use std::sync::Arc;

use netloom_catalog::{Described, choice, params};
use netloom_topology::Topology;

use crate::group_plan::{Adaptive, Asks, Detours, GroupPlan};
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
    /// Progressive adaptive routing on dragonflies (PAR6/2): as UGAL, but a packet that was left on its minimal way
    /// is asked about again at the next switch of its group.
    #[derive(Clone, Debug)]
    pub struct Par {
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
        let adaptive = Adaptive {
            threshold: self.threshold,
            asks: Asks::InSourceGroup,
            announced_every: None,
        };
        GroupPlan::compile("par", Detours::Adaptive(adaptive), topology, seed)
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
    const SUMMARY: &'static str = "Minimal or through a random group on dragonflies, asked at every switch of the first group (PAR6/2).";
    const PAPER: Option<&'static str> = Some(
        "N. Jiang, J. Kim, W. Dally, \"Indirect adaptive routing on large scale interconnection networks\", \
         ISCA 2009; lanes: M. Garcia et al., \"On-the-fly adaptive routing in high-radix hierarchical \
         networks\", ICPP 2012",
    );
    const EXAMPLE: &'static str = "threshold = 24";
}
