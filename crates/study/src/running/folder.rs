//! The folder of a study, identified by its contents.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use netloom_catalog::file::{MOST_EXPERIMENT, MOST_LIST, read_text};
use netloom_catalog::{Disk, Document, Notes, Value, ValueShape};
use netloom_experiment::spec::{FILES, Request};
use netloom_results::store::{FolderError, FolderLock, Sibling, foreign, make_folder, write_file};
use netloom_results::{AxisColumn, Kind, Level, RESULTS_VERSION, StudyDocument};

use crate::Study;

/// The folder of a study.
#[derive(Debug)]
pub struct StudyFolder {
    path: PathBuf,
    /// Shared with other processes that work on the study; keeps others from replacing the folder.
    _lock: Option<FolderLock>,
}

/// Why a folder cannot be used for a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyFolderError {
    /// It cannot be written, or has other contents.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It does not contain a study.
    #[error("{0} is not a study: study.json is missing")]
    NoStudy(String),
    /// A file of it is invalid.
    #[error("cannot read {file}: {error}")]
    Unreadable { file: String, error: String },
}

impl StudyFolder {
    /// Starts a study in a folder, or resumes the same study. The number of seeds may differ;
    /// existing runs are kept.
    ///
    /// # Errors
    /// If the folder has other contents and `overwrite` is not set, or if the system reports an
    /// error.
    pub fn begin(
        path: &Path,
        study: &Study,
        overwrite: bool,
    ) -> Result<StudyFolder, StudyFolderError> {
        let document = document(study);
        // Another process may start the same study at the same time: then look again.
        loop {
            let folder = StudyFolder::locked(path, FolderLock::shared(path)?);
            match folder.look(study, &document, overwrite)? {
                Found::Same => return folder.ready(),
                Found::Nothing => {
                    let begun = folder.new_folder(study, &document)?;
                    if begun.appear().map_err(FolderError::system(path))? {
                        drop(begun);
                        return folder.ready();
                    }
                }
                Found::Other => {
                    drop(folder);
                    let folder = StudyFolder::locked(path, FolderLock::alone(path)?);
                    if folder.look(study, &document, overwrite)? == Found::Other {
                        let begun = folder.new_folder(study, &document)?;
                        begun.replace().map_err(FolderError::system(path))?;
                    }
                }
                Found::OtherSeeds => {
                    drop(folder);
                    let folder = StudyFolder::locked(path, FolderLock::alone(path)?);
                    if folder.look(study, &document, overwrite)? == Found::OtherSeeds {
                        folder.write("study.toml", study.to_toml().as_bytes())?;
                        folder.write("study.json", document.to_json().as_bytes())?;
                    }
                }
            }
        }
    }

    /// Opens the folder of an existing study for reading.
    ///
    /// # Errors
    /// If there is no study.
    pub fn open(path: &Path) -> Result<StudyFolder, StudyFolderError> {
        let folder = StudyFolder {
            path: path.to_owned(),
            _lock: None,
        };
        folder.document()?;
        Ok(folder)
    }

    /// Opens the folder of an existing study to run it.
    ///
    /// # Errors
    /// If there is no study, or if another process is about to replace it.
    pub fn join(path: &Path) -> Result<StudyFolder, StudyFolderError> {
        // Check first that it exists, so that a mistyped name leaves no lock file.
        StudyFolder::open(path)?;
        let folder = StudyFolder::locked(path, FolderLock::shared(path)?);
        folder.document()?;
        folder.ready()
    }

    fn locked(path: &Path, lock: FolderLock) -> StudyFolder {
        StudyFolder {
            path: path.to_owned(),
            _lock: Some(lock),
        }
    }

    /// Creates the folders for runs, and checks that they are real folders.
    fn ready(self) -> Result<StudyFolder, StudyFolderError> {
        for inner in INNER {
            let inner = self.path.join(inner);
            make_folder(&inner).map_err(FolderError::system(&inner))?;
        }
        Ok(self)
    }

    /// Returns the contents of the folder, if they may be replaced by the study of this document.
    fn look(
        &self,
        study: &Study,
        document: &StudyDocument,
        overwrite: bool,
    ) -> Result<Found, StudyFolderError> {
        let shown = || self.path.display().to_string();
        let taken = |what: String| FolderError::Taken {
            path: shown(),
            what,
        };
        let there = match self.document() {
            Ok(there) if there.study_id == document.study_id => return Ok(Found::Same),
            Ok(_) if self.differs_in_seeds(study) => return Ok(Found::OtherSeeds),
            Ok(there) => Some(there),
            Err(StudyFolderError::NoStudy(_)) => None,
            Err(_) if overwrite => None,
            Err(error) => return Err(error),
        };
        let names = self.names()?;
        if names.is_empty() {
            return Ok(Found::Nothing);
        }
        let foreign = foreign(&self.path).map_err(FolderError::system(&self.path))?;
        if let Some(name) = foreign {
            let what =
                format!("files that are not part of a study, such as {name}, which would be lost");
            return Err(FolderError::Foreign {
                path: shown(),
                what,
            }
            .into());
        }
        match there {
            _ if overwrite => Ok(Found::Other),
            Some(there) => {
                let (name, id) = (&there.name, &there.study_id);
                let what = format!(
                    "another study ({name} {id}, this study is {})",
                    document.study_id
                );
                Err(taken(what).into())
            }
            None if names.iter().any(|name| name == "results.json") => {
                Err(taken("a single run".to_owned()).into())
            }
            None if names.iter().any(|name| name == "runs") => {
                Err(taken("runs without a study".to_owned()).into())
            }
            // Tables of an older version that was killed while it wrote them.
            None => Ok(Found::Other),
        }
    }

    /// Whether it contains this study with another number of seeds.
    fn differs_in_seeds(&self, study: &Study) -> bool {
        let alike = |document: &Document| {
            let mut document = document.clone();
            document.set("measure.repeat=1", &mut Notes::new());
            document.to_toml()
        };
        self.study_text().is_ok_and(|(text, _)| {
            let mut notes = Notes::new();
            let there = Document::parse("study.toml", &text, &mut notes);
            !notes.has_errors() && alike(&there) == alike(study.document())
        })
    }

    /// Creates the folder of a study without runs, next to its place.
    fn new_folder(
        &self,
        study: &Study,
        document: &StudyDocument,
    ) -> Result<Sibling, StudyFolderError> {
        let system = || FolderError::system(&self.path);
        let target = self._lock.as_ref().map_or(&*self.path, FolderLock::target);
        let new = Sibling::create(target).map_err(system())?;
        for inner in INNER.iter().chain(&["inputs"]) {
            new.make(inner).map_err(system())?;
        }
        copy_inputs(study, &new)?;
        for (name, text) in [
            ("study.toml", study.to_toml()),
            ("study.json", document.to_json()),
        ] {
            new.write(name, text.as_bytes()).map_err(system())?;
        }
        Ok(new)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of its run files.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Reads the text of the study, and returns the folder of the files that it refers to.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn study_text(&self) -> Result<(String, PathBuf), StudyFolderError> {
        let file = self.path.join("study.toml");
        let text = read_text(&file, MOST_EXPERIMENT).map_err(|error| unreadable(&file, error))?;
        Ok((text, self.path.join("inputs")))
    }

    /// Returns the study in the folder, if it is this one or differs only in its number of seeds.
    pub fn own_of(&self, study: &Study) -> Option<Study> {
        let id = self.document().ok()?.study_id;
        if id == study.id() {
            return Some(study.clone());
        }
        if !self.differs_in_seeds(study) {
            return None;
        }
        let (text, inputs) = self.study_text().ok()?;
        let opened = Study::open(&Request {
            files: Disk::folder(inputs),
            ..Request::new(&study.name, &text)
        });
        // A changed text is not the study that was run.
        opened.study.filter(|own| own.id() == id)
    }

    /// Reads `study.json`.
    ///
    /// # Errors
    /// If it is missing, or was written by a later version.
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
                    "expected results of version {RESULTS_VERSION}, found version {version}; run \
                     the study again in another folder"
                );
                Err(unreadable(&file, error))
            }
        }
    }

    /// Reads `study.json`, and checks that it has the columns of this study.
    ///
    /// # Errors
    /// As [`StudyFolder::document`], and if it belongs to another study.
    pub fn document_of(&self, study: &Study) -> Result<StudyDocument, StudyFolderError> {
        let document = self.document()?;
        match document.columns == columns(study) {
            true => Ok(document),
            false => {
                let error = "its columns differ from those of the study; it was changed";
                Err(unreadable(&self.path.join("study.json"), error))
            }
        }
    }

    /// Writes one of its files atomically.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StudyFolderError> {
        let file = self.path.join(name);
        Ok(write_file(&file, bytes).map_err(FolderError::system(&file))?)
    }

    /// Stores the picture of the fabric for reports, if all points have the same fabric.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn draw(&self, study: &Study) -> Result<(), StudyFolderError> {
        if self.path.join("layout.json").exists() {
            return Ok(());
        }
        match study.layout() {
            Some(layout) => self.write("layout.json", layout.to_json().as_bytes()),
            None => Ok(()),
        }
    }

    /// Returns the names of its entries.
    fn names(&self) -> Result<Vec<String>, StudyFolderError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(unreadable(&self.path, error)),
        };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.filter_map(Result::ok).map(name).collect();
        names.sort_unstable();
        Ok(names)
    }
}

/// Folders that the processes of a study write to.
const INNER: [&str; 3] = ["runs", "locks", "journal"];

/// The contents of a folder in which a study is to be started.
#[derive(PartialEq, Eq)]
enum Found {
    /// Nothing.
    Nothing,
    /// The same study.
    Same,
    /// The same study with another number of seeds.
    OtherSeeds,
    /// Contents that are to be replaced.
    Other,
}

/// Copies the files that the study refers to by a plain relative path; others stay in place.
fn copy_inputs(study: &Study, new: &Sibling) -> Result<(), StudyFolderError> {
    let mut copied = vec![];
    for name in named_files(study) {
        let relative = Path::new(&name);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let files = study.files();
        let is_there = files.identity(relative).is_some();
        if !relative.components().all(is_plain) || !is_there || copied.contains(&name) {
            continue;
        }
        let bytes = match files.read(relative, MOST_LIST) {
            Ok(bytes) => bytes,
            // Not a regular file: loading the study reports it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => continue,
            Err(error) => return Err(unreadable(&files.shown(relative), error)),
        };
        new.write_below("inputs", relative, &bytes)
            .map_err(FolderError::system(relative))?;
        copied.push(name);
    }
    Ok(())
}

/// Returns the names of files in the base values and the values of axes.
pub fn named_files(study: &Study) -> Vec<String> {
    let mut found = vec![];
    let root = &study.document().root;
    for (table, key) in FILES {
        let tables = match root.get(table).map(|value| &value.shape) {
            Some(ValueShape::List(items)) => items.iter().collect(),
            Some(ValueShape::Table(_)) => root.get(table).into_iter().collect::<Vec<&Value>>(),
            _ => vec![],
        };
        let values = tables.into_iter().filter_map(|table| {
            let mut keys = key.split('.');
            keys.try_fold(table, |value, key| value.get(key))
        });
        found.extend(values.flat_map(names));
    }
    let is_file = |path: &str| {
        FILES
            .iter()
            .any(|(table, key)| path.starts_with(table) && path.ends_with(key))
    };
    let values = study.axes.iter().flat_map(|axis| &axis.values);
    for (path, value) in values.flat_map(|value| &value.sets) {
        if is_file(path) {
            found.extend(names(value));
        }
    }
    found
}

/// Returns the names in a value: one, or a list.
fn names(value: &Value) -> Vec<String> {
    match &value.shape {
        ValueShape::List(items) => items.iter().flat_map(names).collect(),
        _ => value.as_text().map(str::to_owned).into_iter().collect(),
    }
}

/// Returns the columns that distinguish points.
pub(super) fn columns(study: &Study) -> Vec<AxisColumn> {
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
