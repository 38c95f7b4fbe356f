//! Several files of a folder that change together, while others work in the folder.
//!
//! The new files are written into a hidden folder inside, with a list of what arrives and what leaves. Renamed to
//! `incoming`, that folder is the promise: from then on the new state holds, and whoever finds it moves the files to
//! their places. Who only reads sees that the tables are not of one kind, and says so.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use netloom_catalog::file::{MOST_EXPERIMENT, read_bytes};
use serde::{Deserialize, Serialize};

use super::file::{create_new, refuse_other, sync_folder};
use super::lock::{remove, remove_files};
use super::names::{inside, is_figure, temporary};
use super::sums::{SUMS, Sums};

/// The folder inside, once all files are in it.
pub const INCOMING: &str = "incoming";
/// The list in it.
const LIST: &str = "incoming.json";

#[derive(Serialize, Deserialize)]
struct List {
    arrives: Vec<String>,
    leaves: Vec<String>,
}

/// New files of a folder, not yet in their places. Dropped before they are promised, they leave nothing.
pub struct Incoming {
    folder: PathBuf,
    path: PathBuf,
    names: Vec<String>,
}

impl Incoming {
    /// Begins to replace files of a folder.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(folder: &Path) -> io::Result<Incoming> {
        let path = temporary(&folder.join(INCOMING), "tmp");
        fs::create_dir(&path)?;
        Ok(Incoming {
            folder: folder.to_owned(),
            path,
            names: vec![],
        })
    }

    /// Begins a file.
    ///
    /// # Errors
    /// If the name is none, or its place is taken by what is no file, or the system refuses.
    pub fn create(&mut self, name: &str) -> io::Result<File> {
        refuse_other(&inside(&self.folder, name)?)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let file = create_new(&inside(&self.path, name)?)?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// As for [`Incoming::create`].
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.create(name)?.write_all(bytes)
    }

    /// Writes the checksums of all files that arrive.
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

    /// Whether this file arrives.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Whether every file in its place has the same bytes as the one that arrives.
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

    /// Puts all files into their places, and takes away those that leave.
    ///
    /// # Errors
    /// If the system refuses.
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

/// Tables may be larger than what one wants in memory twice.
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

/// Moves files that were promised to their places, where there are any.
///
/// # Errors
/// If the system refuses, or the list is not one that netloom writes.
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
    // A folder may come from anybody: the list moves and removes nothing else than what netloom writes.
    let mut names = list.arrives.iter().chain(&list.leaves);
    if let Some(name) = names.find(|name| !may_change(name)) {
        return Err(wrong(format!("{name:?} is not a file that netloom writes")));
    }
    for name in &list.arrives {
        let (from, to) = (inside(&incoming, name)?, inside(folder, name)?);
        refuse_other(&from).map_err(|error| wrong(format!("{name}: {error}")))?;
        // What is not there any more was moved before we came.
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
    // At once, list and all.
    let done = temporary(&incoming, "tmp");
    fs::rename(&incoming, &done)?;
    remove_files(&done, |_| true)
}

/// The folder of figures, which may leave.
const FIGURES: &str = "figures";

/// Whether a file of this name is one that studies and reproductions replace.
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
        // A list that somebody else wrote leads nowhere.
        fs::create_dir(&incoming).unwrap();
        fs::write(
            incoming.join(LIST),
            r#"{"arrives":[],"leaves":["../victim"]}"#,
        )
        .unwrap();
        assert!(finish_incoming(&place).is_err());
        // Nor to what netloom does not write.
        fs::write(place.join("thesis.tex"), "precious").unwrap();
        let list = r#"{"arrives":["b.csv"],"leaves":["thesis.tex"]}"#;
        fs::write(incoming.join(LIST), list).unwrap();
        let refused = finish_incoming(&place).unwrap_err().to_string();
        assert!(
            refused.contains("\"thesis.tex\" is not a file that netloom writes"),
            "{refused}"
        );
        assert_eq!(fs::read(place.join("thesis.tex")).unwrap(), b"precious");
        // Of figures those that netloom draws leave, and the rest of the folder stays.
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
