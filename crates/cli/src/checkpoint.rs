//! Checkpoints of a single run, next to the folder of its results.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use netloom_experiment::Experiment;
use netloom_experiment::runner::{self, Checkpoints};
use netloom_results::store::{CheckpointFolder, CheckpointOf};
use netloom_units::short_time;

use super::interrupt;
use super::job::Job;
use super::output::Output;

/// Writes checkpoints to a folder at an interval.
pub(crate) struct CheckpointWriter<'a> {
    folder: CheckpointFolder,
    every: Option<Duration>,
    /// When the last checkpoint was written, or the run started.
    last: Instant,
    output: &'a Output,
}

impl<'a> CheckpointWriter<'a> {
    /// Opens the checkpoints of a run. Returns `None` if there is no interval and no checkpoint. If
    /// there is a checkpoint, divides the experiment into its partitions.
    ///
    /// # Errors
    /// If the checkpoint belongs to another run or cannot be read.
    pub(crate) fn open(
        every: Option<Duration>,
        overwrite: bool,
        results: &Path,
        experiment: &mut Experiment,
        job: &Job,
        output: &'a Output,
    ) -> anyhow::Result<Option<CheckpointWriter<'a>>> {
        let path = CheckpointFolder::path_for(results);
        let removed = match overwrite && job.leads() {
            true => CheckpointFolder::remove(&path),
            false => Ok(()),
        };
        // Other ranks look for a checkpoint after its removal.
        job.all(true);
        removed?;
        let here = path.display();
        let run_id = runner::run_id(experiment).to_string();
        let found = CheckpointFolder::look(&path).map_err(|why| refused(&why, &path))?;
        let is_there = found.is_some();
        match found {
            None if every.is_none() => return Ok(None),
            None => {}
            Some(of) if of.run_id != run_id => anyhow::bail!(
                "{here} is a checkpoint of another run (expected {run_id}, found {}); use another \
                 folder with -o DIR, or start over with --overwrite",
                of.run_id
            ),
            Some(of) if of.netloom != env!("NETLOOM_VERSION") => anyhow::bail!(
                "{here} was written by netloom {}, this is netloom {}; resume with that version, \
                 or start over with --overwrite",
                of.netloom,
                env!("NETLOOM_VERSION")
            ),
            Some(of) => experiment.cut_into(of.n_partitions as usize),
        }
        let of = CheckpointOf {
            netloom: env!("NETLOOM_VERSION").to_owned(),
            run_id,
            n_partitions: experiment.fabric.n_partitions() as u32,
        };
        if is_there {
            interrupt::resumes_from(&path);
        }
        Ok(Some(CheckpointWriter {
            folder: CheckpointFolder::open(&path, of, job.leads())?,
            every,
            last: Instant::now(),
            output,
        }))
    }

    /// Removes the checkpoints of a run that has ended.
    pub(crate) fn remove(self) {
        if let Err(error) = CheckpointFolder::remove(self.folder.path()) {
            let path = self.folder.path().display();
            self.output
                .say(&format!("warning: cannot remove {path}: {error}"));
        }
    }
}

/// Returns the error about a checkpoint that cannot be used.
pub(crate) fn refused(why: &dyn std::fmt::Display, path: &Path) -> anyhow::Error {
    let here = path.display();
    anyhow::anyhow!("{why}; delete {here}, or run with --overwrite to start from the beginning")
}

impl Checkpoints for CheckpointWriter<'_> {
    fn last(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.folder.shared()
    }

    fn partition(&mut self, partition: usize) -> io::Result<Vec<u8>> {
        self.folder.partition(partition)
    }

    fn place(&self, partition: Option<usize>) -> String {
        self.folder.file(partition).display().to_string()
    }

    fn resumed(&mut self, at_ns: f64) {
        let (here, at) = (self.folder.path().display(), short_time(at_ns));
        self.output.say(&format!(
            "resuming from checkpoint {here} at {at} of simulated time"
        ));
    }

    fn is_due(&mut self) -> bool {
        self.every.is_some_and(|every| self.last.elapsed() >= every)
    }

    fn keep_partition(&mut self, partition: usize, saved: &[u8]) -> io::Result<()> {
        self.folder.keep_partition(partition, saved)
    }

    fn complete(&mut self, shared: &[u8]) -> io::Result<()> {
        self.last = Instant::now();
        self.folder.complete(shared)
    }

    fn failed(&mut self, error: Option<io::Error>) {
        self.last = Instant::now();
        self.folder.abandon();
        let why = error.map_or(
            "another process could not write its part".to_owned(),
            |error| error.to_string(),
        );
        let path = self.folder.path().display();
        self.output.say(&format!(
            "warning: cannot write a checkpoint to {path}: {why}; the run continues"
        ));
    }
}

/// Parses a wall-clock time such as `90s`, `10min` or `2h`.
pub(crate) fn wall_time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let seconds = match unit.trim() {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    let number: Option<f64> = text[..text.len() - unit.len()].parse().ok();
    let time = number.and_then(|n| Duration::try_from_secs_f64(n * seconds).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a time such as 90s, 10min or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_number_and_a_unit() {
        for (text, seconds) in [
            ("90s", 90.0),
            ("10min", 600.0),
            ("2 h", 7200.0),
            ("0.5s", 0.5),
        ] {
            assert_eq!(wall_time(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for text in [
            "",
            "10",
            "10us",
            "-1s",
            "min",
            "0s",
            "1e9h",
            "9999999999999999999999h",
        ] {
            assert!(wall_time(text).is_err(), "{text}");
        }
    }
}
