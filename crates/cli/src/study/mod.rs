//! Studies on the command line: run, go on, look on, put together.

mod looking;
mod manifest;
mod printed;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use netloom_experiment::runner::Control;
use netloom_experiment::spec::Request;
use netloom_experiment::{Experiment, Kinds};
use netloom_results::Status as End;
use netloom_study::running::{self, Journal, Leader, MergeOptions, Merged, Options, StudyFolder};
use netloom_study::{Division, Study};

use super::job::Job;
use super::load::{self, at_least_one};
use super::output::Output;
use super::patience::Patience;
use super::progress::{Shown, Style};
use super::shard::{Part, Shard};
use super::{Exit, Format, interrupt, machine, program};

pub(crate) use looking::{Status, Watch};

/// Where the results of a study go unless a folder is given.
pub(super) fn folder_of(study: &Study) -> PathBuf {
    folder_named(&study.name)
}

/// Where the results of an experiment go unless a folder is given.
pub(super) fn folder_named(name: &str) -> PathBuf {
    PathBuf::from(format!("{}.out", name.replace(['/', '\\'], "-")))
}

/// Where the switches and NICs of an experiment are drawn, for its folder.
pub(super) fn layout(experiment: &Experiment) -> anyhow::Result<String> {
    let layout = netloom_drawing::layout(&experiment.fabric.topology);
    Ok(format!("{}\n", serde_json::to_string(&layout)?))
}

/// A study that is run.
pub(super) struct Running<'a> {
    pub(super) study: &'a Study,
    /// The processes that share each run.
    pub(super) job: &'a Job,
    pub(super) threads: Option<usize>,
    pub(super) partitions: Option<usize>,
    pub(super) format: Format,
    pub(super) progress: Style,
}

impl Running<'_> {
    /// Runs what is missing, and puts all together if this process was responsible for all.
    pub(super) fn run(
        &self,
        folder: &StudyFolder,
        shard: Option<Shard>,
        output: &Output,
    ) -> anyhow::Result<Exit> {
        let began = Instant::now();
        // However this ends, the others are told.
        let leader = self.job.ranks().map(Leader::new);
        if shard.is_none_or(|shard| shard.index == 1) {
            self.draw(folder)?;
        }
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let options = Options {
            owns: &|unit| shard.is_none_or(|shard| shard.owns(unit)),
            threads: match leader {
                Some(_) => NonZeroUsize::MIN,
                None => self.threads.and_then(NonZeroUsize::new).unwrap_or(cores),
            },
            division: self.division(),
            leader: leader.as_ref(),
        };
        let host = machine::host().unwrap_or_else(|| "localhost".to_owned());
        let own_part = shard.map(|shard| shard.to_string());
        let threads = options.threads.get();
        let journal = Journal::begin(folder.path(), &host, own_part, threads)?;
        let shown = Mutex::new(Shown::new(self.progress, output.quiet));
        interrupt::fabric_runs();
        let finished = running::execute(self.study, folder, &journal, &options, &|progress| {
            if let Ok(mut shown) = shown.lock() {
                shown.update_study(progress);
            }
            match interrupt::is_asked() {
                true => Control::Stop,
                false => Control::Continue,
            }
        });
        if let Ok(shown) = shown.lock() {
            shown.finish();
        }
        let finished = finished?;
        for (point, messages) in &finished.failed {
            output.insist(messages);
            output.error(&format!("not run: {point}"));
        }
        let (program, here) = (program(), folder.path().display());
        let (done, of) = (finished.progress.done, finished.progress.of);
        let ran = done - finished.progress.found;
        let seconds = began.elapsed();
        output.say(&format!(
            "{ran} run{} in {}, {} were there{}",
            if ran == 1 { "" } else { "s" },
            super::progress::span(seconds),
            finished.progress.found,
            match shard {
                Some(shard) => format!("; shard {shard} of the study in {here}"),
                None => String::new(),
            }
        ));
        if finished.interrupted {
            output.say(&format!(
                "interrupted: {done} of {of} runs are stored; go on with {program} resume {here}"
            ));
            return Ok(Exit::Interrupted);
        }
        if !finished.failed.is_empty() {
            return Ok(Exit::Invalid);
        }
        if shard.is_some() {
            output.say(&format!("when all shards are done: {program} merge {here}"));
            // A point is judged by all of its seeds, when they are merged.
            return Ok(Exit::Done);
        }
        self.merged(folder, output)
    }

    /// Runs what the first process of the job says.
    pub(super) fn follow(&self) -> Exit {
        let Some(ranks) = self.job.ranks() else {
            return Exit::Done;
        };
        interrupt::fabric_runs();
        running::follow(
            self.study,
            ranks,
            &self.division(),
            &mut |_| match interrupt::is_asked() {
                true => Control::Stop,
                false => Control::Continue,
            },
        );
        // The first process says how the study ended.
        Exit::Done
    }

    /// How each run is divided: in one process not at all, because its threads have runs of their own.
    fn division(&self) -> Division {
        Division {
            partitions: self.partitions,
            threads: match self.job.ranks() {
                Some(_) => self.threads.unwrap_or(1),
                None => 1,
            },
            ranks: self.job.size(),
        }
    }

    /// Keeps the picture of the fabric for reports, where it is the same at every point.
    fn draw(&self, folder: &StudyFolder) -> anyhow::Result<()> {
        let is_varied = |path: &str| path.split('.').next() == Some("topology");
        let paths = self.study.axes.iter().flat_map(|axis| axis.paths());
        let file = folder.path().join("layout.json");
        if file.exists() || paths.into_iter().any(is_varied) {
            return Ok(());
        }
        let Some(point) = self.study.points().next() else {
            return Ok(());
        };
        let loaded = self.study.load(&point, self.study.seeds.first);
        if let Some(experiment) = loaded.experiment {
            let text = layout(&experiment)?;
            folder.write("layout.json", text.as_bytes())?;
        }
        Ok(())
    }

    fn merged(&self, folder: &StudyFolder, output: &Output) -> anyhow::Result<Exit> {
        let merged = merge(self.study, folder, MergeOptions::default(), output)?;
        show(self.study, &merged, self.format, output)?;
        let (program, here) = (program(), folder.path().display());
        output.say(&format!("results in {here}; next: {program} report {here}"));
        Ok(exit_of(&merged))
    }
}

/// Tells what is wrong with any value of any axis before hours are spent and before there is a folder that
/// could be resumed.
pub(super) fn mistakes(study: &Study, output: &Output) -> Option<Exit> {
    let patience = Patience::new("checking the study".to_owned(), output.quiet);
    let checked = study.check(Duration::ZERO, &mut |done, of| {
        patience.update(format!("checked {done} of {of} points"));
    });
    drop(patience);
    let exit = load::exit_with(&checked.notes, !checked.notes.has_errors());
    load::tell(&checked.document, &checked.notes, output);
    (exit != Exit::Done).then_some(exit)
}

/// Puts the runs of a study together, with progress if that takes long.
pub(super) fn merge(
    study: &Study,
    folder: &StudyFolder,
    options: MergeOptions,
    output: &Output,
) -> anyhow::Result<Merged> {
    let patience = Patience::new("putting runs together".to_owned(), output.quiet);
    let manifest = |merged: &Merged| manifest::of(study, folder, merged);
    let merged = running::merge(study, folder, options, &manifest, &mut |done, of| {
        patience.update(format!("put {done} of {of} runs together"));
    });
    drop(patience);
    Ok(merged?)
}

fn show(study: &Study, merged: &Merged, format: Format, output: &Output) -> anyhow::Result<()> {
    match format {
        Format::Human => {
            let text = printed::for_people(study, merged, output.is_data_coloured);
            output.outcome(&text)
        }
        Format::Json => output.data(&printed::for_machines(study, merged)?),
    }
}

/// A deadlock is a fault; numbers that cannot be used as asked are judged by points.
fn exit_of(merged: &Merged) -> Exit {
    let is_deadlocked = merged.by_status.contains_key(End::Deadlock.word());
    let points = printed::verdicts(&merged.table);
    match () {
        () if is_deadlocked => Exit::Fault,
        () if points.keys().all(|verdict| verdict.is_result()) => Exit::Done,
        () => Exit::NotConverged,
    }
}

/// The study of a folder, as it was begun.
fn opened(kinds: &Kinds, folder: StudyFolder) -> anyhow::Result<(StudyFolder, Study)> {
    let document = folder.document()?;
    let (text, inputs) = folder.study_text()?;
    let name = folder.path().join("study.toml").display().to_string();
    let opened = Study::open(&Request {
        directory: &inputs,
        force: true,
        kinds,
        ..Request::new(&name, &text)
    });
    let Some(study) = opened.study else {
        let messages = netloom_experiment::render(&opened.document, &opened.notes, false);
        anyhow::bail!("{name} is not what it was when the study began\n{messages}");
    };
    if study.id() != document.study_id {
        anyhow::bail!(
            "{name} was changed since the study began ({} is now {}); run the changed study in another folder",
            document.study_id,
            study.id()
        );
    }
    Ok((folder, study))
}

/// `netloom resume`: run what a study lacks.
#[derive(Args)]
pub(crate) struct Resume {
    /// The folder of the study.
    folder: PathBuf,
    /// Runs at the same time; otherwise as many as there are cores.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
    /// Run only this part: `3/8`, or `auto` for what Slurm, PBS, MPI, Kubernetes or GNU parallel say.
    #[arg(long, value_name = "I/N", value_parser = Part::from_argument)]
    shard: Option<Part>,
    /// What is printed on stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// How progress is shown on stderr.
    #[arg(long, value_enum, default_value_t = Style::Auto, value_name = "HOW")]
    progress: Style,
}

impl Resume {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        interrupt::listen()?;
        let shard = match self.shard.map(|part| part.shard(false)) {
            Some(Err(why)) => {
                output.error(&why);
                return Ok(Exit::Usage);
            }
            Some(Ok(shard)) => Some(shard),
            None => None,
        };
        let (folder, study) = opened(kinds, StudyFolder::join(&self.folder)?)?;
        let running = Running {
            study: &study,
            job: &Job::alone(),
            threads: self.threads,
            partitions: None,
            format: self.format,
            progress: self.progress,
        };
        running.run(&folder, shard, output)
    }
}

/// `netloom merge`: put the runs of a study together as tables.
#[derive(Args)]
pub(crate) struct Merge {
    /// The folder of the study.
    folder: PathBuf,
    /// Merge what is there, even if runs are missing; the tables are then called NAME.partial.
    #[arg(long)]
    partial: bool,
    /// Write all tables as CSV too, not only results and points.
    #[arg(long)]
    csv: bool,
    /// What is printed on stdout.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl Merge {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let (folder, study) = opened(kinds, StudyFolder::join(&self.folder)?)?;
        let options = MergeOptions {
            partial: self.partial,
            csv: self.csv,
        };
        let merged = merge(&study, &folder, options, output)?;
        show(&study, &merged, self.format, output)?;
        for warning in &merged.warnings {
            output.say(&format!("warning: {warning}"));
        }
        let (program, here) = (program(), folder.path().display());
        output.say(&format!("merged in {here}; next: {program} report {here}"));
        Ok(exit_of(&merged))
    }
}
