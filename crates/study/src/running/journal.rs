//! A journal of every process, for `study watch` and for estimates. It does not affect results.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use netloom_catalog::file::{MOST_LIST, read_bytes};
use netloom_results::store::{create_new, make_folder};
use netloom_results::{RunId, Status};
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Entry {
    /// A process started.
    Process {
        time: f64,
        host: String,
        pid: u32,
        /// Its shard, such as `3/8`.
        shard: Option<String>,
        /// Number of concurrent runs.
        threads: usize,
    },
    /// A run started.
    Started {
        time: f64,
        run: RunId,
        /// Label of its point.
        point: String,
        seed: u64,
        unit: usize,
        host: String,
    },
    /// A run completed and is stored.
    Finished {
        time: f64,
        run: RunId,
        /// Label of its point.
        point: String,
        seed: u64,
        status: Status,
        seconds: f64,
        packet_hops: u64,
        /// Delivered load over all classes.
        delivered_load: f64,
        /// Mean message latency over all classes.
        latency_mean_ns: Option<f64>,
        /// 99 % quantile of message latency over all classes.
        latency_p99_ns: Option<f64>,
    },
    /// A point could not be run.
    Failed {
        time: f64,
        /// Label of its point.
        point: String,
        message: String,
    },
    /// All runs of a unit are stored.
    Unit { time: f64, unit: usize },
    /// A process ended normally.
    End {
        time: f64,
        /// Whether it was interrupted.
        interrupted: bool,
    },
}

/// Returns the current time in seconds since 1970.
pub(super) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The journal of this process. All times are in seconds since 1970.
pub struct Journal {
    file: Mutex<File>,
    host: String,
}

impl Journal {
    /// Creates the journal of this process in the folder of a study.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn begin(
        folder: &Path,
        host: &str,
        shard: Option<String>,
        threads: usize,
    ) -> io::Result<Journal> {
        let (time, pid) = (now(), std::process::id());
        let plain: String = host
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let name = format!("{plain}-{pid}-{:.0}.jsonl", time * 1e3);
        let journals = folder.join("journal");
        make_folder(&journals)?;
        let file = create_new(&journals.join(name))?;
        // Held as long as this process lives, so that readers can tell that it runs: [`at_work`].
        let _ = file.try_lock();
        let journal = Journal {
            file: Mutex::new(file),
            host: host.to_owned(),
        };
        journal.add(&Entry::Process {
            time,
            host: host.to_owned(),
            pid,
            shard,
            threads,
        });
        Ok(journal)
    }

    /// Returns the name of the machine.
    pub(super) fn host(&self) -> String {
        self.host.clone()
    }

    /// Adds a line. Errors are ignored, since results do not depend on the journal.
    pub(super) fn add(&self, entry: &Entry) {
        let mut line = serde_json::to_string(entry).expect("plain data is JSON");
        line.push('\n');
        if let Ok(mut file) = self.file.lock() {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Returns all lines of all journals of a study, in order of time. A line that is truncated or not
/// valid text is skipped.
///
/// # Errors
/// If the folder or a journal cannot be read; the error names it.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    in_order(folder, |_, _| true)
}

/// Returns the lines of journals whose processes are running: neither ended nor killed.
///
/// # Errors
/// If the folder cannot be read.
pub fn at_work(folder: &Path) -> io::Result<Vec<Entry>> {
    in_order(folder, |path, entries| {
        let has_ended = |entry: &Entry| matches!(entry, Entry::End { .. });
        if entries.iter().any(has_ended) {
            return false;
        }
        // On a file system without locks, any process without an `End` entry may be alive.
        let lock = File::open(path).map(|file| file.try_lock());
        matches!(
            lock,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_)))
        )
    })
}

/// Returns the lines of selected journals, in order of time.
fn in_order(folder: &Path, is_wanted: fn(&Path, &[Entry]) -> bool) -> io::Result<Vec<Entry>> {
    let mut all: Vec<Entry> = vec![];
    let files = match fs::read_dir(folder.join("journal")) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
        Err(error) => return Err(error),
    };
    for file in files.filter_map(Result::ok) {
        if !file.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // A damaged line is skipped, as a truncated one is.
        let path = file.path();
        let bytes = read_bytes(&path, MOST_LIST).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines();
        let entries: Vec<Entry> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if is_wanted(&path, &entries) {
            all.extend(entries);
        }
    }
    all.sort_by(|a, b| a.time().total_cmp(&b.time()));
    Ok(all)
}

impl Entry {
    /// Returns its time in seconds since 1970.
    pub fn time(&self) -> f64 {
        match self {
            Entry::Process { time, .. }
            | Entry::Started { time, .. }
            | Entry::Finished { time, .. }
            | Entry::Failed { time, .. }
            | Entry::Unit { time, .. }
            | Entry::End { time, .. } => *time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ended_or_was_killed_is_not_at_work() {
        let folder = std::env::temp_dir().join(format!("netloom-journal-{}", std::process::id()));
        fs::create_dir_all(folder.join("journal")).unwrap();
        let at_work = || at_work(&folder).unwrap().len();
        let journal = Journal::begin(&folder, "here", None, 1).unwrap();
        assert_eq!(at_work(), 1);
        // Killed: the system releases the lock of its journal.
        drop(journal);
        assert_eq!(at_work(), 0);
        assert_eq!(entries(&folder).unwrap().len(), 1);
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir_all(folder.join("journal")).unwrap();
        let journal = Journal::begin(&folder, "there", None, 1).unwrap();
        journal.add(&Entry::End {
            time: now(),
            interrupted: true,
        });
        assert_eq!((at_work(), entries(&folder).unwrap().len()), (0, 2));
        fs::remove_dir_all(&folder).unwrap();
    }
}
