//! Reads a folder of results.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use netloom_catalog::file::{read_bytes, utf8};
use serde::Deserialize;

use super::parquet::from_parquet;
use super::points::empty_points;
use super::writing::{INCOMING, SUMS, Sums, table_file};
use crate::view::layout::Layout;
use crate::{
    Collection, Column, Control, Document, Frame, FrameColumn, Kind, RESULTS_VERSION, Stopped,
    StudyDocument, TABLES, Values, empty_table,
};

/// Maximum size of documents other than tables: summaries, the layout of a fabric, the text of an
/// experiment.
const MOST_TEXT: u64 = 128 << 20;
/// Maximum number of classes. A run has at most 255, but the variants of a study may have classes
/// of their own.
const MOST_CLASSES: usize = 4096;
/// Maximum size of the file of a table. Its contents are limited when they are read.
const MOST_TABLE: u64 = 1 << 30;

/// Why a folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The folder has no results.
    #[error("{0} has no results: expected study.json or results.json")]
    Nothing(String),
    /// The path is a file, such as the experiment itself.
    #[error("{0} is a file, not a folder of results")]
    IsFile(String),
    /// A study whose runs are not merged.
    #[error("the study in {0} is not merged yet")]
    NotMerged(String),
    /// A merge has written new tables but not moved all of them to their places.
    #[error("a merge of {0} is running or was interrupted")]
    Incoming(String),
    /// A file of the folder cannot be read.
    #[error("cannot read {file}: {error}")]
    File { file: String, error: String },
    /// Reading was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Reads a folder of a study or of a single run.
///
/// # Errors
/// If the folder has no results, or a file of it cannot be read.
pub fn read(folder: &Path) -> Result<Collection, ReadError> {
    read_with_control(folder, &mut || Control::Continue)
}

/// Reads a folder, and asks before each table whether to continue.
///
/// # Errors
/// As [`read`], and if `control` stops it.
pub fn read_with_control(
    folder: &Path,
    control: &mut dyn FnMut() -> Control,
) -> Result<Collection, ReadError> {
    if folder.is_file() {
        return Err(ReadError::IsFile(folder.display().to_string()));
    }
    loop {
        let before = version(folder);
        if folder.join(INCOMING).exists() {
            return Err(ReadError::Incoming(folder.display().to_string()));
        }
        let collection = read_once(folder, control);
        // Do not mix the files of two states.
        if version(folder) == before {
            return collection;
        }
    }
}

/// Returns values that change whenever results are replaced: the folder itself is exchanged, or its
/// manifest.
fn version(folder: &Path) -> [Option<(u64, SystemTime)>; 2] {
    [folder.to_owned(), folder.join("manifest.json")].map(|path| {
        let there = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&there);
        #[cfg(not(unix))]
        let number = there.len();
        // A folder also changes when a report is written to it.
        let time = if there.is_dir() {
            SystemTime::UNIX_EPOCH
        } else {
            there.modified().ok()?
        };
        Some((number, time))
    })
}

fn read_once(folder: &Path, control: &mut dyn FnMut() -> Control) -> Result<Collection, ReadError> {
    let mut reader = Reader { folder, sums: None };
    if let Some(text) = reader.text(SUMS)? {
        let sums = Sums::parse(&text);
        reader.sums = Some(sums.map_err(|error| reader.bad(SUMS, error))?);
    }
    let mut collection = if let Some(text) = reader.text("study.json")? {
        reader.study(&text, control)?
    } else if let Some(text) = reader.text("results.json")? {
        reader.single(&text, control)?
    } else {
        return Err(ReadError::Nothing(folder.display().to_string()));
    };
    collection.folder = folder.display().to_string();
    collection.manifest = reader.json("manifest.json")?.unwrap_or_default();
    // The layout is optional: one written by another version is ignored.
    let layout = reader.json("layout.json")?;
    collection.layout = layout.and_then(|json| Layout::deserialize(json).ok());
    Ok(collection.visible())
}

struct Reader<'a> {
    folder: &'a Path,
    /// `None` in a folder written by an earlier version.
    sums: Option<Sums>,
}

impl Reader<'_> {
    /// Returns the contents of a file, or `None` if it does not exist.
    fn there<T>(&self, name: &str, read: std::io::Result<T>) -> Result<Option<T>, ReadError> {
        match read {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.bad(name, error)),
        }
    }

    fn bad(&self, name: &str, error: impl std::fmt::Display) -> ReadError {
        ReadError::File {
            file: self.folder.join(name).display().to_string(),
            error: error.to_string(),
        }
    }

    /// Reads a file and checks its checksum.
    fn bytes(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let bytes = self.there(name, read_bytes(&self.folder.join(name), most))?;
        if let (Some(bytes), Some(sums)) = (&bytes, &self.sums) {
            sums.check(name, bytes)
                .map_err(|error| self.bad(name, error))?;
        }
        Ok(bytes)
    }

    fn text(&self, name: &str) -> Result<Option<String>, ReadError> {
        let bytes = self.bytes(name, MOST_TEXT)?;
        let text = bytes.map(utf8).transpose();
        text.map_err(|error| self.bad(name, error))
    }

    fn json(&self, name: &str) -> Result<Option<serde_json::Value>, ReadError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let value = serde_json::from_str(&text).map_err(|error| self.bad(name, error))?;
        Ok(Some(value))
    }

    /// Reads a table with the columns of `like`, if the file exists.
    fn table(&self, name: &str, like: &Frame) -> Result<Option<Frame>, ReadError> {
        let bytes = |file: &str| self.bytes(file, MOST_TABLE);
        let whole = table_file(name, "parquet", false);
        let (file, bytes) = match bytes(&whole)? {
            Some(bytes) => (whole, bytes),
            None => {
                let partial = table_file(name, "parquet", true);
                match bytes(&partial)? {
                    Some(bytes) => (partial, bytes),
                    None => return Ok(None),
                }
            }
        };
        if self.sums.as_ref().is_some_and(|sums| !sums.has(&file)) {
            return Err(self.bad(
                &file,
                format!("expected a line for it in {SUMS}, found none"),
            ));
        }
        let frame = from_parquet(bytes, Some(like));
        frame.map(Some).map_err(|error| self.bad(&file, error))
    }

    /// Checks that the number of classes is small enough for tables and figures.
    fn few_classes(&self, file: &str, results: &Frame) -> Result<(), ReadError> {
        let classes = results.column("class").map(|column| &column.values);
        match classes {
            Some(Values::Text(words)) if words.words.len() > MOST_CLASSES => {
                let n = words.words.len();
                let error = format!("expected at most {MOST_CLASSES} traffic classes, found {n}");
                Err(self.bad(file, error))
            }
            _ => Ok(()),
        }
    }

    /// Reads all tables and puts the columns of the point in front.
    fn tables(
        &self,
        keys: &[FrameColumn],
        control: &mut dyn FnMut() -> Control,
    ) -> Result<BTreeMap<String, Frame>, ReadError> {
        let mut tables = BTreeMap::new();
        for (name, _) in TABLES {
            control().check()?;
            let like = empty_table(name).expect("every table has its columns");
            if let Some(frame) = self.table(name, &with_keys(keys, &like))? {
                tables.insert((*name).to_owned(), frame);
            }
        }
        Ok(tables)
    }

    fn study(
        &self,
        text: &str,
        control: &mut dyn FnMut() -> Control,
    ) -> Result<Collection, ReadError> {
        let study: StudyDocument =
            serde_json::from_str(text).map_err(|error| self.bad("study.json", error))?;
        if study.results_version > RESULTS_VERSION {
            let version = study.results_version;
            return Err(self.bad("study.json", format!("results of version {version}")));
        }
        let point = Column::new("point", "", "");
        let mut keys = vec![FrameColumn::new(&point, Kind::Whole)];
        keys.extend(study.columns.iter().map(|column| {
            let (unit, meaning) = (String::new(), String::new());
            FrameColumn {
                name: column.name.clone(),
                unit,
                meaning,
                values: Values::new(column.kind),
            }
        }));
        let like = empty_table("results").expect("every table has its columns");
        let like = empty_points(&keys, &like);
        let Some(merged) = self.table("points", &like)? else {
            return Err(ReadError::NotMerged(self.folder.display().to_string()));
        };
        let mut tables = self.tables(&keys, control)?;
        let Some(results) = tables.get("results") else {
            let error = "it is missing, but points.parquet exists";
            return Err(self.bad("results.parquet", error));
        };
        self.few_classes("results.parquet", results)?;
        self.few_classes("points.parquet", &merged)?;
        tables.insert("points".to_owned(), merged);
        let warnings = self.json("warnings.json")?;
        let warnings = warnings.and_then(|value| serde_json::from_value(value).ok());
        Ok(Collection {
            results_version: Some(study.results_version),
            name: study.name,
            about: study.about,
            axes: study
                .columns
                .into_iter()
                .map(|column| column.name)
                .collect(),
            tables,
            experiment: self.text("study.toml")?.unwrap_or_default(),
            warnings: warnings.unwrap_or_default(),
            ..Collection::default()
        })
    }

    fn single(
        &self,
        text: &str,
        control: &mut dyn FnMut() -> Control,
    ) -> Result<Collection, ReadError> {
        let document =
            Document::from_json(text).map_err(|error| self.bad("results.json", error))?;
        let collection = Collection {
            experiment: self.text("resolved.toml")?.unwrap_or_default(),
            ..Collection::of_run(&document, self.tables(&[], control)?)
        };
        self.few_classes("results.json", &collection.tables["results"])?;
        Ok(collection)
    }
}

/// Returns an empty table with the columns of a point in front.
fn with_keys(keys: &[FrameColumn], like: &Frame) -> Frame {
    Frame::from_columns(keys.iter().chain(&like.columns).cloned().collect())
}
