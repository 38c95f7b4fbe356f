//! A running fabric: one model for every kind of switch.

use netloom_encoding::{Encoded, Invalid, Validity, ensure, ensure_equal};
use netloom_engine::{Engine, EventQueue, Local, OverRanks, SharedRanks, Transport, find_cycle};
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::recorder::{Counters, PortUse, Protocol, Row};
use crate::sharing::lookahead;
use crate::simulation::atlas::Atlas;
use crate::simulation::{Options, Simulation, Waiting};
use crate::switch::Switches;
use crate::trace::Step;

/// How and where a plan runs.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) options: Options,
    /// The processes that share the run, if there are several.
    pub(crate) ranks: Option<&'a SharedRanks>,
}

/// Called once per window: one instance of a fabric serves one process and several.
type Way<S> = Box<dyn Transport<Fabric<S>>>;

pub(crate) struct Running<S: Switches, Q: EventQueue<S::Event>> {
    engine: Engine<Fabric<S>, Q, Way<S>>,
    ranks: Option<SharedRanks>,
    atlas: Atlas,
    /// Whether endpoints or switches do more than carry packets.
    has_protocol: bool,
}

impl<S: Switches + 'static, Q: EventQueue<S::Event>> Running<S, Q> {
    /// Schedules the first messages of every NIC. `partition` builds one part of the fabric.
    pub(crate) fn new(
        plan: &FabricPlan,
        setting: Setting<'_>,
        atlas: Atlas,
        partition: impl Fn(&Atlas, u16) -> Fabric<S>,
    ) -> Self {
        let n = plan.n_partitions();
        let way: Way<S> = match setting.ranks {
            Some(ranks) => Box::new(OverRanks::new(ranks.clone(), n, plan.cabled_partitions())),
            None => Box::new(Local { n_partitions: n }),
        };
        let here = way.placement().here;
        let partitions = here
            .clone()
            .map(|number| partition(&atlas, number as u16))
            .collect();
        let lookahead = match n {
            1 => u64::MAX,
            _ => lookahead(plan),
        };
        let mut engine: Engine<Fabric<S>, Q, Way<S>> =
            Engine::with_transport(partitions, lookahead, setting.options.threads, way);
        for (local, partition) in here.enumerate() {
            // One partition at a time: its first events are moved into its queue before the next
            // one.
            let mut first = Vec::new();
            let model = engine.model(local);
            model.first_arrivals(|when, event| first.push((when, event)));
            for (when, event) in first {
                engine.schedule(partition, when, event);
            }
        }
        Running {
            engine,
            ranks: setting.ranks.cloned(),
            atlas,
            has_protocol: plan.has_protocol(),
        }
    }

    /// Returns the values of all processes, in the order of their partitions.
    fn all<T: Encoded>(&self, mine: T) -> Vec<T> {
        match &self.ranks {
            Some(ranks) => ranks.gather(&mine),
            None => vec![mine],
        }
    }

    fn take_rows_here(&mut self, into: &mut [Row]) {
        for fabric in self.engine.models() {
            for (row, sum) in fabric.shared.rows.iter_mut().zip(into.iter_mut()) {
                row.settle();
                sum.merge(row);
                row.clear();
            }
        }
    }

    fn protocol_of_all(&mut self) -> Protocol {
        let mut here = Protocol::default();
        let models = self.engine.models();
        models.for_each(|fabric| here.merge(&fabric.shared.protocol));
        let mut all = Protocol::default();
        self.all(here).iter().for_each(|one| all.merge(one));
        all
    }

    /// Concatenates the lists of all processes.
    fn joined<T: Encoded>(&self, mine: Vec<T>) -> Vec<T> {
        match &self.ranks {
            Some(ranks) => ranks.gather(&mine).into_iter().flatten().collect(),
            None => mine,
        }
    }

    /// Does the same on the first process; the others get nothing.
    fn collected<T: Encoded>(&self, mine: Vec<T>) -> Vec<T> {
        match &self.ranks {
            Some(ranks) => ranks.collect(mine),
            None => mine,
        }
    }

    fn sum(&mut self, of: impl Fn(&mut Fabric<S>) -> u64) -> u64 {
        let here = self.engine.models().map(of).sum();
        self.all::<u64>(here).into_iter().sum()
    }
}

impl<S: Switches + 'static, Q: EventQueue<S::Event>> Simulation for Running<S, Q> {
    fn run_until(&mut self, end: Tick) {
        self.engine.run_until(end);
    }

    fn events(&mut self) -> u64 {
        self.all(self.engine.events()).into_iter().sum()
    }

    fn next_event(&mut self) -> Option<Tick> {
        let here = self.engine.next_event().unwrap_or(Tick::NEVER);
        let next = Tick(self.agree(here.0));
        (next != Tick::NEVER).then_some(next)
    }

    fn counters(&mut self) -> Counters {
        let mut here = Counters::default();
        let models = self.engine.models();
        models.for_each(|fabric| here.merge(&fabric.shared.counters));
        let mut all = Counters::default();
        self.all(here).iter().for_each(|one| all.merge(one));
        all
    }

    fn take_rows(&mut self, into: &mut [Row]) {
        if self.ranks.is_none() {
            return self.take_rows_here(into);
        }
        let mut here = vec![Row::default(); into.len()];
        self.take_rows_here(&mut here);
        for rows in self.all(here) {
            let pairs = into.iter_mut().zip(&rows);
            pairs.for_each(|(sum, row)| sum.merge(row));
        }
    }

    fn take_punctuality(&mut self, into: &mut [Punctuality]) {
        let mut here = vec![Punctuality::default(); into.len()];
        let models = self.engine.models();
        let meters = models.filter_map(|fabric| fabric.endpoints.meters.as_mut());
        meters.for_each(|meters| meters.take(&mut here));
        for counted in self.all(here) {
            let pairs = into.iter_mut().zip(&counted);
            pairs.for_each(|(sum, one)| sum.merge(one));
        }
    }

    fn leads(&self) -> bool {
        let ranks = self.ranks.as_ref();
        ranks.is_none_or(|ranks| ranks.lock().rank() == 0)
    }

    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)> {
        let now = self.engine.now();
        let models = self.engine.models();
        let here = models.flat_map(|fabric| fabric.switches.port_uses(now));
        let here = here.collect();
        let mut all: Vec<_> = self.collected(here);
        all.sort_unstable_by_key(|(switch, port, _)| (*switch, *port));
        all
    }

    fn nic_flits(&mut self) -> Vec<Vec<u64>> {
        let mut here: Vec<(NicId, Vec<u64>)> = Vec::new();
        for fabric in self.engine.models() {
            let n_rows = fabric.shared.rows.len().max(1);
            let flits = fabric.endpoints.nic_flits.chunks(n_rows);
            let nics = fabric.endpoints.nics.iter().zip(flits);
            here.extend(nics.map(|(nic, flits)| (nic.id, flits.to_vec())));
        }
        let mut all = self.collected(here);
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

    fn waiting_ranks(&mut self) -> Vec<(u8, NicId, NicId)> {
        let models = self.engine.models();
        let here = models.flat_map(|fabric| fabric.waiting_ranks());
        let here = here.collect();
        let mut all = self.collected(here);
        all.sort_unstable();
        all
    }

    fn ended_ranks(&mut self) -> Vec<(u8, NicId, Tick)> {
        let models = self.engine.models();
        let here = models.flat_map(|fabric| fabric.ended_ranks());
        let here = here.collect();
        let mut all = self.collected(here);
        all.sort_unstable();
        all
    }

    fn steps(&mut self) -> Vec<Step> {
        let models = self.engine.models();
        let here = models.flat_map(|fabric| fabric.shared.steps.clone());
        let here = here.collect();
        let mut all: Vec<Step> = self.joined(here);
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
        let is_stalled = self.all(is_stalled).contains(&true);
        if !is_stalled {
            return None;
        }
        let edges = self.joined(edges);
        find_cycle(edges).map(|cycle| cycle.into_iter().map(Waiting::from_key).collect())
    }

    fn check_laws(&mut self) {
        self.engine
            .models()
            .for_each(|fabric| S::check_laws(fabric));
        if let Err(why) = self.check_balance() {
            panic!("{why}");
        }
    }

    fn check_balance(&mut self) -> Validity {
        let counters = self.counters();
        let protocol = self.protocol_of_all();
        ensure(counters.immigrated <= counters.emigrated, || {
            let expected = format!("at most {}", counters.emigrated);
            Invalid::new(
                "packets from other partitions",
                expected,
                counters.immigrated,
            )
        })?;
        ensure_equal(
            "packets sent, and packets delivered, lost or in transit",
            counters.injected + protocol.retransmitted,
            counters.delivered + protocol.discarded + protocol.lost + self.in_flight(),
        )
    }

    fn is_idle(&mut self) -> bool {
        let is_idle = self.engine.models().all(|fabric| {
            let switches = &mut fabric.switches;
            let mut nics = fabric.endpoints.nics.iter();
            switches.is_idle() && nics.all(|nic| switches.is_credit_idle(&nic.credit, nic.wire))
        });
        !self.all(is_idle).contains(&false)
    }

    fn protocol(&mut self) -> Option<Protocol> {
        self.has_protocol.then(|| self.protocol_of_all())
    }

    fn agree(&mut self, number: u64) -> u64 {
        match &self.ranks {
            Some(ranks) => ranks.lock().least(number),
            None => number,
        }
    }

    fn everyone(&mut self, mine: Vec<u64>) -> Vec<Vec<u64>> {
        self.all(mine)
    }

    fn partitions(&self) -> std::ops::Range<usize> {
        self.engine.here()
    }

    fn save(&mut self, partition: usize) -> Vec<u8> {
        let mut saved = Vec::new();
        let local = partition - self.engine.here().start;
        self.engine.save(local, &mut saved);
        saved
    }

    fn restore(
        &mut self,
        plan: &FabricPlan,
        partition: usize,
        now: Tick,
        saved: &[u8],
    ) -> Validity {
        let local = partition - self.engine.here().start;
        let check = |fabric: &Fabric<S>, pending: &_| fabric.validate(plan, now, pending);
        self.engine.restore(local, now, saved, check)
    }

    fn stash_flits(&mut self) -> Vec<u32> {
        let models = self.engine.models();
        let here = models.flat_map(|fabric| fabric.switches.stash_flits());
        let here = here.collect();
        let mut all: Vec<_> = self.joined(here);
        all.sort_unstable_by_key(|(switch, _)| *switch);
        all.into_iter().map(|(_, flits)| flits).collect()
    }
}
