//! The folder of a study: what it holds says which study it is.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use netloom_catalog::file::{MOST_EXPERIMENT, read_text};
use netloom_catalog::{Value, ValueShape};
use netloom_experiment::spec::FILES;
use netloom_results::{AxisColumn, Kind, Level, RESULTS_VERSION, StudyDocument};
use netloom_store::write_atomically;

use crate::Study;

/// Everything that we put into such a folder; anything else is somebody's.
const OURS: &[&str] = &[
    "study.json",
    "study.toml",
    "inputs",
    "runs",
    "locks",
    "journal",
    "layout.json",
    "manifest.json",
    "warnings.json",
    "report.html",
    "figures",
    "emit",
];

/// The folder of a study.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    path: PathBuf,
}

/// Why a folder cannot hold a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyFolderError {
    /// It holds something else.
    #[error("{path} holds {what}; give another folder with -o DIR, or replace it with --overwrite")]
    Taken {
        /// The folder.
        path: String,
        /// What it holds.
        what: String,
    },
    /// It holds no study.
    #[error("{0} holds no study: study.json is not there; `netloom run FILE` begins one")]
    NoStudy(String),
    /// A file of it is not what it should be.
    #[error("cannot read {file}: {error}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        error: String,
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

impl StudyFolder {
    /// Begins a study in a folder, or goes on with the same study.
    ///
    /// # Errors
    /// If the folder holds something else, unless `overwrite` is set, or if the system refuses.
    pub fn begin(
        path: &Path,
        study: &Study,
        overwrite: bool,
    ) -> Result<StudyFolder, StudyFolderError> {
        let folder = StudyFolder {
            path: path.to_owned(),
        };
        let taken = |what: String| StudyFolderError::Taken {
            path: path.display().to_string(),
            what,
        };
        let document = document(study);
        match folder.document() {
            Ok(there) if there.study_id == document.study_id => return Ok(folder),
            Ok(_) if overwrite => folder.clear()?,
            Ok(there) => {
                let (name, id) = (&there.name, &there.study_id);
                let what = format!("another study ({name} {id}, this is {})", document.study_id);
                return Err(taken(what));
            }
            Err(StudyFolderError::NoStudy(_)) => {
                let foreign = folder.foreign()?;
                match foreign {
                    Some(_) if overwrite => folder.clear()?,
                    Some(name) => {
                        return Err(taken(format!("files that are no study, such as {name}")));
                    }
                    None => {}
                }
            }
            Err(error) => return Err(error),
        }
        for inner in ["runs", "locks", "journal"] {
            folder.make(&path.join(inner))?;
        }
        folder.copy_inputs(study)?;
        folder.write("study.toml", study.to_toml().as_bytes())?;
        // The last, since it says that the others are there.
        folder.write("study.json", document.to_json().as_bytes())?;
        Ok(folder)
    }

    /// The folder of a study that was begun.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> Result<StudyFolder, StudyFolderError> {
        let folder = StudyFolder {
            path: path.to_owned(),
        };
        folder.document()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its run files are.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The text of the study, and the folder in which the files stand that it names.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn study_text(&self) -> Result<(String, PathBuf), StudyFolderError> {
        let file = self.path.join("study.toml");
        let text = read_text(&file, MOST_EXPERIMENT).map_err(|error| unreadable(&file, error))?;
        Ok((text, self.path.join("inputs")))
    }

    /// What `study.json` says.
    ///
    /// # Errors
    /// If there is none, or if a later version wrote it.
    pub fn document(&self) -> Result<StudyDocument, StudyFolderError> {
        let file = self.path.join("study.json");
        let text = match read_text(&file, MOST_EXPERIMENT) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StudyFolderError::NoStudy(self.path.display().to_string()));
            }
            Err(error) => return Err(unreadable(&file, error)),
        };
        let document: StudyDocument =
            serde_json::from_str(&text).map_err(|error| unreadable(&file, error))?;
        match document.results_version {
            RESULTS_VERSION => Ok(document),
            version => {
                let error = format!(
                    "results of version {version}, this netloom has {RESULTS_VERSION}; run it again in another folder"
                );
                Err(unreadable(&file, error))
            }
        }
    }

    /// What `study.json` says, if it has the columns of this study.
    ///
    /// # Errors
    /// As [`StudyFolder::document`], and if it is not about this study.
    pub fn document_of(&self, study: &Study) -> Result<StudyDocument, StudyFolderError> {
        let document = self.document()?;
        match document.columns == columns(study) {
            true => Ok(document),
            false => {
                let error = "its columns are not those of the study; somebody changed it";
                Err(unreadable(&self.path.join("study.json"), error))
            }
        }
    }

    /// Writes one of its files, whole or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StudyFolderError> {
        let file = self.path.join(name);
        write_atomically(&file, bytes).map_err(|error| refused(&file, error))
    }

    fn make(&self, path: &Path) -> Result<(), StudyFolderError> {
        fs::create_dir_all(path).map_err(|error| refused(path, error))
    }

    /// Something in it that we did not put there.
    fn foreign(&self) -> Result<Option<String>, StudyFolderError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&self.path, error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !is_ours(name)).collect();
        names.sort_unstable();
        Ok(names.into_iter().next())
    }

    /// Takes away what another study left; the folder itself and what is not ours stay.
    fn clear(&self) -> Result<(), StudyFolderError> {
        let entries = fs::read_dir(&self.path).map_err(|error| unreadable(&self.path, error))?;
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            if !is_ours(&name.to_string_lossy()) {
                continue;
            }
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let removed = match is_folder {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(|error| refused(&path, error))?;
        }
        Ok(())
    }

    /// Copies the files that the study names by a plain relative path; others are found where they are.
    fn copy_inputs(&self, study: &Study) -> Result<(), StudyFolderError> {
        let inputs = self.path.join("inputs");
        self.make(&inputs)?;
        for name in named_files(study) {
            let relative = Path::new(&name);
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            let source = study.directory().join(relative);
            if !relative.components().all(is_plain) || !source.is_file() {
                continue;
            }
            let target = inputs.join(relative);
            if let Some(parent) = target.parent() {
                self.make(parent)?;
            }
            fs::copy(&source, &target).map_err(|error| refused(&target, error))?;
        }
        Ok(())
    }
}

fn is_ours(name: &str) -> bool {
    let is_table = |name: &str| {
        let stem = name.strip_suffix(".csv").or(name.strip_suffix(".parquet"));
        let tables = netloom_results::TABLES.iter().map(|(table, _)| *table);
        stem.is_some_and(|stem| tables.chain(["points"]).any(|table| table == stem))
    };
    OURS.contains(&name) || is_table(name) || (name.starts_with('.') && name.ends_with(".tmp"))
}

/// The files that the base values and the values of axes name.
fn named_files(study: &Study) -> Vec<String> {
    let mut found = vec![];
    let root = &study.document().root;
    for (table, key) in FILES {
        let tables = match root.get(table).map(|value| &value.shape) {
            Some(ValueShape::List(items)) => items.iter().collect(),
            Some(ValueShape::Table(_)) => root.get(table).into_iter().collect::<Vec<&Value>>(),
            _ => vec![],
        };
        let names = tables.into_iter().filter_map(|table| {
            key.split('.')
                .try_fold(table, |value, key| value.get(key))?
                .as_text()
        });
        found.extend(names.map(str::to_owned));
    }
    let is_file = |path: &str| {
        FILES
            .iter()
            .any(|(table, key)| path.starts_with(table) && path.ends_with(key))
    };
    let values = study.axes.iter().flat_map(|axis| &axis.values);
    for (path, value) in values.flat_map(|value| &value.sets) {
        if is_file(path) {
            found.extend(value.as_text().map(str::to_owned));
        }
    }
    found
}

/// The columns that tell points apart.
fn columns(study: &Study) -> Vec<AxisColumn> {
    let columns = study.axes.iter().flat_map(|axis| {
        let number = |at: usize| {
            let mut levels = axis.values.iter().map(|value| &value.levels[at]);
            levels.all(|level| matches!(level, Level::Number(_)))
        };
        let named = axis.columns.iter().enumerate();
        let column = |(at, name): (usize, &String)| AxisColumn {
            name: name.clone(),
            kind: if number(at) { Kind::Number } else { Kind::Text },
        };
        named.map(column).collect::<Vec<_>>()
    });
    columns.collect()
}

fn document(study: &Study) -> StudyDocument {
    StudyDocument {
        netloom: env!("CARGO_PKG_VERSION").to_owned(),
        results_version: RESULTS_VERSION,
        study_id: study.id(),
        name: study.name.clone(),
        about: study.about.clone(),
        columns: columns(study),
        units: study.units().len(),
    }
}

fn unreadable(file: &Path, error: impl ToString) -> StudyFolderError {
    StudyFolderError::Unreadable {
        file: file.display().to_string(),
        error: error.to_string(),
    }
}

fn refused(path: &Path, error: io::Error) -> StudyFolderError {
    StudyFolderError::System {
        path: path.display().to_string(),
        error,
    }
}
