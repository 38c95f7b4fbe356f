//! Runs spread over threads: which thread takes which run changes nothing but the time.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use netloom_experiment::runner::{self, Control, RunOptions};
use netloom_results::store::RunFile;
use netloom_results::{Frame, Status};
use netloom_study::running::Progress;

use crate::kept::{self, Kept};
use crate::{Outcome, Results, Run};

/// Why there are no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// An experiment has mistakes: the messages about it.
    Mistakes(String),
    /// A run ended in a deadlock: which, and when.
    Deadlock(String),
    /// The system refuses to store a run.
    System(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mistakes(messages) => write!(f, "{messages}"),
            Failure::Deadlock(run) => write!(f, "deadlock in {run}"),
            Failure::System(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Failure {}

/// What came out.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The results of every list of runs.
    pub results: Vec<Results>,
    /// The last progress.
    pub progress: Progress,
}

/// Runs lists of runs on so many threads. The outcomes stand in the order of the runs.
///
/// What `kept` holds is not run again, and what is run is stored there as it ends. `observe` is told the progress
/// often, from several threads, and says whether to go on; asked to stop, runs that are not at their end are given
/// up, and named as lacking.
///
/// # Errors
/// If an experiment has mistakes, a run ends in a deadlock or cannot be stored; of several the first in the
/// order of the runs that were begun.
pub fn execute(
    lists: Vec<Vec<Run>>,
    kept: Option<&Kept>,
    threads: NonZeroUsize,
    observe: &(dyn Fn(&Progress) -> Control + Sync),
) -> Result<Executed, Failure> {
    let runs: Vec<&Run> = lists.iter().flatten().collect();
    let work = Work {
        runs: &runs,
        kept,
        observe,
        began: Instant::now(),
        next: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        state: Mutex::new(State {
            ended: vec![None; runs.len()],
            progress: Progress {
                of: runs.len() as u64,
                ..Progress::default()
            },
        }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get() {
            // Where the system starts no more of them, those that are there do all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || work.all());
        }
        work.all();
    });
    let state = work.state.into_inner().expect("no thread panics with it");
    let mut ended = state.ended.into_iter();
    let mut results = vec![];
    for list in lists {
        let mut own = Results::default();
        for (run, ended) in list.into_iter().zip(ended.by_ref()) {
            match ended {
                Some(Ok((result, tables))) => own.outcomes.push(Outcome {
                    run,
                    result,
                    tables,
                }),
                Some(Err(failure)) => return Err(failure),
                None => own.lacking.push((run.series, run.load)),
            }
        }
        results.push(own);
    }
    Ok(Executed {
        results,
        progress: state.progress,
    })
}

/// A result and the tables that its paper looks into.
type Whole = (netloom_results::Run, Vec<(String, Frame)>);
type Ended = Result<Whole, Failure>;

struct Work<'a> {
    runs: &'a [&'a Run],
    kept: Option<&'a Kept>,
    observe: &'a (dyn Fn(&Progress) -> Control + Sync),
    began: Instant,
    next: AtomicUsize,
    is_stopped: AtomicBool,
    state: Mutex<State>,
}

struct State {
    /// By run.
    ended: Vec<Option<Ended>>,
    progress: Progress,
}

impl Work<'_> {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().expect("no thread panics with it"))
    }

    /// Tells the progress; whether to go on.
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

    /// Does runs until none is left.
    fn all(&self) {
        while self.goes_on() {
            let at = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(run) = self.runs.get(at) else { return };
            let ended = self.one(run);
            if ended.is_err() {
                self.is_stopped.store(true, Ordering::SeqCst);
            }
            if let Some(ended) = ended.transpose() {
                self.with(|state| state.ended[at] = Some(ended));
            }
        }
    }

    /// One run on this thread, unless it is there; nothing if it was given up.
    fn one(&self, run: &Run) -> Result<Option<Whole>, Failure> {
        if let Some(file) = self.kept.and_then(|kept| kept.asked_before(run)) {
            return Ok(Some(self.saw(run, file, true)));
        }
        let experiment = run.experiment().map_err(Failure::Mistakes)?;
        let run_id = runner::run_id(&experiment);
        // Two readings may be the same experiment.
        if let Some(file) = self.kept.and_then(|kept| kept.get(&run_id, run)) {
            return Ok(Some(self.saw(run, file, true)));
        }
        let options = RunOptions {
            tables: !run.tables.is_empty(),
            ..RunOptions::default()
        };
        let result = runner::run(&experiment, &options, &mut |_| match self.goes_on() {
            true => Control::Continue,
            false => Control::Stop,
        });
        let asked = |name: &&str| Some(((*name).to_owned(), result.table(name)?.clone()));
        let tables = run.tables.iter().filter_map(asked).collect();
        let result = result.document.run;
        if let Some(deadlock) = &result.deadlock {
            return Err(Failure::Deadlock(format!(
                "{}, seed {}, after {} ns",
                label(run),
                run.seed,
                deadlock.time_ns
            )));
        }
        if result.status >= Status::Interrupted {
            return Ok(None);
        }
        let file = kept::run_file(run, run_id, result, tables);
        if let Some(kept) = self.kept {
            kept.store(&file).map_err(|error| {
                Failure::System(format!("cannot write {}: {error}", kept.folder().display()))
            })?;
        }
        Ok(Some(self.saw(run, file, false)))
    }

    /// Counts a run that is there or has ended.
    fn saw(&self, run: &Run, file: RunFile, is_found: bool) -> Whole {
        let result = file.summary.run;
        self.with(|state| {
            let (status, p99) = (result.status, result.total.latency_p99_ns);
            state.progress.saw(|| label(run), status, p99);
            if is_found {
                state.progress.found += 1;
            } else {
                state.progress.packet_hops += result.counters.packet_hops;
            }
        });
        (result, file.tables)
    }
}

/// A run's point, for people.
fn label(run: &Run) -> String {
    format!("{} at {}", run.series, run.load)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use std::path::PathBuf;

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
            tables: &[],
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
            let results = execute(vec![runs(TEXT)], None, threads, &go_on).unwrap();
            let digest = |o: &Outcome| (o.run.seed, o.result.seed, o.result.digest.clone());
            results.results[0]
                .outcomes
                .iter()
                .map(digest)
                .collect::<Vec<_>>()
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
        let results = execute(vec![runs(TEXT)], None, NonZeroUsize::MIN, &stop).unwrap();
        assert_eq!(results.results[0].outcomes.len(), 2);
        assert_eq!(results.results[0].lacking, [("test", 0.5); 3]);
    }

    #[test]
    fn mistakes_are_told() {
        let runs = runs("netloom = 1\n[topology]\nkind = \"single-swich\"\n");
        let failure = execute(vec![runs], None, NonZeroUsize::MIN, &go_on).unwrap_err();
        assert!(failure.to_string().contains("single-switch"), "{failure}");
    }

    fn fresh(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("netloom-kept-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    /// Runs with what a folder holds.
    fn with_kept(
        folder: &std::path::Path,
        lists: Vec<Vec<Run>>,
        observe: &(dyn Fn(&Progress) -> Control + Sync),
    ) -> Executed {
        let kept = Kept::open(folder).unwrap();
        execute(lists, Some(&kept), NonZeroUsize::MIN, observe).unwrap()
    }

    fn all(executed: &Executed) -> String {
        let outcomes = executed.results.iter().flat_map(|r| &r.outcomes);
        let one = |o: &Outcome| format!("{} {:?} {:?}", o.run.seed, o.tables, o.result);
        outcomes.map(one).collect()
    }

    #[test]
    fn what_was_stopped_goes_on_and_nothing_is_run_twice() {
        let folder = fresh("stopped");
        let stop = |progress: &Progress| match progress.done {
            2.. => Control::Stop,
            _ => Control::Continue,
        };
        let first = with_kept(&folder, vec![runs(TEXT)], &stop);
        assert_eq!((first.progress.done, first.progress.found), (2, 0));
        let second = with_kept(&folder, vec![runs(TEXT)], &go_on);
        assert_eq!((second.progress.done, second.progress.found), (5, 2));
        let hops = first.progress.packet_hops + second.progress.packet_hops;
        let once = execute(vec![runs(TEXT)], None, NonZeroUsize::MIN, &go_on).unwrap();
        assert_eq!(all(&second), all(&once));
        assert_eq!(once.progress.packet_hops, hops);
        let third = with_kept(&folder, vec![runs(TEXT)], &go_on);
        assert_eq!((third.progress.found, third.progress.packet_hops), (5, 0));
        // A damaged file is run again, the others are not.
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
        let bytes = std::fs::read(file.path()).unwrap();
        std::fs::write(file.path(), &bytes[..bytes.len() / 2]).unwrap();
        let fourth = with_kept(&folder, vec![runs(TEXT)], &go_on);
        assert_eq!(fourth.progress.found, 4);
        assert_eq!(all(&fourth), all(&once));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_same_experiment_in_other_words_is_one_run() {
        let folder = fresh("words");
        let mut others = runs(TEXT);
        for run in &mut others {
            run.series = "other";
            run.sets = vec!["traffic.0.load=0.5".to_owned()];
        }
        let both = with_kept(&folder, vec![runs(TEXT), others.clone()], &go_on);
        assert_eq!((both.progress.done, both.progress.found), (10, 5));
        assert_eq!(both.results[1].outcomes[4].run.series, "other");
        for run in &mut others {
            run.sets = vec!["traffic.0.load=0.6".to_owned()];
        }
        let further = with_kept(&folder, vec![others], &go_on);
        assert_eq!(further.progress.found, 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_run_without_the_tables_asked_for_is_run_again() {
        let folder = fresh("tables");
        with_kept(&folder, vec![runs(TEXT)], &go_on);
        let mut others = runs(TEXT);
        for run in &mut others {
            run.tables = &["series"];
        }
        let with_tables = with_kept(&folder, vec![others.clone()], &go_on);
        assert_eq!(with_tables.progress.found, 0);
        let series = with_tables.results[0].outcomes[0].table("series").unwrap();
        assert!(series.len() > 100, "{}", series.len());
        // Now they are there, for both.
        let again = with_kept(&folder, vec![others, runs(TEXT)], &go_on);
        assert_eq!(again.progress.found, 10);
        assert_eq!(all(&again).matches("time_ns").count(), 10);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
