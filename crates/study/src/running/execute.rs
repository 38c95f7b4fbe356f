//! Runs missing units on all cores, in parallel with other processes on the same folder.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use netloom_experiment::Experiment;
use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_results::store::{RunFile, RunSummary};
use netloom_results::{RESULTS_VERSION, RunId, Status};

use crate::{Division, Point, SeedOutcome, Study, Unit};

use super::cache::{ExperimentCache, NotLoaded};
use super::journal::{Entry, Journal, now};
use super::leader::{Leader, Order};
use super::recorded::{Recorded, RunRecord};
use super::store::Store;
use super::walk::{most_runs, walk};

/// Interval between checks of units that other processes run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Options for running; they do not affect results.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whether this process runs a unit, by its number.
    pub owns: &'a (dyn Fn(usize) -> bool + Sync),
    /// Number of concurrent runs.
    pub threads: NonZeroUsize,
    /// Division of every fabric.
    pub division: Division,
    /// Leader of the processes that share each run; then one run at a time.
    pub leader: Option<&'a Leader<'a>>,
    /// The journal of this process, which others can read while it runs.
    pub journal: Option<&'a Journal>,
}

/// All units, on all cores, without a journal.
impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            owns: &|_| true,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            division: Division::default(),
            leader: None,
            journal: None,
        }
    }
}

/// Progress of the units of this process.
#[derive(Clone, Debug, Default)]
pub struct StudyProgress {
    /// Number of stored runs, including those of other processes.
    pub done: u64,
    /// Maximum number of runs in total.
    pub of: u64,
    /// Number of stored runs that already existed.
    pub found: u64,
    /// Packet-hops simulated by this process in completed runs.
    pub packet_hops: u64,
    /// Time since the start.
    pub elapsed: Duration,
    pub worst: Option<Worst>,
}

/// The run with the worst verdict; among equal verdicts, the one with the largest p99.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// Label of its point.
    pub point: String,
    pub status: Status,
    /// 99 % quantile of message latency.
    pub latency_p99_ns: Option<f64>,
}

impl StudyProgress {
    /// Returns the number of runs that this process completed per second.
    pub fn rate(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 {
            (self.done - self.found) as f64 / seconds
        } else {
            0.0
        }
    }

    /// Estimates the remaining time from the current rate.
    pub fn remaining(&self) -> Option<Duration> {
        let rate = self.rate();
        (rate > 0.0).then(|| Duration::from_secs_f64((self.of - self.done) as f64 / rate))
    }

    /// Counts a stored run: the label of its point, its status and its 99 % quantile of latency.
    pub fn saw(
        &mut self,
        point: impl FnOnce() -> String,
        status: Status,
        latency_p99_ns: Option<f64>,
    ) {
        self.done += 1;
        let rank = |status: Status, p99: Option<f64>| (status, p99.unwrap_or(0.0).to_bits());
        let own = rank(status, latency_p99_ns);
        let worst = self.worst.as_ref();
        if worst.is_none_or(|worst| own > rank(worst.status, worst.latency_p99_ns)) {
            self.worst = Some(Worst {
                point: point(),
                status,
                latency_p99_ns,
            });
        }
    }
}

#[derive(Clone, Debug)]
pub struct Finished {
    pub progress: StudyProgress,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Points that could not be run, with their error messages.
    pub failed: Vec<(String, String)>,
}

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The system reports an error.
    #[error("cannot write {path}: {error}")]
    System { path: String, error: io::Error },
}

/// Why a unit ended early.
enum End {
    Stopped,
    Mistakes,
    System(io::Error),
}

impl Study {
    /// Runs the incomplete units of this process, and waits for units that other processes run.
    ///
    /// Only runs that the store lacks are run, so the same call resumes an interrupted study.
    /// `observe` is called frequently, from several threads, with the progress, and returns whether
    /// to continue. If it returns to stop, incomplete runs are discarded.
    ///
    /// # Errors
    /// If results cannot be stored.
    pub fn run(
        &self,
        store: &dyn Store,
        options: &Options<'_>,
        observe: &(dyn Fn(&StudyProgress) -> Control + Sync),
    ) -> Result<Finished, Failure> {
        let refused = |error| Failure::System {
            path: store.place(),
            error,
        };
        let recorded = Recorded::read(store).map_err(refused)?;
        let all = self.units();
        let work = Work {
            study: self,
            store,
            options,
            observe,
            units: &all,
            began: Instant::now(),
            is_stopped: AtomicBool::new(false),
            recorded,
            cache: ExperimentCache::default(),
            state: Mutex::default(),
        };
        for number in (0..all.len()).filter(|&number| (options.owns)(number)) {
            work.opens(number);
        }
        work.on_all_threads();
        let interrupted = work.is_stopped.load(Ordering::SeqCst);
        work.note(Entry::End {
            time: now(),
            interrupted,
        });
        let state = work.state.into_inner().expect("the lock is not poisoned");
        match state.error {
            Some(error) => Err(refused(error)),
            None => Ok(Finished {
                progress: state.progress,
                interrupted,
                failed: state.failed,
            }),
        }
    }
}

struct Work<'a> {
    study: &'a Study,
    store: &'a dyn Store,
    options: &'a Options<'a>,
    observe: &'a (dyn Fn(&StudyProgress) -> Control + Sync),
    units: &'a [Unit],
    began: Instant,
    is_stopped: AtomicBool,
    /// The runs that existed at the start.
    recorded: Recorded,
    cache: ExperimentCache,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Units that this process has not completed; those that another process runs are moved to the
    /// end.
    open: VecDeque<Open>,
    progress: StudyProgress,
    failed: Vec<(String, String)>,
    error: Option<io::Error>,
}

/// A unit with missing runs.
#[derive(Clone, Copy)]
struct Open {
    number: usize,
    /// Number of runs that existed at the start and are already counted.
    found: u64,
}

impl Work<'_> {
    fn on_all_threads(&self) {
        let at_once = match self.options.leader {
            Some(_) => 1,
            None => self.options.threads.get(),
        };
        std::thread::scope(|scope| {
            for _ in 1..at_once {
                // If no more threads can be started, the existing ones do all the work.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || self.units());
            }
            self.units();
        });
    }

    /// Adds a line to the journal, if there is one.
    fn note(&self, entry: Entry) {
        if let Some(journal) = self.options.journal {
            journal.add(&entry);
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().expect("the lock is not poisoned"))
    }

    /// Reports the progress, and returns whether to continue.
    fn goes_on(&self) -> bool {
        let progress = self.with(|state| {
            state.progress.elapsed = self.began.elapsed();
            state.progress.clone()
        });
        if (self.observe)(&progress) == Control::Stop {
            self.is_stopped.store(true, Ordering::SeqCst);
        }
        !self.is_stopped.load(Ordering::SeqCst)
    }

    fn control(&self) -> Control {
        match self.goes_on() {
            true => Control::Continue,
            false => Control::Stop,
        }
    }

    /// Counts the existing runs of a unit, and opens it if runs are missing. All units are counted
    /// before the first run, so that the progress of a resumed study is right from the start.
    fn opens(&self, number: usize) {
        let unit = &self.units[number];
        let most = most_runs(self.study, unit);
        let mut found = 0;
        let end = walk(self.study, unit, &mut |point, seed| {
            let record = self.recorded.get(&self.study.settings(point), seed);
            let record = record.ok_or(())?;
            found += 1;
            Ok(self.found(point, record))
        });
        self.with(|state| match end {
            Ok(()) => state.progress.of += found,
            Err(()) => {
                state.progress.of += most;
                state.open.push_back(Open { number, found });
            }
        });
    }

    /// Runs units until none are open.
    fn units(&self) {
        // Number of consecutive units that other processes run.
        let mut held = 0;
        while self.goes_on() {
            let Some((open, left)) = self.with(|state| {
                let next = state.open.pop_front();
                next.map(|open| (open, state.open.len()))
            }) else {
                return;
            };
            match self.unit(open) {
                Ok(true) => held = 0,
                Ok(false) => {
                    self.with(|state| state.open.push_back(open));
                    held += 1;
                    if held > left {
                        std::thread::sleep(POLL_INTERVAL);
                        held = 0;
                    }
                }
                Err(error) => {
                    self.with(|state| state.error = Some(error));
                    self.is_stopped.store(true, Ordering::SeqCst);
                }
            }
        }
    }

    /// Runs a unit. Returns false if another process runs it.
    fn unit(&self, open: Open) -> io::Result<bool> {
        let Open { number, found } = open;
        let unit = &self.units[number];
        let most = most_runs(self.study, unit);
        self.store.exclusively(number, &mut || {
            let mut done = 0;
            let end = walk(self.study, unit, &mut |point, seed| {
                let outcome = self.run(number, point, seed, done < found)?;
                done += 1;
                Ok(outcome)
            });
            match end {
                Ok(()) => {
                    self.with(|state| state.progress.of -= most - done);
                    self.note(Entry::Unit {
                        time: now(),
                        unit: number,
                    });
                    Ok(true)
                }
                Err(End::Stopped | End::Mistakes) => Ok(false),
                Err(End::System(error)) => Err(error),
            }
        })
    }

    /// Returns the outcome of a run, which is run if it does not exist.
    fn run(
        &self,
        unit: usize,
        point: &Point,
        seed: u64,
        is_counted: bool,
    ) -> Result<SeedOutcome, End> {
        let settings = self.study.settings(point);
        if let Some(record) = self.recorded.get(&settings, seed) {
            return Ok(match is_counted {
                true => record.outcome,
                false => self.found(point, record),
            });
        }
        let division = &self.options.division;
        let loaded = self
            .cache
            .load(self.study, point, division, &mut || self.control());
        let loaded = loaded.map_err(|why| match why {
            NotLoaded::Mistakes(messages) => self.failed(self.study.label(point), messages),
            NotLoaded::Stopped => End::Stopped,
        })?;
        let alone = loaded.alone(seed);
        let experiment = alone.map_err(|why| {
            let label = format!("{}, seed {seed}", self.study.label(point));
            self.failed(label, why.to_string())
        })?;
        let run_id = runner::run_id(&experiment);
        // Another process may have completed it in the meantime.
        if let Ok(summary) = self.store.summary(&run_id) {
            return Ok(self.found(point, &RunRecord::of(&summary)));
        }
        if let Some(leader) = self.options.leader {
            let order = Order {
                run: run_id.clone(),
                point: point.clone(),
                seed,
            };
            if !leader.orders(&order) {
                let why = "a rank cannot load it, or its file differs\n";
                return Err(self.failed(self.study.label(point), why.to_owned()));
            }
        }
        self.note(Entry::Started {
            time: now(),
            run: run_id.clone(),
            point: self.study.label(point),
            seed,
            unit,
            host: self.options.journal.map_or(String::new(), Journal::host),
        });
        self.simulate(&experiment, point, run_id)
    }

    /// Simulates a run and stores it.
    fn simulate(
        &self,
        experiment: &Experiment,
        point: &Point,
        run_id: RunId,
    ) -> Result<SeedOutcome, End> {
        let began = Instant::now();
        let options = RunOptions {
            threads: self.options.division.threads,
            ..RunOptions::default()
        };
        let ranks = self.options.leader.map(Leader::ranks);
        let result = runner::run_over(experiment, &options, ranks, &mut |_| self.control());
        if result.document.run.status == Status::Interrupted {
            // The request to stop may have come from another process of the run.
            self.is_stopped.store(true, Ordering::SeqCst);
            return Err(End::Stopped);
        }
        let tables = result.all_tables().into_iter();
        let tables = tables.map(|(name, frame)| (name.to_owned(), frame));
        let summary = RunSummary {
            results_version: RESULTS_VERSION,
            run_id,
            settings: self.study.settings(point),
            run: result.document.run,
        };
        let file = RunFile {
            summary: summary.clone(),
            tables: tables.collect(),
        };
        self.store.put(file).map_err(End::System)?;
        let record = RunRecord::of(&summary);
        let run = &summary.run;
        self.note(Entry::Finished {
            time: now(),
            run: record.run_id.clone(),
            point: self.study.label(point),
            seed: run.seed,
            status: run.status,
            seconds: began.elapsed().as_secs_f64(),
            packet_hops: run.counters.packet_hops,
            delivered_load: run.total.delivered_load,
            latency_mean_ns: run.total.latency_mean_ns,
            latency_p99_ns: run.total.latency_p99_ns,
        });
        self.with(|state| {
            state.progress.packet_hops += run.counters.packet_hops;
            let (status, p99) = (record.status, record.latency_p99_ns);
            state.progress.saw(|| self.study.label(point), status, p99);
        });
        Ok(record.outcome)
    }

    /// Records a point that cannot be run; other units continue.
    fn failed(&self, label: String, message: String) -> End {
        self.note(Entry::Failed {
            time: now(),
            point: label.clone(),
            message: message.clone(),
        });
        self.with(|state| {
            // Every seed of a point with errors fails in the same way.
            if !state.failed.iter().any(|(point, _)| *point == label) {
                state.failed.push((label, message));
            }
        });
        End::Mistakes
    }

    /// Counts a run that already existed.
    fn found(&self, point: &Point, record: &RunRecord) -> SeedOutcome {
        self.with(|state| {
            let (status, p99) = (record.status, record.latency_p99_ns);
            state.progress.saw(|| self.study.label(point), status, p99);
            state.progress.found += 1;
        });
        record.outcome
    }
}
