//! The folder of a run: never overwritten by another run, never half written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Document, RunId, Status, TABLES};

/// The file whose presence says that a folder is complete; it is written last.
const LAST: &str = "results.json";

/// A folder that may take the results of one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// It holds this very run, finished.
    holds_finished: bool,
}

/// Why a folder cannot take results.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It holds something else.
    #[error("{path} holds {what}; give another folder with -o DIR, or replace it with --overwrite")]
    Taken {
        /// The folder.
        path: String,
        /// What it holds.
        what: String,
    },
    /// It holds the finished results of this very run.
    #[error(
        "{path} holds the finished results of this run, which an interrupted one does not replace"
    )]
    Finished {
        /// The folder.
        path: String,
    },
    /// The system refuses.
    #[error("cannot write {path}: {error}")]
    System {
        /// The folder or file.
        path: String,
        /// What it says.
        error: io::Error,
    },
}

impl Folder {
    /// Looks whether the folder may take the results of a run; to be asked before it runs.
    ///
    /// # Errors
    /// If it holds another run or something that is no result, unless `overwrite` is set.
    pub fn open(path: &Path, run_id: &RunId, overwrite: bool) -> Result<Folder, FolderError> {
        let shown = || path.display().to_string();
        let taken = |what: String| FolderError::Taken {
            path: shown(),
            what,
        };
        let mut folder = Folder {
            path: path.to_owned(),
            holds_finished: false,
        };
        let mut entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(folder),
            Err(error) => {
                return Err(FolderError::System {
                    path: shown(),
                    error,
                });
            }
        };
        if overwrite {
            return Ok(folder);
        }
        match fs::read_to_string(path.join(LAST)) {
            Ok(text) => match Document::from_json(&text) {
                Ok(stored) if stored.run_id == *run_id => {
                    folder.holds_finished = stored.status() < Status::Interrupted;
                    Ok(folder)
                }
                Ok(stored) => Err(taken(format!(
                    "another run ({} {}, this is {run_id})",
                    stored.name, stored.run_id
                ))),
                Err(error) => Err(taken(format!("a {LAST} that cannot be read ({error})"))),
            },
            Err(_) if entries.next().is_none() => Ok(folder),
            Err(_) => Err(taken("files that are no results".to_owned())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all files of a run: each under a temporary name first, and `results.json` last.
    ///
    /// # Errors
    /// If the system refuses, or if an interrupted run would replace a finished one.
    pub fn write(
        &self,
        document: &Document,
        files: &[(String, Vec<u8>)],
    ) -> Result<(), FolderError> {
        if self.holds_finished && document.status() == Status::Interrupted {
            return Err(FolderError::Finished {
                path: self.path.display().to_string(),
            });
        }
        let at = |path: &Path| {
            let path = path.display().to_string();
            move |error| FolderError::System { path, error }
        };
        fs::create_dir_all(&self.path).map_err(at(&self.path))?;
        // What this run does not write would pass for its result.
        let is_written = |name: &str| files.iter().any(|(written, _)| *written == name);
        let names = TABLES
            .iter()
            .flat_map(|(table, _)| ["csv", "parquet"].map(|ending| format!("{table}.{ending}")));
        for name in names.filter(|name| !is_written(name)) {
            let stale = self.path.join(name);
            match fs::remove_file(&stale) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(at(&stale)(error));
                }
                _ => {}
            }
        }
        let last = (LAST.to_owned(), document.to_json().into_bytes());
        for (name, bytes) in files.iter().chain(std::iter::once(&last)) {
            let (temporary, target) =
                (self.path.join(format!(".{name}.tmp")), self.path.join(name));
            fs::write(&temporary, bytes).map_err(at(&temporary))?;
            fs::rename(&temporary, &target).map_err(at(&target))?;
        }
        Ok(())
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
            std::env::temp_dir().join(format!("netloom-folder-{name}-{}", std::process::id()));
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
        let folder = Folder::open(&path, &own.run_id, false).unwrap();
        folder
            .write(
                &own,
                &[("results.csv".into(), own.results().to_csv().into())],
            )
            .unwrap();
        assert!(Folder::open(&path, &own.run_id, false).is_ok());
        let refused = Folder::open(&path, &other.run_id, false).unwrap_err();
        assert!(refused.to_string().contains("--overwrite"), "{refused}");
        assert!(Folder::open(&path, &other.run_id, true).is_ok());
        let left: Vec<_> = fs::read_dir(&path)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left.len(), 2, "no temporary file stays: {left:?}");
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_foreign_folder_is_refused_and_an_empty_one_is_not() {
        let path = fresh("foreign");
        let own = document(Status::Ok, 1);
        fs::create_dir_all(&path).unwrap();
        assert!(Folder::open(&path, &own.run_id, false).is_ok());
        fs::write(path.join("thesis.tex"), "precious").unwrap();
        assert!(Folder::open(&path, &own.run_id, false).is_err());
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn an_interrupted_run_does_not_replace_a_finished_one() {
        let path = fresh("interrupted");
        let own = document(Status::Ok, 1);
        Folder::open(&path, &own.run_id, false)
            .unwrap()
            .write(&own, &[])
            .unwrap();
        let again = Folder::open(&path, &own.run_id, false).unwrap();
        assert!(again.write(&document(Status::Interrupted, 1), &[]).is_err());
        assert!(again.write(&document(Status::Ok, 1), &[]).is_ok());
        fs::remove_dir_all(&path).unwrap();
    }
}
