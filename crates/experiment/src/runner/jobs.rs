//! Work that ends: jobs, whose ranks wait for each other, and lists of messages.
//!
//! Such work is measured from its first message to its last, independent of the warm-up of other
//! traffic.

use netloom_fabric::{FabricPlan, Simulation};
use netloom_packet::{Cursor, Program, Source, Volume};
use netloom_results::{JobSummary, RankWait};
use netloom_units::{NicId, Tick};

use super::recording::Recording;
use crate::Experiment;

/// The progress of one class of finite work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Job {
    /// Index of the class.
    class: usize,
    /// Total number of messages.
    messages: u64,
    /// Messages received completely.
    delivered: u64,
    /// Creation of the first message; `None` if there are none.
    pub(super) first: Option<Tick>,
    /// Reception of the last message so far.
    last: Option<Tick>,
    /// The ends of its ranks, if it is a program and all have ended.
    ranks: Option<RankEnds>,
    /// Its data, if it is a collective operation.
    volume: Option<Volume>,
}

/// The ends of the ranks of a program, which begins with the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RankEnds {
    /// The rank that ended last; the first of several.
    slowest: u32,
    last: Tick,
    sum: u128,
    n: u64,
}

impl Job {
    /// Returns whether all messages were delivered.
    pub(super) fn has_ended(&self) -> bool {
        self.delivered == self.messages
    }

    /// Returns the algorithm bandwidth and the bus bandwidth of finished operations that took
    /// `nanos`, in bytes per nanosecond.
    pub(super) fn bandwidths(&self, nanos: f64) -> Option<[f64; 2]> {
        let volume = self.volume.filter(|_| self.has_ended() && nanos > 0.0)?;
        let bytes = volume.bytes as f64 * f64::from(volume.operations);
        let [factor, whole] = volume.bus_factor.map(|n| n as f64);
        let algorithm = bytes / nanos;
        Some([algorithm, algorithm * factor / whole])
    }

    /// Returns the rank that ended last.
    pub(super) fn slowest_rank(&self) -> Option<u32> {
        self.ranks.map(|ranks| ranks.slowest)
    }

    /// Returns the time of the slowest rank divided by the mean.
    pub(super) fn rank_imbalance(&self) -> Option<f64> {
        let ranks = self.ranks.filter(|ranks| ranks.sum > 0)?;
        Some(ranks.last.0 as f64 * ranks.n as f64 / ranks.sum as f64)
    }

    /// Returns when the last message was received, if the work has ended.
    pub(super) fn end(&self) -> Option<Tick> {
        self.last.filter(|_| self.has_ended())
    }
}

/// Returns the progress of every class at the end of a run; `None` for open-loop traffic.
pub(super) fn of_classes(
    experiment: &Experiment,
    recording: &Recording,
    simulation: &mut dyn Simulation,
) -> Vec<Option<Job>> {
    let plan = &experiment.fabric;
    let classes = plan.classes.iter().map(|class| class.source.messages());
    let known: Vec<Option<u64>> = classes.collect();
    if known.iter().all(Option::is_none) {
        return vec![None; known.len()];
    }
    let has_programs = plan
        .classes
        .iter()
        .any(|class| class.source.program().is_some());
    let ended = match has_programs {
        true => simulation.ended_ranks(),
        false => vec![],
    };
    let rows = recording.rows_from(0);
    let keys = netloom_fabric::rows(plan);
    let job = |(class, messages): (usize, Option<u64>)| {
        let messages = messages?;
        let own = || {
            let rows = keys.iter().zip(&rows);
            rows.filter(move |((of, _), _)| *of == class)
                .map(|(_, row)| row)
        };
        let program = plan.classes[class].source.program();
        Some(Job {
            class,
            messages,
            ranks: program.and_then(|program| {
                let own = ended.iter().filter(|(of, ..)| usize::from(*of) == class);
                rank_ends(plan, program, own.map(|(_, nic, end)| (*nic, *end)))
            }),
            volume: program.and_then(|program| program.volume()),
            delivered: own().map(|row| row.delivered_messages).sum(),
            first: (messages > 0).then(|| first(plan, &*plan.classes[class].source)),
            last: own().filter_map(|row| row.last_delivery).max(),
        })
    };
    known.into_iter().enumerate().map(job).collect()
}

/// Returns the ends of the ranks of a program, if all have ended.
fn rank_ends(
    plan: &FabricPlan,
    program: &dyn Program,
    ended: impl Iterator<Item = (NicId, Tick)>,
) -> Option<RankEnds> {
    let nics = plan.topology.nics();
    // A rank without steps has nothing to end.
    let n_ranks = nics.filter(|nic| program.op(*nic, 0).is_some()).count() as u64;
    let mut all: Option<RankEnds> = None;
    for (nic, end) in ended {
        let rank = program.rank(nic)?;
        let all = all.get_or_insert(RankEnds {
            slowest: rank,
            last: end,
            sum: 0,
            n: 0,
        });
        if end > all.last || (end == all.last && rank < all.slowest) {
            (all.slowest, all.last) = (rank, end);
        }
        all.sum += u128::from(end.0);
        all.n += 1;
    }
    all.filter(|all| all.n == n_ranks)
}

/// Returns when the first message of a source is created. Programs begin with the run.
fn first(plan: &FabricPlan, source: &dyn Source) -> Tick {
    if source.program().is_some() {
        return Tick::ZERO;
    }
    let nics = plan.topology.nics();
    let firsts = nics.filter_map(|nic| {
        let arrival = source.next(nic, &mut Cursor::default())?;
        Some(Tick(arrival.cycle * plan.nic_link(nic).flit))
    });
    firsts.min().unwrap_or(Tick::ZERO)
}

/// Returns the time from the first message of all these classes to the end of the last; `None` if
/// one of them has not ended.
pub(super) fn completion(jobs: &[Job]) -> Option<Tick> {
    let with_messages = || jobs.iter().filter(|job| job.messages > 0);
    let ends: Option<Vec<Tick>> = with_messages().map(Job::end).collect();
    let end = ends?.into_iter().max()?;
    let first = with_messages().filter_map(|job| job.first).min()?;
    Some(Tick(end.0 - first.0))
}

/// Returns the summaries of all jobs, with the ranks that wait for others.
pub(super) fn summaries(
    experiment: &Experiment,
    jobs: &[Option<Job>],
    simulation: &mut dyn Simulation,
) -> Vec<JobSummary> {
    let plan = &experiment.fabric;
    let nanos = |tick: Tick| experiment.timebase.nanos(tick.0 as f64);
    let all_ended = jobs.iter().flatten().all(Job::has_ended);
    let waiting = match all_ended {
        true => vec![],
        false => simulation.waiting_ranks(),
    };
    let summary = |job: &Job| {
        let program = plan.classes[job.class].source.program();
        let ranks = program.map(|program| {
            let nics = plan.topology.nics();
            nics.filter(|nic| program.rank(*nic).is_some()).count() as u64
        });
        let own = waiting
            .iter()
            .filter(|(class, ..)| usize::from(*class) == job.class);
        let mut waiting: Vec<RankWait> = own
            .filter_map(|(_, nic, from)| {
                Some(RankWait {
                    rank: program?.rank(*nic)?,
                    waits_for: program?.rank(*from)?,
                })
            })
            .collect();
        waiting.sort_unstable();
        JobSummary {
            class: experiment.classes[job.class].name.clone(),
            ranks,
            messages: job.messages,
            delivered_messages: job.delivered,
            finished: job.has_ended(),
            first_send_ns: job.first.map(nanos),
            completion_time_ns: completion(&[*job]).map(nanos),
            waiting,
        }
    };
    jobs.iter().flatten().map(summary).collect()
}
