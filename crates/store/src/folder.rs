//! A folder of results, read back.

use std::collections::BTreeMap;
use std::path::Path;

use netloom_results::{
    Collection, Column, Datum, Document, Frame, FrameColumn, Kind, RESULTS_VERSION, Status,
    StudyDocument, TABLES,
};

use crate::parquet::from_parquet;
use crate::points::points;

/// Why a folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It holds no results.
    #[error(
        "{0} holds no results: neither study.json nor results.json is there; `netloom run` writes such folders"
    )]
    Nothing(String),
    /// A study whose runs were not put together.
    #[error("{0} is a study that is not merged yet; run `netloom merge {0}` first")]
    NotMerged(String),
    /// A file of it cannot be read.
    #[error("cannot read {file}: {error}")]
    File {
        /// Which.
        file: String,
        /// Why.
        error: String,
    },
}

/// Reads a folder of a study or of a single run.
///
/// # Errors
/// If it holds none, or a file of it cannot be read.
pub fn read(folder: &Path) -> Result<Collection, ReadError> {
    let reader = Reader { folder };
    let mut collection = if let Some(text) = reader.text("study.json")? {
        reader.study(&text)?
    } else if let Some(text) = reader.text("results.json")? {
        reader.single(&text)?
    } else {
        return Err(ReadError::Nothing(folder.display().to_string()));
    };
    collection.folder = folder.display().to_string();
    collection.manifest = reader.json("manifest.json")?.unwrap_or_default();
    collection.layout = reader.json("layout.json")?;
    Ok(collection)
}

struct Reader<'a> {
    folder: &'a Path,
}

impl Reader<'_> {
    fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        match std::fs::read(self.folder.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
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

    fn text(&self, name: &str) -> Result<Option<String>, ReadError> {
        let Some(bytes) = self.bytes(name)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|error| self.bad(name, error))?;
        Ok(Some(text))
    }

    fn json(&self, name: &str) -> Result<Option<serde_json::Value>, ReadError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let value = serde_json::from_str(&text).map_err(|error| self.bad(name, error))?;
        Ok(Some(value))
    }

    fn table(&self, name: &str) -> Result<Option<Frame>, ReadError> {
        let file = format!("{name}.parquet");
        let Some(bytes) = self.bytes(&file)? else {
            return Ok(None);
        };
        from_parquet(bytes)
            .map(Some)
            .map_err(|error| self.bad(&file, error))
    }

    fn tables(&self) -> Result<BTreeMap<String, Frame>, ReadError> {
        let mut tables = BTreeMap::new();
        for (name, _) in TABLES {
            if let Some(frame) = self.table(name)? {
                tables.insert((*name).to_owned(), frame);
            }
        }
        Ok(tables)
    }

    fn study(&self, text: &str) -> Result<Collection, ReadError> {
        let study: StudyDocument =
            serde_json::from_str(text).map_err(|error| self.bad("study.json", error))?;
        if study.results_version > RESULTS_VERSION {
            let version = study.results_version;
            return Err(self.bad("study.json", format!("results of version {version}")));
        }
        let mut tables = self.tables()?;
        let Some(merged) = self.table("points")? else {
            return Err(ReadError::NotMerged(self.folder.display().to_string()));
        };
        tables.insert("points".to_owned(), merged);
        let warnings = self.json("warnings.json")?;
        let warnings = warnings.and_then(|value| serde_json::from_value(value).ok());
        Ok(Collection {
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

    fn single(&self, text: &str) -> Result<Collection, ReadError> {
        let document =
            Document::from_json(text).map_err(|error| self.bad("results.json", error))?;
        let point = Column {
            name: "point",
            unit: "",
            meaning: "The only point.",
        };
        let key = [(FrameColumn::new(&point, Kind::Whole), Datum::Whole(0))];
        let mut tables: BTreeMap<String, Frame> = self
            .tables()?
            .into_iter()
            .map(|(name, frame)| (name, frame.behind(&key)))
            .collect();
        // Older folders have CSV only; what matters most is in the document itself.
        let results = document.results().behind(&key);
        tables.insert("points".to_owned(), points(&results, &["point".to_owned()]));
        tables.insert("results".to_owned(), results);
        Ok(Collection {
            name: document.name.clone(),
            about: document.about.clone(),
            tables,
            experiment: self.text("resolved.toml")?.unwrap_or_default(),
            warnings: ended_early(&document),
            ..Collection::default()
        })
    }
}

/// Runs that did not come to their end.
fn ended_early(document: &Document) -> Vec<String> {
    let early = document
        .runs()
        .filter(|run| run.status >= Status::Interrupted);
    early
        .map(|run| {
            let (word, seed) = (run.status.word(), run.seed);
            format!("{word} with seed {seed}: the numbers are those up to then")
        })
        .collect()
}
