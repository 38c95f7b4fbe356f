//! What a fabric is built from: typed, resolved, in ticks and flits. Impossible states are refused
//! before this point.

mod endpoint;
mod plain;
pub(crate) mod tiles;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netloom_arbitration::Policy;
use netloom_catalog::choice;
use netloom_packet::{SlSegmentation, Source};
use netloom_routing::Forwarding;
use netloom_routing::deadlock::Centre;
use netloom_topology::{Egress, Topology};
use netloom_units::{NicId, Sl, SwitchId};

use crate::channels::Channels;
use crate::endpoint::connections::ConnectionPlan;
use crate::link::ramp::Pace;
use crate::link::room::Sizes;
use crate::plan::tiles::Tiled;
use crate::queue_scheme::QueueMap;

pub use endpoint::{EndpointPlan, NicQueues, ReceiveOrder};

/// Timing of the links of one class, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkTiming {
    /// One flit on the wire.
    pub flit: u64,
    /// Propagation.
    pub delay: u64,
}

/// Latencies of the stages of a switch, in cycles of its clock. They are pipelined: they delay a packet
/// and occupy nothing; what occupies a resource is size over rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// IB: writing the header into the input buffer.
    pub input: u64,
    /// RT: computing the output.
    pub routing: u64,
    /// VA-SA: from the allocation to the first flit on the crossbar.
    pub allocation: u64,
    /// X: from the crossbar's input to the output buffer.
    pub crossbar: u64,
    /// OB: from the scheduler's decision to the first flit on the link.
    pub output: u64,
    /// From a flit leaving the input buffer to its credit leaving for the other end.
    pub credit: u64,
}

/// How a buffered input is divided into queues, besides lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueScheme {
    /// One queue for everything, whatever the lane (1Q).
    OneQueue,
    /// One queue per virtual lane.
    PerVl,
    /// One queue per virtual lane and output of this switch (VOQsw).
    VoqSwitch,
    /// One queue per virtual lane and destination (VOQnet).
    VoqNet,
    /// So many queues per virtual lane, a destination's by its number (DBBM).
    Dbbm {
        /// Queues of a lane.
        queues: u16,
    },
    /// So many queues per virtual lane, an output's by its number (OBQA).
    Obqa {
        /// Queues of a lane.
        queues: u16,
    },
}

/// Which blocks lie between an input and an output of a switch around crossbars.
#[derive(Clone, PartialEq, Debug)]
pub enum Architecture {
    /// Buffers at inputs and outputs around a crossbar.
    Cioq,
    /// Buffers at inputs only; a packet crosses when the link behind its output takes it.
    InputQueued,
    /// Groups of ports around a buffered central crossbar.
    Hierarchical(Hierarchy),
}

/// Groups of ports (MPorts) with a crossbar each, and a central crossbar with buffers between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    /// Ports of an MPort and its links to the central crossbar: the same rule that proofs of freedom from
    /// deadlock go by.
    pub centre: Centre,
    /// Flits per cycle from an input buffer over the MPort crossbar and a central link, as a fraction.
    pub mport_speedup: (u32, u32),
    /// Flits per cycle from a central buffer to an output buffer, as a fraction.
    pub central_speedup: (u32, u32),
    /// The central buffer of one link.
    pub central_buffer: Sizes,
    /// When a packet there may ask for the central crossbar.
    pub start: CentralStart,
}

/// How a sender knows that there is room at the other end of its link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowControl {
    /// Credits for each lane.
    Credits,
    /// Credits for each queue of the input at the other end, found by looking one hop ahead.
    QueueCredits,
    /// Priority flow control: the receiver stops a lane and lets it go on. Thresholds by link class and lane.
    Pfc(Vec<Vec<Thresholds>>),
    /// PAUSE of a whole link: the receiver counts all lanes together, and stops all of them. Thresholds by link class.
    Pause(Vec<Thresholds>),
}

impl FlowControl {
    /// Whether receivers stop senders, instead of giving them credits.
    pub fn stops_senders(&self) -> bool {
        matches!(self, FlowControl::Pfc(_) | FlowControl::Pause(_))
    }
}

/// When a lane of an input buffer is stopped, in flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// Above this it is stopped (XOFF).
    pub xoff: u32,
    /// At or below this it goes on (XON).
    pub xon: u32,
}

choice! {
    /// When a crossbar begins with a packet whose flits come slower than it could pass them.
    pub enum CrossbarStart {
        /// With the header; once it has caught up, it passes flits as they come, held meanwhile.
        AtOnce = "at-once",
        /// When enough is there that it never waits.
        Stored = "stored",
    }
}

choice! {
    /// When a packet in a central buffer may go on.
    pub enum CentralStart {
        /// As soon as its header is there.
        Header = "header",
        /// When all of it is there.
        Packet = "packet",
    }
}

choice! {
    /// How many ways an input has into its crossbar.
    pub enum InputPorts {
        /// One: a packet that crosses holds all lanes of its input.
        One = "one",
        /// One for each lane: packets of several lanes cross at once, to different outputs.
        PerLane = "per-lane",
    }
}

/// Who may cross the switch next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocation {
    /// Each input picks one queue round robin, each output one input round robin, once per cycle.
    Separable,
    /// iSLIP: outputs grant and inputs accept, round robin, so many times per cycle.
    Islip {
        /// Rounds of request, grant and accept in a cycle.
        iterations: u8,
    },
}

/// The switches of a fabric: one kind, with what it is made of.
#[derive(Clone, Debug)]
pub enum SwitchPlan {
    /// Buffers around crossbars.
    Crossbar(Box<CrossbarPlan>),
    /// Rows and columns of small crossbars.
    Tiled(Box<Tiled>),
}

impl SwitchPlan {
    /// Ticks between two clock edges.
    pub fn period(&self) -> u64 {
        match self {
            SwitchPlan::Crossbar(plan) => plan.period,
            SwitchPlan::Tiled(plan) => plan.period,
        }
    }

    /// Ticks from a grant to a credit on its way back, at least: half of what partitions may run ahead of each other.
    pub(crate) fn least_credit_delay(&self) -> u64 {
        match self {
            SwitchPlan::Crossbar(plan) => {
                (plan.pipeline.allocation + 1 + plan.pipeline.credit) * plan.period
            }
            SwitchPlan::Tiled(plan) => plan.period,
        }
    }

    /// A switch around crossbars.
    ///
    /// # Panics
    /// If it is another kind.
    pub fn crossbar(&self) -> &CrossbarPlan {
        match self {
            SwitchPlan::Crossbar(plan) => plan,
            SwitchPlan::Tiled(_) => panic!("a tiled switch is none around crossbars"),
        }
    }

    /// A tiled switch, if it is one.
    pub fn tiled(&self) -> Option<&Tiled> {
        match self {
            SwitchPlan::Crossbar(_) => None,
            SwitchPlan::Tiled(plan) => Some(plan),
        }
    }

    /// Which inputs share central queues, where there are any.
    pub fn centre(&self) -> Option<Centre> {
        match self {
            SwitchPlan::Crossbar(plan) => match &plan.architecture {
                Architecture::Hierarchical(hierarchy) => Some(hierarchy.centre),
                _ => None,
            },
            SwitchPlan::Tiled(plan) => Some(Centre::of_tiles(plan.columns, plan.outputs)),
        }
    }
}

/// A switch around crossbars: its blocks and their sizes.
#[derive(Clone, Debug)]
pub struct CrossbarPlan {
    /// Which blocks.
    pub architecture: Architecture,
    /// Ticks between two clock edges.
    pub period: u64,
    /// Latencies of its stages.
    pub pipeline: Pipeline,
    /// Flits per cycle over each crossbar port, as a fraction.
    pub speedup: (u32, u32),
    /// When a crossbar that is faster than its feed begins.
    pub start: CrossbarStart,
    /// How many packets of an input cross at once.
    pub input_ports: InputPorts,
    /// Queues of an input.
    pub queues: QueueScheme,
    /// Who may cross.
    pub allocation: Allocation,
    /// The input buffer of a port.
    pub input_buffer: Sizes,
    /// Flits of one queue of each lane, where credits are per queue or NICs have injection queues.
    pub queue_flits: Box<[u32]>,
    /// The output buffer of a port; an input-queued switch has none.
    pub output_buffer: Sizes,
}

impl CrossbarPlan {
    /// Whether a crossbar begins with the header. One that is as fast as its links, and has no buffer behind it, gains
    /// nothing by it: flits of an input-queued switch come in time or not at all.
    pub fn starts_at_once(&self) -> bool {
        self.start == CrossbarStart::AtOnce && self.architecture != Architecture::InputQueued
    }

    /// The pace of one crossbar port.
    pub fn crossbar_pace(&self) -> Pace {
        Pace {
            period: self.period,
            num: self.speedup.0,
            den: self.speedup.1,
        }
    }
}

/// One traffic class.
#[derive(Clone)]
pub struct ClassPlan {
    /// Its name in reports.
    pub name: String,
    /// Its service level, unless a message names its own.
    pub sl: Sl,
    /// All service levels that it may use.
    pub sls: Vec<Sl>,
    /// Who creates its messages.
    pub source: Arc<dyn Source>,
}

/// Everything a fabric is built from.
#[derive(Clone)]
pub struct FabricPlan {
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// Which output, which lane.
    pub forwarding: Arc<Forwarding>,
    /// How messages of each service level become packets and flits.
    pub segmentation: SlSegmentation,
    /// Timing of each link class of the topology.
    pub links: Vec<LinkTiming>,
    /// The switches.
    pub switch: SwitchPlan,
    /// How room at the other end of a link is known.
    pub flow_control: FlowControl,
    /// What endpoints do.
    pub endpoints: EndpointPlan,
    /// By link class: an input with more flits than this is congested and marks packets (ECN); never if `None`.
    pub marks_above: Vec<Option<u32>>,
    /// Lanes of every link, routing lanes included.
    pub n_vls: u8,
    /// Which channel and lane a service level takes.
    pub channels: Channels,
    /// Flits of the largest packet of each lane.
    pub largest: Vec<u16>,
    /// Who is next on a switch's link, where the output has no policy of its own.
    pub switch_policy: Arc<dyn Policy>,
    /// Who is next on a NIC's link, where the NIC has no policy of its own.
    pub nic_policy: Arc<dyn Policy>,
    /// Policies of single outputs.
    pub own_policies: BTreeMap<Egress, Arc<dyn Policy>>,
    /// The traffic classes.
    pub classes: Vec<ClassPlan>,
    /// The flows whose punctuality is counted one by one; usually none.
    pub connections: Arc<[ConnectionPlan]>,
    /// The partition of each switch; a NIC belongs to its switch's.
    pub partitions: Vec<u16>,
    /// Whether packets that overtake others of their flow are counted.
    pub count_reordering: bool,
}

impl FabricPlan {
    /// Lanes that service levels map to; a routing that needs several lanes per level repeats them.
    pub fn lanes_per_level(&self) -> u8 {
        self.n_vls / self.forwarding.lanes().max(1)
    }

    /// Whether endpoints or switches do more than carry packets.
    pub fn has_protocol(&self) -> bool {
        self.switch.tiled().is_some() || self.endpoints.acknowledgement.is_some()
    }

    /// When inputs behind links of a class mark packets; never if `None`.
    pub fn marks_above(&self, class: u8) -> Option<u32> {
        self.marks_above.get(usize::from(class)).copied().flatten()
    }

    /// Whether packets of a flow arrive in the order in which they were sent: one path, and no switch puts them aside.
    pub fn keeps_order(&self) -> bool {
        let has_stash = self
            .switch
            .tiled()
            .is_some_and(|tiled| tiled.stash.is_some());
        self.forwarding.keeps_order() && !has_stash
    }

    /// Which queue of an input a packet joins, in switches around crossbars.
    pub fn queue_map(&self) -> QueueMap {
        let topology = &self.topology;
        QueueMap::new(
            self.switch.crossbar().queues,
            self.n_vls,
            topology.radix(),
            topology.n_nics(),
        )
    }

    /// Number of partitions.
    pub fn n_partitions(&self) -> usize {
        self.partitions
            .iter()
            .copied()
            .max()
            .map_or(1, |p| usize::from(p) + 1)
    }

    /// The pairs of partitions with a cable between them, each once: others never hear of each other.
    pub(crate) fn cabled_partitions(&self) -> BTreeSet<(u16, u16)> {
        let of = |switch: SwitchId| self.partitions[switch.index()];
        let switches = (0..self.topology.n_switches()).map(SwitchId);
        let cables = switches.flat_map(|switch| {
            let ends = self.topology.neighbours(switch);
            ends.map(move |(_, other, _)| (of(switch), of(other)))
        });
        cables.filter(|(one, other)| one < other).collect()
    }

    /// Who is next on the link of an output.
    pub fn policy_of(&self, output: Egress) -> &Arc<dyn Policy> {
        let usual = match output {
            Egress::Nic(_) => &self.nic_policy,
            Egress::Switch(..) => &self.switch_policy,
        };
        self.own_policies.get(&output).unwrap_or(usual)
    }

    /// Timing of the link behind a NIC.
    pub fn nic_link(&self, nic: NicId) -> LinkTiming {
        let (switch, port) = self.topology.attachment(nic);
        self.links[usize::from(self.topology.link_class(switch, port))]
    }

    /// Flits of the largest packet of all.
    pub fn largest_packet(&self) -> u16 {
        self.largest.iter().copied().max().unwrap_or(1).max(1)
    }
}
