//! A fabric that runs: one model for every kind of switch.

use netloom_engine::{Engine, EventQueue, find_cycle};
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::recorder::{Counters, PortUse, Protocol, Row};
use crate::simulation::atlas::{Atlas, lookahead};
use crate::simulation::{Options, Simulation, Waiting};
use crate::switch::Switches;
use crate::trace::Step;

pub(crate) struct Running<S: Switches, Q: EventQueue<S::Event>> {
    engine: Engine<Fabric<S>, Q>,
    atlas: Atlas,
    /// Whether endpoints or switches do more than carry packets.
    has_protocol: bool,
}

impl<S: Switches, Q: EventQueue<S::Event>> Running<S, Q> {
    /// Hands every NIC its first messages. `partition` makes one part of the fabric.
    pub(crate) fn new(
        plan: &FabricPlan,
        options: Options,
        atlas: Atlas,
        partition: impl Fn(&Atlas, u16) -> Fabric<S>,
    ) -> Self {
        let n = plan.n_partitions();
        let partitions = (0..n as u16).map(|number| partition(&atlas, number));
        let lookahead = match n {
            1 => u64::MAX,
            _ => lookahead(plan, S::least_credit_delay(plan)),
        };
        let mut engine: Engine<Fabric<S>, Q> =
            Engine::new(partitions.collect(), lookahead, options.threads);
        for partition in 0..n {
            // One partition at a time: its first events are moved into its queue before the next.
            let mut first = Vec::new();
            let model = engine.model(partition);
            model.first_arrivals(|when, event| first.push((when, event)));
            for (when, event) in first {
                engine.schedule(partition, when, event);
            }
        }
        Running {
            engine,
            atlas,
            has_protocol: plan.has_protocol(),
        }
    }

    fn sum(&mut self, of: impl Fn(&mut Fabric<S>) -> u64) -> u64 {
        self.engine.models().map(of).sum()
    }
}

impl<S: Switches, Q: EventQueue<S::Event>> Simulation for Running<S, Q> {
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
        let models = self.engine.models();
        models.for_each(|fabric| all.merge(&fabric.shared.counters));
        all
    }

    fn take_rows(&mut self, into: &mut [Row]) {
        for fabric in self.engine.models() {
            for (row, sum) in fabric.shared.rows.iter_mut().zip(into.iter_mut()) {
                row.settle();
                sum.merge(row);
                row.clear();
            }
        }
    }

    fn take_punctuality(&mut self, into: &mut [Punctuality]) {
        let models = self.engine.models();
        let meters = models.filter_map(|fabric| fabric.endpoints.meters.as_mut());
        meters.for_each(|meters| meters.take(into));
    }

    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)> {
        let models = self.engine.models();
        let mut all: Vec<_> = models
            .flat_map(|fabric| fabric.switches.port_uses())
            .collect();
        all.sort_unstable_by_key(|(switch, port, _)| (*switch, *port));
        all
    }

    fn nic_flits(&mut self) -> Vec<Vec<u64>> {
        let mut all: Vec<(NicId, Vec<u64>)> = Vec::new();
        for fabric in self.engine.models() {
            let n_rows = fabric.shared.rows.len().max(1);
            let flits = fabric.endpoints.nic_flits.chunks(n_rows);
            let nics = fabric.endpoints.nics.iter().zip(flits);
            all.extend(nics.map(|(nic, flits)| (nic.id, flits.to_vec())));
        }
        all.sort_unstable_by_key(|(nic, _)| *nic);
        all.into_iter().map(|(_, flits)| flits).collect()
    }

    fn in_flight(&mut self) -> u64 {
        let counters = self.counters();
        let stored = self.sum(|fabric| {
            let reordering = fabric.endpoints.receiver.reordering.as_ref();
            S::packets_under_way(fabric) + reordering.map_or(0, |all| all.held())
        });
        stored + (counters.emigrated - counters.immigrated)
    }

    fn waiting_messages(&mut self) -> u64 {
        self.sum(|fabric| fabric.endpoints.messages.len() as u64 + fabric.packets_at_nics())
    }

    fn steps(&mut self) -> Vec<Step> {
        let models = self.engine.models();
        let mut all: Vec<Step> = models
            .flat_map(|fabric| fabric.shared.steps.clone())
            .collect();
        all.sort_by_key(|step| step.at);
        all
    }

    fn deadlock(&mut self, now: Tick, patience: u64) -> Option<Vec<Waiting>> {
        let mut edges = Vec::new();
        let mut is_stalled = false;
        let atlas = &self.atlas;
        for fabric in self.engine.models() {
            let name = |partition, port| atlas.name_of_port(partition, port);
            is_stalled |= S::waits(fabric, now, patience, &mut edges, &name);
        }
        if !is_stalled {
            return None;
        }
        find_cycle(edges).map(|cycle| cycle.into_iter().map(Waiting::from_key).collect())
    }

    fn check_laws(&mut self) {
        let counters = self.counters();
        let mut protocol = Protocol::default();
        for fabric in self.engine.models() {
            protocol.merge(&fabric.shared.protocol);
            S::check_laws(fabric);
        }
        assert_eq!(
            counters.injected + protocol.retransmitted,
            counters.delivered + protocol.discarded + protocol.lost + self.in_flight(),
            "packets are conserved"
        );
    }

    fn is_idle(&mut self) -> bool {
        self.engine.models().all(|fabric| {
            let switches = &mut fabric.switches;
            let mut nics = fabric.endpoints.nics.iter();
            switches.is_idle() && nics.all(|nic| switches.is_credit_idle(&nic.credit, nic.wire))
        })
    }

    fn protocol(&mut self) -> Option<Protocol> {
        let mut all = Protocol::default();
        let models = self.engine.models();
        models.for_each(|fabric| all.merge(&fabric.shared.protocol));
        self.has_protocol.then_some(all)
    }

    fn stash_flits(&mut self) -> Vec<u32> {
        let models = self.engine.models();
        let mut all: Vec<_> = models
            .flat_map(|fabric| fabric.switches.stash_flits())
            .collect();
        all.sort_unstable_by_key(|(switch, _)| *switch);
        all.into_iter().map(|(_, flits)| flits).collect()
    }
}
