//! Where the files are that an experiment names: on disk, or in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::file::{read_bytes, too_large, utf8};

/// Reads the files that an experiment names. Names are relative to the experiment.
#[warn(missing_docs)]
pub trait Files: fmt::Debug + Send + Sync {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file does not exist, or if it is larger than `most` bytes.
    fn read(&self, name: &Path, most: u64) -> Result<Vec<u8>>;

    /// Returns what identifies a file: the same for two names of one file.
    fn identity(&self, name: &Path) -> Option<PathBuf>;

    /// Returns a name as messages show it.
    fn shown(&self, name: &Path) -> PathBuf {
        name.to_owned()
    }
}

impl dyn Files + '_ {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Those of [`Files::read`], or if the file is not UTF-8.
    pub fn read_text(&self, name: &Path, most: u64) -> Result<String> {
        utf8(self.read(name, most)?)
    }
}

/// The files of a folder, and of the whole disk by absolute names.
#[derive(Clone, Debug)]
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// The files of the current directory.
    pub const HERE: &Disk = &Disk {
        folder: PathBuf::new(),
    };

    /// Returns the files of a folder.
    pub fn folder(folder: impl Into<PathBuf>) -> Arc<dyn Files> {
        let folder = folder.into();
        Arc::new(Disk { folder })
    }
}

impl Files for Disk {
    fn read(&self, name: &Path, most: u64) -> Result<Vec<u8>> {
        read_bytes(&self.folder.join(name), most)
    }

    fn identity(&self, name: &Path) -> Option<PathBuf> {
        self.folder.join(name).canonicalize().ok()
    }

    fn shown(&self, name: &Path) -> PathBuf {
        self.folder.join(name)
    }
}

/// Files in memory by their names, such as `flows.csv` or `tables/sizes.csv`.
///
/// ```
/// use std::path::Path;
/// use netloom_catalog::{Files, MemoryFiles};
///
/// let files = MemoryFiles::from_iter([("flows.csv", "time,source,destination,bytes")]);
/// assert!(files.read(Path::new("./flows.csv"), 100).is_ok());
/// ```
#[derive(Clone, Default, Debug)]
pub struct MemoryFiles {
    contents: BTreeMap<PathBuf, Vec<u8>>,
}

impl<N: AsRef<Path>, B: Into<Vec<u8>>> FromIterator<(N, B)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (N, B)>>(files: I) -> Self {
        let files = files.into_iter();
        let contents = files.map(|(name, bytes)| (plain(name.as_ref()), bytes.into()));
        MemoryFiles {
            contents: contents.collect(),
        }
    }
}

impl Files for MemoryFiles {
    fn read(&self, name: &Path, most: u64) -> Result<Vec<u8>> {
        let missing = || Error::new(ErrorKind::NotFound, "no file in memory has this name");
        let bytes = self.contents.get(&plain(name)).ok_or_else(missing)?;
        match bytes.len() as u64 > most {
            true => Err(too_large(most)),
            false => Ok(bytes.clone()),
        }
    }

    fn identity(&self, name: &Path) -> Option<PathBuf> {
        Some(plain(name)).filter(|name| self.contents.contains_key(name))
    }
}

/// Returns a name without `.` and `..`.
fn plain(name: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in name.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if found.file_name().is_some_and(|last| last != "..") => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_by_any_spelling_of_their_names() {
        let files: &dyn Files = &MemoryFiles::from_iter([("a/b.csv", "text"), ("../c", "more")]);
        let read = |name: &str| files.read_text(Path::new(name), 4);
        for name in ["a/b.csv", "./a/b.csv", "a/../a/./b.csv"] {
            assert_eq!(read(name).unwrap(), "text");
            assert_eq!(files.identity(Path::new(name)), Some("a/b.csv".into()));
        }
        assert_eq!(read("a/../../c").unwrap(), "more");
        assert_eq!(read("b.csv").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(files.identity(Path::new("b.csv")), None);
        let few = files.read(Path::new("../c"), 3).unwrap_err();
        assert_eq!(few.to_string(), "larger than the limit of 3 bytes");
    }
}
