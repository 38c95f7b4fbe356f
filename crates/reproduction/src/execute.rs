//! Runs spread over threads: which thread takes which run changes nothing but the time.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use netloom_experiment::render;
use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_experiment::spec::{Request, load};
use netloom_results::Status;

use crate::{Outcome, Results, Run};

/// How far all runs have come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Runs that are done.
    pub done: usize,
    /// Runs in all.
    pub of: usize,
    /// Since the first began.
    pub elapsed: Duration,
}

/// Why there are no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// An experiment has mistakes: the messages about it.
    Mistakes(String),
    /// A run ended in a deadlock: which, and when.
    Deadlock(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mistakes(messages) => write!(f, "{messages}"),
            Failure::Deadlock(run) => write!(f, "deadlock in {run}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Runs all of them on so many threads. The outcomes stand in the order of the runs.
///
/// `progress` is told after every run, and says whether to go on; what was not run is left out.
///
/// # Errors
/// If an experiment has mistakes or a run ends in a deadlock; of several the first in the order of the runs
/// that were begun.
pub fn execute(
    runs: Vec<Run>,
    threads: NonZeroUsize,
    progress: &(dyn Fn(&Progress) -> Control + Sync),
) -> Result<Results, Failure> {
    let began = Instant::now();
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = Mutex::new((0, vec![None; runs.len()]));
    let work = || {
        while !is_stopped.load(Ordering::SeqCst) {
            let at = next.fetch_add(1, Ordering::SeqCst);
            let Some(run) = runs.get(at) else { return };
            let result = one(run, &is_stopped);
            let mut done = done.lock().expect("no thread panics with the lock");
            if result.is_err() {
                is_stopped.store(true, Ordering::SeqCst);
            }
            done.0 += 1;
            done.1[at] = Some(result);
            let state = Progress {
                done: done.0,
                of: runs.len(),
                elapsed: began.elapsed(),
            };
            if progress(&state) == Control::Stop {
                is_stopped.store(true, Ordering::SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(work);
        }
        work();
    });
    let (_, results) = done.into_inner().expect("no thread panics with the lock");
    let mut outcomes = vec![];
    for (run, result) in runs.into_iter().zip(results) {
        match result {
            Some(Ok((result, links))) if result.status < Status::Interrupted => {
                outcomes.push(Outcome { run, result, links });
            }
            Some(Err(failure)) => return Err(failure),
            Some(Ok(_)) | None => {}
        }
    }
    Ok(Results { outcomes })
}

/// One run on this thread, and its links where they matter.
fn one(run: &Run, is_stopped: &AtomicBool) -> Result<(netloom_results::Run, String), Failure> {
    let loaded = load(&Request {
        sets: &run.sets,
        seed: Some(run.seed),
        ..Request::new(run.file, &run.text)
    });
    let Some(experiment) = loaded.experiment else {
        let messages = render(&loaded.document, &loaded.notes, false);
        return Err(Failure::Mistakes(messages));
    };
    let options = RunOptions {
        tables: experiment.connections.is_some(),
        ..RunOptions::default()
    };
    let result = runner::run(&experiment, &options, &mut |_| {
        if is_stopped.load(Ordering::SeqCst) {
            Control::Stop
        } else {
            Control::Continue
        }
    });
    let links = result.table("links").map(|links| links.to_csv());
    let links = links.unwrap_or_default();
    let result = result.document.run;
    match &result.deadlock {
        Some(deadlock) => Err(Failure::Deadlock(format!(
            "{} at load {}, seed {}, after {} ns",
            run.series, run.load, run.seed, deadlock.time_ns
        ))),
        None => Ok((result, links)),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const TEXT: &str = "netloom = 1\n[topology]\nkind = \"single-switch\"\nports = 4\n\
        [[traffic]]\nload = 0.5\n[measure]\nwarmup = \"2 us\"\nlength = \"10 us\"\n";

    fn runs(text: &'static str) -> Vec<Run> {
        let run = |seed| Run {
            series: "test",
            load: 0.5,
            seed,
            file: "test.toml",
            text: Cow::Borrowed(text),
            sets: vec![],
        };
        (1..=5).map(run).collect()
    }

    fn go_on(_: &Progress) -> Control {
        Control::Continue
    }

    #[test]
    fn threads_change_nothing() {
        let on = |threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let results = execute(runs(TEXT), threads, &go_on).unwrap();
            let digest = |o: &Outcome| (o.run.seed, o.result.seed, o.result.digest.clone());
            results.outcomes.iter().map(digest).collect::<Vec<_>>()
        };
        let one = on(1);
        assert_eq!(one, on(3));
        let seeds: Vec<_> = one.iter().map(|(asked, ran, _)| (*asked, *ran)).collect();
        assert_eq!(seeds, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
        assert_ne!(one[0].2, one[1].2);
    }

    #[test]
    fn a_stop_keeps_what_is_done() {
        let stop = |progress: &Progress| match progress.done {
            2 => Control::Stop,
            _ => Control::Continue,
        };
        let results = execute(runs(TEXT), NonZeroUsize::MIN, &stop).unwrap();
        assert_eq!(results.outcomes.len(), 2);
    }

    #[test]
    fn mistakes_are_told() {
        let runs = runs("netloom = 1\n[topology]\nkind = \"single-swich\"\n");
        let failure = execute(runs, NonZeroUsize::MIN, &go_on).unwrap_err();
        assert!(failure.to_string().contains("single-switch"), "{failure}");
    }
}
