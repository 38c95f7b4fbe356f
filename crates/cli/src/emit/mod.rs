//! `netloom study emit`: writes a script that runs a study in shards with Slurm, PBS, LSF, GNU
//! parallel or Kubernetes, or one run over the ranks of an MPI job.
//!
//! A shard has several units of the study: starting a member of an array costs a scheduler about
//! 0.2 s, and one process runs several units at the same time. The scripts are short and commented,
//! and users may edit them. Finished runs are skipped, so after a failure the same script is
//! submitted again.

mod array;
mod kubernetes;
mod parallel;
mod slurm;
mod template;
mod words;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, FromArgMatches, Subcommand};
use netloom_catalog::Notes;
use netloom_experiment::Kinds;
use netloom_study::{Division, OpenedStudy, Study};

use super::load::{self, Overrides, Purpose, at_least_one};
use super::output::Output;
use super::run::RunCommand;
use super::study::{folder_named, folder_of};
use super::{Exit, program};
use array::{Lsf, Pbs};
use kubernetes::Kubernetes;
use parallel::Parallel;
use slurm::Slurm;
use words::{quoted, quoted_path};

/// Units per core of a shard. With several units, a long one at the end costs little time.
const UNITS_PER_CORE: usize = 4;
/// Slurm's usual MaxArraySize is 1001: indices end at 1000.
const MOST_SHARDS: usize = 1000;

#[derive(Subcommand)]
#[command(after_help = "Examples:
  netloom study emit slurm study.toml -o study.sh && bash study.sh
  netloom study emit pbs study.toml --queue workq -o study.sh && bash study.sh
  netloom study emit parallel study.toml --shards 8 -o study.sh
  netloom study emit slurm study.toml --shards 8 -- --set traffic.load=0.5
  netloom study emit slurm a.toml --ranks 64 --ranks-per-node 16 -o a.sh
  netloom study emit kubernetes study.toml --image netloom:1 -o study.yaml")]
pub(crate) enum Emit {
    /// Write a Slurm array job with a merge after it or, with --ranks, a job for one run.
    Slurm(Slurm),
    /// Write a PBS array job with a merge after it.
    Pbs(Pbs),
    /// Write an LSF array job with a merge after it.
    Lsf(Lsf),
    /// Write a script for GNU parallel, on this machine or over ssh.
    Parallel(Parallel),
    /// Write an indexed Kubernetes Job, with the study and a claim on a volume for its results.
    Kubernetes(Kubernetes),
}

#[derive(Args)]
struct What {
    /// Study file; with --ranks, a study or an experiment.
    file: PathBuf,
    /// Number of shards [default: several units per core of a shard; with --ranks, one unit per
    /// shard].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    shards: Option<usize>,
    /// Folder of the results [default: NAME.out].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// File of the script [default: stdout].
    #[arg(short, long, value_name = "SCRIPT")]
    output: Option<PathBuf>,
    /// Replace the script if it exists.
    #[arg(long)]
    overwrite: bool,
    /// Options of `netloom run`, after `--`.
    #[arg(last = true, value_name = "RUN OPTION")]
    options: Vec<String>,
}

/// The values of a script that all templates use, quoted for the shell.
struct Filling {
    /// The name of this program.
    program: String,
    /// The name of the file, valid as a name of jobs and files.
    name: String,
    /// The path of the script.
    script: String,
    file: String,
    folder: String,
    /// Options of `netloom run`, each on its own line.
    options: String,
    /// Number of shards, if it is a study.
    shards: String,
}

impl Filling {
    /// Fills a template with these values and `own` ones.
    fn fill(&self, text: &str, own: &[(&str, &str)]) -> String {
        let mut values = vec![
            ("program", self.program.as_str()),
            ("name", &self.name),
            ("script", &self.script),
            ("file", &self.file),
            ("folder", &self.folder),
            ("options", &self.options),
            ("shards", &self.shards),
        ];
        let start = template::fill(include_str!("templates/start.sh"), &values);
        values.push(("start", &start));
        values.extend_from_slice(own);
        template::fill(text, &values)
    }
}

/// What a script runs.
enum Subject {
    /// A study and its number of shards.
    Study(Box<Study>, usize),
    /// The name of an experiment without `[study]`.
    OneRun(String),
}

impl Subject {
    /// Returns the default folder of results.
    fn folder(&self) -> PathBuf {
        match self {
            Subject::Study(study, _) => folder_of(study),
            Subject::OneRun(name) => folder_named(name),
        }
    }

    /// Formats the number of shards and of units in each: `3 shards of 2 to 3 units`.
    fn shards(&self) -> String {
        let Subject::Study(study, n) = self else {
            return String::new();
        };
        let units = study.units().len();
        let shards = match n {
            1 => "1 shard".to_owned(),
            n => format!("{n} shards"),
        };
        let (least, most) = (units / n, units.div_ceil(*n));
        match least == most {
            true => format!("{shards} of {}", of_units(least)),
            false => format!("{shards} of {least} to {}", of_units(most)),
        }
    }
}

fn of_units(n: usize) -> String {
    match n {
        1 => "1 unit".to_owned(),
        n => format!("{n} units"),
    }
}

impl Emit {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let what = self.what();
        let run = match what.tried(self.own_options()) {
            Ok(run) => run,
            Err(wrong) => {
                output.error(&wrong);
                return Ok(Exit::Usage);
            }
        };
        let subject = match self.subject(kinds, run.overrides(), output)? {
            Ok(subject) => subject,
            Err(exit) => return Ok(exit),
        };
        let filling = what.filling(self.kind(), &subject)?;
        let (text, words) = match (self, &subject) {
            (Emit::Slurm(slurm), _) => (slurm.script(&filling, &subject), slurm.words(&subject)),
            (Emit::Pbs(pbs), Subject::Study(_, n)) => (pbs.script(&filling, *n), subject.shards()),
            (Emit::Lsf(lsf), Subject::Study(..)) => (lsf.script(&filling), subject.shards()),
            (Emit::Parallel(_), Subject::Study(..)) => {
                (parallel::script(&filling), subject.shards())
            }
            (Emit::Kubernetes(kubernetes), Subject::Study(study, n)) => {
                (kubernetes.manifest(study, *n)?, subject.shards())
            }
            (_, Subject::OneRun(_)) => unreachable!("only Slurm takes one run"),
        };
        let Some(path) = &what.output else {
            output.data(&text)?;
            return Ok(Exit::Done);
        };
        let (is_program, next) = match self {
            Emit::Kubernetes(_) => (false, "kubectl apply -f"),
            _ => (true, "bash"),
        };
        store(path, &text, what.overwrite, is_program)?;
        output.say(&format!(
            "wrote {}: {words}. Next: {next} {}",
            path.display(),
            filling.script
        ));
        Ok(Exit::Done)
    }

    fn what(&self) -> &What {
        match self {
            Emit::Slurm(slurm) => &slurm.what,
            Emit::Pbs(pbs) => &pbs.what,
            Emit::Lsf(lsf) => &lsf.what,
            Emit::Parallel(parallel) => &parallel.what,
            Emit::Kubernetes(kubernetes) => &kubernetes.what,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Emit::Slurm(_) => "slurm",
            Emit::Pbs(_) => "pbs",
            Emit::Lsf(_) => "lsf",
            Emit::Parallel(_) => "parallel",
            Emit::Kubernetes(_) => "kubernetes",
        }
    }

    /// Returns the number of processes that share each run, if several do.
    fn ranks(&self) -> Option<usize> {
        match self {
            Emit::Slurm(slurm) => slurm.ranks,
            _ => None,
        }
    }

    /// Returns the options of `netloom run` that the script sets itself.
    fn own_options(&self) -> &'static [&'static str] {
        match self {
            Emit::Slurm(Slurm { ranks: Some(_), .. }) => &["--threads", "1", "--mpi"],
            Emit::Parallel(_) => &[],
            _ => &["--threads", "1"],
        }
    }

    /// Returns the default number of shards for `units` units.
    fn shards_for(&self, units: usize) -> usize {
        match self {
            // A run over several ranks is long.
            Emit::Slurm(Slurm { ranks: Some(_), .. }) => units.clamp(1, MOST_SHARDS),
            Emit::Slurm(slurm) => shards_for(units, slurm.cores()),
            Emit::Pbs(Pbs { cpus, .. }) | Emit::Lsf(Lsf { cpus, .. }) => shards_for(units, *cpus),
            Emit::Parallel(_) => shards_for(units, 1),
            Emit::Kubernetes(kubernetes) => shards_for(units, kubernetes.cpus),
        }
    }

    /// Checks the file now rather than in every job.
    fn subject(
        &self,
        kinds: &Kinds,
        overrides: &Overrides,
        output: &Output,
    ) -> anyhow::Result<Result<Subject, Exit>> {
        let what = self.what();
        let opened = load::open_study(kinds, &what.file, overrides, Purpose::Look)?;
        match (opened.has_study, self.ranks()) {
            (true, _) => Ok(self.study(opened, output)),
            (false, Some(ranks)) => {
                let overrides = Overrides {
                    ranks,
                    ..overrides.clone()
                };
                one_run(kinds, what, &overrides, output)
            }
            (false, None) => {
                let message = "expected a study, found a file without [study]; use netloom run, or \
                    netloom study emit slurm --ranks N for the ranks of an MPI job";
                output.error(message);
                Ok(Err(Exit::Usage))
            }
        }
    }

    fn study(&self, opened: OpenedStudy, output: &Output) -> Result<Subject, Exit> {
        let Some(study) = opened.study else {
            load::tell(&opened.document, &opened.notes, output);
            return Err(Exit::Invalid);
        };
        // Most points need as much as the first one. The machines that run them may have more.
        if let Some(point) = study.points().next() {
            let division = Division {
                ranks: self.ranks().unwrap_or(1),
                ..Division::default()
            };
            let loaded = study.load_divided(&point, study.seeds.first, &division);
            tell_scarcity(&loaded.notes, output);
            if let Some(experiment) = &loaded.experiment
                && let Err(why) = experiment.has_work_for(division.ranks)
            {
                output.error(&why.to_string());
                return Err(Exit::Usage);
            }
        }
        let units = study.units().len();
        let shards = match self.what().shards {
            Some(shards) if shards > units.max(1) => {
                output.say(&format!(
                    "{shards} shards for {}: using one shard per unit",
                    of_units(units)
                ));
                units.max(1)
            }
            Some(shards) => shards,
            None => self.shards_for(units),
        };
        Ok(Subject::Study(Box::new(study), shards))
    }
}

/// Loads a file without `[study]` that runs over ranks.
fn one_run(
    kinds: &Kinds,
    what: &What,
    overrides: &Overrides,
    output: &Output,
) -> anyhow::Result<Result<Subject, Exit>> {
    if what.shards.is_some() {
        output.error("--shards needs a study, but this file has no [study]");
        return Ok(Err(Exit::Usage));
    }
    let loaded = load::load_quietly(kinds, &what.file, overrides, Purpose::Look, None)?;
    let Some(experiment) = &loaded.experiment else {
        load::tell(&loaded.document, &loaded.notes, output);
        return Ok(Err(load::exit_of(&loaded)));
    };
    if let Err(why) = experiment.has_work_for(overrides.ranks) {
        output.error(&why.to_string());
        return Ok(Err(Exit::Usage));
    }
    tell_scarcity(&loaded.notes, output);
    Ok(Ok(Subject::OneRun(experiment.name.clone())))
}

/// Warns if a run needs more memory than this machine has: the machine that runs it needs as much.
fn tell_scarcity(notes: &Notes, output: &Output) {
    if let Some(note) = notes.iter().find(|note| note.code == "W0705") {
        output.say(&format!("warning: {}; this machine has less", note.message));
    }
}

/// Returns the number of shards for `units` units, with `cores` cores per shard.
fn shards_for(units: usize, cores: usize) -> usize {
    units.div_ceil(UNITS_PER_CORE * cores).clamp(1, MOST_SHARDS)
}

impl What {
    /// Checks that `netloom run` accepts these options, now rather than in every shard.
    fn tried(&self, own: &[&str]) -> Result<RunCommand, String> {
        let run = RunCommand::augment_args(clap::Command::new("netloom run").no_binary_name(true));
        let mut line = vec![self.file.clone().into_os_string()];
        line.extend(["--progress", "plain", "-o", "DIR", "--shard", "1/1"].map(Into::into));
        line.extend(own.iter().map(Into::into));
        line.extend(self.options.iter().map(Into::into));
        let tried = run.try_get_matches_from(line);
        let taken = tried.and_then(|matches| RunCommand::from_arg_matches(&matches));
        taken.map_err(|error| {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            format!("`netloom run` does not accept the options after `--`: {first}")
        })
    }

    fn filling(&self, kind: &str, subject: &Subject) -> anyhow::Result<Filling> {
        let stem = self.file.file_stem().unwrap_or_default();
        let name: String = stem
            .to_string_lossy()
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let script = match &self.output {
            Some(path) => quoted_path(path)?,
            None => format!("{name}.{kind}.sh"),
        };
        let mut options = String::new();
        for option in &self.options {
            write!(options, " \\\n    {}", quoted(option)?)?;
        }
        let folder = self.results.clone();
        let folder = folder.unwrap_or_else(|| subject.folder());
        Ok(Filling {
            program: quoted(program())?,
            name,
            script,
            file: quoted_path(&self.file)?,
            folder: quoted_path(&folder)?,
            options,
            shards: match subject {
                Subject::Study(_, n) => n.to_string(),
                Subject::OneRun(_) => String::new(),
            },
        })
    }
}

/// Writes a script, and makes it executable if it is a program.
fn store(path: &Path, text: &str, overwrite: bool, is_program: bool) -> anyhow::Result<()> {
    if std::fs::symlink_metadata(path).is_ok() && !overwrite {
        bail!(
            "{} already exists; use --overwrite to replace it",
            path.display()
        );
    }
    let cannot = || format!("cannot write {}", path.display());
    netloom_results::store::write_file(path, text.as_bytes()).with_context(cannot)?;
    #[cfg(unix)]
    if is_program {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = std::fs::metadata(path).with_context(cannot)?.permissions();
        permissions.set_mode(permissions.mode() | 0o111);
        std::fs::set_permissions(path, permissions).with_context(cannot)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_shards_follows_from_units_and_cores() {
        let cases = [
            (0, 1, 1),
            (1, 4, 1),
            (16, 4, 1),
            (17, 4, 2),
            (200, 1, 50),
            (100_000, 4, 1000),
        ];
        for (units, cores, shards) in cases {
            assert_eq!(
                shards_for(units, cores),
                shards,
                "{units} units on {cores} cores"
            );
        }
    }
}
