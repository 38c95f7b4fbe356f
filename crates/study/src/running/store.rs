//! Where the runs of a study are kept: in a folder, in memory, or in a store of the caller.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use netloom_results::RunId;
use netloom_results::store::{Invalid, RunFile, RunSummary};

use super::folder::StudyFolder;
use super::lock::UnitLock;

/// Keeps the runs of a study. The runs do not depend on the store.
pub trait Store: Sync {
    /// Returns the name of the store, for messages.
    fn place(&self) -> String;

    /// Returns the ids of all runs, in any order. Some of them may be invalid.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn ids(&self) -> io::Result<Vec<RunId>>;

    /// Returns a run.
    ///
    /// # Errors
    /// If the run is missing or damaged, or belongs to another version.
    fn get(&self, run_id: &RunId) -> Result<Arc<RunFile>, Invalid>;

    /// Returns a run without its tables.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn summary(&self, run_id: &RunId) -> Result<RunSummary, Invalid> {
        self.get(run_id).map(|run| run.summary.clone())
    }

    /// Adds a run. Runs with the same id are equal, so it may replace or keep an existing one.
    ///
    /// # Errors
    /// If the run cannot be stored.
    fn put(&self, run: RunFile) -> io::Result<()>;

    /// Calls `work` unless another process works on this unit, and returns whether it was called.
    /// `work` returns whether all runs of the unit are stored.
    ///
    /// A store that only this process uses always calls it.
    ///
    /// # Errors
    /// Those of `work`, or if the unit cannot be locked.
    fn exclusively(
        &self,
        unit: usize,
        work: &mut dyn FnMut() -> io::Result<bool>,
    ) -> io::Result<bool> {
        let _ = unit;
        work().map(|_| true)
    }
}

impl Store for StudyFolder {
    fn place(&self) -> String {
        self.path().display().to_string()
    }

    fn ids(&self) -> io::Result<Vec<RunId>> {
        let files = match fs::read_dir(self.runs()) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(error),
        };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|name| RunFile::id_of(&name)).collect())
    }

    fn get(&self, run_id: &RunId) -> Result<Arc<RunFile>, Invalid> {
        RunFile::read(&self.runs(), run_id).map(Arc::new)
    }

    fn summary(&self, run_id: &RunId) -> Result<RunSummary, Invalid> {
        RunSummary::read(&self.runs(), run_id)
    }

    fn put(&self, run: RunFile) -> io::Result<()> {
        run.write(&self.runs())
    }

    fn exclusively(
        &self,
        unit: usize,
        work: &mut dyn FnMut() -> io::Result<bool>,
    ) -> io::Result<bool> {
        let Some(lock) = UnitLock::take(self.path(), unit)? else {
            return Ok(false);
        };
        if work()? {
            lock.done();
        }
        Ok(true)
    }
}

/// Keeps runs in memory, with all their tables.
#[derive(Default, Debug)]
pub struct MemoryStore(Mutex<BTreeMap<RunId, Arc<RunFile>>>);

impl MemoryStore {
    /// Creates a store without runs.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<RunFile>>> {
        self.0.lock().expect("the lock is not poisoned")
    }
}

impl Store for MemoryStore {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn ids(&self) -> io::Result<Vec<RunId>> {
        Ok(self.runs().keys().cloned().collect())
    }

    fn get(&self, run_id: &RunId) -> Result<Arc<RunFile>, Invalid> {
        self.runs().get(run_id).cloned().ok_or(Invalid::Missing)
    }

    fn put(&self, run: RunFile) -> io::Result<()> {
        let run_id = run.summary.run_id.clone();
        self.runs().insert(run_id, Arc::new(run));
        Ok(())
    }
}
