//! What every process did: for people who watch, and for estimates. Results do not depend on it.

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
    /// A process began.
    Process {
        /// Seconds since 1970.
        time: f64,
        /// The machine.
        host: String,
        /// The process.
        pid: u32,
        /// Its share, such as `3/8`.
        shard: Option<String>,
        /// Runs at the same time.
        threads: usize,
    },
    /// A run began.
    Started {
        /// Seconds since 1970.
        time: f64,
        /// Which run.
        run: RunId,
        /// Its point, for people.
        point: String,
        /// Its seed.
        seed: u64,
        /// Its unit.
        unit: usize,
        /// The machine.
        host: String,
    },
    /// A run ended and is stored.
    Finished {
        /// Seconds since 1970.
        time: f64,
        /// Which run.
        run: RunId,
        /// Its point, for people.
        point: String,
        /// Its seed.
        seed: u64,
        /// How it ended.
        status: Status,
        /// How long it took.
        seconds: f64,
        /// What it simulated.
        packet_hops: u64,
        /// What was delivered, over all classes.
        delivered_load: f64,
        /// Mean message latency over all classes.
        latency_mean_ns: Option<f64>,
        /// Its 99 % quantile.
        latency_p99_ns: Option<f64>,
    },
    /// A point could not be run.
    Failed {
        /// Seconds since 1970.
        time: f64,
        /// Its point, for people.
        point: String,
        /// Why.
        message: String,
    },
    /// All runs of a unit are stored.
    Unit {
        /// Seconds since 1970.
        time: f64,
        /// Which unit.
        unit: usize,
    },
    /// A process ended by itself.
    End {
        /// Seconds since 1970.
        time: f64,
        /// Whether it was asked to stop.
        interrupted: bool,
    },
}

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The journal of this process.
pub struct Journal {
    file: Mutex<File>,
    host: String,
}

impl Journal {
    /// Begins the journal of this process in the folder of a study.
    ///
    /// # Errors
    /// If the system refuses.
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
        // Held as long as this process lives, so that who looks on knows it: [`at_work`].
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

    /// The machine of this process.
    pub(super) fn host(&self) -> String {
        self.host.clone()
    }

    /// Adds a line. A journal that cannot be written stops nobody: results do not depend on it.
    pub(super) fn add(&self, entry: &Entry) {
        let mut line = serde_json::to_string(entry).expect("plain data is JSON");
        line.push('\n');
        if let Ok(mut file) = self.file.lock() {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Every line of every journal of a study, in order of time. A line that was cut off by a crash, or that is no text, is
/// left out.
///
/// # Errors
/// If the folder or a journal cannot be read; it is named.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    in_order(folder, |_, _| true)
}

/// The lines of those journals whose processes are at work: that did not end by themselves and were not killed.
///
/// # Errors
/// If the folder cannot be read.
pub fn at_work(folder: &Path) -> io::Result<Vec<Entry>> {
    in_order(folder, |path, entries| {
        let has_ended = |entry: &Entry| matches!(entry, Entry::End { .. });
        if entries.iter().any(has_ended) {
            return false;
        }
        // A file system without locks leaves it open who is alive: whoever did not say goodbye may be.
        let lock = File::open(path).map(|file| file.try_lock());
        matches!(
            lock,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_)))
        )
    })
}

/// The lines of journals that are wanted, in order of time.
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
        // A line that is damaged, or no text at all, is left out like one that was cut off.
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
    /// When it was, in seconds since 1970.
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
        // Killed: the system lets go of its journal.
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
