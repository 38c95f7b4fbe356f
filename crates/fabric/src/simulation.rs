//! A fabric that runs: the one interface behind which arbiters, queue schemes, radixes and event queues
//! are chosen once.

use std::collections::BTreeMap;

use netloom_arbitration::{Arbiter, TwoTable};
use netloom_engine::{Engine, EventQueue, Heap, Wheel, find_cycle};
use netloom_metrics::Punctuality;
use netloom_topology::Egress;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::build::{self, Atlas, MakeArbiter};
use crate::event::Event;
use crate::fabric::Fabric;
use crate::flow::Flow;
use crate::plan::{Architecture, FabricPlan, FlowControl};
use crate::port::{Port as PortRecord, PortUse};
use crate::recorder::{Counters, Protocol, Row};
use crate::shape::{Cioq, CioqPause, CioqQueues, Hierarchical, Iq, IqPause, Shape};
use crate::stall::Waiting;
use crate::switch::n_records;
use crate::trace::{Step, Watch};

/// How to run a plan; no choice here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that share the partitions.
    pub threads: usize,
    /// Take the slow twin of every fast path of the kernel: a heap that scrambles the order of each tick, boxed
    /// arbiters, sets wide enough for any switch.
    pub reference: bool,
    /// Follow packets.
    pub watch: Option<Watch>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 1,
            reference: false,
            watch: None,
        }
    }
}

/// A fabric under simulation.
pub trait Simulation {
    /// Runs every tick before `end`.
    fn run_until(&mut self, end: Tick);
    /// Events processed so far.
    fn events(&self) -> u64;
    /// The earliest event to come.
    fn next_event(&mut self) -> Option<Tick>;
    /// Totals since the start.
    fn counters(&mut self) -> Counters;
    /// Adds what was recorded since the last call to `into` (one row per class and service level) and
    /// forgets it.
    fn take_rows(&mut self, into: &mut [Row]);
    /// Adds the punctuality of every connection of the plan since the last call, in the order of the plan,
    /// and forgets it.
    fn take_punctuality(&mut self, into: &mut [Punctuality]);
    /// What every port has done since the start, in order of switch and port.
    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)>;
    /// Flits injected since the start by each NIC, one number per row, in order of NIC.
    fn nic_flits(&mut self) -> Vec<Vec<u64>>;
    /// Packets between injection and delivery.
    fn in_flight(&mut self) -> u64;
    /// Messages that have not wholly left their NIC.
    fn waiting_messages(&mut self) -> u64;
    /// The steps of the packets that are followed, in order of time.
    fn steps(&mut self) -> Vec<Step>;
    /// If some packet has waited at an input for more than `patience` ticks: a cycle of waits, if there
    /// is one.
    fn deadlock(&mut self, now: Tick, patience: u64) -> Option<Vec<Waiting>>;
    /// Checks the laws that hold between ticks; panics with the name of a broken one.
    fn check_laws(&mut self);
    /// Whether all room is free again, as it must be in a drained fabric.
    fn is_idle(&mut self) -> bool;
    /// What endpoints and switches did beyond carrying packets; `None` where they do nothing of the kind.
    fn protocol(&mut self) -> Option<Protocol> {
        None
    }
    /// Flits that the stashes of each switch hold now, in order of switch; empty without stashes.
    fn stash_flits(&mut self) -> Vec<u32> {
        Vec::new()
    }
}

/// Builds a plan and hands every NIC its first messages.
pub fn build(plan: &FabricPlan, options: Options) -> Box<dyn Simulation> {
    let radix = plan.topology.radix();
    let n_queues = plan.queue_map().n_queues();
    let tables = Tables::of(plan);
    let is_flat = plan.switch.architecture == Architecture::Cioq;
    // The popular combination (InfiniBand tables, one queue per lane) has its own instances.
    if let (true, true, ..=64, ..=128, false) = (
        tables.are_everywhere(),
        is_flat && plan.flow_control == FlowControl::Credits,
        n_queues,
        radix,
        options.reference,
    ) {
        let arbiter = |output| {
            let table = tables.find(output).expect("every output has a table");
            table.clone()
        };
        return if radix <= 64 {
            with_wheel::<TwoTable, Cioq, 1, 1>(plan, options, &arbiter)
        } else {
            with_wheel::<TwoTable, Cioq, 2, 1>(plan, options, &arbiter)
        };
    }
    let arbiter = |output| -> Box<dyn Arbiter> {
        match tables.find(output) {
            Some(table) => Box::new(table.clone()),
            None => plan.policy_of(output).build(),
        }
    };
    if options.reference {
        return reference(plan, options, &arbiter);
    }
    match (&plan.switch.architecture, &plan.flow_control) {
        (Architecture::Cioq, FlowControl::Credits) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<_, Cioq, 1, 1>(plan, options, &arbiter),
            (..=64, _) => with_wheel::<_, Cioq, 8, 1>(plan, options, &arbiter),
            (..=1024, ..=64) => with_wheel::<_, Cioq, 1, 16>(plan, options, &arbiter),
            (_, _) => with_wheel::<_, Cioq, 8, 128>(plan, options, &arbiter),
        },
        (Architecture::Cioq, FlowControl::QueueCredits) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<_, CioqQueues, 1, 1>(plan, options, &arbiter),
            (_, _) => with_wheel::<_, CioqQueues, 8, 128>(plan, options, &arbiter),
        },
        (Architecture::Cioq, FlowControl::Pfc(_)) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<_, CioqPause, 1, 1>(plan, options, &arbiter),
            (_, _) => with_wheel::<_, CioqPause, 8, 128>(plan, options, &arbiter),
        },
        (Architecture::InputQueued, FlowControl::Pfc(_)) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<_, IqPause, 1, 1>(plan, options, &arbiter),
            (_, _) => with_wheel::<_, IqPause, 8, 128>(plan, options, &arbiter),
        },
        (Architecture::InputQueued, _) => match (n_queues, radix) {
            (..=64, ..=64) => with_wheel::<_, Iq, 1, 1>(plan, options, &arbiter),
            (..=2048, ..=64) => with_wheel::<_, Iq, 1, 32>(plan, options, &arbiter),
            (_, _) => with_wheel::<_, Iq, 8, 128>(plan, options, &arbiter),
        },
        (Architecture::Tiled(_), _) => panic!("a tiled switch is built by netloom-tiled"),
        (Architecture::Hierarchical(hierarchy), _) => {
            match n_records(Some(hierarchy.centre), radix) {
                ..=64 => with_wheel::<_, Hierarchical, 1, 1>(plan, options, &arbiter),
                65..=128 => with_wheel::<_, Hierarchical, 2, 1>(plan, options, &arbiter),
                _ => with_wheel::<_, Hierarchical, 32, 1>(plan, options, &arbiter),
            }
        }
    }
}

/// The largest number of queues of an input.
pub const MOST_QUEUES: u32 = 8192;

/// The InfiniBand tables of a plan: outputs with the same policy share one.
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

    fn are_everywhere(&self) -> bool {
        let own = self.own.values().all(Option::is_some);
        self.switch.is_some() && self.nic.is_some() && own
    }

    fn find(&self, output: Egress) -> Option<&TwoTable> {
        let usual = match output {
            Egress::Nic(_) => &self.nic,
            Egress::Switch(..) => &self.switch,
        };
        self.own.get(&output).unwrap_or(usual).as_ref()
    }
}

/// The largest number of ports of a switch.
pub const LARGEST_RADIX: u16 = 512;

/// The reference of each kind of switch: the heap, and one width of sets that is enough for every fabric.
fn reference(
    plan: &FabricPlan,
    options: Options,
    arbiter: &MakeArbiter<'_, Box<dyn Arbiter>>,
) -> Box<dyn Simulation> {
    type Reference<S, const W: usize, const R: usize> =
        Running<Box<dyn Arbiter>, S, Heap<Event>, W, R>;
    let architecture = &plan.switch.architecture;
    match (architecture, &plan.flow_control) {
        (Architecture::Cioq, FlowControl::Credits) => {
            Box::new(Reference::<Cioq, 8, 128>::new(plan, options, arbiter))
        }
        (Architecture::Cioq, FlowControl::QueueCredits) => {
            Box::new(Reference::<CioqQueues, 8, 128>::new(plan, options, arbiter))
        }
        (Architecture::Cioq, FlowControl::Pfc(_)) => {
            Box::new(Reference::<CioqPause, 8, 128>::new(plan, options, arbiter))
        }
        (Architecture::InputQueued, FlowControl::Pfc(_)) => {
            Box::new(Reference::<IqPause, 8, 128>::new(plan, options, arbiter))
        }
        (Architecture::InputQueued, _) => {
            Box::new(Reference::<Iq, 8, 128>::new(plan, options, arbiter))
        }
        (Architecture::Hierarchical(_), _) => Box::new(Reference::<Hierarchical, 32, 1>::new(
            plan, options, arbiter,
        )),
        (Architecture::Tiled(_), _) => panic!("a tiled switch is built by netloom-tiled"),
    }
}

/// What runs, with the wheel.
fn with_wheel<A: Arbiter + 'static, S: Shape, const W: usize, const R: usize>(
    plan: &FabricPlan,
    options: Options,
    arbiter: &MakeArbiter<'_, A>,
) -> Box<dyn Simulation> {
    Box::new(Running::<A, S, Wheel<Event>, W, R>::new(
        plan, options, arbiter,
    ))
}

struct Running<A: Arbiter, S: Shape, Q: EventQueue<Event>, const W: usize, const R: usize> {
    engine: Engine<Fabric<A, S, W, R>, Q>,
    atlas: Atlas,
}

impl<A: Arbiter, S: Shape, Q: EventQueue<Event>, const W: usize, const R: usize>
    Running<A, S, Q, W, R>
{
    fn new(plan: &FabricPlan, options: Options, arbiter: &MakeArbiter<'_, A>) -> Self {
        let atlas = Atlas::new(plan);
        let partitions = (0..plan.n_partitions() as u16)
            .map(|number| build::partition(plan, &atlas, number, arbiter, options.watch))
            .collect();
        let lookahead = if plan.n_partitions() == 1 {
            u64::MAX
        } else {
            build::lookahead(plan)
        };
        let mut engine: Engine<Fabric<A, S, W, R>, Q> =
            Engine::new(partitions, lookahead, options.threads);
        for partition in 0..plan.n_partitions() {
            // One partition at a time: its first events are moved into its queue before the next.
            let mut first = Vec::new();
            engine
                .model(partition)
                .first_arrivals(|when, event| first.push((when, event)));
            for (when, event) in first {
                engine.schedule(partition, when, event);
            }
        }
        Running { engine, atlas }
    }
}

impl<A: Arbiter, S: Shape, Q: EventQueue<Event>, const W: usize, const R: usize> Simulation
    for Running<A, S, Q, W, R>
{
    fn run_until(&mut self, end: Tick) {
        self.engine.run_until(end);
    }

    fn events(&self) -> u64 {
        self.engine.events()
    }

    fn next_event(&mut self) -> Option<Tick> {
        self.engine.next_event()
    }

    fn counters(&mut self) -> Counters {
        let mut all = Counters::default();
        self.engine
            .models()
            .for_each(|fabric| all.merge(&fabric.counters));
        all
    }

    fn take_rows(&mut self, into: &mut [Row]) {
        for fabric in self.engine.models() {
            for (row, sum) in fabric.rows.iter_mut().zip(into.iter_mut()) {
                row.settle();
                sum.merge(row);
                row.clear();
            }
        }
    }

    fn take_punctuality(&mut self, into: &mut [Punctuality]) {
        let meters = self.engine.models().filter_map(|f| f.meters.as_mut());
        meters.for_each(|meters| meters.take(into));
    }

    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)> {
        let mut all = Vec::new();
        for fabric in self.engine.models() {
            let is_port = |port: &&PortRecord<A, S::Flow, W, R>| {
                port.number < fabric.switches[port.switch].n_ports
            };
            for port in fabric.ports.iter().filter(is_port) {
                all.push((
                    fabric.switches[port.switch].id,
                    Port(port.number),
                    port.usage(),
                ));
            }
        }
        all.sort_unstable_by_key(|(switch, port, _)| (*switch, *port));
        all
    }

    fn nic_flits(&mut self) -> Vec<Vec<u64>> {
        let mut all: Vec<(NicId, Vec<u64>)> = Vec::new();
        for fabric in self.engine.models() {
            let n_rows = fabric.rows.len();
            for (nic, flits) in fabric
                .nics
                .iter()
                .zip(fabric.nic_flits.chunks(n_rows.max(1)))
            {
                all.push((nic.id, flits.to_vec()));
            }
        }
        all.sort_unstable_by_key(|(nic, _)| *nic);
        all.into_iter().map(|(_, flits)| flits).collect()
    }

    fn in_flight(&mut self) -> u64 {
        let counters = self.counters();
        let stored: u64 = self
            .engine
            .models()
            .map(|fabric| fabric.stored_packets())
            .sum();
        stored + (counters.emigrated - counters.immigrated)
    }

    fn waiting_messages(&mut self) -> u64 {
        self.engine
            .models()
            .map(|fabric| fabric.messages.len() as u64 + fabric.packets_at_nics())
            .sum()
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut all: Vec<Step> = self
            .engine
            .models()
            .flat_map(|fabric| fabric.steps.clone())
            .collect();
        all.sort_by_key(|step| step.at);
        all
    }

    fn deadlock(&mut self, now: Tick, patience: u64) -> Option<Vec<Waiting>> {
        let mut edges = Vec::new();
        let mut is_stalled = false;
        let atlas = &self.atlas;
        for fabric in self.engine.models() {
            is_stalled |= fabric.waits(now, patience, &mut edges, &|p, port| {
                atlas.name_of_port(p, port)
            });
        }
        if !is_stalled {
            return None;
        }
        find_cycle(edges).map(|cycle| cycle.into_iter().map(Waiting::from_key).collect())
    }

    fn check_laws(&mut self) {
        let counters = self.counters();
        let in_flight = self.in_flight();
        assert_eq!(
            counters.injected,
            counters.delivered + in_flight,
            "packets are conserved"
        );
    }

    fn is_idle(&mut self) -> bool {
        self.engine.models().all(|fabric| {
            fabric
                .ports
                .iter()
                .all(|port| port.credit.is_idle() && port.space.is_idle())
                && fabric.nics.iter().all(|nic| nic.credit.is_idle())
        })
    }
}
