//! Work that ends: jobs, whose ranks wait for each other, and lists of messages.
//!
//! Such work is measured from its first message to its last, independent of the warm-up of other
//! traffic.

use netloom_fabric::{FabricPlan, Simulation};
use netloom_packet::{Cursor, Source};
use netloom_results::{JobSummary, RankWait};
use netloom_units::Tick;

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
}

impl Job {
    /// Returns whether all messages were delivered.
    pub(super) fn has_ended(&self) -> bool {
        self.delivered == self.messages
    }

    /// Returns when the last message was received, if the work has ended.
    pub(super) fn end(&self) -> Option<Tick> {
        self.last.filter(|_| self.has_ended())
    }
}

/// Returns the progress of every class at the end of a run; `None` for open-loop traffic.
pub(super) fn of_classes(experiment: &Experiment, recording: &Recording) -> Vec<Option<Job>> {
    let plan = &experiment.fabric;
    let classes = plan.classes.iter().map(|class| class.source.messages());
    let known: Vec<Option<u64>> = classes.collect();
    if known.iter().all(Option::is_none) {
        return vec![None; known.len()];
    }
    let rows = recording.rows_from(0);
    let keys = netloom_fabric::rows(plan);
    let job = |(class, messages): (usize, Option<u64>)| {
        let messages = messages?;
        let own = || {
            let rows = keys.iter().zip(&rows);
            rows.filter(move |((of, _), _)| *of == class)
                .map(|(_, row)| row)
        };
        Some(Job {
            class,
            messages,
            delivered: own().map(|row| row.delivered_messages).sum(),
            first: (messages > 0).then(|| first(plan, &*plan.classes[class].source)),
            last: own().filter_map(|row| row.last_delivery).max(),
        })
    };
    known.into_iter().enumerate().map(job).collect()
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
