//! The punctuality of connections: of each, by service level, of the best and the worst.

use netloom_encoding::{State, Validity, ensure_below};
use netloom_fabric::Simulation;
use netloom_metrics::{DEADLINES, Punctuality};
use netloom_results::{ConnectionLine, ConnectionsSummary, PunctualityLine, Table, Window};
use netloom_units::Sl;

use super::gathered::MOST;
use super::tables::Tables;
use crate::{Experiment, UntilPackets};

/// Index of the deadline at which connections are compared: half the inter-arrival time (S004-7).
const COMPARED_AT: usize = 4;

/// The counts of every connection in the measured part of a run.
#[derive(State)]
pub(super) struct Recorded {
    #[state(records)]
    counted: Vec<Punctuality>,
    /// Connections that end the run when all have received enough packets.
    #[state(constant)]
    awaited: Option<(UntilPackets, Vec<usize>)>,
}

impl Recorded {
    pub(super) fn new(experiment: &Experiment) -> Recorded {
        let Some(set) = &experiment.connections else {
            return Recorded {
                counted: vec![],
                awaited: None,
            };
        };
        let infos = set.connections.iter().enumerate();
        let awaited = set.until.map(|until| {
            let awaited = infos.filter(|(_, info)| until.awaits(info.sl));
            (until, awaited.map(|(at, _)| at).collect())
        });
        Recorded {
            counted: vec![Punctuality::default(); set.connections.len()],
            awaited,
        }
    }

    /// Checks that counts are far from overflow.
    pub(super) fn validate(&self) -> Validity {
        for counted in &self.counted {
            let sums = [counted.delay_sum, counted.delay_max, counted.gap_sum];
            let counts = counted.delays.iter().chain(&counted.jitter);
            for &count in counts.chain(&sums) {
                ensure_below("packets of a connection", count, MOST)?;
            }
        }
        Ok(())
    }

    /// Resets the counts at the end of the warm-up.
    pub(super) fn begin(&mut self) {
        self.counted.fill(Punctuality::default());
    }

    pub(super) fn add_epoch(&mut self, simulation: &mut dyn Simulation) {
        if !self.counted.is_empty() {
            simulation.take_punctuality(&mut self.counted);
        }
    }

    /// Returns whether all connections that the run waits for have received enough packets.
    pub(super) fn is_enough(&self) -> bool {
        let is_met = |(until, awaited): &(UntilPackets, Vec<usize>)| {
            let has = |&at: &usize| self.counted[at].packets() >= u64::from(until.packets);
            !awaited.is_empty() && awaited.iter().all(has)
        };
        self.awaited.as_ref().is_some_and(is_met)
    }

    pub(super) fn summary(
        &self,
        experiment: &Experiment,
        seed: u64,
        window: Window,
    ) -> Option<ConnectionsSummary> {
        let set = experiment.connections.as_ref()?;
        let mut levels: Vec<Sl> = set.connections.iter().map(|info| info.sl).collect();
        levels.sort_unstable();
        levels.dedup();
        let lines = levels.into_iter().flat_map(|sl| {
            let of_level = |&at: &usize| set.connections[at].sl == sl;
            let own: Vec<usize> = (0..set.connections.len()).filter(of_level).collect();
            let mut lines = vec![("all", own.clone())];
            if let Some((worst, best)) = self.worst_and_best(&own) {
                lines.extend([("best", vec![best]), ("worst", vec![worst])]);
            }
            let line = move |(scope, members): (&str, Vec<usize>)| PunctualityLine {
                seed,
                class: self.class(experiment, members[0]),
                sl: sl.0,
                scope: scope.to_owned(),
                connection: (scope != "all").then_some(members[0] as u32),
                ..self.line(experiment, &members)
            };
            lines.into_iter().map(line)
        });
        Some(ConnectionsSummary {
            window,
            established: set.connections.len() as u64,
            packets_least: self
                .counted
                .iter()
                .map(Punctuality::packets)
                .min()
                .unwrap_or(0),
            enough_packets: self.awaited.as_ref().map(|_| self.is_enough()),
            punctuality: lines.collect(),
        })
    }

    fn class(&self, experiment: &Experiment, connection: usize) -> String {
        let class = experiment.fabric.connections[connection].class;
        experiment.classes[usize::from(class)].name.clone()
    }

    /// Returns the connections with the smallest and the largest share of packets in time, at half
    /// the inter-arrival time. Of equal connections, returns the first.
    fn worst_and_best(&self, members: &[usize]) -> Option<(usize, usize)> {
        let rank = |&at: &usize| {
            let counted = &self.counted[at];
            let packets = counted.packets();
            (packets > 0).then(|| (counted.in_time()[COMPARED_AT], packets, at))
        };
        let mut ranked = members.iter().filter_map(rank);
        let first = ranked.next()?;
        let (mut worst, mut best) = (first, first);
        for one in ranked {
            // Shares as fractions, compared without rounding.
            let is_less = |a: (u64, u64, usize), b: (u64, u64, usize)| {
                u128::from(a.0) * u128::from(b.1) < u128::from(b.0) * u128::from(a.1)
            };
            if is_less(one, worst) {
                worst = one;
            }
            if is_less(best, one) {
                best = one;
            }
        }
        Some((worst.2, best.2))
    }

    /// Returns the numbers of some connections together.
    fn line(&self, experiment: &Experiment, members: &[usize]) -> PunctualityLine {
        let mut sum = Punctuality::default();
        let (mut delay_max, mut jitter) = (0f64, 0f64);
        for &at in members {
            let counted = &self.counted[at];
            let plan = &experiment.fabric.connections[at];
            let (gap, measure) = (plan.inter_arrival.as_f64(), plan.measure());
            sum.merge(counted);
            delay_max = delay_max.max(counted.delay_max as f64 / measure);
            jitter += (counted.gap_sum as f64 / gap - counted.gaps() as f64) * (gap / measure);
        }
        let (packets, gaps) = (sum.packets(), sum.gaps());
        let share = |n: u64, of: u64| (of > 0).then(|| n as f64 / of as f64);
        let mut line = PunctualityLine {
            connections: members.len() as u64,
            packets,
            late: share(sum.delays[DEADLINES.len()], packets),
            delay_max: (packets > 0).then_some(delay_max),
            jitter_mean: (gaps > 0).then(|| jitter / gaps as f64),
            ..PunctualityLine::default()
        };
        for (cell, n) in line.in_time_mut().into_iter().zip(sum.in_time()) {
            *cell = share(n, packets);
        }
        for (cell, n) in line.jitter_mut().into_iter().zip(sum.jitter) {
            *cell = share(n, gaps);
        }
        line
    }

    /// Writes every connection as a line of its table, and the summary as lines of `punctuality`.
    pub(super) fn write(
        &self,
        experiment: &Experiment,
        seed: u64,
        summary: Option<&ConnectionsSummary>,
        tables: &mut Tables,
    ) {
        let (Some(set), Some(summary)) = (&experiment.connections, summary) else {
            return;
        };
        let topology = &experiment.fabric.topology;
        let nanos = |ticks: f64| experiment.timebase.nanos(ticks);
        for (at, (info, counted)) in set.connections.iter().zip(&self.counted).enumerate() {
            let (packets, gaps) = (counted.packets(), counted.gaps());
            let gap = experiment.fabric.connections[at].inter_arrival.as_f64();
            let jitter = counted.gap_sum as f64 / gaps.max(1) as f64 - gap;
            let mut line = ConnectionLine {
                seed,
                connection: at as u32,
                class: self.class(experiment, at),
                sl: info.sl.0,
                source: topology.nic_name(info.source),
                destination: topology.nic_name(info.destination),
                bandwidth_bps: info.bandwidth.0,
                slots: info.slots,
                inter_arrival_ns: info.inter_arrival.as_nanos(),
                deadline_ns: info.deadline.map(|deadline| deadline.as_nanos()),
                packets,
                late: counted.delays[DEADLINES.len()],
                delay_mean_ns: (packets > 0)
                    .then(|| nanos(counted.delay_sum as f64 / packets as f64)),
                delay_max_ns: (packets > 0).then(|| nanos(counted.delay_max as f64)),
                jitter_mean_ns: (gaps > 0).then(|| nanos(jitter)),
                ..ConnectionLine::default()
            };
            for (cell, n) in line.in_time_mut().into_iter().zip(counted.in_time()) {
                *cell = n;
            }
            for (cell, n) in line.jitter_mut().into_iter().zip(counted.jitter) {
                *cell = n;
            }
            tables.connections.push(line.data());
        }
        let lines = summary.punctuality.iter();
        lines.for_each(|line| tables.punctuality.push(line.data()));
    }
}
