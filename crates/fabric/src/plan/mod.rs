//! The plan of a fabric: typed, resolved, in ticks and flits. Impossible states have been rejected
//! earlier.

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
pub(crate) use plain::FlitTime;

/// Timing of the links of one class, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkTiming {
    /// One flit on the wire.
    pub flit: u64,
    /// Propagation.
    pub delay: u64,
}

/// Latencies of the stages of a switch, in cycles of its clock. They are pipelined: they delay a
/// packet but occupy no resource. A packet occupies a resource for its size divided by the rate.
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

/// How a buffered input is divided into queues, in addition to lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueScheme {
    /// One queue for all lanes (1Q).
    OneQueue,
    /// One queue per virtual lane.
    PerVl,
    /// One queue per virtual lane and output of this switch (VOQsw).
    VoqSwitch,
    /// One queue per virtual lane and destination (VOQnet).
    VoqNet,
    /// A fixed number of queues per virtual lane, selected by the destination's number (DBBM).
    Dbbm {
        /// Queues of a lane.
        queues: u16,
    },
    /// A fixed number of queues per virtual lane, selected by the output's number (OBQA).
    Obqa {
        /// Queues of a lane.
        queues: u16,
    },
}

/// The blocks between an input and an output of a crossbar switch.
#[derive(Clone, PartialEq, Debug)]
pub enum Architecture {
    /// Buffers at inputs and outputs around a crossbar.
    Cioq,
    /// Buffers at inputs only; a packet crosses when the link of its output accepts it.
    InputQueued,
    /// Groups of ports around a buffered central crossbar.
    Hierarchical(Hierarchy),
}

/// Groups of ports (MPorts) with a crossbar each, and a central crossbar with buffers between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    /// Ports of an MPort and its links to the central crossbar, as in the deadlock check.
    pub centre: Centre,
    /// Flits per cycle from an input buffer over the MPort crossbar and a central link, as a
    /// fraction.
    pub mport_speedup: (u32, u32),
    /// Flits per cycle from a central buffer to an output buffer, as a fraction.
    pub central_speedup: (u32, u32),
    /// The central buffer of one link.
    pub central_buffer: Sizes,
    /// When a packet there may request the central crossbar.
    pub start: CentralStart,
}

/// How a sender learns about space at the other end of its link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowControl {
    /// Credits for each lane.
    Credits,
    /// Credits for each queue of the input at the other end, determined by looking one hop ahead.
    QueueCredits,
    /// Priority flow control: the receiver stops and restarts lanes. Thresholds by link class and
    /// lane.
    Pfc(Vec<Vec<Thresholds>>),
    /// PAUSE of a whole link: the receiver counts all lanes together and stops all of them.
    /// Thresholds by link class.
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
    /// Above this, it is stopped (XOFF).
    pub xoff: u32,
    /// At or below this, it is restarted (XON).
    pub xon: u32,
}

choice! {
    /// When a crossbar starts a packet whose flits arrive slower than it could pass them.
    pub enum CrossbarStart {
        /// With the header. Once it has caught up, it passes flits as they arrive and stays
        /// occupied meanwhile.
        AtOnce = "at-once",
        /// When enough flits are present that it never waits.
        Stored = "stored",
    }
}

choice! {
    /// When a packet in a central buffer may continue.
    pub enum CentralStart {
        /// As soon as its header is there.
        Header = "header",
        /// When all of it is there.
        Packet = "packet",
    }
}

choice! {
    /// The number of connections from an input to its crossbar.
    pub enum InputPorts {
        /// One: a packet that crosses blocks all lanes of its input.
        One = "one",
        /// One per lane: packets of several lanes cross simultaneously, to different outputs.
        PerLane = "per-lane",
    }
}

/// How the next packets to cross the switch are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocation {
    /// Each input picks one queue round robin, each output one input round robin, once per cycle.
    Separable,
    /// iSLIP: outputs grant and inputs accept, round robin, several times per cycle.
    Islip {
        /// Rounds of request, grant and accept in a cycle.
        iterations: u8,
    },
}

/// The switches of a fabric: one kind, with its parameters.
#[derive(Clone, Debug)]
pub enum SwitchPlan {
    /// Buffers around crossbars.
    Crossbar(Box<CrossbarPlan>),
    /// Rows and columns of small crossbars.
    Tiled(Box<Tiled>),
}

impl SwitchPlan {
    /// Returns the ticks between two clock edges.
    pub fn period(&self) -> u64 {
        match self {
            SwitchPlan::Crossbar(plan) => plan.period,
            SwitchPlan::Tiled(plan) => plan.period,
        }
    }

    /// Returns the minimum number of ticks from a grant to the departure of its credit, half of the
    /// lookahead between partitions.
    pub(crate) fn least_credit_delay(&self) -> u64 {
        match self {
            SwitchPlan::Crossbar(plan) => {
                (plan.pipeline.allocation + 1 + plan.pipeline.credit) * plan.period
            }
            SwitchPlan::Tiled(plan) => plan.period,
        }
    }

    /// Returns the ticks of all stages of a switch.
    fn latency(&self) -> u64 {
        let cycles = match self {
            SwitchPlan::Crossbar(plan) => {
                let stages = &plan.pipeline;
                let before = stages.input + stages.routing + stages.allocation;
                before + stages.crossbar + stages.output
            }
            SwitchPlan::Tiled(plan) => {
                let stages = &plan.stages;
                let before = stages.before_bus + stages.row_bus + stages.tile;
                before + stages.multiplexer + stages.output
            }
        };
        cycles * self.period()
    }

    /// Returns the crossbar switch.
    ///
    /// # Panics
    /// If it is another kind of switch.
    pub fn crossbar(&self) -> &CrossbarPlan {
        match self {
            SwitchPlan::Crossbar(plan) => plan,
            SwitchPlan::Tiled(_) => panic!("expected a crossbar switch, found a tiled one"),
        }
    }

    /// Returns the tiled switch, if it is one.
    pub fn tiled(&self) -> Option<&Tiled> {
        match self {
            SwitchPlan::Crossbar(_) => None,
            SwitchPlan::Tiled(plan) => Some(plan),
        }
    }

    /// Returns which inputs share central queues, if there are any.
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

/// A crossbar switch: its blocks and their sizes.
#[derive(Clone, Debug)]
pub struct CrossbarPlan {
    pub architecture: Architecture,
    /// Ticks between two clock edges.
    pub period: u64,
    pub pipeline: Pipeline,
    /// Flits per cycle over each crossbar port, as a fraction.
    pub speedup: (u32, u32),
    /// When a crossbar that is faster than its input starts.
    pub start: CrossbarStart,
    /// How many packets of an input cross simultaneously.
    pub input_ports: InputPorts,
    pub queues: QueueScheme,
    pub allocation: Allocation,
    /// The input buffer of a port.
    pub input_buffer: Sizes,
    /// Flits of one queue of each lane, if credits are per queue or NICs have injection queues.
    pub queue_flits: Box<[u32]>,
    /// The output buffer of a port; an input-queued switch has none.
    pub output_buffer: Sizes,
}

impl CrossbarPlan {
    /// Whether a crossbar starts with the header. If it is as fast as its links and has no output
    /// buffer, that has no advantage: flits of an input-queued switch arrive in time or not at all.
    pub fn starts_at_once(&self) -> bool {
        self.start == CrossbarStart::AtOnce && self.architecture != Architecture::InputQueued
    }

    /// Returns the pace of one crossbar port.
    pub fn crossbar_pace(&self) -> Pace {
        Pace {
            period: self.period,
            num: self.speedup.0,
            den: self.speedup.1,
        }
    }
}

#[derive(Clone)]
pub struct ClassPlan {
    /// Name in reports.
    pub name: String,
    /// Default service level of its messages.
    pub sl: Sl,
    /// All service levels that it may use.
    pub sls: Vec<Sl>,
    /// The workload that creates its messages.
    pub source: Arc<dyn Source>,
}

/// Everything a fabric is built from.
#[derive(Clone)]
pub struct FabricPlan {
    pub topology: Arc<Topology>,
    pub forwarding: Arc<Forwarding>,
    /// How messages of each service level become packets and flits.
    pub segmentation: SlSegmentation,
    /// Timing of each link class of the topology.
    pub links: Vec<LinkTiming>,
    pub switch: SwitchPlan,
    pub flow_control: FlowControl,
    pub endpoints: EndpointPlan,
    /// By link class: an input with more flits than this is congested and marks packets (ECN);
    /// `None` if it never does.
    pub marks_above: Vec<Option<u32>>,
    /// Lanes of every link, including those of the routing.
    pub n_vls: u8,
    /// Channel and lane of each service level.
    pub channels: Channels,
    /// Flits of the largest packet of each lane.
    pub largest: Vec<u16>,
    /// Default policy of the links of switches.
    pub switch_policy: Arc<dyn Policy>,
    /// Default policy of the links of NICs.
    pub nic_policy: Arc<dyn Policy>,
    /// Policies of single outputs.
    pub own_policies: BTreeMap<Egress, Arc<dyn Policy>>,
    pub classes: Vec<ClassPlan>,
    /// The flows whose punctuality is measured individually; usually none.
    pub connections: Arc<[ConnectionPlan]>,
    /// The partition of each switch. A NIC belongs to the partition of its switch.
    pub partitions: Vec<u16>,
    /// Whether packets that overtake others of their flow are counted.
    pub count_reordering: bool,
}

impl FabricPlan {
    /// Returns the lanes that service levels map to. A routing that needs several lanes per level
    /// repeats them.
    pub fn lanes_per_level(&self) -> u8 {
        self.n_vls / self.forwarding.lanes().max(1)
    }

    /// Whether endpoints or switches do more than carry packets.
    pub(crate) fn has_protocol(&self) -> bool {
        self.switch.tiled().is_some() || self.endpoints.acknowledgement.is_some()
    }

    /// Returns the flits above which inputs on links of a class mark packets; `None` if they never
    /// do.
    pub fn marks_above(&self, class: u8) -> Option<u32> {
        self.marks_above.get(usize::from(class)).copied().flatten()
    }

    /// Whether packets of a flow arrive in the order of sending: there is one path, and no switch
    /// stashes packets.
    pub fn keeps_order(&self) -> bool {
        let has_stash = self
            .switch
            .tiled()
            .is_some_and(|tiled| tiled.stash.is_some());
        self.forwarding.keeps_order() && !has_stash
    }

    /// Returns the map from packets to queues of an input, in crossbar switches.
    pub fn queue_map(&self) -> QueueMap {
        let topology = &self.topology;
        QueueMap::new(
            self.switch.crossbar().queues,
            self.n_vls,
            topology.radix(),
            topology.n_nics(),
        )
    }

    pub fn n_partitions(&self) -> usize {
        self.partitions
            .iter()
            .copied()
            .max()
            .map_or(1, |p| usize::from(p) + 1)
    }

    /// Returns the pairs of partitions with a cable between them, each once. Other pairs never
    /// communicate.
    pub(crate) fn cabled_partitions(&self) -> BTreeSet<(u16, u16)> {
        let of = |switch: SwitchId| self.partitions[switch.index()];
        let switches = (0..self.topology.n_switches()).map(SwitchId);
        let cables = switches.flat_map(|switch| {
            let ends = self.topology.neighbours(switch);
            ends.map(move |(_, other, _)| (of(switch), of(other)))
        });
        cables.filter(|(one, other)| one < other).collect()
    }

    /// Returns the policy of the link of an output.
    pub fn policy_of(&self, output: Egress) -> &Arc<dyn Policy> {
        let usual = match output {
            Egress::Nic(_) => &self.nic_policy,
            Egress::Switch(..) => &self.switch_policy,
        };
        self.own_policies.get(&output).unwrap_or(usual)
    }

    /// Returns the timing of the link of a NIC.
    pub fn nic_link(&self, nic: NicId) -> LinkTiming {
        let (switch, port) = self.topology.attachment(nic);
        self.links[usize::from(self.topology.link_class(switch, port))]
    }

    /// Returns the flits of the largest packet of all.
    pub fn largest_packet(&self) -> u16 {
        self.largest.iter().copied().max().unwrap_or(1).max(1)
    }

    /// Returns within how many ticks most events take place after their cause: the stages of a
    /// switch, the largest packet on the slowest link, and the delay of the longest link. Later are
    /// only the next messages of NICs, and timers.
    pub(crate) fn usual_delay(&self) -> u64 {
        let flit = self.links.iter().map(|link| link.flit).max();
        let delay = self.links.iter().map(|link| link.delay).max();
        let packet = u64::from(self.largest_packet()) * flit.unwrap_or(1);
        self.switch.latency() + packet + delay.unwrap_or(0)
    }
}
