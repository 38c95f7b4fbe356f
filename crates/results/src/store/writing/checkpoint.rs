//! Checkpoints of a run: a folder beside that of its results.
//!
//! ```text
//!  fat-tree.out.checkpoint/
//!    7/partition-0 … partition-31   each written by the process that runs the partition
//!    7/run                          written last: a checkpoint that has it is whole
//! ```
//!
//! The next one goes to `8`; when it is whole, `7` is taken away. Whoever is killed, at whatever moment, leaves a whole one, once
//! there was one. All processes of a run see one folder: on several machines it is on a file system that they share.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use netloom_encoding::{Encoded, encoded};
use sha2::{Digest, Sha256};

use super::file::{make_folder, write_file};

/// The beginning of every file; the number is that of this format.
const MAGIC: &[u8] = b"netloom checkpoint 1\n";
/// The file that is written last.
const RUN: &str = "run";
const HASH: usize = 32;

/// What a checkpoint is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointOf {
    /// The version of the program that made it: another may keep other things.
    pub netloom: String,
    /// The run.
    pub run_id: String,
    /// Into how many partitions the fabric is cut.
    pub n_partitions: u32,
}
encoded!(CheckpointOf {
    netloom,
    run_id,
    n_partitions
});

/// The folder of the checkpoints of a run, as one of its processes uses it.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    of: CheckpointOf,
    /// The last whole one.
    last: Option<u64>,
    /// Whether this process writes what all share.
    leads: bool,
}

impl CheckpointFolder {
    /// Where the checkpoints of a run are whose results go to a folder.
    pub fn beside(results: &Path) -> PathBuf {
        let mut name = results.file_name().unwrap_or_default().to_owned();
        name.push(".checkpoint");
        results.with_file_name(name)
    }

    /// What the last whole checkpoint in a folder is of; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn look(path: &Path) -> io::Result<Option<CheckpointOf>> {
        let Some(last) = last(path)? else {
            return Ok(None);
        };
        let file = path.join(last.to_string()).join(RUN);
        read(&file).map(|(of, _)| Some(of))
    }

    /// Takes a folder for the checkpoints of a run. Nothing is written before there is something to be kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path, of: CheckpointOf, leads: bool) -> io::Result<CheckpointFolder> {
        Ok(CheckpointFolder {
            path: path.to_owned(),
            of,
            last: last(path)?,
            leads,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the processes share in the last checkpoint; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is of something else.
    pub fn shared(&self) -> io::Result<Option<Vec<u8>>> {
        self.last.map(|last| self.part(last, RUN)).transpose()
    }

    /// A partition in the last checkpoint.
    ///
    /// # Errors
    /// If it cannot be read, or is of something else.
    pub fn partition(&self, partition: usize) -> io::Result<Vec<u8>> {
        let last = self.last.ok_or(io::ErrorKind::NotFound)?;
        self.part(last, &name(partition))
    }

    fn part(&self, number: u64, name: &str) -> io::Result<Vec<u8>> {
        let file = self.path.join(number.to_string()).join(name);
        let (of, content) = read(&file)?;
        match of == self.of {
            true => Ok(content),
            false => Err(wrong(&file, "is of another run")),
        }
    }

    /// The number of the checkpoint that is being made.
    fn next(&self) -> u64 {
        self.last.map_or(1, |last| last + 1)
    }

    /// Keeps a partition in the checkpoint that is being made.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_partition(&self, partition: usize, saved: &[u8]) -> io::Result<()> {
        self.write(&name(partition), saved)
    }

    /// The partitions of all processes are kept: makes the checkpoint whole, and takes the one before it away.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn complete(&mut self, shared: &[u8]) -> io::Result<()> {
        if self.leads {
            self.write(RUN, shared)?;
            if let Some(old) = self.last {
                // Without its last file it is none, whatever is left of it.
                let old = self.path.join(old.to_string());
                fs::remove_file(old.join(RUN))?;
                let _ = fs::remove_dir_all(old);
            }
        }
        self.last = Some(self.next());
        Ok(())
    }

    /// The checkpoint could not be made: looks which one is the last.
    pub fn abandon(&mut self) {
        self.last = last(&self.path).ok().flatten();
    }

    /// The run has ended: takes all checkpoints away.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(path: &Path) -> io::Result<()> {
        // The files that make checkpoints whole go first.
        while let Some(last) = last(path)? {
            fs::remove_file(path.join(last.to_string()).join(RUN))?;
        }
        match fs::remove_dir_all(path) {
            Err(error) if !is_absent(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        make_folder(&self.path)?;
        let folder = self.path.join(self.next().to_string());
        make_folder(&folder)?;
        let mut bytes = Vec::with_capacity(MAGIC.len() + 256 + content.len() + HASH);
        bytes.extend_from_slice(MAGIC);
        self.of.put(&mut bytes);
        bytes.extend_from_slice(content);
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        write_file(&folder.join(name), &bytes)
    }
}

fn name(partition: usize) -> String {
    format!("partition-{partition}")
}

fn wrong(file: &Path, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{} {why}", file.display()),
    )
}

/// What a file is of, and what it holds.
fn read(file: &Path) -> io::Result<(CheckpointOf, Vec<u8>)> {
    let mut bytes = fs::read(file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    if !bytes.starts_with(MAGIC) {
        return Err(wrong(file, "is no checkpoint of this format"));
    }
    let damaged = || wrong(file, "is damaged: its checksum is another");
    let end = bytes.len().checked_sub(HASH).ok_or_else(damaged)?;
    if Sha256::digest(&bytes[..end])[..] != bytes[end..] {
        return Err(damaged());
    }
    let mut rest = bytes.get(MAGIC.len()..end).ok_or_else(damaged)?;
    let of = CheckpointOf::take(&mut rest).ok_or_else(damaged)?;
    let start = end - rest.len();
    bytes.truncate(end);
    bytes.drain(..start);
    Ok((of, bytes))
}

/// Whether nothing is there. A name that is too long with its ending is that of no checkpoint.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename
    )
}

/// The number of the last whole checkpoint in a folder.
fn last(path: &Path) -> io::Result<Option<u64>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut last = None;
    for entry in entries {
        let entry = entry?;
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if number > last && entry.path().join(RUN).is_file() {
            last = number;
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("netloom-checkpoint-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn of(run_id: &str) -> CheckpointOf {
        CheckpointOf {
            netloom: "1".to_owned(),
            run_id: run_id.to_owned(),
            n_partitions: 2,
        }
    }

    fn make(folder: &mut CheckpointFolder, text: &str) {
        for partition in 0..2 {
            let saved = format!("{text} {partition}");
            folder.keep_partition(partition, saved.as_bytes()).unwrap();
        }
        folder.complete(text.as_bytes()).unwrap();
    }

    #[test]
    fn the_last_whole_one_counts() {
        let path = place("last");
        assert_eq!(CheckpointFolder::look(&path).unwrap(), None);
        let mut folder = CheckpointFolder::open(&path, of("run"), true).unwrap();
        assert_eq!(folder.shared().unwrap(), None);
        make(&mut folder, "one");
        make(&mut folder, "two");
        // Killed before the third is whole.
        folder.keep_partition(0, b"three").unwrap();
        let folder = CheckpointFolder::open(&path, of("run"), true).unwrap();
        assert_eq!(CheckpointFolder::look(&path).unwrap(), Some(of("run")));
        assert_eq!(folder.shared().unwrap().unwrap(), b"two");
        assert_eq!(folder.partition(1).unwrap(), b"two 1");
        assert!(!path.join("1").exists(), "the one before is gone");
        CheckpointFolder::remove(&path).unwrap();
        assert!(!path.exists());
        CheckpointFolder::remove(&path).unwrap();
    }

    #[test]
    fn what_is_damaged_or_of_another_run_is_refused() {
        let path = place("damaged");
        let mut folder = CheckpointFolder::open(&path, of("run"), true).unwrap();
        make(&mut folder, "one");
        let other = CheckpointFolder::open(&path, of("other"), true).unwrap();
        let told = other.shared().unwrap_err().to_string();
        assert!(told.ends_with("is of another run"), "{told}");
        let file = path.join("1/partition-0");
        let good = fs::read(&file).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 4;
            fs::write(&file, &bad).unwrap();
            assert!(folder.partition(0).is_err(), "byte {at}");
            fs::write(&file, &good[..at]).unwrap();
            assert!(folder.partition(0).is_err(), "{at} bytes");
        }
        fs::write(&file, &good).unwrap();
        assert_eq!(folder.partition(0).unwrap(), b"one 0");
        fs::remove_dir_all(&path).unwrap();
    }
}
