//! Runs an experiment, epoch by epoch, and returns its results.
//!
//! ```text
//!  Experiment ─► Simulation ─► epochs (recording.rs) ─► warm-up (warmup.rs) ─► summaries (summary.rs)
//!                    │                                                           links (links.rs)
//!                    └─ after each epoch: progress, laws, deadlock               waits (waits.rs), jobs (jobs.rs)
//!                       periodically: checkpoint (checkpoint.rs)                 seeds (seeds.rs)
//!                                                                           files (stored.rs)
//! ```
//!
//! All decisions are made at the ends of epochs, which are fixed in simulated time. Threads and
//! partitions do not affect results. Deadlock, saturation and no convergence are results, with
//! evidence.

mod checkpoint;
mod connections;
mod gathered;
mod jobs;
mod links;
mod protocol;
mod recording;
mod seeds;
mod stored;
mod summary;
mod tables;
mod waits;
mod warmup;

use std::time::{Duration, Instant};

pub use netloom_fabric::SharedRanks;
use netloom_fabric::{Counters, FabricPlan, Options, Simulation, Waiting};
pub use netloom_results::Control;
use netloom_results::{
    CountersSummary, Deadlock, Document, Frame, RESULTS_VERSION, Run, RunId, Status, Wait, Window,
};
use netloom_topology::Structure;
use netloom_units::Tick;

use crate::{Experiment, NotBuilt, WarmupRule, huge_pages};
use gathered::{Gathered, NOT_YET, Snapshot};
use tables::Tables;

pub use checkpoint::{Checkpoints, NotContinued};
pub use stored::{MOST_CSV_LINES, layout};

/// How to run. Does not affect results.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Threads that share the partitions.
    pub threads: usize,
    /// Use the reference implementation (slow) of every fast path of the kernel.
    pub reference: bool,
    /// Produce the tables of links and of the time series; large fabrics have millions of links.
    pub tables: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            threads: 1,
            reference: false,
            tables: true,
        }
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Index of the run, from zero.
    pub run: u32,
    /// Number of runs.
    pub of: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time so far, in nanoseconds.
    pub now_ns: f64,
    /// Simulated time of the whole run, in nanoseconds.
    pub length_ns: f64,
    /// Events processed so far.
    pub events: u64,
    /// Packet-hops (packets crossing a switch) so far.
    pub packet_hops: u64,
    /// Wall time since the start of the first epoch.
    pub elapsed: Duration,
}

impl Progress {
    /// Returns the finished share of the run, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.length_ns > 0.0 {
            self.now_ns / self.length_ns
        } else {
            1.0
        }
    }

    /// Returns packet-hops per second of wall time.
    pub fn rate(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 {
            self.packet_hops as f64 / seconds
        } else {
            0.0
        }
    }

    /// Returns the estimated remaining wall time of this run.
    pub fn remaining(&self) -> Option<Duration> {
        let share = self.share();
        let is_known = share > 0.0 && self.elapsed > Duration::ZERO;
        is_known.then(|| self.elapsed.mul_f64((1.0 - share).max(0.0) / share))
    }
}

/// The results of all runs of an experiment.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Summaries and verdicts.
    pub document: Document,
    /// Tables by name, except those that follow from the document: series, links, histograms and
    /// hosts, and those of connections, if any. Empty if tables were not requested.
    pub tables: Vec<(&'static str, Frame)>,
    /// The seed that could not be built, which ended the runs, if any.
    pub not_built: Option<NotBuilt>,
}

impl RunResult {
    /// Returns every table with its name.
    pub fn all_tables(&self) -> Vec<(&'static str, Frame)> {
        let mut all = vec![("results", self.document.results())];
        all.extend(self.tables.iter().cloned());
        all.extend(self.document.waits().map(|waits| ("waits", waits)));
        all
    }

    /// Returns the table with this name.
    pub fn table(&self, name: &str) -> Option<&Frame> {
        let found = self.tables.iter().find(|(own, _)| *own == name);
        found.map(|(_, frame)| frame)
    }
}

/// Runs an experiment with all its seeds.
///
/// The runner calls `control` once before the first epoch of each run, when the fabric is built,
/// after every epoch, and periodically within a long one. A stop or a deadlock ends the run and
/// skips the remaining seeds. So does a seed that cannot be built, which keeps the results of
/// earlier seeds.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions,
    control: &mut dyn FnMut(&Progress) -> Control,
) -> RunResult {
    run_over(experiment, options, None, control)
}

/// Runs an experiment as one of several processes with the same experiment and options.
///
/// All processes return the outcome of the run and its classes. Only the first one returns tables,
/// links and hosts. A stop in one process stops all of them.
///
/// # Panics
/// Panics if the experiment has fewer partitions than there are ranks.
pub fn run_over(
    experiment: &Experiment,
    options: &RunOptions,
    ranks: Option<&SharedRanks>,
    control: &mut dyn FnMut(&Progress) -> Control,
) -> RunResult {
    let done = run_with_checkpoints(experiment, options, ranks, None, control);
    done.expect("a run that begins anew")
}

/// Runs an experiment with checkpoints. Resumes from the last one, if any, and saves further ones
/// when they are due and when the run is stopped.
///
/// # Errors
/// Fails if there is a checkpoint and the run cannot resume from it.
///
/// # Panics
/// Panics if the experiment has fewer partitions than there are ranks.
pub fn run_with_checkpoints(
    experiment: &Experiment,
    options: &RunOptions,
    ranks: Option<&SharedRanks>,
    mut checkpoints: Option<&mut dyn Checkpoints>,
    control: &mut dyn FnMut(&Progress) -> Control,
) -> Result<RunResult, NotContinued> {
    let of = experiment.measure.repeat.max(1);
    let last = match &mut checkpoints {
        Some(checkpoints) => checkpoints.last()?,
        None => None,
    };
    let resumed = last.as_deref().map(|bytes| {
        let shared = checkpoint::Shared::read(bytes)?;
        shared.earlier(of).map(|earlier| (shared, earlier))
    });
    let (mut going_on, (mut runs, mut tables)) = match (resumed, &checkpoints) {
        (None, _) => (None, (vec![], Tables::new())),
        (Some(Ok((shared, earlier))), _) => (Some(shared), earlier),
        (Some(Err(why)), Some(checkpoints)) => {
            return Err(checkpoint::invalid(*checkpoints, None, why));
        }
        (Some(Err(_)), None) => unreachable!("a last checkpoint without checkpoints"),
    };
    let mut not_built = None;
    for number in going_on.as_ref().map_or(0, |shared| shared.number)..of {
        let seed = experiment.measure.seed + u64::from(number);
        let reseeded = match (number > 0).then(|| experiment.with_seed(seed)).transpose() {
            Ok(reseeded) => reseeded,
            Err(why) => {
                not_built = Some(why);
                break;
            }
        };
        let mut one = OneRun {
            experiment: reseeded.as_ref().unwrap_or(experiment),
            options,
            ranks,
            number,
            of,
            seed,
            keeping: checkpoints.as_deref_mut().map(|checkpoints| Keeping {
                checkpoints,
                earlier: checkpoint::earlier(&runs, &tables),
            }),
        };
        let done = one.run(going_on.take(), control, &mut tables)?;
        let ends_here = done.status >= Status::Interrupted;
        runs.push(done);
        if ends_here {
            break;
        }
    }
    let over_seeds = seeds::over_seeds(&runs);
    let mut runs = runs.into_iter();
    let document = Document {
        netloom: env!("CARGO_PKG_VERSION").to_owned(),
        results_version: RESULTS_VERSION,
        name: experiment.name.clone(),
        about: experiment.about.clone(),
        run_id: run_id(experiment),
        run: runs.next().expect("at least one run"),
        over_seeds,
        repeats: runs.collect(),
        timing: None,
    };
    Ok(RunResult {
        document,
        not_built,
        tables: match options.tables {
            true => tables.finish(experiment),
            false => vec![],
        },
    })
}

/// Returns the id of an experiment's results: a hash of its resolved text and its seed, and of
/// cables and messages that are listed in files, since the text only names these files.
pub fn run_id(experiment: &Experiment) -> RunId {
    let mut text = experiment.resolved.to_toml(false);
    let topology = &experiment.fabric.topology;
    if *topology.structure() == Structure::Plain {
        text.push_str(&netloom_topology::graph::write(topology));
    }
    for input in &experiment.inputs {
        text.push_str(input);
    }
    RunId::new(&text, experiment.measure.seed)
}

/// How the last epoch ended.
enum End {
    Finished,
    Stopped,
    Deadlock(Deadlock),
}

/// The simulated time between two calls of `control`, since an epoch may take minutes. Slicing a
/// run does not affect its results.
struct Pace {
    began: Instant,
    asked: Instant,
    /// Ticks, at most an epoch.
    slice: u64,
    epoch: u64,
}

impl Pace {
    /// Target wall time of a slice.
    const MOMENT: Duration = Duration::from_millis(200);

    fn new(epoch: u64) -> Pace {
        let now = Instant::now();
        Pace {
            began: now,
            asked: now,
            slice: (epoch >> 10).max(1),
            epoch,
        }
    }

    /// Adjusts the length of the next slice, and returns whether to call `control`.
    fn is_time_to_ask(&mut self) -> bool {
        let took = self.asked.elapsed();
        if took < Self::MOMENT / 4 {
            self.slice = (self.slice * 2).min(self.epoch);
            return false;
        }
        if took > Self::MOMENT {
            self.slice = (self.slice / 2).max(1);
        }
        self.asked = Instant::now();
        true
    }
}

/// Returns the common decision of all processes: a stop in one stops all.
fn agreed(simulation: &mut dyn Simulation, decision: Control) -> Control {
    let stays = u64::from(decision == Control::Continue);
    match simulation.agree(stays) {
        0 => Control::Stop,
        _ => Control::Continue,
    }
}

struct OneRun<'a> {
    experiment: &'a Experiment,
    options: &'a RunOptions,
    ranks: Option<&'a SharedRanks>,
    number: u32,
    of: u32,
    seed: u64,
    keeping: Option<Keeping<'a>>,
}

/// The checkpoint store, and the part that all checkpoints of a run share.
struct Keeping<'a> {
    checkpoints: &'a mut dyn Checkpoints,
    /// Finished seeds.
    earlier: String,
}

impl OneRun<'_> {
    /// Builds the fabric of a plan, in huge pages if it is large.
    fn build(&self, plan: &FabricPlan) -> Box<dyn Simulation> {
        let n_ranks = self.ranks.map_or(1, |ranks| ranks.lock().size());
        huge_pages::switch_on_for(plan.topology.n_nics(), n_ranks);
        let options = Options {
            threads: self.options.threads,
            reference: self.options.reference,
            watch: None,
        };
        netloom_fabric::build_over(plan, options, self.ranks)
    }

    fn run(
        &mut self,
        going_on: Option<checkpoint::Shared>,
        control: &mut dyn FnMut(&Progress) -> Control,
        tables: &mut Tables,
    ) -> Result<Run, NotContinued> {
        let experiment = self.experiment;
        let monitored = experiment
            .measure
            .waits
            .then(|| waits::WaitMonitors::put(&experiment.fabric));
        let plan = monitored.as_ref().map(|(plan, _)| plan);
        let mut simulation = self.build(plan.unwrap_or(&experiment.fabric));
        let simulation = simulation.as_mut();
        let mut gathered = Gathered::new(experiment);
        let monitors = monitored.as_ref().map(|(_, monitors)| monitors);
        if let (Some(shared), Some(keeping)) = (&going_on, &mut self.keeping) {
            let checkpoints = &mut *keeping.checkpoints;
            checkpoint::go_on(
                checkpoints,
                shared,
                simulation,
                &mut gathered,
                monitors,
                experiment,
            )?;
        }
        drop(going_on);
        let end = self.epochs(simulation, &mut gathered, monitors, control);
        let Gathered {
            recording,
            given,
            at_warmup,
            punctuality,
            stashes,
            ..
        } = gathered;

        if let (Some((_, monitors)), Some(ranks)) = (&monitored, self.ranks) {
            let own_rank = ranks.lock().rank();
            monitors.join(simulation, own_rank);
        }
        let counters = simulation.counters();
        let protocol = stashes.summary(experiment, simulation);
        let at_end = Snapshot::take(simulation);
        let cut = warmup::cut(&recording, given);
        let ended = jobs::of_classes(experiment, &recording, simulation);
        let jobs = jobs::summaries(experiment, &ended, simulation);
        let summaries = summary::Summaries::new(experiment, &recording, cut, ended);
        let window = if given.is_some() && cut.is_found {
            Window::AfterWarmup
        } else {
            Window::WholeRun
        };
        let start = at_warmup.filter(|_| window == Window::AfterWarmup);
        let from = if start.is_some() { cut.epochs } else { 0 };
        let ticks = recording.now().0 - recording.start_of(from).0;
        let usage = links::Usage::new(&experiment.fabric, start.as_ref(), &at_end, ticks);
        let connections = punctuality.summary(experiment, self.seed, window);
        let fairness = summary::Fairness::new(start.as_ref(), &at_end);
        if self.options.tables && simulation.leads() {
            summaries.series(self.seed, &mut tables.series);
            summaries.histograms(self.seed, &mut tables.histograms);
            summaries.hosts(self.seed, &fairness, ticks, &mut tables.hosts);
            usage.write(self.seed, &mut tables.links);
            punctuality.write(experiment, self.seed, connections.as_ref(), tables);
            let end_of = |epoch| self.nanos(recording.start_of(epoch));
            stashes.write(experiment, self.seed, end_of, &mut tables.stashes);
        }
        let classes = summaries.classes(&fairness);
        let total = summaries.total(&fairness, &classes);
        let rows = summaries.rows(&fairness, &classes);
        let (status, deadlock) = match end {
            End::Deadlock(evidence) => (Status::Deadlock, Some(evidence)),
            End::Stopped => (Status::Interrupted, None),
            End::Finished => (total.verdict.into(), None),
        };
        Ok(Run {
            seed: self.seed,
            status,
            digest: counters.digest.to_string(),
            counters: self.counted(simulation, &counters),
            warmup_ns: self.nanos(recording.start_of(cut.epochs)),
            warmup_found: cut.is_found,
            length_ns: self.nanos(recording.now()),
            total,
            latency_order: summary::latency_order(&classes),
            classes,
            sls: summaries.sls(&fairness, &rows),
            rows,
            fairness_window: window,
            links: usage.summary(window),
            jobs,
            connections,
            waits: monitored.map(|(_, monitors)| monitors.summary(experiment)),
            protocol,
            deadlock,
        })
    }

    fn epochs(
        &mut self,
        simulation: &mut dyn Simulation,
        gathered: &mut Gathered,
        monitors: Option<&waits::WaitMonitors>,
        control: &mut dyn FnMut(&Progress) -> Control,
    ) -> End {
        let experiment = self.experiment;
        let measure = &experiment.measure;
        let mut pace = Pace::new(measure.epoch);
        loop {
            // A resumed run may be within an epoch.
            if gathered.at == gathered.recording.now() {
                let progress = self.progress(simulation, gathered.at, &pace);
                let decision = agreed(simulation, control(&progress));
                self.keep_if_due(simulation, gathered, monitors, decision);
                if let Some(end) = self.look(simulation, gathered) {
                    return end;
                }
                if decision == Control::Stop {
                    return End::Stopped;
                }
            }
            let end = gathered.recording.end_of_next();
            while gathered.at < end {
                gathered.at = Tick((gathered.at.0 + pace.slice).min(end.0));
                simulation.run_until(gathered.at);
                // Clocks of processes differ.
                let is_time = pace.is_time_to_ask();
                let is_time = simulation.agree(u64::from(!is_time)) == 0;
                pace.slice = simulation.agree(pace.slice);
                if is_time && gathered.at < end {
                    let progress = self.progress(simulation, gathered.at, &pace);
                    let decision = agreed(simulation, control(&progress));
                    self.keep_if_due(simulation, gathered, monitors, decision);
                    if decision == Control::Stop {
                        gathered.recording.end_at(gathered.at);
                        break;
                    }
                }
            }
            gathered.add_epoch(simulation);
            if cfg!(debug_assertions) {
                simulation.check_laws();
            }
            if gathered.at < end {
                return End::Stopped;
            }
        }
    }

    /// Saves a checkpoint if one is due, or if the run stops.
    fn keep_if_due(
        &mut self,
        simulation: &mut dyn Simulation,
        gathered: &Gathered,
        monitors: Option<&waits::WaitMonitors>,
        decision: Control,
    ) {
        let Some(keeping) = &mut self.keeping else {
            return;
        };
        let is_due = decision == Control::Stop || keeping.checkpoints.is_due();
        // Clocks of processes differ.
        if simulation.agree(u64::from(!is_due)) == 0 {
            checkpoint::keep(
                keeping.checkpoints,
                simulation,
                gathered,
                monitors,
                self.number,
                &keeping.earlier,
            );
        }
    }

    /// Checks after an epoch whether the warm-up, or the run, is over.
    fn look(&self, simulation: &mut dyn Simulation, gathered: &mut Gathered) -> Option<End> {
        let measure = &self.experiment.measure;
        let recording = &mut gathered.recording;
        if let (WarmupRule::Packets(n), Some(NOT_YET)) = (measure.warmup, gathered.given)
            && simulation.counters().delivered >= n
        {
            recording.warm_up_ends();
            gathered.given = Some(recording.n_epochs());
        }
        if gathered.given == Some(recording.n_epochs()) {
            gathered.at_warmup = Some(Snapshot::take(simulation));
            gathered.punctuality.begin();
        }
        let now = recording.now();
        let given = gathered.given;
        let is_warm = given.is_none_or(|epochs| epochs <= recording.n_epochs());
        let is_last = now >= measure.length || (is_warm && gathered.punctuality.is_enough());
        if now.0 >= gathered.next_look || is_last {
            gathered.next_look = now.0 + measure.wait_limit;
            if let Some(cycle) = simulation.deadlock(now, measure.wait_limit) {
                return Some(self.deadlock(simulation, now, cycle));
            }
        }
        if simulation.next_event().is_none() && simulation.in_flight() > 0 {
            let cycle = simulation.deadlock(now, 0).unwrap_or_default();
            return Some(self.deadlock(simulation, now, cycle));
        }
        is_last.then_some(End::Finished)
    }

    fn progress(&self, simulation: &mut dyn Simulation, now: Tick, pace: &Pace) -> Progress {
        Progress {
            run: self.number,
            of: self.of,
            seed: self.seed,
            now_ns: self.nanos(now),
            length_ns: self.nanos(self.experiment.measure.length),
            events: simulation.events(),
            packet_hops: simulation.counters().packet_hops,
            elapsed: pace.began.elapsed(),
        }
    }

    fn deadlock(&self, simulation: &mut dyn Simulation, now: Tick, cycle: Vec<Waiting>) -> End {
        let topology = &self.experiment.fabric.topology;
        let wait = |waiting: Waiting| Wait {
            switch: topology.switch_name(waiting.switch),
            port: waiting.port.0,
            side: if waiting.is_output { "output" } else { "input" }.to_owned(),
            vl: waiting.vl.0,
        };
        End::Deadlock(Deadlock {
            time_ns: self.nanos(now),
            in_flight_packets: simulation.in_flight(),
            cycle: cycle.into_iter().map(wait).collect(),
        })
    }

    fn counted(&self, simulation: &mut dyn Simulation, counters: &Counters) -> CountersSummary {
        CountersSummary {
            packet_hops: counters.packet_hops,
            flit_hops: counters.flit_hops,
            injected_packets: counters.injected,
            delivered_packets: counters.delivered,
            in_flight_packets: simulation.in_flight(),
            waiting_messages: simulation.waiting_messages(),
            choices: counters.choices,
        }
    }

    fn nanos(&self, tick: Tick) -> f64 {
        self.experiment.timebase.nanos(tick.0 as f64)
    }
}

#[cfg(test)]
mod tests;
