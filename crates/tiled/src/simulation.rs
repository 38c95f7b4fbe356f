//! A fabric of tiled switches that runs.

use netloom_engine::{Engine, EventQueue, Heap, Wheel, find_cycle};
use netloom_fabric::{
    Counters, FabricPlan, Options, PortUse, Protocol, Row, Simulation, Step, Waiting,
};
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::build::{self, Atlas};
use crate::event::Event;
use crate::model::TiledFabric;

/// Builds a plan and hands every NIC its first messages.
///
/// # Panics
/// If the plan is not one of tiled switches, or has more ports or channels than sets of 64 hold.
pub fn build(plan: &FabricPlan, options: Options) -> Box<dyn Simulation> {
    if options.reference {
        Box::new(Running::<Heap<Event>>::new(plan, options))
    } else {
        Box::new(Running::<Wheel<Event>>::new(plan, options))
    }
}

struct Running<Q: EventQueue<Event>> {
    engine: Engine<TiledFabric, Q>,
    atlas: Atlas,
}

impl<Q: EventQueue<Event>> Running<Q> {
    fn new(plan: &FabricPlan, options: Options) -> Self {
        let atlas = Atlas::new(plan);
        let n = plan.n_partitions();
        let partitions = (0..n as u16)
            .map(|number| build::partition(plan, &atlas, number, options.watch))
            .collect();
        let lookahead = match n {
            1 => u64::MAX,
            _ => build::lookahead(plan),
        };
        let mut engine: Engine<TiledFabric, Q> =
            Engine::new(partitions, lookahead, options.threads);
        for partition in 0..n {
            let mut first = Vec::new();
            let model = engine.model(partition);
            model.first_arrivals(|when, event| first.push((when, event)));
            for (when, event) in first {
                engine.schedule(partition, when, event);
            }
        }
        Running { engine, atlas }
    }
}

impl<Q: EventQueue<Event>> Simulation for Running<Q> {
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
        models.for_each(|fabric| all.merge(&fabric.counters));
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

    /// Connections are not counted one by one here.
    fn take_punctuality(&mut self, _: &mut [Punctuality]) {}

    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)> {
        let mut all = Vec::new();
        for fabric in self.engine.models() {
            for port in &fabric.ports {
                if u16::from(port.number) >= fabric.switches[port.switch].n_ports {
                    continue;
                }
                let usage = PortUse {
                    flits: port.flits,
                    packets: port.packets,
                    choices: port.choices,
                    input_residence: port.input_residence,
                    output_residence: port.output_residence,
                    output_peak: port.output_peak,
                };
                let id = fabric.switches[port.switch].id;
                all.push((id, Port(u16::from(port.number)), usage));
            }
        }
        all.sort_unstable_by_key(|(switch, port, _)| (*switch, *port));
        all
    }

    fn nic_flits(&mut self) -> Vec<Vec<u64>> {
        let mut all: Vec<(NicId, Vec<u64>)> = Vec::new();
        for fabric in self.engine.models() {
            let n_rows = fabric.rows.len().max(1);
            let flits = fabric.nic_flits.chunks(n_rows);
            let nics = fabric.nics.iter().zip(flits);
            all.extend(nics.map(|(nic, flits)| (nic.id, flits.to_vec())));
        }
        all.sort_unstable_by_key(|(nic, _)| *nic);
        all.into_iter().map(|(_, flits)| flits).collect()
    }

    fn in_flight(&mut self) -> u64 {
        let counters = self.counters();
        let stored = self
            .engine
            .models()
            .map(|fabric| fabric.packets_under_way());
        stored.sum::<u64>() + (counters.emigrated - counters.immigrated)
    }

    fn waiting_messages(&mut self) -> u64 {
        let models = self.engine.models();
        models.map(|fabric| fabric.messages.len() as u64).sum()
    }

    fn steps(&mut self) -> Vec<Step> {
        let models = self.engine.models();
        let mut all: Vec<Step> = models.flat_map(|fabric| fabric.steps.clone()).collect();
        all.sort_by_key(|step| step.at);
        all
    }

    fn deadlock(&mut self, now: Tick, patience: u64) -> Option<Vec<Waiting>> {
        let mut edges = Vec::new();
        let mut is_stalled = false;
        let atlas = &self.atlas;
        for fabric in self.engine.models() {
            let name = |partition, port| atlas.name_of_port(partition, port);
            is_stalled |= fabric.waits(now, patience, &mut edges, &name);
        }
        if !is_stalled {
            return None;
        }
        find_cycle(edges).map(|cycle| cycle.into_iter().map(Waiting::from_key).collect())
    }

    fn check_laws(&mut self) {
        let counters = self.counters();
        let protocol = self.protocol().expect("endpoints have a protocol");
        assert_eq!(
            counters.injected + protocol.retransmitted,
            counters.delivered + protocol.discarded + protocol.lost + self.in_flight(),
            "packets are conserved"
        );
        for fabric in self.engine.models() {
            fabric.check_stashes();
        }
    }

    fn is_idle(&mut self) -> bool {
        self.engine.models().all(|fabric| fabric.is_idle())
    }

    fn protocol(&mut self) -> Option<Protocol> {
        let mut all = Protocol::default();
        let models = self.engine.models();
        models.for_each(|fabric| all.merge(&fabric.protocol));
        Some(all)
    }

    fn stash_flits(&mut self) -> Vec<u32> {
        let mut all = Vec::new();
        for fabric in self.engine.models() {
            let n_ports = fabric.geometry.ports as usize;
            let ports = fabric.ports.as_slice().chunks(n_ports);
            for (switch, ports) in fabric.switches.iter().zip(ports) {
                all.push((switch.id, ports.iter().map(|port| port.stash_used).sum()));
            }
        }
        all.sort_unstable_by_key(|(switch, _)| *switch);
        all.into_iter().map(|(_, flits)| flits).collect()
    }
}
