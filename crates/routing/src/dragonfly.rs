//! Routings for fabrics of groups (dragonflies): directly to the destination's group, or through
//! another one.
//!
//! Minimal takes at most one global link; Valiant goes through a random group. UGAL chooses between
//! the two by the queues at the outputs of the first switch and, with global knowledge, by those
//! that other switches of its group announce. `par-ugal` decides again at the second switch. PAR
//! leaves the minimal path wherever it is blocked, also within a group. All of them compile to a
//! [`GroupPlan`](crate::group_plan::GroupPlan).

use std::num::NonZero;
use std::sync::Arc;

use netloom_catalog::{Described, choice, params};
use netloom_topology::Topology;

use crate::group_plan::{Adaptive, Asks, Detours, GroupPlan};
use crate::in_transit::{InTransit, Policy};
use crate::{Forwarding, Routing};

params! {
    /// Minimal routing on dragonflies: at most one global link.
    #[derive(Clone, Debug)]
    pub struct Minimal {}
}

choice! {
    /// What Valiant routing draws for each packet.
    pub enum Intermediate {
        /// A third group. The packet leaves it from the switch where it comes in, or by one local
        /// link.
        Group = "group",
        /// Any group. With the first or the last one the path is minimal.
        AnyGroup = "any-group",
        /// Any switch of the fabric, which the packet visits. With one of the first group the path
        /// is minimal.
        Switch = "switch",
    }
}

params! {
    /// Valiant routing on dragonflies: every packet to another group goes through an intermediate
    /// group or switch, drawn for each packet.
    #[derive(Clone, Debug)]
    pub struct Valiant {
        /// What is drawn: a third group; any group; or any switch, which takes a fourth lane and
        /// a dragonfly. With the first group the path is minimal.
        pub intermediate: Intermediate = Intermediate::Group,
    }
}

choice! {
    /// The queues that a decision depends on.
    pub enum Knowledge {
        /// Those of the deciding switch (UGAL-L).
        Local = "local",
        /// Also those of the global links of its group, as their switches last announced them
        /// (UGAL-G).
        Global = "global",
    }
}

params! {
    /// UGAL on dragonflies: the first switch compares the minimal path with one through a random
    /// group. Its decision is final.
    #[derive(Clone, Debug)]
    pub struct Ugal {
        /// Flits by which the minimal path may be worse before a packet takes the other one.
        pub threshold: u32 = 24,
        /// The queues that are compared.
        pub knowledge: Knowledge = Knowledge::Local,
        /// Core cycles between two announcements of a switch, if the knowledge is "global".
        pub every: u32 = 32,
    }
}

params! {
    /// PAR-6/2 on dragonflies. The minimal output of a packet is blocked if its link is in use or
    /// has too few credits for the packet. The switch then takes another output that is not
    /// blocked: towards a third group in the first group, and through another switch in later
    /// groups and within a group. Occupancies are the credits of a lane in use, including packets
    /// on the link, as a percentage of its maximum. The thresholds are defaults of netloom, since
    /// the paper does not state them.
    #[derive(Clone, Debug)]
    pub struct Par {
        /// Percentage that the minimal output must have in use before another output is considered.
        pub threshold_min: u8 = 30,
        /// Percentage that an alternative local output may have in use at most.
        pub threshold_local: u8 = 80,
        /// Percentage that an alternative global output may have in use at most.
        pub threshold_global: u8 = 80,
        /// Whether the two maxima are relative to what the minimal output has in use, instead of to
        /// its maximum.
        pub relative: bool = true,
        /// The links by which a packet may leave its first group, in addition to the minimal one.
        pub policy: Policy = Policy::Mixed,
    }
    check |it, section| {
        let all = [("threshold-min", it.threshold_min), ("threshold-local", it.threshold_local), ("threshold-global", it.threshold_global)];
        for (key, percent) in all {
            if percent > 100 {
                let place = section.place_of(key);
                section.notes.error("E0102", place, format!("expected a percentage, found \
                    {percent}")).help("use 0 to 100");
            }
        }
    }
}

params! {
    /// Progressive adaptive routing on dragonflies by the test of UGAL: like `ugal`, but the test
    /// is repeated at the next switch of the group for a packet that is still on its minimal path.
    #[derive(Clone, Debug)]
    pub struct ParUgal {
        /// Flits by which the minimal path may be worse before a packet takes the other one.
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
        GroupPlan::compile(
            "valiant",
            Detours::Always(self.intermediate),
            topology,
            seed,
        )
    }
}

impl Routing for Ugal {
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        let announced_every = match self.knowledge {
            Knowledge::Local => None,
            Knowledge::Global => Some(
                NonZero::new(self.every).ok_or("expected every = 1 or more, found every = 0")?,
            ),
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
    const SUMMARY: &'static str = "The direct path to the destination's group on dragonflies. Takes 2 \
         lanes for each of `qos.vls`.";
    const PAPER: Option<&'static str> = Some(
        "J. Kim, W. Dally, S. Scott, D. Abts, \"Technology-driven, highly-scalable dragonfly \
         topology\", \
         ISCA 2008",
    );
    const EXAMPLE: &'static str = "";
}

impl Described for Valiant {
    const NAME: &'static str = "valiant";
    const SUMMARY: &'static str = "Through a random third group on dragonflies, drawn for each packet. Takes 3 lanes for \
         each of `qos.vls`, or 4 with intermediate = \"switch\".";
    const PAPER: Option<&'static str> = Some(
        "L. Valiant, \"A scheme for fast parallel communication\", SIAM J. Computing 11, 1982; on \
         dragonflies: J. Kim et al., ISCA 2008",
    );
    const EXAMPLE: &'static str = "intermediate = \"group\"";
}

impl Described for Ugal {
    const NAME: &'static str = "ugal";
    const SUMMARY: &'static str = "Minimal or through a random group on dragonflies, chosen at \
         the first switch by its queues (UGAL-L) or those of its group (UGAL-G). \
         Takes 3 lanes for each of `qos.vls`.";
    const PAPER: Option<&'static str> = Some(
        "A. Singh, \"Load-balanced routing in interconnection networks\", PhD thesis, Stanford \
         2005; on \
         dragonflies: J. Kim et al., ISCA 2008",
    );
    const EXAMPLE: &'static str = "threshold = 24\nknowledge = \"global\"\nevery = 32";
}

impl Described for Par {
    const NAME: &'static str = "par";
    const SUMMARY: &'static str = "Leaves the minimal path of a dragonfly where its output is \
         blocked, through another group or another switch of a group (PAR-6/2). Takes 6 \
         lanes for each of `qos.vls`.";
    const PAPER: Option<&'static str> = Some(
        "M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, M. Valero, \"Efficient routing \
         mechanisms for dragonfly \
         networks\", ICPP 2013; policies: M. Garcia et al., \"Global misrouting policies in \
         two-level hierarchical \
         networks\", INA-OCMC 2013",
    );
    const EXAMPLE: &'static str = "threshold-min = 30\npolicy = \"mixed\"";
}

impl Described for ParUgal {
    const NAME: &'static str = "par-ugal";
    const SUMMARY: &'static str = "Minimal or through a random group on dragonflies, by the UGAL \
         test at every switch of the first group. Takes 6 lanes for each of `qos.vls`.";
    const PAPER: Option<&'static str> = Some(
        "N. Jiang, J. Kim, W. Dally, \"Indirect adaptive routing on large scale interconnection \
         networks\", \
         ISCA 2009",
    );
    const EXAMPLE: &'static str = "threshold = 24";
}
