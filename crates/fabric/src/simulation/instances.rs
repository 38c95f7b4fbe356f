//! Selection of the instance of the fabric for a plan, made once, so that there is no dispatch per
//! switch.

use std::collections::BTreeMap;

use netloom_arbitration::TwoTable;
use netloom_engine::SharedRanks;
use netloom_topology::Egress;

use crate::plan::{Architecture, FabricPlan, FlitTime, FlowControl, InputPorts};
use crate::port_arbiter::{MakeArbiter, PortArbiter};
use crate::simulation::running::{Setting, start};
use crate::simulation::{Atlas, Options, Simulation};
use crate::switch::crossbar::mask::Set;
use crate::switch::crossbar::shape::{self, Shape};
use crate::switch::crossbar::{self, n_records};
use crate::switch::tiled;

/// Maximum number of ports of a switch.
pub const LARGEST_RADIX: u16 = <shape::CioqWide as Shape>::Ports::CAPACITY as u16;

/// Maximum number of records of a switch whose lanes cross independently.
pub const MOST_RECORDS: u32 = <shape::CioqLanesWide as Shape>::Ports::CAPACITY as u32;

/// Maximum number of queues of an input.
pub const MOST_QUEUES: u32 = <shape::CioqWide as Shape>::Queues::CAPACITY as u32;

/// Returns the name of every instance of the fabric, and the fabrics that need it.
pub fn instances() -> impl Iterator<Item = (&'static str, &'static str)> {
    let crossbars = shape::INSTANCES.iter();
    let crossbars = crossbars.map(|(name, fabrics)| (*name, fabrics.trim()));
    crossbars.chain([("Tiles", "Tiled switches.")])
}

/// Builds a plan and schedules the first messages of every NIC.
pub fn build(plan: &FabricPlan, options: Options) -> Box<dyn Simulation> {
    build_over(plan, options, None)
}

/// Does the same for one of several processes. It builds the process's own partitions of the plan;
/// results cover all of them.
///
/// # Panics
/// If the plan has fewer partitions than there are ranks.
pub fn build_over(
    plan: &FabricPlan,
    options: Options,
    ranks: Option<&SharedRanks>,
) -> Box<dyn Simulation> {
    let setting = Setting { options, ranks };
    let tables = Tables::of(plan);
    let arbiter = |output| match tables.find(output) {
        Some(table) if !options.reference => PortArbiter::Tables(table.clone()),
        _ => PortArbiter::Other(plan.policy_of(output).build()),
    };
    if plan.switch.tiled().is_some() {
        return tiled(plan, setting, &arbiter);
    }
    let new = Crossbars {
        plan,
        setting,
        arbiter: &arbiter,
    };
    let is_apart = plan.switch.crossbar().input_ports == InputPorts::PerLane;
    let may_be_plain = plan.has_plain_switches() && !options.reference && options.watch.is_none();
    match (is_apart, may_be_plain) {
        (true, _) => new.with_lanes_apart(may_be_plain && plan.has_plain_endpoints()),
        (false, true) => new.plain().unwrap_or_else(|| new.of_any_kind()),
        (false, false) => new.of_any_kind(),
    }
}

/// The InfiniBand tables of a plan; outputs with the same policy share one.
struct Tables {
    switch: Option<TwoTable>,
    nic: Option<TwoTable>,
    own: BTreeMap<Egress, Option<TwoTable>>,
}

impl Tables {
    fn of(plan: &FabricPlan) -> Tables {
        let own = plan.own_policies.iter();
        Tables {
            switch: plan.switch_policy.two_table(),
            nic: plan.nic_policy.two_table(),
            own: own.map(|(at, policy)| (*at, policy.two_table())).collect(),
        }
    }

    fn find(&self, output: Egress) -> Option<&TwoTable> {
        let usual = match output {
            Egress::Nic(_) => &self.nic,
            Egress::Switch(..) => &self.switch,
        };
        self.own.get(&output).unwrap_or(usual).as_ref()
    }
}

/// A fabric of crossbar switches to be built.
struct Crossbars<'a> {
    plan: &'a FabricPlan,
    setting: Setting<'a>,
    arbiter: &'a MakeArbiter<'a>,
}

impl Crossbars<'_> {
    fn start<S: Shape>(&self) -> Box<dyn Simulation> {
        let plan = self.plan;
        let atlas = Atlas::new(plan, |id| n_records(plan, plan.topology.n_ports(id)));
        start(plan, self.setting, atlas, |atlas, number| {
            crossbar::partition::<S>(plan, atlas, number, self.arbiter, self.setting.options)
        })
    }

    /// Whether the sets of an instance are wide enough. The reference uses the widest ones.
    fn fits<S: Shape>(&self) -> bool {
        let plan = self.plan;
        let records = n_records(plan, plan.topology.radix()) as usize;
        let queues = plan.queue_map().n_queues() as usize;
        !self.setting.options.reference
            && records <= S::Ports::CAPACITY
            && queues <= S::Queues::CAPACITY
    }

    /// Builds a fabric of plain switches, the most common case, in a specialised instance; `None`
    /// if none fits.
    fn plain(&self) -> Option<Box<dyn Simulation>> {
        let plan = self.plan;
        let architecture = &plan.switch.crossbar().architecture;
        let is_narrow = self.fits::<shape::PlainTick>();
        let is_wide = self.fits::<shape::PlainTickWide>();
        let pauses = plan.flow_control.stops_senders();
        if !plan.has_plain_endpoints() {
            return match (architecture, &plan.flow_control) {
                (Architecture::Cioq, FlowControl::Credits) if is_narrow => {
                    Some(self.start::<shape::PlainSwitches>())
                }
                (Architecture::Cioq, _) if is_narrow && pauses => {
                    Some(self.start::<shape::PlainPauseSwitches>())
                }
                _ => None,
            };
        }
        let simulation = match (architecture, &plan.flow_control, plan.flit_time()) {
            (Architecture::Cioq, FlowControl::Credits, time) if is_narrow => match time {
                FlitTime::OneTick => self.start::<shape::PlainTick>(),
                FlitTime::Equal => self.start::<shape::PlainPace>(),
                FlitTime::Any => self.start::<shape::Plain>(),
            },
            (Architecture::Cioq, FlowControl::Credits, FlitTime::OneTick) if is_wide => {
                self.start::<shape::PlainTickWide>()
            }
            (Architecture::Cioq, _, time) if is_narrow && pauses => match time {
                FlitTime::OneTick => self.start::<shape::PlainPauseTick>(),
                _ => self.start::<shape::PlainPause>(),
            },
            (Architecture::InputQueued, _, FlitTime::OneTick) if is_narrow && !pauses => {
                self.start::<shape::PlainInputQueuedTick>()
            }
            (Architecture::Hierarchical(_), FlowControl::Credits, _) if is_narrow => {
                self.start::<shape::PlainHierarchical>()
            }
            (Architecture::Hierarchical(_), FlowControl::Credits, _) if is_wide => {
                self.start::<shape::PlainHierarchicalWide>()
            }
            _ => return None,
        };
        Some(simulation)
    }

    fn of_any_kind(&self) -> Box<dyn Simulation> {
        let is_narrow = self.fits::<shape::Cioq>();
        let pauses = self.plan.flow_control.stops_senders();
        match &self.plan.switch.crossbar().architecture {
            Architecture::Cioq => match (&self.plan.flow_control, is_narrow) {
                (FlowControl::Credits, true) => self.start::<shape::Cioq>(),
                (FlowControl::Credits, false) => self.start::<shape::CioqWide>(),
                (FlowControl::QueueCredits, _) => self.start::<shape::CioqQueuesWide>(),
                (_, true) => self.start::<shape::CioqPause>(),
                (_, false) => self.start::<shape::CioqPauseWide>(),
            },
            Architecture::InputQueued if pauses => self.start::<shape::InputQueuedPauseWide>(),
            Architecture::InputQueued if is_narrow => self.start::<shape::InputQueued>(),
            Architecture::InputQueued => self.start::<shape::InputQueuedWide>(),
            Architecture::Hierarchical(_) if pauses => self.start::<shape::HierarchicalPauseWide>(),
            Architecture::Hierarchical(_) if self.fits::<shape::Hierarchical>() => {
                self.start::<shape::Hierarchical>()
            }
            Architecture::Hierarchical(_) => self.start::<shape::HierarchicalWide>(),
        }
    }

    /// Builds switches whose lanes cross independently. They have a record for every lane of an
    /// input, hence wide sets.
    fn with_lanes_apart(&self, is_plain: bool) -> Box<dyn Simulation> {
        match &self.plan.switch.crossbar().architecture {
            Architecture::Cioq if is_plain && self.fits::<shape::PlainLanes>() => {
                self.start::<shape::PlainLanes>()
            }
            Architecture::Cioq if self.fits::<shape::CioqLanes>() => {
                self.start::<shape::CioqLanes>()
            }
            Architecture::Cioq => self.start::<shape::CioqLanesWide>(),
            _ => self.start::<shape::HierarchicalLanesWide>(),
        }
    }
}

/// Builds a fabric of tiled switches.
fn tiled(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_>,
) -> Box<dyn Simulation> {
    let n_ports = tiled::n_ports(plan);
    let atlas = Atlas::new(plan, |_| n_ports);
    start(plan, setting, atlas, |atlas, number| {
        tiled::partition(plan, atlas, number, arbiter, setting.options)
    })
}
