//! `netloom study emit pbs` and `lsf`: write an array job for a study.

use clap::Args;

use super::slurm::word;
use super::{Filling, What};
use crate::load::at_least_one;

#[derive(Args)]
pub(crate) struct Pbs {
    #[command(flatten)]
    pub(super) what: What,
    /// Time limit of a shard, in the format of PBS.
    #[arg(long, value_name = "TIME", default_value = "1:00:00", value_parser = word)]
    time: String,
    /// Memory per shard, in the format of PBS.
    #[arg(long, value_name = "SIZE", default_value = "4gb", value_parser = word)]
    mem: String,
    /// Cores per shard.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    pub(super) cpus: usize,
    /// Queue [default: that of the cluster].
    #[arg(long, value_name = "NAME", value_parser = word)]
    queue: Option<String>,
    /// Account to charge.
    #[arg(long, value_name = "NAME", value_parser = word)]
    account: Option<String>,
}

#[derive(Args)]
pub(crate) struct Lsf {
    #[command(flatten)]
    pub(super) what: What,
    /// Time limit of a shard, in the format of LSF: hours and minutes.
    #[arg(long, value_name = "TIME", default_value = "1:00", value_parser = word)]
    time: String,
    /// Memory per shard, in the format of LSF.
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = word)]
    mem: String,
    /// Cores per shard, on one host.
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    pub(super) cpus: usize,
    /// Queue [default: that of the cluster].
    #[arg(long, value_name = "NAME", value_parser = word)]
    queue: Option<String>,
    /// Project to charge.
    #[arg(long, value_name = "NAME", value_parser = word)]
    project: Option<String>,
}

impl Pbs {
    pub(super) fn script(&self, filling: &Filling, shards: usize) -> String {
        // PBS refuses an array of one job.
        let array = match shards {
            1 => String::new(),
            n => format!("-J 1-{n} "),
        };
        let places = [("#PBS -q", &self.queue), ("#PBS -A", &self.account)];
        let own = [
            ("array", array.as_str()),
            ("time", &self.time),
            ("cpus", &self.cpus.to_string()),
            ("mem", &self.mem),
            ("queue", &lines(places)),
        ];
        filling.fill(include_str!("templates/pbs.sh"), &own)
    }
}

impl Lsf {
    pub(super) fn script(&self, filling: &Filling) -> String {
        let places = [("#BSUB -q", &self.queue), ("#BSUB -P", &self.project)];
        let own = [
            ("time", self.time.as_str()),
            ("cpus", &self.cpus.to_string()),
            ("mem", &self.mem),
            ("queue", &lines(places)),
        ];
        filling.fill(include_str!("templates/lsf.sh"), &own)
    }
}

/// Returns a line for each value that is given.
fn lines<const N: usize>(values: [(&str, &Option<String>); N]) -> String {
    let given = values
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} {}\n", value.as_ref()?)));
    given.collect()
}
