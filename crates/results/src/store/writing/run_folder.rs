//! The folder of a run: never replaced by another run, never partially written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FolderError;
use super::lock::FolderLock;
use super::names::foreign;
use super::sibling::Sibling;
use super::sums::{SUMS, Sums};
use crate::{Document, RunId, Status};

/// The file that identifies the contents of a folder.
const DOCUMENT: &str = "results.json";

/// A folder for the results of one run. No other process can write to it between `open` and
/// `write`.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Whether it contains the complete results of the same run.
    holds_finished: bool,
    /// Dropped before the lock: only the holder of the lock may remove it.
    sibling: Sibling,
    _lock: FolderLock,
}

impl RunFolder {
    /// Opens a folder for the results of a run and checks that it is writable; to be called before
    /// the run.
    ///
    /// # Errors
    /// If it contains another run or a study and `overwrite` is not set, if it contains other
    /// files, if another process writes to it, or if it is not writable.
    pub fn open(path: &Path, run_id: &RunId, overwrite: bool) -> Result<RunFolder, FolderError> {
        let lock = FolderLock::alone(path)?;
        let system = || FolderError::system(path);
        let holds_finished = match contents(lock.target()).map_err(system())? {
            Contents::Nothing => false,
            contents => look(path, &contents, run_id, overwrite)?,
        };
        let sibling = Sibling::create(lock.target()).map_err(system())?;
        Ok(RunFolder {
            path: path.to_owned(),
            holds_finished: holds_finished && !overwrite,
            sibling,
            _lock: lock,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all files of a run and replaces the folder atomically.
    ///
    /// # Errors
    /// If the system reports an error, or if an interrupted run would replace a complete one.
    pub fn write(
        self,
        document: &Document,
        files: &[(String, Vec<u8>)],
    ) -> Result<(), FolderError> {
        let RunFolder { path, sibling, .. } = &self;
        if self.holds_finished && document.status() == Status::Interrupted {
            let path = path.display().to_string();
            return Err(FolderError::Finished { path });
        }
        let document = (DOCUMENT.to_owned(), document.to_json().into_bytes());
        let mut sums = Sums::default();
        for (name, bytes) in files.iter().chain([&document]) {
            sums.add(name, bytes);
        }
        let sums = (SUMS.to_owned(), sums.to_text().into_bytes());
        for (name, bytes) in files.iter().chain([&document, &sums]) {
            let written = sibling.write(name, bytes);
            written.map_err(FolderError::system(&path.join(name)))?;
        }
        // Hours may have passed: other files may have been added since.
        let replaced = match foreign(self._lock.target()) {
            Ok(None) => sibling.replace(),
            Ok(Some(name)) => Err(io::Error::other(format!(
                "{name} was added during the run, is not a result, and would be lost"
            ))),
            Err(error) => Err(error),
        };
        if let Err(error) = replaced {
            // Keep the results of a long run if the folder cannot be exchanged.
            let saved = self.sibling.keep();
            let error =
                io::Error::other(format!("{error}; the results are in {}", saved.display()));
            return Err(FolderError::system(&self.path)(error));
        }
        Ok(())
    }
}

/// The contents of a folder.
enum Contents {
    Nothing,
    Run,
    Study,
    /// Runs of a study or a paper that has only just started.
    Runs,
    Reproduction,
    /// Another file, with its name.
    Foreign(String),
}

fn contents(folder: &Path) -> io::Result<Contents> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Contents::Nothing),
        Err(error) => return Err(error),
    };
    let mut names = vec![];
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let has = |name: &str| names.iter().any(|own| own == name);
    if has("claims.json") {
        return Ok(Contents::Reproduction);
    }
    Ok(match foreign(folder)? {
        Some(name) => Contents::Foreign(name),
        None if has("study.json") => Contents::Study,
        None if has(DOCUMENT) => Contents::Run,
        None if has("runs") => Contents::Runs,
        // Tables of an older version that was killed while it wrote them.
        None => Contents::Nothing,
    })
}

/// Checks that the contents may be replaced. Returns whether they are the complete results of the
/// same run.
fn look(
    path: &Path,
    contents: &Contents,
    run_id: &RunId,
    overwrite: bool,
) -> Result<bool, FolderError> {
    let shown = || path.display().to_string();
    let taken = |what: String| FolderError::Taken {
        path: shown(),
        what,
    };
    let foreign = |what: String| FolderError::Foreign {
        path: shown(),
        what,
    };
    match contents {
        Contents::Reproduction => Err(foreign("the claims of a paper".to_owned())),
        Contents::Foreign(name) => Err(foreign(format!(
            "files that are not results, such as {name}, which would be lost"
        ))),
        _ if overwrite => Ok(false),
        Contents::Nothing => Ok(false),
        Contents::Study => Err(taken("a study".to_owned())),
        Contents::Runs => Err(taken("runs without a study".to_owned())),
        Contents::Run => {
            let text =
                fs::read_to_string(path.join(DOCUMENT)).map_err(FolderError::system(path))?;
            match Document::from_json(&text) {
                Ok(stored) if stored.run_id == *run_id => Ok(stored.status() < Status::Interrupted),
                Ok(stored) => Err(taken(format!(
                    "another run ({} {}, this run is {run_id})",
                    stored.name, stored.run_id
                ))),
                Err(error) => Err(taken(format!("a {DOCUMENT} that cannot be read ({error})"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CountersSummary, LinkGroup, LinksSummary, Run, Summary, Window};

    fn document(status: Status, seed: u64) -> Document {
        let links = LinksSummary {
            window: Window::WholeRun,
            injection: LinkGroup::default(),
            fabric: LinkGroup::default(),
            delivery: LinkGroup::default(),
            input_buffer_mean_flits: 0.0,
            input_buffer_fullest_mean_flits: 0.0,
            output_buffer_mean_flits: 0.0,
            output_buffer_peak_flits: 0,
            choice_share: None,
        };
        let run = Run {
            seed,
            status,
            digest: "0".repeat(16),
            counters: CountersSummary::default(),
            warmup_ns: 0.5,
            warmup_found: true,
            length_ns: 10.0,
            total: Summary {
                latency_mean_ns: Some(1.25),
                ..Summary::default()
            },
            classes: vec![],
            latency_order: vec![],
            sls: vec![],
            rows: vec![],
            fairness_window: Window::WholeRun,
            links,
            jobs: vec![],
            connections: None,
            waits: None,
            protocol: None,
            deadlock: None,
        };
        Document {
            netloom: "0".into(),
            results_version: crate::RESULTS_VERSION,
            name: "test".into(),
            about: String::new(),
            run_id: RunId::new("text", seed),
            run,
            over_seeds: None,
            repeats: vec![],
            timing: None,
        }
    }

    fn fresh(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("netloom-run-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn a_document_reads_back() {
        let stored = document(Status::Saturated, 3);
        assert_eq!(Document::from_json(&stored.to_json()), Ok(stored.clone()));
        let csv = stored.results().to_csv();
        assert_eq!(csv.lines().count(), 2);
        assert!(csv.lines().nth(1).unwrap().contains(",3,total,,,"));
    }

    #[test]
    fn another_run_is_refused_and_the_same_is_not() {
        let path = fresh("refuse");
        let (own, other) = (document(Status::Ok, 1), document(Status::Ok, 2));
        let folder = RunFolder::open(&path, &own.run_id, false).unwrap();
        folder
            .write(
                &own,
                &[("results.csv".into(), own.results().to_csv().into())],
            )
            .unwrap();
        assert!(RunFolder::open(&path, &own.run_id, false).is_ok());
        let refused = RunFolder::open(&path, &other.run_id, false).unwrap_err();
        assert!(matches!(refused, FolderError::Taken { .. }), "{refused}");
        assert!(RunFolder::open(&path, &other.run_id, true).is_ok());
        let left: Vec<_> = fs::read_dir(&path)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left.len(), 3, "temporary files are removed: {left:?}");
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_foreign_folder_is_refused_and_an_empty_one_is_not() {
        let path = fresh("foreign");
        let own = document(Status::Ok, 1);
        fs::create_dir_all(&path).unwrap();
        assert!(RunFolder::open(&path, &own.run_id, false).is_ok());
        fs::write(path.join("thesis.tex"), "precious").unwrap();
        assert!(RunFolder::open(&path, &own.run_id, false).is_err());
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn an_interrupted_run_does_not_replace_a_finished_one() {
        let path = fresh("interrupted");
        let own = document(Status::Ok, 1);
        RunFolder::open(&path, &own.run_id, false)
            .unwrap()
            .write(&own, &[])
            .unwrap();
        let again = || RunFolder::open(&path, &own.run_id, false).unwrap();
        let interrupted = document(Status::Interrupted, 1);
        assert!(again().write(&interrupted, &[]).is_err());
        assert!(again().write(&document(Status::Ok, 1), &[]).is_ok());
        fs::remove_dir_all(&path).unwrap();
    }
}
