//! Selection of the instance of the fabric for a plan, made once, so that there is no dispatch per
//! switch.

use std::collections::BTreeMap;

use netloom_arbitration::{Arbiter, TwoTable};
use netloom_engine::{EventQueue, Heap, SharedRanks, Wheel};
use netloom_topology::Egress;

use crate::plan::{Architecture, FabricPlan, FlitTime, FlowControl, InputPorts};
use crate::port_arbiter::PortArbiter;
use crate::simulation::running::{Running, Setting};
use crate::simulation::{Atlas, Options, Simulation};
use crate::switch::crossbar::shape::{
    Cioq, CioqLanes, CioqPause, CioqQueues, Hierarchical, HierarchicalLanes, HierarchicalPause, Iq,
    IqPause, Plain, Shape,
};
use crate::switch::crossbar::{self, MakeArbiter, n_records};
use crate::switch::tiled;

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
    if plan.switch.tiled().is_some() {
        return tiled(plan, setting);
    }
    let radix = plan.topology.radix();
    let n_queues = plan.queue_map().n_queues();
    let tables = Tables::of(plan);
    let is_apart = plan.switch.crossbar().input_ports == InputPorts::PerLane;
    if options.reference {
        let arbiter = |output| -> Box<dyn Arbiter> { plan.policy_of(output).build() };
        return match is_apart {
            true => reference_with_lanes_apart(plan, setting, &arbiter),
            false => reference(plan, setting, &arbiter),
        };
    }
    let arbiter = |output| match tables.find(output) {
        Some(table) => PortArbiter::Tables(table.clone()),
        None => PortArbiter::Other(plan.policy_of(output).build()),
    };
    if is_apart {
        return with_lanes_apart(plan, setting, &arbiter);
    }
    if plan.is_plain()
        && options.watch.is_none()
        && let Some(simulation) = plain(plan, setting, &arbiter)
    {
        return simulation;
    }
    match (&plan.switch.crossbar().architecture, &plan.flow_control) {
        (Architecture::Cioq, FlowControl::Credits) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<Cioq, 1, 1>(plan, setting, &arbiter),
            (..=64, ..=128) => with_wheel::<Cioq, 2, 1>(plan, setting, &arbiter),
            (..=64, _) => with_wheel::<Cioq, 8, 1>(plan, setting, &arbiter),
            (..=1024, ..=64) => with_wheel::<Cioq, 1, 16>(plan, setting, &arbiter),
            (_, _) => with_wheel::<Cioq, 8, 128>(plan, setting, &arbiter),
        },
        (Architecture::Cioq, FlowControl::QueueCredits) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<CioqQueues, 1, 1>(plan, setting, &arbiter),
            (_, _) => with_wheel::<CioqQueues, 8, 128>(plan, setting, &arbiter),
        },
        (Architecture::Cioq, FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            match (n_queues, radix) {
                (..=64, ..=64) => with_wheel::<CioqPause, 1, 1>(plan, setting, &arbiter),
                (..=512, ..=64) => with_wheel::<CioqPause, 1, 8>(plan, setting, &arbiter),
                (_, _) => with_wheel::<CioqPause, 8, 128>(plan, setting, &arbiter),
            }
        }
        (Architecture::InputQueued, FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            match (n_queues, radix) {
                (..=64, ..=64) => with_wheel::<IqPause, 1, 1>(plan, setting, &arbiter),
                (..=512, ..=64) => with_wheel::<IqPause, 1, 8>(plan, setting, &arbiter),
                (_, _) => with_wheel::<IqPause, 8, 128>(plan, setting, &arbiter),
            }
        }
        (Architecture::InputQueued, _) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<Iq, 1, 1>(plan, setting, &arbiter),
            (..=2048, ..=64) => with_wheel::<Iq, 1, 32>(plan, setting, &arbiter),
            (_, _) => with_wheel::<Iq, 8, 128>(plan, setting, &arbiter),
        },
        (Architecture::Hierarchical(_), FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            match n_records(plan, radix) {
                ..=64 => with_wheel::<HierarchicalPause, 1, 1>(plan, setting, &arbiter),
                _ => with_wheel::<HierarchicalPause, 32, 1>(plan, setting, &arbiter),
            }
        }
        (Architecture::Hierarchical(_), _) => match n_records(plan, radix) {
            ..=64 => with_wheel::<Hierarchical, 1, 1>(plan, setting, &arbiter),
            65..=128 => with_wheel::<Hierarchical, 2, 1>(plan, setting, &arbiter),
            _ => with_wheel::<Hierarchical, 32, 1>(plan, setting, &arbiter),
        },
    }
}

/// Builds a plain fabric, the most common case, in a specialised instance; `None` if none fits.
fn plain(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, PortArbiter>,
) -> Option<Box<dyn Simulation>> {
    let (radix, n_queues) = (plan.topology.radix(), plan.queue_map().n_queues());
    let records = n_records(plan, radix);
    let architecture = &plan.switch.crossbar().architecture;
    if n_queues > 64 {
        return None;
    }
    let simulation = match (architecture, &plan.flow_control, plan.flit_time(), records) {
        (Architecture::Cioq, FlowControl::Credits, FlitTime::OneTick, ..=64) => {
            with_wheel::<Plain<Cioq, true, true>, 1, 1>(plan, setting, arbiter)
        }
        (Architecture::Cioq, FlowControl::Credits, FlitTime::OneTick, ..=128) => {
            with_wheel::<Plain<Cioq, true, true>, 2, 1>(plan, setting, arbiter)
        }
        (Architecture::Cioq, FlowControl::Credits, FlitTime::Equal, ..=64) => {
            with_wheel::<Plain<Cioq, true, false>, 1, 1>(plan, setting, arbiter)
        }
        (Architecture::Cioq, FlowControl::Credits, FlitTime::Any, ..=64) => {
            with_wheel::<Plain<Cioq, false, false>, 1, 1>(plan, setting, arbiter)
        }
        (
            Architecture::Cioq,
            FlowControl::Pfc(_) | FlowControl::Pause(_),
            FlitTime::OneTick,
            ..=64,
        ) => with_wheel::<Plain<CioqPause, true, true>, 1, 1>(plan, setting, arbiter),
        (Architecture::Cioq, FlowControl::Pfc(_) | FlowControl::Pause(_), _, ..=64) => {
            with_wheel::<Plain<CioqPause, false, false>, 1, 1>(plan, setting, arbiter)
        }
        (
            Architecture::InputQueued,
            FlowControl::Credits | FlowControl::QueueCredits,
            FlitTime::OneTick,
            ..=64,
        ) => with_wheel::<Plain<Iq, true, true>, 1, 1>(plan, setting, arbiter),
        (Architecture::Hierarchical(_), FlowControl::Credits, _, ..=64) => {
            with_wheel::<Plain<Hierarchical, false, false>, 1, 1>(plan, setting, arbiter)
        }
        (Architecture::Hierarchical(_), FlowControl::Credits, _, ..=128) => {
            with_wheel::<Plain<Hierarchical, false, false>, 2, 1>(plan, setting, arbiter)
        }
        _ => return None,
    };
    Some(simulation)
}

/// Builds switches whose lanes cross independently. They have a record for every lane of an input,
/// hence wide sets.
fn with_lanes_apart(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, PortArbiter>,
) -> Box<dyn Simulation> {
    let n_queues = plan.queue_map().n_queues();
    let records = n_records(plan, plan.topology.radix());
    match (&plan.switch.crossbar().architecture, n_queues, records) {
        (Architecture::Cioq, ..=64, ..=64) => with_wheel::<CioqLanes, 1, 1>(plan, setting, arbiter),
        (Architecture::Cioq, ..=64, ..=512) => {
            with_wheel::<CioqLanes, 8, 1>(plan, setting, arbiter)
        }
        (Architecture::Cioq, ..) => with_wheel::<CioqLanes, 32, 128>(plan, setting, arbiter),
        (_, _, ..=128) => with_wheel::<HierarchicalLanes, 2, 1>(plan, setting, arbiter),
        _ => with_wheel::<HierarchicalLanes, 32, 1>(plan, setting, arbiter),
    }
}

/// Builds the reference implementation of such switches.
fn reference_with_lanes_apart(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, Box<dyn Arbiter>>,
) -> Box<dyn Simulation> {
    match plan.switch.crossbar().architecture {
        Architecture::Cioq => crossbars::<_, CioqLanes, Heap<_>, 32, 128>(plan, setting, arbiter),
        _ => crossbars::<_, HierarchicalLanes, Heap<_>, 32, 1>(plan, setting, arbiter),
    }
}

/// Maximum number of records of a switch whose lanes cross independently.
pub const MOST_RECORDS: u32 = 2048;

/// Maximum number of queues of an input.
pub const MOST_QUEUES: u32 = 8192;

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

/// Maximum number of ports of a switch.
pub const LARGEST_RADIX: u16 = 512;

/// Builds the reference implementation of each kind of switch: the heap, and one width of sets for
/// all fabrics.
fn reference(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, Box<dyn Arbiter>>,
) -> Box<dyn Simulation> {
    match (&plan.switch.crossbar().architecture, &plan.flow_control) {
        (Architecture::Cioq, FlowControl::Credits) => {
            crossbars::<_, Cioq, Heap<_>, 8, 128>(plan, setting, arbiter)
        }
        (Architecture::Cioq, FlowControl::QueueCredits) => {
            crossbars::<_, CioqQueues, Heap<_>, 8, 128>(plan, setting, arbiter)
        }
        (Architecture::Cioq, FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            crossbars::<_, CioqPause, Heap<_>, 8, 128>(plan, setting, arbiter)
        }
        (Architecture::InputQueued, FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            crossbars::<_, IqPause, Heap<_>, 8, 128>(plan, setting, arbiter)
        }
        (Architecture::InputQueued, _) => {
            crossbars::<_, Iq, Heap<_>, 8, 128>(plan, setting, arbiter)
        }
        (Architecture::Hierarchical(_), FlowControl::Pfc(_) | FlowControl::Pause(_)) => {
            crossbars::<_, HierarchicalPause, Heap<_>, 32, 1>(plan, setting, arbiter)
        }
        (Architecture::Hierarchical(_), _) => {
            crossbars::<_, Hierarchical, Heap<_>, 32, 1>(plan, setting, arbiter)
        }
    }
}

/// Builds the usual instance, with the wheel.
fn with_wheel<S: Shape, const W: usize, const R: usize>(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, PortArbiter>,
) -> Box<dyn Simulation> {
    crossbars::<_, S, Wheel<_>, W, R>(plan, setting, arbiter)
}

fn crossbars<A, S, Q, const W: usize, const R: usize>(
    plan: &FabricPlan,
    setting: Setting<'_>,
    arbiter: &MakeArbiter<'_, A>,
) -> Box<dyn Simulation>
where
    A: Arbiter + 'static,
    S: Shape,
    Q: EventQueue<crossbar::Event> + 'static,
{
    let atlas = Atlas::new(plan, |id| {
        crossbar::n_records(plan, plan.topology.n_ports(id))
    });
    let partition = |atlas: &Atlas, number| {
        crossbar::partition::<A, S, W, R>(plan, atlas, number, arbiter, setting.options.watch)
    };
    Box::new(Running::<_, Q>::new(plan, setting, atlas, partition))
}

/// Builds a fabric of tiled switches.
fn tiled(plan: &FabricPlan, setting: Setting<'_>) -> Box<dyn Simulation> {
    let n_ports = tiled::n_ports(plan);
    let atlas = Atlas::new(plan, |_| n_ports);
    let partition =
        |atlas: &Atlas, number| tiled::partition(plan, atlas, number, setting.options.watch);
    if setting.options.reference {
        Box::new(Running::<_, Heap<_>>::new(plan, setting, atlas, partition))
    } else {
        Box::new(Running::<_, Wheel<_>>::new(plan, setting, atlas, partition))
    }
}
