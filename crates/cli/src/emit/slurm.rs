//! `netloom study emit slurm`: writes an array job for a study, a job of several ranks for a run,
//! or an array of such jobs.
//!
//! A lost rank ends its job (`--kill-on-bad-exit`): the others would wait for it forever. Since
//! Slurm 22.05, `srun` does not use `--cpus-per-task` of the job, so the script passes it.

use clap::Args;

use super::{Filling, Subject, What};
use crate::load::at_least_one;

/// Cores of a shard, which runs one unit per core at a time.
const CORES_OF_A_SHARD: usize = 4;

#[derive(Args)]
pub(crate) struct Slurm {
    #[command(flatten)]
    pub(super) what: What,
    /// Number of ranks of an MPI job, for a single run or for each run of a study in turn.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) ranks: Option<usize>,
    /// Ranks per node [default: as Slurm places them].
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "ranks")]
    ranks_per_node: Option<usize>,
    /// How `srun` starts MPI: a type of `srun --mpi=list` that the MPI of this netloom supports.
    #[arg(long, value_name = "TYPE", default_value = "pmix", value_parser = word, requires = "ranks")]
    mpi: String,
    /// Time limit of a shard or a run, in the format of Slurm.
    #[arg(long, value_name = "TIME", default_value = "1:00:00", value_parser = word)]
    time: String,
    /// Memory per shard, or per rank, in the format of Slurm.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    mem: Size,
    /// Cores per shard [default: 4], or threads per rank [default: 1].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    cpus: Option<usize>,
    /// Partition [default: that of the cluster].
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// Account to charge.
    #[arg(long, value_name = "NAME", value_parser = word)]
    account: Option<String>,
}

impl Slurm {
    /// Returns the number of cores of a shard, or of a rank.
    pub(super) fn cores(&self) -> usize {
        self.cpus.unwrap_or(match self.ranks {
            Some(_) => 1,
            None => CORES_OF_A_SHARD,
        })
    }

    /// Describes what the script runs.
    pub(super) fn words(&self, subject: &Subject) -> String {
        match (subject, self.ranks) {
            (Subject::Study(..), None) => subject.shards(),
            (Subject::Study(..), Some(ranks)) => {
                format!("{}, each run over {ranks} ranks", subject.shards())
            }
            (Subject::OneRun(_), ranks) => format!("one run over {} ranks", ranks.unwrap_or(1)),
        }
    }

    pub(super) fn script(&self, filling: &Filling, subject: &Subject) -> String {
        match subject {
            Subject::Study(..) => self.array(filling),
            Subject::OneRun(_) => self.one_run(filling),
        }
    }

    /// Returns the `#SBATCH` lines with the resources of a job.
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
        // Memory per rank: `mem` of Slurm is per node, which may have any number of ranks.
        match self.ranks {
            Some(_) => want("mem-per-cpu", Some(self.mem.divided(cores))),
            None => want("mem", Some(self.mem.text.clone())),
        }
        want("partition", self.partition.clone());
        want("account", self.account.clone());
        lines
    }

    /// Returns the command that starts a process in a job.
    fn starts(&self) -> String {
        match self.ranks {
            Some(_) => format!(
                "srun --mpi={} --kill-on-bad-exit=1 \
                 --cpus-per-task=\"${{SLURM_CPUS_PER_TASK:-1}}\" \\\n    ",
                self.mpi
            ),
            None => String::new(),
        }
    }

    /// Returns the script of an array job for a study.
    fn array(&self, filling: &Filling) -> String {
        let over_ranks = match self.ranks {
            Some(n) => format!(", with each run over {n} ranks"),
            None => String::new(),
        };
        // A merge is one process, and sets its own numbers.
        let (mpi, alone) = match self.ranks {
            Some(_) => (" --mpi", " --ntasks=1 --ntasks-per-node=1"),
            None => ("", ""),
        };
        let own = [
            ("over_ranks", over_ranks.as_str()),
            ("resources", &self.wanted()),
            ("srun", &self.starts()),
            ("mpi", mpi),
            ("alone", alone),
        ];
        filling.fill(include_str!("templates/slurm-array.sh"), &own)
    }

    /// Returns the script of a job of several ranks for one run.
    fn one_run(&self, filling: &Filling) -> String {
        // The options may set another interval.
        let checkpoints = match filling.options.contains("--checkpoint-every") {
            true => "",
            false => " --checkpoint-every 10min",
        };
        let ranks = self.ranks.unwrap_or(1).to_string();
        let own = [
            ("ranks", ranks.as_str()),
            ("resources", &self.wanted()),
            ("srun", &self.starts()),
            ("checkpoints", checkpoints),
        ];
        filling.fill(include_str!("templates/slurm-ranks.sh"), &own)
    }
}

/// Parses a value of an `#SBATCH` line.
pub(super) fn word(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:,+-@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("expected a value without spaces and quotes".to_owned())
    }
}

/// Memory in the format of Slurm.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Size {
    text: String,
    megabytes: u64,
}

/// Parses a whole number of megabytes, or of the unit of its letter.
fn size(text: &str) -> Result<Size, String> {
    let wrong = || "expected a whole number with K, M, G or T".to_owned();
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
    /// Returns the memory per core.
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
