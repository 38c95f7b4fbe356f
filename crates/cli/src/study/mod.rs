//! `netloom study`: watch and merge studies, write job scripts; and running one, for `netloom run`.

mod printed;
mod status;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use netloom_catalog::Disk;
use netloom_experiment::Kinds;
use netloom_experiment::runner::Control;
use netloom_experiment::spec::Request;
use netloom_results::Status;
use netloom_study::running::{self, Journal, Leader, MergeOptions, Merged, Options, StudyFolder};
use netloom_study::{Division, Study};

use super::emit::Emit;
use super::job::Job;
use super::load::{self, at_least_one};
use super::output::Output;
use super::progress::{ProgressDisplay, Style};
use super::shard::Shard;
use super::slow_notice::SlowNotice;
use super::{Exit, Format, INTERRUPTED, interrupt, machine, program};

use status::{StatusCommand, WatchCommand};

#[derive(Subcommand)]
pub(crate) enum StudyCommand {
    /// Print the progress of a study.
    Status(StatusCommand),
    /// Watch a study's progress from any machine.
    Watch(WatchCommand),
    /// Merge the runs of a study into tables.
    Merge(Merge),
    /// Write a job script for Slurm, GNU parallel or Kubernetes: a study in shards, or one run over
    /// MPI.
    #[command(subcommand)]
    Emit(Box<Emit>),
}

impl StudyCommand {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        match self {
            StudyCommand::Status(command) => command.run(kinds, output),
            StudyCommand::Watch(command) => command.run(kinds, output),
            StudyCommand::Merge(command) => command.run(kinds, output),
            StudyCommand::Emit(command) => command.run(kinds, output),
        }
    }
}

/// Returns the default results folder of a study.
pub(super) fn folder_of(study: &Study) -> PathBuf {
    folder_named(&study.name)
}

/// Returns the default results folder of an experiment.
pub(super) fn folder_named(name: &str) -> PathBuf {
    PathBuf::from(format!("{}.out", name.replace(['/', '\\'], "-")))
}

/// How a study is run.
pub(super) struct Running<'a> {
    pub(super) study: &'a Study,
    /// Processes that share each run.
    pub(super) job: &'a Job,
    pub(super) threads: Option<usize>,
    pub(super) partitions: Option<usize>,
    pub(super) format: Format,
    pub(super) progress: Style,
    /// Write all tables as CSV.
    pub(super) csv: bool,
}

impl Running<'_> {
    /// Runs what is missing, and merges if this process is responsible for the whole study.
    pub(super) fn run(
        &self,
        folder: &StudyFolder,
        shard: Option<Shard>,
        output: &Output,
    ) -> anyhow::Result<Exit> {
        let began = Instant::now();
        // Dropping the leader releases the other ranks, however this ends.
        let leader = self.job.ranks().map(Leader::new);
        if shard.is_none_or(|shard| shard.index == 1) {
            folder.draw(self.study)?;
        }
        let threads = match leader {
            Some(_) => NonZeroUsize::MIN,
            None => {
                let asked = self.threads.and_then(NonZeroUsize::new);
                asked.unwrap_or(Options::default().threads)
            }
        };
        let host = netloom_results::host().unwrap_or_else(|| "localhost".to_owned());
        let own_part = shard.map(|shard| shard.to_string());
        let journal = Journal::begin(folder.path(), &host, own_part, threads.get())?;
        let options = Options {
            owns: &|unit| shard.is_none_or(|shard| shard.owns(unit)),
            threads,
            division: self.division(),
            leader: leader.as_ref(),
            journal: Some(&journal),
        };
        let display = Mutex::new(ProgressDisplay::new(self.progress, output.quiet));
        interrupt::fabric_runs();
        let finished = self.study.run(folder, &options, &|progress| {
            if let Ok(mut display) = display.lock() {
                display.update_study(progress);
            }
            interrupt::control()
        });
        if let Ok(display) = display.lock() {
            display.finish();
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
            "{ran} run{} in {}, {} already done{}",
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
                "Interrupted: {done} of {of} runs are stored. Resume with: {program} run {here}"
            ));
            return Ok(Exit::Interrupted);
        }
        if !finished.failed.is_empty() {
            return Ok(Exit::Invalid);
        }
        if shard.is_some() {
            output.say(&format!(
                "when all shards are done: {program} study merge {here}"
            ));
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
        running::follow(self.study, ranks, &self.division(), &mut |_| {
            interrupt::control()
        });
        // The first process says how the study ended.
        Exit::Done
    }

    /// How each run is divided: in one process not at all, because its threads have runs of their
    /// own.
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

    fn merged(&self, folder: &StudyFolder, output: &Output) -> anyhow::Result<Exit> {
        let merged = merge(
            self.study,
            folder,
            MergeOptions {
                csv: self.csv,
                ..MergeOptions::default()
            },
            interrupt::control,
            output,
        )?;
        show(self.study, &merged, self.format, output)?;
        let (program, here) = (program(), folder.path().display());
        output.say(&format!("results in {here}; next: {program} report {here}"));
        Ok(exit_of(&merged))
    }
}

/// Reports mistakes at any value of any axis, before a folder exists.
pub(super) fn mistakes(study: &Study, output: &Output) -> Option<Exit> {
    let notice = SlowNotice::new("checking the study".to_owned(), output.quiet);
    let checked = study.check(Duration::ZERO, &mut |done, of| {
        notice.update(format!("checked {done} of {of} points"));
        interrupt::control()
    });
    drop(notice);
    if checked.interrupted {
        output.say(INTERRUPTED);
        return Some(Exit::Interrupted);
    }
    let exit = load::exit_with(&checked.notes, !checked.notes.has_errors());
    load::tell(&checked.document, &checked.notes, output);
    (exit != Exit::Done).then_some(exit)
}

/// Merges the runs of a study, with progress if it takes long.
pub(super) fn merge(
    study: &Study,
    folder: &StudyFolder,
    options: MergeOptions,
    control: fn() -> Control,
    output: &Output,
) -> anyhow::Result<Merged> {
    let notice = SlowNotice::new("merging runs".to_owned(), output.quiet);
    let provenance = machine::provenance();
    let merged = study.merge(folder, options, &provenance, &mut |done, of| {
        notice.update(format!("merged {done} of {of} runs"));
        control()
    });
    drop(notice);
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

/// Returns the exit code of a study: a deadlock is a fault; otherwise its points decide.
fn exit_of(merged: &Merged) -> Exit {
    let is_deadlocked = merged.by_status.contains_key(Status::Deadlock.word());
    let points = printed::verdicts(&merged.table);
    match () {
        () if is_deadlocked => Exit::Fault,
        () if points.keys().all(|verdict| verdict.is_result()) => Exit::Done,
        () => Exit::NotConverged,
    }
}

/// Reads the study that a folder was created for.
fn opened(kinds: &Kinds, folder: StudyFolder) -> anyhow::Result<(StudyFolder, Study)> {
    let document = folder.document()?;
    let (text, inputs) = folder.study_text()?;
    let name = folder.path().join("study.toml").display().to_string();
    let opened = Study::open(&Request {
        files: Disk::folder(inputs),
        force: true,
        kinds,
        ..Request::new(&name, &text)
    });
    let Some(study) = opened.study else {
        let messages = netloom_experiment::render(&opened.document, &opened.notes, false);
        anyhow::bail!("{name} has changed since the study was started\n{messages}");
    };
    if study.id() != document.study_id {
        anyhow::bail!(
            "{name} has changed since the study was started: expected study {}, found {}; run it \
             in another folder",
            document.study_id,
            study.id()
        );
    }
    Ok((folder, study))
}

/// Opens a study's folder to run what it lacks.
pub(super) fn joined(kinds: &Kinds, path: &Path) -> anyhow::Result<(StudyFolder, Study)> {
    opened(kinds, StudyFolder::join(path)?)
}

/// `netloom study merge`.
#[derive(Args)]
pub(crate) struct Merge {
    /// Folder of the study.
    folder: PathBuf,
    /// Merge even if runs are missing; the tables are then named NAME.partial.
    #[arg(long)]
    partial: bool,
    /// Write all tables as CSV, not only results and points.
    #[arg(long)]
    csv: bool,
    /// Format of stdout.
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
        let merged = merge(&study, &folder, options, interrupt::control, output)?;
        show(&study, &merged, self.format, output)?;
        for warning in &merged.warnings {
            output.say(&format!("warning: {warning}"));
        }
        let (program, here) = (program(), folder.path().display());
        output.say(&format!("merged in {here}; next: {program} report {here}"));
        Ok(exit_of(&merged))
    }
}
