//! `netloom emit`: a script that runs a study in shards, for Slurm or GNU parallel.
//!
//! A shard is a chunk of the study's units: starting a member of an array costs a scheduler about 0.2 s, and
//! one process runs several units at once. The scripts are short, commented and the user's to edit; what has
//! been done is skipped, so the answer to any failure is to submit the same script again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, FromArgMatches, Subcommand};
use netloom_experiment::Kinds;
use netloom_study::Study;

use super::load::{self, Purpose, at_least_one};
use super::output::Output;
use super::run::RunCommand;
use super::study::folder_of;
use super::{Exit, program, shard};

/// Units per core of a shard: enough that a long one at the end costs little.
const UNITS_PER_CORE: usize = 4;
/// Slurm's usual MaxArraySize is 1001: indices end at 1000.
const MOST_SHARDS: usize = 1000;

#[derive(Subcommand)]
#[command(after_help = "Examples:
  netloom emit slurm study.toml --partition short -o study.sh && bash study.sh
  netloom emit parallel study.toml --shards 8 -o study.sh && bash study.sh --sshloginfile machines.txt
  netloom emit slurm study.toml --shards 8 -- --set traffic.load=0.5 --until 1ms")]
pub(crate) enum Emit {
    /// An array job for Slurm, and a merge that follows it.
    Slurm(Slurm),
    /// A script for GNU parallel, on this machine or over ssh.
    Parallel(Parallel),
}

#[derive(Args)]
struct What {
    /// The study.
    file: PathBuf,
    /// How many shards; otherwise so many that a shard has some units for each of its cores.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    shards: Option<usize>,
    /// Where results go; NAME.out without it.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Where the script goes; stdout without it.
    #[arg(short, long, value_name = "SCRIPT")]
    output: Option<PathBuf>,
    /// Replace the script if it exists.
    #[arg(long)]
    overwrite: bool,
    /// Options of `netloom run`, after `--`.
    #[arg(last = true, value_name = "RUN OPTION")]
    options: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Slurm {
    #[command(flatten)]
    what: What,
    /// Time limit of a shard, as Slurm writes it.
    #[arg(long, value_name = "TIME", default_value = "1:00:00", value_parser = word)]
    time: String,
    /// Memory of a shard, as Slurm writes it.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = word)]
    mem: String,
    /// Cores of a shard.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    cpus: usize,
    /// The partition; the cluster's default without it.
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// Who pays.
    #[arg(long, value_name = "NAME", value_parser = word)]
    account: Option<String>,
}

#[derive(Args)]
pub(crate) struct Parallel {
    #[command(flatten)]
    what: What,
}

/// What a script is filled with; every text is ready for the shell.
struct Filling {
    /// What this program is called.
    program: String,
    shards: usize,
    /// The name of the study, fit for a job and a file.
    name: String,
    /// What the user would type to run the script.
    script: String,
    file: String,
    folder: String,
    /// Options of `netloom run`, each on a line of its own.
    options: String,
}

impl Emit {
    pub(super) fn run(&self, kinds: &Kinds, output: &Output) -> anyhow::Result<Exit> {
        let (what, kind, cores) = match self {
            Emit::Slurm(slurm) => (&slurm.what, "slurm", slurm.cpus),
            Emit::Parallel(parallel) => (&parallel.what, "parallel", 1),
        };
        let run = match what.tried() {
            Ok(run) => run,
            Err(wrong) => {
                output.error(&wrong);
                return Ok(Exit::Usage);
            }
        };
        let opened = load::open_study(kinds, &what.file, run.overrides(), Purpose::Look)?;
        if !opened.has_study {
            let message =
                "there is nothing to divide: the file has no [study]; netloom run runs it as it is";
            output.error(message);
            return Ok(Exit::Usage);
        }
        let Some(study) = opened.study else {
            load::tell(&opened.document, &opened.notes, output);
            return Ok(Exit::Invalid);
        };
        // What the first point needs is what most need; where they run there may be more.
        if let Some(point) = study.points().next() {
            let loaded = study.load(&point, study.seeds.first, None, 1);
            let scarce = loaded.notes.iter().find(|note| note.code == "W0705");
            if let Some(note) = scarce {
                output.say(&format!("warning: {}; this machine has less", note.message));
            }
        }
        let units = study.units().len();
        let shards = what.shards.unwrap_or_else(|| shards_for(units, cores));
        let filling = what.filling(kind, shards, &study)?;
        let text = match self {
            Emit::Slurm(slurm) => slurm.script(&filling),
            Emit::Parallel(_) => parallel_script(&filling),
        };
        match &what.output {
            None => output.data(&text)?,
            Some(path) => {
                store(path, &text, what.overwrite)?;
                output.say(&format!(
                    "wrote {}: {shards} shards. Next: bash {}",
                    path.display(),
                    filling.script
                ));
            }
        }
        Ok(Exit::Done)
    }
}

/// How many shards so many units make, each with so many cores.
fn shards_for(units: usize, cores: usize) -> usize {
    units.div_ceil(UNITS_PER_CORE * cores).clamp(1, MOST_SHARDS)
}

impl What {
    fn folder(&self, study: &Study) -> PathBuf {
        self.results.clone().unwrap_or_else(|| folder_of(study))
    }

    /// Whether `netloom run` would take these options: better said now than by every shard.
    fn tried(&self) -> Result<RunCommand, String> {
        let run = RunCommand::augment_args(clap::Command::new("netloom run").no_binary_name(true));
        let mut line = vec![self.file.clone().into_os_string()];
        line.extend(["--progress", "plain", "-o", "DIR", "--shard", "1/1"].map(Into::into));
        line.extend(self.options.iter().map(Into::into));
        let tried = run.try_get_matches_from(line);
        let taken = tried.and_then(|matches| RunCommand::from_arg_matches(&matches));
        taken.map_err(|error| {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            format!("`netloom run` does not take what follows `--`: {first}")
        })
    }

    fn filling(&self, kind: &str, shards: usize, study: &Study) -> anyhow::Result<Filling> {
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
        Ok(Filling {
            program: quoted(program())?,
            shards,
            name,
            script,
            file: quoted_path(&self.file)?,
            folder: quoted_path(&self.folder(study))?,
            options,
        })
    }
}

/// What both scripts begin with after their comments.
fn preamble(filling: &Filling) -> String {
    let Filling {
        program,
        file,
        folder,
        ..
    } = filling;
    format!(
        r#"netloom=${{NETLOOM:-{program}}}
file={file}
folder={folder}

command -v "$netloom" >/dev/null || {{
    echo "no $netloom here: put it on the PATH, or set NETLOOM to where it is" >&2
    exit 1
}}
[ -r "$file" ] || {{
    echo "no $file in $PWD: start this script in the folder from which $file is named so" >&2
    exit 1
}}
"#
    )
}

impl Slurm {
    fn script(&self, filling: &Filling) -> String {
        let Filling {
            program,
            shards,
            name,
            script,
            folder,
            options,
            ..
        } = filling;
        let mut lines = format!("#SBATCH --time={}\n", self.time);
        let cpus = self.cpus.to_string();
        let wanted = [
            ("cpus-per-task", Some(&cpus)),
            ("mem", Some(&self.mem)),
            ("partition", self.partition.as_ref()),
            ("account", self.account.as_ref()),
        ];
        for (key, value) in wanted {
            if let Some(value) = value {
                lines.push_str(&format!("#SBATCH --{key}={value}\n"));
            }
        }
        let (preamble, variable) = (preamble(filling), shard::SHARDS);
        format!(
            r#"#!/bin/bash
# A study as an array job of Slurm. From the folder in which this file was written:
#   bash {script}                   submit the array, and a merge that follows it
#   sbatch {script}                 submit the array alone; then: {program} merge {folder}
#   sbatch --array=3,7 {script}     submit two of the shards again
# A run that is done is never done again: after any failure, submit once more.
# These lines are yours to edit; for another number of shards, write a new script.
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
{lines}#SBATCH --output={name}-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
set -euo pipefail
export {variable}={shards}
{preamble}
if [ "${{1:-}}" = merge ]; then
    exec "$netloom" merge "$folder"
elif [ -z "${{SLURM_ARRAY_TASK_ID:-}}" ]; then
    array=$(sbatch --parsable "$0")
    array=${{array%%;*}}
    # In any case: a merge says what is missing, and a shard that has not converged ends with 5.
    merge=$(sbatch --parsable --dependency="afterany:$array" --array=1 \
        --job-name={name}-merge --output={name}-merge-%A.log "$0" merge)
    echo "submitted array $array and merge ${{merge%%;*}}; see: {program} status $folder"
    exit
fi
exec "$netloom" run "$file" -o "$folder" --shard auto \
    --threads "${{SLURM_CPUS_PER_TASK:-1}}" --progress plain{options}
"#
        )
    }
}

fn parallel_script(filling: &Filling) -> String {
    let Filling {
        shards,
        script,
        options,
        ..
    } = filling;
    let preamble = preamble(filling);
    format!(
        r#"#!/bin/bash
# A study in shards by GNU parallel, and its tables merged at the end. Options are handed on to parallel:
#   bash {script}                                   one shard after the other; each uses all cores
#   bash {script} --sshloginfile machines.txt       on machines that share this folder
#   bash {script} --jobs 4                          four shards at a time on each machine
# A run that is done is never done again: after any failure, start it once more.
set -euo pipefail
shards={shards}
{preamble}command -v parallel >/dev/null || {{
    echo "no GNU parallel here: install the package parallel" >&2
    exit 1
}}

code=0
seq "$shards" | parallel --jobs 1 --workdir . --line-buffer --tagstring "{{}}/$shards" "$@" --quote \
    "$netloom" run "$file" -o "$folder" --shard "{{}}/$shards" --progress plain{options} || code=$?
[ "$code" = 0 ] || echo "parallel ended with $code: so many shards did not end well" >&2
# In any case: a merge says what is missing.
"$netloom" merge "$folder" || exit
exit "$code"
"#
    )
}

/// Writes a script that can be started.
fn store(path: &Path, text: &str, overwrite: bool) -> anyhow::Result<()> {
    if path.exists() && !overwrite {
        bail!("{} exists; --overwrite replaces it", path.display());
    }
    let cannot = || format!("cannot write {}", path.display());
    std::fs::write(path, text).with_context(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = std::fs::metadata(path).with_context(cannot)?.permissions();
        permissions.set_mode(permissions.mode() | 0o111);
        std::fs::set_permissions(path, permissions).with_context(cannot)?;
    }
    Ok(())
}

/// A value of an `#SBATCH` line.
fn word(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:,+-@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("write it as Slurm does, without spaces and quotes".to_owned())
    }
}

fn quoted_path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    // A name that begins with a dash would be an option.
    let text = text.map(|text| {
        if text.starts_with('-') {
            format!("./{text}")
        } else {
            text.to_owned()
        }
    });
    quoted(&text.with_context(|| format!("{} is not UTF-8", path.display()))?)
}

/// A word for the shell.
fn quoted(text: &str) -> anyhow::Result<String> {
    if text.contains(|c: char| c.is_control()) {
        bail!("{text:?} has a control character, which no script can hold");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:=+,@%-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Ok(format!("'{}'", text.replace('\'', r"'\''")))
    }
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

    #[test]
    fn words_reach_the_shell_as_they_are() {
        for text in [
            "plain",
            "",
            "two words",
            "it's",
            r#"a"b$c`d\e"#,
            "{}",
            "#",
            "é",
            "traffic.load=0.5",
        ] {
            let line = format!("printf %s {}", quoted(text).unwrap());
            let said = std::process::Command::new("sh")
                .args(["-c", &line])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), text);
        }
        assert!(quoted("two\nlines").is_err());
        assert_eq!(quoted_path(Path::new("-o")).unwrap(), "./-o");
        assert!(word("a b").is_err() && word("").is_err() && word("1-02:00").is_ok());
    }
}
