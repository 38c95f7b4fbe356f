//! A running fabric: one model for every kind of switch.

use netloom_encoding::{Encoded, Invalid, Validity, ensure, ensure_equal};
use netloom_engine::{Engine, Local, OverRanks, SharedRanks, Transport, find_cycle};
use netloom_metrics::Punctuality;
use netloom_units::{NicId, Port, SwitchId, Tick};

use crate::fabric::Fabric;
use crate::plan::FabricPlan;
use crate::recorder::{Counters, PortUse, Protocol, Row};
use crate::sharing::lookahead;
use crate::simulation::atlas::Atlas;
use crate::simulation::part::{Part, Parts};
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
type BoxedTransport = Box<dyn Transport>;

/// Builds the partitions of this process and schedules the first messages of every NIC. `partition`
/// builds one part of the fabric.
pub(crate) fn start<S: Switches + 'static>(
    plan: &FabricPlan,
    setting: Setting<'_>,
    atlas: Atlas,
    partition: impl Fn(&Atlas, u16) -> Fabric<S>,
) -> Box<dyn Simulation> {
    let n = plan.n_partitions();
    let transport: BoxedTransport = match setting.ranks {
        Some(ranks) => Box::new(OverRanks::new(ranks.clone(), n, plan.cabled_partitions())),
        None => Box::new(Local { n_partitions: n }),
    };
    let here = transport.placement().here;
    let partitions = here
        .clone()
        .map(|number| partition(&atlas, number as u16))
        .collect();
    let lookahead = match n {
        1 => u64::MAX,
        _ => lookahead(plan),
    };
    let mut engine: Engine<Fabric<S>, BoxedTransport> =
        Engine::with_transport(partitions, lookahead, setting.options.threads, transport);
    for (local, partition) in here.enumerate() {
        // One partition at a time: its first events are moved into its queue before the next one.
        let mut first = Vec::new();
        let model = engine.model(local);
        model.first_arrivals(|when, event| first.push((when, event)));
        for (when, event) in first {
            engine.schedule(partition, when, event);
        }
    }
    Box::new(Running {
        engine: Box::new(engine),
        ranks: setting.ranks.cloned(),
        atlas,
        has_protocol: plan.has_protocol(),
    })
}

/// Merges each record of a list into that of another list at the same place.
fn merge_each<T>(into: &mut [T], from: &[T], merge: impl Fn(&mut T, &T)) {
    let pairs = into.iter_mut().zip(from);
    pairs.for_each(|(sum, one)| merge(sum, one));
}

struct Running {
    engine: Box<dyn Parts>,
    ranks: Option<SharedRanks>,
    atlas: Atlas,
    /// Whether endpoints or switches do more than carry packets.
    has_protocol: bool,
}

impl Running {
    /// Calls a function for each partition of this process.
    fn each(&mut self, mut with: impl FnMut(&mut dyn Part)) {
        for i in 0..self.engine.here().len() {
            with(self.engine.part(i));
        }
    }

    /// Concatenates the lists of the partitions of this process.
    fn lists<T>(&mut self, of: impl Fn(&mut dyn Part) -> Vec<T>) -> Vec<T> {
        let mut all = Vec::new();
        self.each(|part| all.append(&mut of(part)));
        all
    }

    /// Returns the values of all processes, in the order of their partitions.
    fn all<T: Encoded>(&self, mine: T) -> Vec<T> {
        match &self.ranks {
            Some(ranks) => ranks.gather(&mine),
            None => vec![mine],
        }
    }

    /// Merges the records of all processes. The order of merges does not affect the result.
    fn merged<T: Encoded>(&self, mine: T, merge: impl FnMut(&mut T, &T)) -> T {
        match &self.ranks {
            Some(ranks) => ranks.reduce(mine, merge),
            None => mine,
        }
    }

    fn take_rows_here(&mut self, into: &mut [Row]) {
        self.each(|part| {
            for (row, sum) in part.shared().rows.iter_mut().zip(into.iter_mut()) {
                row.settle();
                sum.merge(row);
                row.clear();
            }
        });
    }

    fn protocol_of_all(&mut self) -> Protocol {
        let mut here = Protocol::default();
        self.each(|part| here.merge(&part.shared().protocol));
        self.merged(here, Protocol::merge)
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

    fn sum(&mut self, of: impl Fn(&dyn Part) -> u64) -> u64 {
        let mut here = 0;
        self.each(|part| here += of(part));
        self.merged(here, |sum, other| *sum += other)
    }
}

impl Simulation for Running {
    fn instance(&mut self) -> &'static str {
        let switches = self.engine.part(0).switches();
        let shape = switches.trim_end_matches('>').rsplit("::").next();
        shape.expect("the last part of a name")
    }

    fn run_until(&mut self, end: Tick) {
        self.engine.run_until(end);
    }

    fn events(&mut self) -> u64 {
        self.merged(self.engine.events(), |sum, other| *sum += other)
    }

    fn next_event(&mut self) -> Option<Tick> {
        let here = self.engine.next_event().unwrap_or(Tick::NEVER);
        let next = Tick(self.agree(here.0));
        (next != Tick::NEVER).then_some(next)
    }

    fn counters(&mut self) -> Counters {
        let mut here = Counters::default();
        self.each(|part| here.merge(&part.shared().counters));
        self.merged(here, Counters::merge)
    }

    fn take_rows(&mut self, into: &mut [Row]) {
        if self.ranks.is_none() {
            return self.take_rows_here(into);
        }
        let mut here = vec![Row::default(); into.len()];
        self.take_rows_here(&mut here);
        let rows = self.merged(here, |sums, rows| merge_each(sums, rows, Row::merge));
        merge_each(into, &rows, Row::merge);
    }

    fn take_punctuality(&mut self, into: &mut [Punctuality]) {
        let mut here = vec![Punctuality::default(); into.len()];
        self.each(|part| {
            if let Some(meters) = part.meters() {
                meters.take(&mut here);
            }
        });
        let counted = self.merged(here, |sums, all| merge_each(sums, all, Punctuality::merge));
        merge_each(into, &counted, Punctuality::merge);
    }

    fn leads(&self) -> bool {
        let ranks = self.ranks.as_ref();
        ranks.is_none_or(|ranks| ranks.lock().rank() == 0)
    }

    fn port_uses(&mut self) -> Vec<(SwitchId, Port, PortUse)> {
        let now = self.engine.now();
        let here = self.lists(|part| part.port_uses(now));
        let mut all: Vec<_> = self.collected(here);
        all.sort_unstable_by_key(|(switch, port, _)| (*switch, *port));
        all
    }

    fn nic_flits(&mut self) -> Vec<Vec<u64>> {
        let here = self.lists(|part| part.nic_flits());
        let mut all = self.collected(here);
        all.sort_unstable_by_key(|(nic, _)| *nic);
        all.into_iter().map(|(_, flits)| flits).collect()
    }

    fn in_flight(&mut self) -> u64 {
        let counters = self.counters();
        let stored = self.sum(|part| part.packets());
        stored + (counters.emigrated - counters.immigrated)
    }

    fn waiting_messages(&mut self) -> u64 {
        self.sum(|part| part.waiting_messages())
    }

    fn waiting_ranks(&mut self) -> Vec<(u8, NicId, NicId)> {
        let here = self.lists(|part| part.waiting_ranks());
        let mut all = self.collected(here);
        all.sort_unstable();
        all
    }

    fn ended_ranks(&mut self) -> Vec<(u8, NicId, Tick)> {
        let here = self.lists(|part| part.ended_ranks());
        let mut all = self.collected(here);
        all.sort_unstable();
        all
    }

    fn steps(&mut self) -> Vec<Step> {
        let here = self.lists(|part| part.shared().steps.clone());
        let mut all: Vec<Step> = self.joined(here);
        all.sort_by_key(|step| step.at);
        all
    }

    fn deadlock(&mut self, now: Tick, wait_limit: u64) -> Option<Vec<Waiting>> {
        let mut edges = Vec::new();
        let mut is_stalled = false;
        let Running { engine, atlas, .. } = self;
        let named = |partition, port| atlas.name_of_port(partition, port);
        for i in 0..engine.here().len() {
            is_stalled |= engine.part(i).waits(now, wait_limit, &mut edges, &named);
        }
        if self.agree(u64::from(!is_stalled)) == 1 {
            return None;
        }
        let edges = self.joined(edges);
        find_cycle(edges).map(|cycle| cycle.into_iter().map(Waiting::from_key).collect())
    }

    fn check_laws(&mut self) {
        self.each(|part| part.check_laws());
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
        let mut is_idle = true;
        self.each(|part| is_idle &= part.is_idle());
        self.agree(u64::from(is_idle)) == 1
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
        self.engine.restore(plan, local, now, saved)
    }

    fn stash_flits(&mut self) -> Vec<u32> {
        let here = self.lists(|part| part.stash_flits());
        let mut all: Vec<_> = self.joined(here);
        all.sort_unstable_by_key(|(switch, _)| *switch);
        all.into_iter().map(|(_, flits)| flits).collect()
    }
}
