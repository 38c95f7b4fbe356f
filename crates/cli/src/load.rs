//! Loading an experiment: the arguments that every command about a file takes.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use netloom_catalog::file::{MOST_EXPERIMENT, read_text_or_pipe};
use netloom_catalog::{Disk, Document, Files, Notes, Severity};
use netloom_experiment::spec::{self, Effort, Loaded, LoadedWiring, OpenedFile, Progress, Request};
use netloom_experiment::{Experiment, Kinds};
use netloom_results::Control;
use netloom_study::{OpenedStudy, Study};
use netloom_units::Time;

use super::output::Output;
use super::{Exit, interrupt};

/// The code of a routing that can deadlock.
const CAN_DEADLOCK: &str = "E0501";

/// Values on the command line over those of a file, for commands that simulate nothing.
#[derive(Args)]
pub(super) struct Values {
    /// Set a value, such as `traffic.load=0.7`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Use this seed for what is drawn at random.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

impl Values {
    /// Returns the overrides, with or without `--force`.
    pub(super) fn overrides(&self, force: bool) -> Overrides {
        Overrides {
            sets: self.sets.clone(),
            seed: self.seed,
            length: None,
            partitions: None,
            threads: None,
            force,
            ranks: 1,
            ranks_here: 1,
        }
    }
}

/// What the command line says about a file.
#[derive(Args, Clone)]
pub(super) struct Overrides {
    /// Set a value, such as `traffic.load=0.7`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Use this seed instead of that of the file.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Simulated time of a run, such as `50us`.
    #[arg(long = "until", value_name = "TIME")]
    pub(super) length: Option<Time>,
    /// Number of partitions of the fabric; does not affect results.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) partitions: Option<usize>,
    /// Number of threads of a run (default 1), or of runs of a study at the same time (default: all
    /// cores); does not affect results.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) threads: Option<usize>,
    /// Run even if the routing can deadlock or memory is too small.
    #[arg(long)]
    pub(super) force: bool,
    /// Processes that share a run; each has at least one partition.
    #[arg(skip = 1usize)]
    pub(super) ranks: usize,
    /// Those of them that share the memory of this machine.
    #[arg(skip = 1usize)]
    pub(super) ranks_here: usize,
}

impl Overrides {
    /// Threads that share the partitions of a single run.
    pub(super) fn threads_of_a_run(&self) -> usize {
        self.threads.unwrap_or(1)
    }
}

/// Parses a whole number, 1 or more.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

/// The text of a file.
pub(super) fn read(file: &Path) -> anyhow::Result<String> {
    read_text_or_pipe(file, MOST_EXPERIMENT)
        .with_context(|| format!("cannot read {}", file.display()))
}

/// Loads a text and prints what was noted about it on stderr.
pub(super) fn load(
    kinds: &Kinds,
    name: &str,
    files: Arc<dyn Files>,
    text: &str,
    overrides: &Overrides,
    purpose: Purpose,
    output: &Output,
) -> Loaded {
    let loaded = spec::load(&request(kinds, purpose, name, files, text, overrides));
    tell(&loaded.document, &loaded.notes, output);
    loaded
}

/// Whether what is loaded is only looked at, checked, or going to be run here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Look,
    /// Large routing tables are not filled.
    Check,
    /// Freedom from deadlock is proved, however long it takes.
    Proof,
    Run,
}

/// Returns the files that a file can name, by their names relative to it.
pub(super) fn named_by(file: &Path) -> Arc<dyn Files> {
    Disk::folder(file.parent().unwrap_or(Path::new(".")))
}

fn request<'a>(
    kinds: &'a Kinds,
    purpose: Purpose,
    name: &'a str,
    files: Arc<dyn Files>,
    text: &'a str,
    overrides: &'a Overrides,
) -> Request<'a> {
    Request {
        files,
        sets: &overrides.sets,
        seed: overrides.seed,
        partitions: overrides.partitions,
        length: overrides.length,
        force: overrides.force,
        threads: overrides.threads_of_a_run(),
        ranks: overrides.ranks,
        memory: netloom_experiment::available_memory()
            .map(|memory| memory / overrides.ranks_here.max(1) as u64),
        will_run: purpose == Purpose::Run,
        effort: match purpose {
            Purpose::Check => Effort::Check,
            Purpose::Proof => Effort::Proof,
            Purpose::Look | Purpose::Run => Effort::Run,
        },
        kinds,
        ..Request::new(name, text)
    }
}

/// Prints what was noted about a file on stderr.
pub(super) fn tell(document: &Document, notes: &Notes, output: &Output) {
    if notes.has_errors() || !(output.quiet || notes.is_empty()) {
        output.notes(&netloom_experiment::render(document, notes, output.color));
    }
}

/// Loads what planning needs of a file, which may then have no traffic.
pub(super) fn load_wiring(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    output: &Output,
) -> anyhow::Result<LoadedWiring> {
    let text = read(file)?;
    let name = file.display().to_string();
    let loaded = spec::load_wiring(&request(
        kinds,
        Purpose::Look,
        &name,
        named_by(file),
        &text,
        overrides,
    ));
    tell(&loaded.document, &loaded.notes, output);
    Ok(loaded)
}

/// Opens a file, over those that it extends, without looking at what its values mean.
pub(super) fn open(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
) -> anyhow::Result<OpenedFile> {
    let text = read(file)?;
    let name = file.display().to_string();
    Ok(spec::open(&request(
        kinds,
        Purpose::Look,
        &name,
        named_by(file),
        &text,
        overrides,
    )))
}

/// Loads a file and prints what was noted about it on stderr.
pub(super) fn load_file(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    purpose: Purpose,
    output: &Output,
) -> anyhow::Result<Loaded> {
    let loaded = load_quietly(kinds, file, overrides, purpose, None)?;
    tell(&loaded.document, &loaded.notes, output);
    Ok(loaded)
}

/// Loads a file, and reports the steps that may take long.
pub(super) fn load_quietly(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    purpose: Purpose,
    progress: Option<Progress<'_>>,
) -> anyhow::Result<Loaded> {
    let text = read(file)?;
    let name = file.display().to_string();
    let request = Request {
        progress,
        ..request(kinds, purpose, &name, named_by(file), &text, overrides)
    };
    // Ranks that wait for each other stop together, in the run.
    let loaded = spec::load_with_control(&request, &mut || match overrides.ranks {
        1 => interrupt::control(),
        _ => Control::Continue,
    });
    Ok(loaded?)
}

/// Opens a file that may hold a study.
pub(super) fn open_study(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    purpose: Purpose,
) -> anyhow::Result<OpenedStudy> {
    let text = read(file)?;
    let name = file.display().to_string();
    let mut request = request(kinds, purpose, &name, named_by(file), &text, overrides);
    if purpose == Purpose::Run {
        // As many runs as threads share the memory; over ranks there is one run at a time.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = match overrides.ranks {
            1 => overrides.threads.unwrap_or(cores) as u64,
            _ => 1,
        };
        request.memory = request.memory.map(|memory| memory / at_once.max(1));
    }
    Ok(Study::open(&request))
}

/// The experiment of a file, or how the command ends without one.
pub(super) fn experiment(
    kinds: &Kinds,
    file: &Path,
    overrides: &Overrides,
    purpose: Purpose,
    output: &Output,
) -> anyhow::Result<Result<Experiment, Exit>> {
    let loaded = load_file(kinds, file, overrides, purpose, output)?;
    let exit = exit_of(&loaded);
    Ok(loaded.experiment.ok_or(exit))
}

/// How a command ends that only looks at a file: with a fault if the one mistake is that it can
/// deadlock.
pub(super) fn exit_of(loaded: &Loaded) -> Exit {
    exit_with(&loaded.notes, loaded.experiment.is_some())
}

/// The same by what was noted, and whether anything came of the file.
pub(super) fn exit_with(notes: &Notes, is_loaded: bool) -> Exit {
    let mut errors = notes
        .iter()
        .filter(|note| note.severity == Severity::Error)
        .peekable();
    if errors.peek().is_none() {
        return if is_loaded { Exit::Done } else { Exit::Invalid };
    }
    if errors.all(|note| note.code == CAN_DEADLOCK) {
        Exit::Fault
    } else {
        Exit::Invalid
    }
}
