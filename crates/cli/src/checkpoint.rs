//! Checkpoints of a single run, beside the folder of its results.

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

/// A folder of checkpoints, and how often one is made.
pub(crate) struct Keeper<'a> {
    folder: CheckpointFolder,
    every: Option<Duration>,
    /// When the last one was made, or the run began.
    last: Instant,
    output: &'a Output,
}

impl<'a> Keeper<'a> {
    /// The checkpoints of a run whose results go to a folder; none if none are asked for and there is none to go on from. If
    /// there is one, the experiment is cut into its partitions.
    ///
    /// # Errors
    /// If there is one that is of something else, or cannot be read.
    pub(crate) fn open(
        every: Option<Duration>,
        overwrite: bool,
        results: &Path,
        experiment: &mut Experiment,
        job: &Job,
        output: &'a Output,
    ) -> anyhow::Result<Option<Keeper<'a>>> {
        let path = CheckpointFolder::beside(results);
        let removed = match overwrite && job.leads() {
            true => CheckpointFolder::remove(&path),
            false => Ok(()),
        };
        // The others look when it is gone.
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
                "{here} is a checkpoint of another run ({}, this is {run_id}); give another folder with -o DIR, or begin \
                 anew with --overwrite",
                of.run_id
            ),
            Some(of) if of.netloom != env!("NETLOOM_VERSION") => anyhow::bail!(
                "{here} was made by netloom {}, this is {}; go on with that one, or begin anew with --overwrite",
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
        Ok(Some(Keeper {
            folder: CheckpointFolder::open(&path, of, job.leads())?,
            every,
            last: Instant::now(),
            output,
        }))
    }

    /// The run has ended, and needs none of them any more.
    pub(crate) fn remove(self) {
        if let Err(error) = CheckpointFolder::remove(self.folder.path()) {
            let path = self.folder.path().display();
            self.output
                .say(&format!("warning: {path} cannot be removed: {error}"));
        }
    }
}

/// A checkpoint that cannot be used, and what to do about it.
pub(crate) fn refused(why: &dyn std::fmt::Display, path: &Path) -> anyhow::Error {
    let here = path.display();
    anyhow::anyhow!("{why}; delete {here}, or run with --overwrite to start from the beginning")
}

impl Checkpoints for Keeper<'_> {
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
            "resumes from the checkpoint {here} at {at} of simulated time"
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
            "warning: no checkpoint was made in {path}: {why}; the run goes on"
        ));
    }
}

/// A time of the clock on the wall, such as `90s`, `10min` or `2h`.
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
        .ok_or_else(|| "write a time such as 90s, 10min or 2h".to_owned())
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
