//! `netloom emit slurm`: an array job for a study, one job of several ranks for a run, an array of such jobs.
//!
//! A lost rank ends its job (`--kill-on-bad-exit`): the others would wait for it for ever. `srun` hands `--cpus-per-task` of
//! a job on to nobody since Slurm 22.05, so the script does.

use clap::Args;

use super::{Filling, Subject, What, preamble};
use crate::load::at_least_one;
use crate::shard;

/// Cores of a shard, whose runs are many: one for each core at a time.
const CORES_OF_A_SHARD: usize = 4;

#[derive(Args)]
pub(crate) struct Slurm {
    #[command(flatten)]
    pub(super) what: What,
    /// Run over so many ranks of an MPI job: a single run, or each run of a study in turn.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) ranks: Option<usize>,
    /// Ranks of one node; as Slurm places them without it.
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "ranks")]
    ranks_per_node: Option<usize>,
    /// How `srun` starts MPI: what `srun --mpi=list` has and the MPI of this netloom knows.
    #[arg(long, value_name = "TYPE", default_value = "pmix", value_parser = word, requires = "ranks")]
    mpi: String,
    /// Time limit of a shard or a run, as Slurm writes it.
    #[arg(long, value_name = "TIME", default_value = "1:00:00", value_parser = word)]
    time: String,
    /// Memory of a shard, or of each rank, as Slurm writes it.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    mem: Size,
    /// Cores of a shard (4 without it), or threads of each rank (1 without it).
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    cpus: Option<usize>,
    /// The partition; the cluster's default without it.
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// Who pays.
    #[arg(long, value_name = "NAME", value_parser = word)]
    account: Option<String>,
}

impl Slurm {
    /// Cores of a shard, or of a rank.
    pub(super) fn cores(&self) -> usize {
        self.cpus.unwrap_or(match self.ranks {
            Some(_) => 1,
            None => CORES_OF_A_SHARD,
        })
    }

    /// What the script runs, for people.
    pub(super) fn words(&self, subject: &Subject) -> String {
        match (subject, self.ranks) {
            (Subject::Study(..), None) => subject.shards(),
            (Subject::Study(..), Some(ranks)) => {
                format!("{}, every run over {ranks} ranks", subject.shards())
            }
            (Subject::OneRun(_), ranks) => format!("one run over {} ranks", ranks.unwrap_or(1)),
        }
    }

    pub(super) fn script(&self, filling: &Filling, subject: &Subject) -> String {
        match subject {
            Subject::Study(_, shards) => self.array(filling, *shards),
            Subject::OneRun(_) => self.one_run(filling),
        }
    }

    /// What a job asks for, each as a line.
    fn wanted(&self) -> String {
        let cores = self.cores();
        let mut lines = format!("#SBATCH --time={}\n", self.time);
        let mut want = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                lines.push_str(&format!("#SBATCH --{key}={value}\n"));
            }
        };
        want("ntasks", self.ranks.map(|n| n.to_string()));
        want(
            "ntasks-per-node",
            self.ranks_per_node.map(|n| n.to_string()),
        );
        want("cpus-per-task", Some(cores.to_string()));
        // Of a rank, wherever it is: Slurm's `mem` is of a node, which may have one of them or all.
        match self.ranks {
            Some(_) => want("mem-per-cpu", Some(self.mem.divided(cores))),
            None => want("mem", Some(self.mem.text.clone())),
        }
        want("partition", self.partition.clone());
        want("account", self.account.clone());
        lines
    }

    /// How a process is started in a job.
    fn starts(&self) -> String {
        match self.ranks {
            Some(_) => format!(
                "srun --mpi={} --kill-on-bad-exit=1 --cpus-per-task=\"${{SLURM_CPUS_PER_TASK:-1}}\" \\\n    ",
                self.mpi
            ),
            None => String::new(),
        }
    }

    /// A study as an array.
    fn array(&self, filling: &Filling, shards: usize) -> String {
        let Filling {
            program,
            name,
            script,
            folder,
            options,
            ..
        } = filling;
        let over_ranks = match self.ranks {
            Some(n) => format!(", every run over {n} ranks"),
            None => String::new(),
        };
        // A merge is one process, and brings its own numbers.
        let (mpi, alone) = match self.ranks {
            Some(_) => (" --mpi", " --ntasks=1 --ntasks-per-node=1"),
            None => ("", ""),
        };
        let (lines, preamble, starts) = (self.wanted(), preamble(filling), self.starts());
        let variable = shard::SHARDS;
        format!(
            r#"#!/bin/bash
# A study as an array job of Slurm{over_ranks}. From the folder in which this file was written:
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
    # After any end of the array: a merge says which runs are missing.
    merge=$(sbatch --parsable --dependency="afterany:$array" --array=1{alone} \
        --job-name={name}-merge --output={name}-merge-%A.log "$0" merge)
    echo "submitted array $array and merge ${{merge%%;*}}; see: $netloom status $folder"
    exit
fi
exec {starts}"$netloom" run "$file" -o "$folder"{mpi} --shard auto \
    --threads "${{SLURM_CPUS_PER_TASK:-1}}" --progress plain{options}
"#
        )
    }

    /// One run as a job of several ranks.
    fn one_run(&self, filling: &Filling) -> String {
        let Filling {
            name,
            script,
            options,
            ..
        } = filling;
        let (lines, preamble, starts) = (self.wanted(), preamble(filling), self.starts());
        let ranks = self.ranks.unwrap_or(1);
        // Who gives another time has said so.
        let kept = match options.contains("--checkpoint-every") {
            true => "",
            false => " --checkpoint-every 10min",
        };
        format!(
            r#"#!/bin/bash
# One run over {ranks} ranks of an MPI job, for Slurm. From the folder in which this file was written:
#   bash {script}                   submit it
# Its state is kept every ten minutes, and two minutes before its time is over: after that, or after any failure, submit it
# once more, and it goes on. Over however many ranks, it has the same results.
# These lines are yours to edit; ranks are --ntasks, and may be any number up to that of the switches.
#SBATCH --job-name={name}
{lines}#SBATCH --output={name}-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@120
set -euo pipefail
{preamble}
if [ -z "${{SLURM_JOB_ID:-}}" ]; then
    exec sbatch "$0"
fi
exec {starts}"$netloom" run "$file" -o "$folder" --mpi{kept} \
    --threads "${{SLURM_CPUS_PER_TASK:-1}}" --progress plain{options}
"#
        )
    }
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

/// Memory as Slurm writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Size {
    text: String,
    megabytes: u64,
}

/// A whole number of megabytes, or of what its letter says.
fn size(text: &str) -> Result<Size, String> {
    let wrong = || "write it as Slurm does: a whole number and K, M, G or T".to_owned();
    let (digits, letter) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        Some(digits) => (digits, text[digits.len()..].to_ascii_uppercase()),
        None => (text, "M".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let megabytes = match letter.as_str() {
        "K" => Some(number.div_ceil(1024)),
        "M" => Some(number),
        "G" => number.checked_mul(1024),
        "T" => number.checked_mul(1024 * 1024),
        _ => None,
    };
    let text = text.to_owned();
    megabytes
        .map(|megabytes| Size { text, megabytes })
        .ok_or_else(wrong)
}

impl Size {
    /// The part of each core.
    fn divided(&self, cores: usize) -> String {
        format!("{}M", self.megabytes.div_ceil(cores.max(1) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_slurm_are_plain_words() {
        assert!(word("a b").is_err() && word("").is_err() && word("1-02:00").is_ok());
    }

    #[test]
    fn memory_of_a_rank_is_divided_over_its_cores() {
        let divided = |text: &str, cores| size(text).map(|size| size.divided(cores));
        assert_eq!(divided("4G", 1).as_deref(), Ok("4096M"));
        assert_eq!(divided("4G", 3).as_deref(), Ok("1366M"));
        assert_eq!(divided("900", 2).as_deref(), Ok("450M"));
        assert_eq!(divided("1t", 4).as_deref(), Ok("262144M"));
        assert_eq!(divided("5K", 1).as_deref(), Ok("1M"));
        for wrong in ["", "G", "4 G", "4GB", "1.5G", "-1M", "4X"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
