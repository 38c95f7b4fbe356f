//! Replaces several files of a folder together, while other processes use the folder.
//!
//! The new files are written to a hidden folder inside, with a list of the files that are added and
//! removed. Renaming that folder to `incoming` commits the change: from then on, any process that
//! finds it moves the files to their places. A reader that finds it reports that the tables are
//! being replaced.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use netloom_catalog::file::{MOST_EXPERIMENT, read_bytes};
use serde::{Deserialize, Serialize};

use super::file::{create_new, refuse_other, sync_folder};
use super::lock::{remove, remove_files};
use super::names::{inside, is_figure, temporary};
use super::sums::{SUMS, Sums};

/// The folder inside, once it is committed.
pub const INCOMING: &str = "incoming";
/// The list in it.
const LIST: &str = "incoming.json";

#[derive(Serialize, Deserialize)]
struct List {
    arrives: Vec<String>,
    leaves: Vec<String>,
}

/// New files of a folder, not yet in their places. If it is dropped before the commit, nothing
/// remains.
pub struct Incoming {
    folder: PathBuf,
    path: PathBuf,
    names: Vec<String>,
}

impl Incoming {
    /// Begins to replace files of a folder.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn begin(folder: &Path) -> io::Result<Incoming> {
        let path = temporary(&folder.join(INCOMING), "tmp");
        fs::create_dir(&path)?;
        Ok(Incoming {
            folder: folder.to_owned(),
            path,
            names: vec![],
        })
    }

    /// Creates a file.
    ///
    /// # Errors
    /// If the name is invalid, if something other than a regular file exists at its place, or the
    /// system reports an error.
    pub fn create(&mut self, name: &str) -> io::Result<File> {
        refuse_other(&inside(&self.folder, name)?)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let file = create_new(&inside(&self.path, name)?)?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// As for [`Incoming::create`].
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.create(name)?.write_all(bytes)
    }

    /// Writes the checksums of all new files.
    ///
    /// # Errors
    /// As for [`Incoming::create`].
    pub fn write_sums(&mut self) -> io::Result<()> {
        let mut sums = Sums::default();
        for name in &self.names {
            sums.add(name, &fs::read(self.path.join(name))?);
        }
        self.write(SUMS, sums.to_text().as_bytes())
    }

    /// Whether this file is among the new ones.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Whether all files in their places have the same bytes as the new ones.
    ///
    /// # Errors
    /// If a new one cannot be read.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        for name in &self.names {
            let new = File::open(self.path.join(name))?;
            let Ok(old) = File::open(self.folder.join(name)) else {
                return Ok(false);
            };
            if !have_same_bytes(old, new)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves all files to their places, and removes those in `leaves`.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn finish(self, leaves: Vec<String>) -> io::Result<()> {
        for name in &self.names {
            File::open(self.path.join(name))?.sync_all()?;
        }
        let list = List {
            arrives: self.names.clone(),
            leaves,
        };
        let text = serde_json::to_vec(&list).expect("plain data is JSON");
        let mut file = create_new(&self.path.join(LIST))?;
        file.write_all(&text)?;
        file.sync_all()?;
        sync_folder(&self.path)?;
        fs::rename(&self.path, self.folder.join(INCOMING))?;
        sync_folder(&self.folder)?;
        finish_incoming(&self.folder)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// Compares two files in parts, since tables may be too large for memory.
fn have_same_bytes(one: File, other: File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    loop {
        let (a, b) = (one.fill_buf()?, other.fill_buf()?);
        let n = a.len().min(b.len());
        if a[..n] != b[..n] {
            return Ok(false);
        }
        if n == 0 {
            return Ok(a.len() == b.len());
        }
        one.consume(n);
        other.consume(n);
    }
}

/// Moves committed files to their places, if there are any.
///
/// # Errors
/// If the system reports an error, or the list is not one that netloom writes.
pub fn finish_incoming(folder: &Path) -> io::Result<()> {
    let incoming = folder.join(INCOMING);
    match fs::symlink_metadata(&incoming) {
        Ok(there) if there.is_dir() => {}
        _ => return Ok(()),
    }
    let wrong = |error: String| io::Error::other(format!("{}: {error}", incoming.display()));
    let text = read_bytes(&incoming.join(LIST), MOST_EXPERIMENT);
    let text = text.map_err(|error| wrong(error.to_string()))?;
    let list: List = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    // A folder may come from an untrusted source: the list may only name files that netloom writes.
    let mut names = list.arrives.iter().chain(&list.leaves);
    if let Some(name) = names.find(|name| !may_change(name)) {
        return Err(wrong(format!("{name:?} is not a file that netloom writes")));
    }
    for name in &list.arrives {
        let (from, to) = (inside(&incoming, name)?, inside(folder, name)?);
        refuse_other(&from).map_err(|error| wrong(format!("{name}: {error}")))?;
        // A missing file was already moved.
        match fs::rename(from, to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for name in &list.leaves {
        let path = inside(folder, name)?;
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_file() => remove(&path)?,
            Ok(there) if there.is_dir() && name == FIGURES => remove_files(&path, is_figure)?,
            _ => {}
        }
    }
    sync_folder(folder)?;
    // Removed in one step, including the list.
    let done = temporary(&incoming, "tmp");
    fs::rename(&incoming, &done)?;
    remove_files(&done, |_| true)
}

/// The folder of figures, which may be removed.
const FIGURES: &str = "figures";

/// Whether studies and reproductions replace a file of this name.
fn may_change(name: &str) -> bool {
    let endings = [".csv", ".parquet", ".json", ".html", ".svg", ".md", ".txt"];
    name == FIGURES || name == SUMS || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("netloom-incoming-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn files_arrive_together_and_stale_ones_leave() {
        let place = place("together");
        fs::write(place.join("results.csv"), "old").unwrap();
        fs::create_dir(place.join("figures")).unwrap();
        fs::write(place.join("figures/old.svg"), "old").unwrap();
        let mut incoming = Incoming::begin(&place).unwrap();
        incoming.write("results.csv", b"new").unwrap();
        incoming.write("links.csv", b"new").unwrap();
        assert!(incoming.write("../evil.csv", b"").is_err());
        assert!(!incoming.is_unchanged().unwrap());
        incoming
            .finish(vec!["figures".to_owned(), "report.html".to_owned()])
            .unwrap();
        assert_eq!(names(&place), ["links.csv", "results.csv"]);
        assert_eq!(fs::read(place.join("results.csv")).unwrap(), b"new");
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn what_was_promised_is_finished_by_whoever_comes() {
        let place = place("promised");
        fs::write(place.join("a.csv"), "new, moved before").unwrap();
        fs::write(place.join("b.csv"), "old").unwrap();
        fs::write(place.join("c.csv"), "old").unwrap();
        let incoming = place.join(INCOMING);
        fs::create_dir(&incoming).unwrap();
        fs::write(incoming.join("b.csv"), "new").unwrap();
        let list = r#"{"arrives":["a.csv","b.csv"],"leaves":["c.csv"]}"#;
        fs::write(incoming.join(LIST), list).unwrap();
        finish_incoming(&place).unwrap();
        assert_eq!(names(&place), ["a.csv", "b.csv"]);
        assert_eq!(fs::read(place.join("b.csv")).unwrap(), b"new");
        // A forged list has no effect outside the folder.
        fs::create_dir(&incoming).unwrap();
        fs::write(
            incoming.join(LIST),
            r#"{"arrives":[],"leaves":["../victim"]}"#,
        )
        .unwrap();
        assert!(finish_incoming(&place).is_err());
        // Nor on files that netloom does not write.
        fs::write(place.join("thesis.tex"), "precious").unwrap();
        let list = r#"{"arrives":["b.csv"],"leaves":["thesis.tex"]}"#;
        fs::write(incoming.join(LIST), list).unwrap();
        let refused = finish_incoming(&place).unwrap_err().to_string();
        assert!(
            refused.contains("\"thesis.tex\" is not a file that netloom writes"),
            "{refused}"
        );
        assert_eq!(fs::read(place.join("thesis.tex")).unwrap(), b"precious");
        // Only figures drawn by netloom are removed; other files in the folder stay.
        fs::create_dir(place.join("figures")).unwrap();
        fs::write(place.join("figures/latency.svg"), "drawn").unwrap();
        fs::write(place.join("figures/notes.md"), "precious").unwrap();
        fs::write(
            incoming.join(LIST),
            r#"{"arrives":[],"leaves":["figures"]}"#,
        )
        .unwrap();
        finish_incoming(&place).unwrap();
        assert_eq!(names(&place.join("figures")), ["notes.md"]);
        fs::remove_dir_all(&place).unwrap();
    }
}
