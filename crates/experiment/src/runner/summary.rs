//! Summarises recorded rows as numbers with units.

use netloom_fabric::Row;
use netloom_metrics::{Epoch, Measured, Verdict, jain};
use netloom_results::{
    ClassSummary, Frame, HistogramLine, HostLine, Recorded, RowSummary, SeriesLine, SlSummary,
    Summary, Table,
};
use netloom_units::{Sl, Tick};

use super::gathered::Snapshot;
use super::jobs::{self, Job};
use super::recording::{Recording, Sums};
use super::warmup::Cut;
use crate::Experiment;

/// The measured part of a run.
pub(super) struct Summaries<'a> {
    experiment: &'a Experiment,
    recording: &'a Recording,
    cut: Cut,
    /// Class and service level of each row.
    keys: Vec<(usize, Sl)>,
    /// Rows after the cut.
    rows: Vec<Row>,
    /// All rows since the start, if finite work is measured as a whole next to open-loop traffic.
    whole: Option<Vec<Row>>,
    /// Progress of every class that ends.
    jobs: Vec<Option<Job>>,
    /// Flits per tick that all NIC links together can carry.
    capacity: f64,
}

/// The part of a run that numbers cover: finite work from its first message to its last, even if
/// open-loop traffic next to it has a warm-up; everything else after the warm-up.
struct Part {
    /// The first epoch that counts.
    from: usize,
    /// Length of the part.
    ticks: u64,
    /// Completion time of finished work.
    completion: Option<Tick>,
}

impl<'a> Summaries<'a> {
    pub(super) fn new(
        experiment: &'a Experiment,
        recording: &'a Recording,
        cut: Cut,
        jobs: Vec<Option<Job>>,
    ) -> Self {
        let plan = &experiment.fabric;
        let capacity = plan
            .topology
            .nics()
            .map(|nic| 1.0 / plan.nic_link(nic).flit as f64)
            .sum();
        let (ending, goes_on) = (jobs.iter().any(Option::is_some), jobs.contains(&None));
        Summaries {
            experiment,
            recording,
            cut,
            keys: netloom_fabric::rows(plan),
            rows: recording.rows_from(cut.epochs),
            whole: (ending && goes_on).then(|| recording.rows_from(0)),
            jobs,
            capacity,
        }
    }

    /// Returns the summary of all rows, with the verdict of the run.
    pub(super) fn total(&self, fairness: &Fairness<'_>, classes: &[ClassSummary]) -> Summary {
        let parts = classes.iter().map(|class| class.summary.verdict);
        Summary {
            verdict: Verdict::of_run(parts),
            ..self.of(|_, _| true, fairness)
        }
    }

    pub(super) fn classes(&self, fairness: &Fairness<'_>) -> Vec<ClassSummary> {
        let numbered = self.experiment.classes.iter().enumerate();
        let summary = |(number, info): (usize, &crate::ClassInfo)| ClassSummary {
            class: info.name.clone(),
            sl: info.sl.0,
            asked_load: info.load,
            summary: self.of(|class, _| class == number, fairness),
        };
        numbered.map(summary).collect()
    }

    /// Returns the summaries of service levels, from those of their rows.
    pub(super) fn sls(&self, fairness: &Fairness<'_>, rows: &[RowSummary]) -> Vec<SlSummary> {
        let mut levels: Vec<Sl> = self.keys.iter().map(|&(_, sl)| sl).collect();
        levels.sort_unstable();
        levels.dedup();
        let summary = |level: Sl| {
            let own = rows.iter().filter(|row| row.sl == level.0);
            SlSummary {
                sl: level.0,
                summary: Summary {
                    verdict: Verdict::of_classes(own.map(|row| row.summary.verdict)),
                    ..self.of(|_, sl| sl == level, fairness)
                },
            }
        };
        levels.into_iter().map(summary).collect()
    }

    /// Returns the summaries of classes by service level. Levels with traffic have the verdict of
    /// the class.
    pub(super) fn rows(
        &self,
        fairness: &Fairness<'_>,
        classes: &[ClassSummary],
    ) -> Vec<RowSummary> {
        let summary = |&(number, level): &(usize, Sl)| {
            let own = self.of(|class, sl| class == number && sl == level, fairness);
            let is_silent = own.offered_messages == 0 && own.delivered_load == 0.0;
            RowSummary {
                class: self.experiment.classes[number].name.clone(),
                sl: level.0,
                summary: Summary {
                    verdict: match is_silent {
                        true => Verdict::Idle,
                        false => classes[number].summary.verdict,
                    },
                    ..own
                },
            }
        };
        self.keys.iter().map(summary).collect()
    }

    /// Returns the part of the run that the numbers of some rows cover.
    fn part(&self, rows: &[usize]) -> Part {
        let jobs = || rows.iter().map(|&row| self.jobs[self.keys[row].0]);
        let now = self.recording.now();
        let jobs: Option<Vec<Job>> = jobs().collect();
        let from = match (&jobs, &self.whole) {
            (Some(_), Some(_)) => 0,
            _ => self.cut.epochs,
        };
        let start = self.recording.start_of(from);
        let Some(jobs) = jobs.filter(|jobs| !jobs.is_empty()) else {
            return Part {
                from,
                ticks: now.0 - start.0,
                completion: None,
            };
        };
        let first = jobs.iter().filter_map(|job| job.first).min();
        let ends: Option<Vec<Tick>> = jobs.iter().map(Job::end).collect();
        let last = ends.and_then(|ends| ends.into_iter().max()).unwrap_or(now);
        Part {
            from,
            ticks: last.0.saturating_sub(start.max(first.unwrap_or(start)).0),
            completion: jobs::completion(&jobs),
        }
    }

    /// Returns the rows of a part.
    fn rows_of(&self, part: &Part) -> &[Row] {
        match &self.whole {
            Some(whole) if part.from < self.cut.epochs => whole,
            _ => &self.rows,
        }
    }

    /// Writes every epoch of every row.
    pub(super) fn series(&self, seed: u64, series: &mut Frame) {
        for epoch in 0..self.recording.n_epochs() {
            let end = self.recording.start_of(epoch + 1);
            let ticks = (end.0 - self.recording.start_of(epoch).0) as f64;
            for (sums, &(class, sl)) in self.recording.sums(epoch).iter().zip(&self.keys) {
                let load = |flits: u64| over(flits as f64, self.capacity * ticks);
                let mean = |sum: u64, n: u64| (n > 0).then(|| self.nanos(sum as f64 / n as f64));
                let line = SeriesLine {
                    seed,
                    time_ns: self.nanos(end.0 as f64),
                    class: self.experiment.classes[class].name.clone(),
                    sl: sl.0,
                    offered_load: load(sums.offered_flits),
                    injected_load: load(sums.injected_flits),
                    delivered_load: load(sums.delivered_flits),
                    latency_mean_ns: mean(sums.latency, sums.messages),
                    network_latency_mean_ns: mean(sums.network_latency, sums.packets),
                };
                series.push(line.data());
            }
        }
    }

    /// Writes every bucket of every latency histogram of every row.
    pub(super) fn histograms(&self, seed: u64, histograms: &mut Frame) {
        for (at, &(class, sl)) in self.keys.iter().enumerate() {
            let row = &self.rows_of(&self.part(&[at]))[at];
            for (latency, histogram) in [
                ("message", &row.message_latency),
                ("packet", &row.packet_latency),
                ("network", &row.network_latency),
            ] {
                for (low, high, count) in histogram.buckets() {
                    let line = HistogramLine {
                        seed,
                        class: self.experiment.classes[class].name.clone(),
                        sl: sl.0,
                        latency: latency.to_owned(),
                        from_ns: self.nanos(low as f64),
                        to_ns: self.nanos(high as f64),
                        count,
                    };
                    histograms.push(line.data());
                }
            }
        }
    }

    /// Writes the injection of every NIC in every row, over an interval of `ticks`.
    pub(super) fn hosts(&self, seed: u64, fairness: &Fairness<'_>, ticks: u64, hosts: &mut Frame) {
        let plan = &self.experiment.fabric;
        for nic in plan.topology.nics() {
            let capacity = ticks as f64 / plan.nic_link(nic).flit as f64;
            for (row, &(class, sl)) in self.keys.iter().enumerate() {
                let line = HostLine {
                    seed,
                    host: plan.topology.nic_name(nic),
                    class: self.experiment.classes[class].name.clone(),
                    sl: sl.0,
                    injected_load: over(fairness.flits(nic.index(), row) as f64, capacity),
                };
                hosts.push(line.data());
            }
        }
    }

    fn nanos(&self, ticks: f64) -> f64 {
        self.experiment.timebase.nanos(ticks)
    }

    /// Returns the summary of some rows together.
    fn of(&self, belongs: impl Fn(usize, Sl) -> bool, fairness: &Fairness<'_>) -> Summary {
        let chosen: Vec<usize> = (0..self.keys.len())
            .filter(|&row| belongs(self.keys[row].0, self.keys[row].1))
            .collect();
        let part = self.part(&chosen);
        let rows = self.rows_of(&part);
        let mut row = Row::default();
        chosen.iter().for_each(|&at| row.merge(&rows[at]));
        let epochs = self.epochs(&chosen, part.from);
        let jobs = chosen.iter().map(|&at| self.jobs[self.keys[at].0]);
        let jobs: Option<Vec<Job>> = jobs.collect();
        // Several jobs have no common bandwidth.
        let job = match jobs.as_deref() {
            Some([job]) => Some(*job),
            _ => None,
        };
        let completion = part.completion.map(|ticks| ticks.0);
        let bandwidths = job.and_then(|job| job.bandwidths(self.nanos(completion? as f64)));
        let measured = Measured {
            epochs: &epochs,
            sending: self.sending(&row),
            is_warm: self.cut.is_found,
            asked: self.experiment.measure.interval,
            has_ended: jobs.map(|jobs| jobs.iter().all(Job::has_ended)),
        };
        let last_deliveries = self.recording.last_deliveries();
        let last_delivery = chosen.iter().filter_map(|&at| last_deliveries[at]).max();
        Summary::of(&Recorded {
            nanos: &|ticks| self.nanos(ticks),
            capacity_flits: self.capacity * part.ticks as f64,
            offered_flits: row.offered_flits,
            injected_flits: row.injected_flits,
            delivered_flits: row.delivered_flits,
            offered_messages: row.offered_messages,
            delivered_messages: row.delivered_messages,
            delivered_packets: row.delivered_packets,
            reordered_packets: row.reordered,
            reorder_distance: &row.reorder_distance,
            message: &row.message_latency,
            packet: &row.packet_latency,
            network: &row.network_latency,
            interval: measured.latency(),
            application_wait: &row.application_wait,
            jitter: &row.jitter,
            switches: row.hops,
            last_delivery: last_delivery.map(|tick| tick.0),
            completion,
            fairness: match part.from < self.cut.epochs {
                true => fairness.since_start(&chosen),
                false => fairness.of(&chosen),
            },
            verdict: measured.verdict(),
            bandwidths,
            slowest_rank: job.and_then(|job| job.slowest_rank()),
            rank_imbalance: job.and_then(|job| job.rank_imbalance()),
        })
    }

    /// Returns the sums of some rows in every epoch from one on.
    fn epochs(&self, chosen: &[usize], from: usize) -> Vec<Epoch> {
        let epoch = |epoch: usize| {
            let sums = self.recording.sums(epoch);
            let mut all = Sums::default();
            chosen.iter().for_each(|&row| all.add(&sums[row]));
            let [start, end] = [epoch, epoch + 1].map(|epoch| self.recording.start_of(epoch));
            Epoch {
                ticks: (end.0 - start.0) as f64,
                offered: all.offered_flits as f64,
                injected: all.injected_flits as f64,
                delivered: all.delivered_flits as f64,
                messages: all.messages as f64,
                latency: all.latency as f64,
            }
        };
        (from..self.recording.n_epochs()).map(epoch).collect()
    }

    /// Returns the ticks that a NIC needs to send a mean message.
    fn sending(&self, row: &Row) -> f64 {
        let n_nics = f64::from(self.experiment.fabric.topology.n_nics());
        let flits = over(row.offered_flits as f64, row.offered_messages as f64);
        over(flits * n_nics, self.capacity)
    }
}

/// Returns the names of classes by increasing mean message latency, then in the order of the file.
pub(super) fn latency_order(classes: &[ClassSummary]) -> Vec<String> {
    let mut known: Vec<(f64, &str)> = classes
        .iter()
        .filter_map(|class| Some((class.summary.latency_mean_ns?, class.class.as_str())))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Divides two numbers, with 0 for an empty whole.
fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The fairness of injection among NICs.
pub(super) struct Fairness<'a> {
    start: Option<&'a Snapshot>,
    end: &'a Snapshot,
}

impl<'a> Fairness<'a> {
    pub(super) fn new(start: Option<&'a Snapshot>, end: &'a Snapshot) -> Self {
        Fairness { start, end }
    }

    /// Returns the flits that a NIC injected in a row.
    fn flits(&self, nic: usize, row: usize) -> u64 {
        let before = self.start.map_or(0, |start| start.nic_flits[nic][row]);
        self.end.nic_flits[nic][row] - before
    }

    /// Returns the fairness since the start of the run.
    fn since_start(&self, rows: &[usize]) -> Option<f64> {
        Fairness::new(None, self.end).of(rows)
    }

    /// Returns Jain's index over the NICs that ever injected flits of these rows.
    fn of(&self, rows: &[usize]) -> Option<f64> {
        let sum = |flits: &[u64]| rows.iter().map(|&row| flits[row]).sum::<u64>();
        let numbered = self.end.nic_flits.iter().enumerate();
        let injected = numbered.filter_map(|(nic, flits)| {
            let before = self.start.map_or(0, |start| sum(&start.nic_flits[nic]));
            let all = sum(flits);
            (all > 0).then_some((all - before) as f64)
        });
        jain(injected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ordered_by_mean_latency() {
        let class = |name: &str, latency_mean_ns| ClassSummary {
            class: name.to_owned(),
            sl: 0,
            asked_load: None,
            summary: Summary {
                latency_mean_ns,
                ..Summary::default()
            },
        };
        let classes = [
            class("bulk", Some(9e3)),
            class("silent", None),
            class("control", Some(1e3)),
            class("also-bulk", Some(9e3)),
        ];
        assert_eq!(latency_order(&classes), ["control", "bulk", "also-bulk"]);
    }

    #[test]
    fn fairness_counts_senders_only_and_what_came_after_the_warmup() {
        let snapshot = |nic_flits: Vec<Vec<u64>>| Snapshot {
            ports: vec![],
            nic_flits,
        };
        let start = snapshot(vec![vec![5, 0], vec![5, 9], vec![0, 0]]);
        let end = snapshot(vec![vec![15, 0], vec![5, 9], vec![0, 0]]);
        // After the warm-up: 10 and 0 flits; the third NIC never sends.
        assert_eq!(Fairness::new(Some(&start), &end).of(&[0]), Some(0.5));
        // In all: 15 and 5, hence 400 / (2 * 250).
        assert_eq!(Fairness::new(None, &end).of(&[0]), Some(0.8));
    }
}
