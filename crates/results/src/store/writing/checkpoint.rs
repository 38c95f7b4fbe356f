//! Checkpoints of a run, in a folder next to that of its results.
//!
//! ```text
//!  fat-tree.out.checkpoint/
//!    7/partition-0 … partition-31   each written by the process that runs the partition
//!    7/run                          written last: a checkpoint with this file is complete
//! ```
//!
//! The next checkpoint is written to `8`; when it is complete, `7` is removed. So once there is a
//! complete checkpoint, a process that is killed at any moment leaves one. All processes of a run
//! use the same folder: on several machines, it is on a shared file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use netloom_encoding::Encoded;
use sha2::{Digest, Sha256};

use super::file::{make_folder, write_file};
use super::names::is_temporary;

/// The start of every file, with the version of the format.
const MAGIC: &[u8] = b"netloom checkpoint 3\n";
/// The start of every file of any version.
const ANY_MAGIC: &[u8] = b"netloom checkpoint ";
/// The file that is written last.
const RUN: &str = "run";
const HASH: usize = 32;

/// The run that a checkpoint belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Encoded)]
pub struct CheckpointOf {
    /// The version of the program that wrote it; other versions may store other data.
    pub netloom: String,
    pub run_id: String,
    /// Number of partitions of the fabric.
    pub n_partitions: u32,
}

/// The folder of the checkpoints of a run, as one of its processes uses it.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    of: CheckpointOf,
    /// The last complete checkpoint.
    last: Option<u64>,
    /// Whether this process writes the shared data.
    leads: bool,
}

impl CheckpointFolder {
    /// Returns the folder of checkpoints for a folder of results.
    pub fn path_for(results: &Path) -> PathBuf {
        let mut name = results.file_name().unwrap_or_default().to_owned();
        name.push(".checkpoint");
        results.with_file_name(name)
    }

    /// Returns the run of the last complete checkpoint in a folder, or `None` if there is no
    /// checkpoint.
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

    /// Opens a folder for the checkpoints of a run. Nothing is written before the first checkpoint.
    ///
    /// # Errors
    /// If it cannot be read, or has other files than checkpoints, because the folder is removed at
    /// the end of the run.
    pub fn open(path: &Path, of: CheckpointOf, leads: bool) -> io::Result<CheckpointFolder> {
        contents(path)?;
        Ok(CheckpointFolder {
            path: path.to_owned(),
            of,
            last: last(path)?,
            leads,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file of a partition in the last checkpoint, or that of the shared data.
    pub fn file(&self, partition: Option<usize>) -> PathBuf {
        let name = partition.map_or(RUN.to_owned(), name);
        let last = self.last.unwrap_or(0);
        self.path.join(last.to_string()).join(name)
    }

    /// Reads the shared data of the last checkpoint; `None` if there is no checkpoint.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to another run.
    pub fn shared(&self) -> io::Result<Option<Vec<u8>>> {
        self.last.map(|last| self.part(last, RUN)).transpose()
    }

    /// Reads a partition of the last checkpoint.
    ///
    /// # Errors
    /// If it cannot be read, or belongs to another run.
    pub fn partition(&self, partition: usize) -> io::Result<Vec<u8>> {
        let last = self.last.ok_or(io::ErrorKind::NotFound)?;
        self.part(last, &name(partition))
    }

    fn part(&self, number: u64, name: &str) -> io::Result<Vec<u8>> {
        let file = self.path.join(number.to_string()).join(name);
        let (of, content) = read(&file)?;
        match of == self.of {
            true => Ok(content),
            false => Err(wrong(&file, "belongs to another run")),
        }
    }

    /// Returns the number of the checkpoint being written.
    fn next(&self) -> u64 {
        self.last.map_or(1, |last| last + 1)
    }

    /// Saves a partition in the checkpoint being written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_partition(&self, partition: usize, saved: &[u8]) -> io::Result<()> {
        self.write(&name(partition), saved)
    }

    /// Completes the checkpoint, after all processes have saved their partitions, and removes the
    /// previous one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn complete(&mut self, shared: &[u8]) -> io::Result<()> {
        if self.leads {
            self.write(RUN, shared)?;
            if let Some(old) = self.last {
                // Without this file the checkpoint is invalid, so an interruption here is harmless.
                let old = self.path.join(old.to_string());
                fs::remove_file(old.join(RUN))?;
                let _ = files(&old).and_then(|files| remove_folder(&old, &files));
            }
        }
        self.last = Some(self.next());
        Ok(())
    }

    /// Gives up a checkpoint that could not be written, and looks up the last one.
    pub fn abandon(&mut self) {
        self.last = last(&self.path).ok().flatten();
    }

    /// Removes all checkpoints of a folder, and the folder. Removes nothing if there are other
    /// files in it.
    ///
    /// # Errors
    /// If there is a file that netloom did not write, or a file cannot be removed.
    pub fn remove(path: &Path) -> io::Result<()> {
        let Some(mut folders) = contents(path)? else {
            return Ok(());
        };
        // Remove the files that make checkpoints complete first.
        for (_, files) in &mut folders {
            files.sort_by_key(|file| !file.ends_with(RUN));
        }
        let whole = folders.iter().filter_map(|(_, files)| files.first());
        for run in whole.filter(|file| file.ends_with(RUN)) {
            fs::remove_file(run)?;
        }
        for (folder, files) in &folders {
            remove_folder(folder, files)?;
        }
        match folders.is_empty() {
            // The folder was empty: another program may have created it.
            true => Ok(()),
            false => fs::remove_dir(path),
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

/// Reads a file: the run it belongs to, and its content.
fn read(file: &Path) -> io::Result<(CheckpointOf, Vec<u8>)> {
    let mut bytes = Vec::new();
    open_plain(file)?.read_to_end(&mut bytes)?;
    if !bytes.starts_with(MAGIC) {
        return Err(wrong(file, "is not a checkpoint of this format"));
    }
    let damaged = || wrong(file, "is damaged: its checksum does not match");
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

/// Opens a regular file without following a link or waiting for the other end of a pipe. Reading
/// stops at the current length of the file.
fn open_plain(file: &Path) -> io::Result<io::Take<File>> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let expect = |there: &fs::Metadata| match there.is_file() {
        true => Ok(()),
        false => Err(wrong(
            file,
            &format!("is {}: expected a regular file", what(there)),
        )),
    };
    // Checked before opening, since opening a device may have side effects.
    expect(&fs::symlink_metadata(file).map_err(named)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let opened = options.open(file).map_err(named)?;
    let there = opened.metadata().map_err(named)?;
    expect(&there)?;
    Ok(opened.take(there.len()))
}

/// Returns the type of an unexpected directory entry, for messages.
fn what(there: &fs::Metadata) -> &'static str {
    match there.file_type() {
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_dir() => "a folder",
        kind if kind.is_file() => "a file",
        _ => "a pipe or a device",
    }
}

/// Returns the sorted entries of a folder (not a link), or `None` if it does not exist.
fn entries(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !there.is_dir() {
        let why = format!("is {}: expected a folder of checkpoints", what(&there));
        return Err(wrong(path, &why));
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    entries.sort();
    Ok(Some(entries))
}

/// Parses the number of a checkpoint from the name of its folder.
fn number(folder: &Path) -> Option<u64> {
    let name = folder.file_name()?.to_str()?;
    let number: u64 = name.parse().ok()?;
    (number.to_string() == name).then_some(number)
}

/// A folder of a checkpoint and the files in it.
type Contents = (PathBuf, Vec<PathBuf>);

/// Returns the folders of all checkpoints with their files, or `None` if there is no folder. Fails
/// on any file that netloom did not write.
fn contents(path: &Path) -> io::Result<Option<Vec<Contents>>> {
    let Some(entries) = entries(path)? else {
        return Ok(None);
    };
    let folders = entries.into_iter().map(|folder| match number(&folder) {
        Some(_) => files(&folder).map(|files| (folder, files)),
        None => Err(foreign(&folder)),
    });
    folders.collect::<io::Result<_>>().map(Some)
}

/// Returns the files of one checkpoint, complete or not.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = entries(folder)?.unwrap_or_default();
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| foreign(file))?;
        let partition = name.strip_prefix("partition-").map(Path::new);
        let is_checkpoint = name == RUN || partition.is_some_and(|at| number(at).is_some());
        // Left by a process that was killed while it wrote the file.
        if !is_checkpoint && !is_temporary(name, None, "tmp") {
            return Err(foreign(file));
        }
        let mut start = Vec::new();
        open_plain(file)?
            .take(ANY_MAGIC.len() as u64)
            .read_to_end(&mut start)?;
        let begins = match is_checkpoint {
            true => start == ANY_MAGIC,
            false => ANY_MAGIC.starts_with(&start),
        };
        if !begins {
            return Err(foreign(file));
        }
    }
    Ok(files)
}

fn foreign(path: &Path) -> io::Error {
    let why = "is not part of a checkpoint, so its folder is left unchanged; move it elsewhere, or \
               use another folder with -o DIR";
    wrong(path, why)
}

/// Removes the files of a folder, and the folder.
fn remove_folder(folder: &Path, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        match fs::remove_file(file) {
            Err(error) if !is_absent(&error) => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)
}

/// Whether the file does not exist. A name that is too long with its extension cannot be a
/// checkpoint either.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename
    )
}

/// Returns the number of the last complete checkpoint in a folder.
fn last(path: &Path) -> io::Result<Option<u64>> {
    let is = |path: &Path, kind: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|there| kind(&there))
    };
    let is_whole = |folder: &&PathBuf| {
        is(folder, fs::Metadata::is_dir)
            && !is(&folder.join(RUN), fs::Metadata::is_dir)
            && fs::symlink_metadata(folder.join(RUN)).is_ok()
    };
    let entries = entries(path)?.unwrap_or_default();
    let whole = entries.iter().filter(is_whole);
    Ok(whole.filter_map(|folder| number(folder)).max())
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
        // Killed before the third is complete.
        folder.keep_partition(0, b"three").unwrap();
        let folder = CheckpointFolder::open(&path, of("run"), true).unwrap();
        assert_eq!(CheckpointFolder::look(&path).unwrap(), Some(of("run")));
        assert_eq!(folder.shared().unwrap().unwrap(), b"two");
        assert_eq!(folder.partition(1).unwrap(), b"two 1");
        assert!(!path.join("1").exists(), "the previous one is removed");
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
        let message = other.shared().unwrap_err().to_string();
        assert!(message.ends_with("belongs to another run"), "{message}");
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

    #[test]
    fn what_netloom_did_not_write_is_not_removed() {
        let path = place("foreign");
        fs::create_dir_all(path.join("3")).unwrap();
        let ours = |name: &str| path.join("3").join(name);
        fs::write(ours("run"), [MAGIC, b"..."].concat()).unwrap();
        fs::write(ours("partition-0"), "netloom checkpoint 1\n").unwrap();
        let temporary = ".run.77-00112233445566778899aabb.tmp";
        fs::write(ours(temporary), "netloom che").unwrap();
        for foreign in [
            "weights.bin",
            "3/notes",
            "3/partition-x",
            "3/partition-01",
            "03",
            "3/partition-1",
        ] {
            let foreign = path.join(foreign);
            fs::write(&foreign, "precious").unwrap();
            let message = CheckpointFolder::remove(&path).unwrap_err().to_string();
            assert!(message.contains("is not part of a checkpoint"), "{message}");
            assert!(
                message.contains(&foreign.display().to_string()),
                "{message}"
            );
            assert!(CheckpointFolder::open(&path, of("run"), true).is_err());
            assert_eq!(fs::read(&foreign).unwrap(), b"precious");
            assert!(
                ours("run").exists(),
                "nothing is removed before all files are checked"
            );
            fs::remove_file(&foreign).unwrap();
        }
        fs::create_dir(path.join("4")).unwrap();
        CheckpointFolder::remove(&path).unwrap();
        assert!(!path.exists());
        fs::create_dir(&path).unwrap();
        CheckpointFolder::remove(&path).unwrap();
        assert!(
            path.exists(),
            "an empty folder may belong to another program"
        );
        fs::remove_dir(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_neither_followed_nor_read() {
        use std::os::unix::fs::symlink;
        let (path, elsewhere) = (place("links"), place("elsewhere"));
        let mut folder = CheckpointFolder::open(&elsewhere, of("run"), true).unwrap();
        make(&mut folder, "one");
        symlink(&elsewhere, &path).unwrap();
        for result in [
            CheckpointFolder::look(&path).map(drop),
            CheckpointFolder::remove(&path),
        ] {
            let message = result.unwrap_err().to_string();
            assert!(
                message.ends_with("is a symbolic link: expected a folder of checkpoints"),
                "{message}"
            );
        }
        fs::remove_file(&path).unwrap();
        let mut folder = CheckpointFolder::open(&path, of("run"), true).unwrap();
        make(&mut folder, "two");
        symlink(elsewhere.join("1"), path.join("2")).unwrap();
        assert_eq!(folder.shared().unwrap().unwrap(), b"two");
        assert_eq!(
            CheckpointFolder::look(&path).unwrap(),
            Some(of("run")),
            "and not 2"
        );
        assert!(CheckpointFolder::remove(&path).is_err());
        fs::remove_file(path.join("2")).unwrap();
        for name in ["partition-0", "run"] {
            let file = path.join("1").join(name);
            let good = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            symlink("/dev/zero", &file).unwrap();
            let read = |folder: &CheckpointFolder| match name {
                "run" => folder.shared().map(drop),
                _ => folder.partition(0).map(drop),
            };
            let message = read(&folder).unwrap_err().to_string();
            assert!(
                message.ends_with("is a symbolic link: expected a regular file"),
                "{message}"
            );
            fs::remove_file(&file).unwrap();
            let pipe = std::process::Command::new("mkfifo").arg(&file).status();
            assert!(pipe.unwrap().success());
            let message = read(&folder).unwrap_err().to_string();
            assert!(
                message.ends_with("is a pipe or a device: expected a regular file"),
                "{message}"
            );
            assert!(CheckpointFolder::remove(&path).is_err());
            fs::remove_file(&file).unwrap();
            fs::write(&file, good).unwrap();
        }
        assert_eq!(
            fs::read_dir(elsewhere.join("1")).unwrap().count(),
            3,
            "no file there is removed"
        );
        CheckpointFolder::remove(&path).unwrap();
        CheckpointFolder::remove(&elsewhere).unwrap();
    }
}
