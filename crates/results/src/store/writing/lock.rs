//! Locks of folders.
//!
//! The lock file is next to the folder, because the folder itself is exchanged. A lock is a system
//! lock on the file, not its existence, so the lock of a dead process is free. A process that
//! writes the whole folder takes the lock exclusively; processes that work on one study share it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::FolderError;
use super::file::open_to_lock;
use super::incoming::finish_incoming;
use super::names::{hidden, is_temporary};
use super::sibling::restore;

/// How long to wait for a process that is about to end or writes a report.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The lock of a folder, held until it is dropped or the process dies.
#[derive(Debug)]
pub struct FolderLock {
    /// `None` if the system does not support locks or the parent folder is not writable.
    file: Option<File>,
    path: PathBuf,
    target: PathBuf,
    is_shared: bool,
}

impl FolderLock {
    /// Locks a folder, which need not exist, exclusively, and removes what killed processes left.
    ///
    /// # Errors
    /// If another process holds the lock, or the place is not writable.
    pub fn alone(folder: &Path) -> Result<FolderLock, FolderError> {
        take(folder, false)
    }

    /// Locks a folder for shared use.
    ///
    /// # Errors
    /// If another process holds the lock exclusively.
    pub fn shared(folder: &Path) -> Result<FolderLock, FolderError> {
        take(folder, true)
    }

    /// Returns the canonical path of the folder.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        // The last holder removes the file.
        if self.is_shared && (file.unlock().is_err() || file.try_lock().is_err()) {
            return;
        }
        if is_still(&file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn take(folder: &Path, is_shared: bool) -> Result<FolderLock, FolderError> {
    let target = real(folder).map_err(FolderError::system(folder))?;
    let path = hidden(&target, "lock");
    let lock = |file| FolderLock {
        file,
        path: path.clone(),
        target: target.clone(),
        is_shared,
    };
    let began = Instant::now();
    loop {
        let mut file = match open_to_lock(&path) {
            Ok(file) => file,
            // The parent folder is not writable: shared use works without a lock.
            Err(error) if is_shared && is_forbidden(&error) => return Ok(lock(None)),
            Err(error) => return Err(FolderError::system(folder)(error)),
        };
        if !is_lock(&mut file) {
            let error = format!(
                "{} exists and is not a lock file of netloom",
                path.display()
            );
            return Err(FolderError::system(folder)(io::Error::other(error)));
        }
        let mut is_ours = match file.try_lock() {
            Ok(()) if is_still(&file, &path) => {
                // No other process uses the folder: all unfinished changes are those of dead
                // processes.
                tidy(&target).map_err(FolderError::system(folder))?;
                true
            }
            // Its owner removed it between the calls that open and lock it.
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(lock(None));
            }
            Err(TryLockError::Error(error)) => return Err(FolderError::system(folder)(error)),
        };
        if is_shared {
            let is_free = !is_ours || file.unlock().is_ok();
            is_ours = is_free && file.try_lock_shared().is_ok() && is_still(&file, &path);
        }
        if is_ours {
            sign(&mut file);
            return Ok(lock(Some(file)));
        }
        if began.elapsed() > LOCK_TIMEOUT {
            return Err(FolderError::Busy {
                path: folder.display().to_string(),
                holder: holder(&mut file),
            });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the canonical path of a folder that may not exist yet. Creates its parents.
fn real(folder: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(folder) {
        Ok(_) => {
            let real = fs::canonicalize(folder)?;
            match fs::metadata(&real)?.is_dir() {
                true => Ok(real),
                false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = folder.file_name();
            let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            let above = match folder.parent() {
                Some(above) if above != Path::new("") => above,
                _ => Path::new("."),
            };
            fs::create_dir_all(above)?;
            Ok(fs::canonicalize(above)?.join(name))
        }
        Err(error) => Err(error),
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Whether the locked file is still the one at this path.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |there: fs::Metadata| (there.dev(), there.ino());
    let there = fs::symlink_metadata(path).map(id).ok();
    there.is_some() && there == file.metadata().map(id).ok()
}

/// Whether the locked file is still the one at this path. On other systems an open file cannot be
/// removed.
#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The start of a lock file.
const SIGNED: &[u8] = b"process ";

/// Whether a file is empty or was written by [`sign`]; any other file must not be overwritten.
fn is_lock(file: &mut File) -> bool {
    let mut bytes = vec![];
    let read = file
        .rewind()
        .and_then(|()| file.take(SIGNED.len() as u64).read_to_end(&mut bytes));
    read.is_ok() && SIGNED.starts_with(&bytes)
}

/// Writes the holder to the lock file, for messages of other processes.
fn sign(file: &mut File) {
    let host = fs::read_to_string("/proc/sys/kernel/hostname");
    let host = host.map_or(String::new(), |host| format!(" on {}", host.trim()));
    let command: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let (pid, command) = (std::process::id(), command.join(" "));
    let text = format!("process {pid}{host} (netloom {command})\n");
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(text.as_bytes()));
}

/// Returns the text of a lock file as one printable line.
fn holder(file: &mut File) -> String {
    let mut bytes = vec![];
    let _ = file.rewind();
    let _ = file.take(300).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default();
    let plain: String = line.chars().filter(|c| !c.is_control()).collect();
    match plain.is_empty() {
        true => "another process".to_owned(),
        false => plain,
    }
}

/// Removes what killed processes left in a folder and next to it, and completes their committed
/// changes.
fn tidy(target: &Path) -> io::Result<()> {
    restore(target)?;
    finish_incoming(target)?;
    for folder in [
        target.to_owned(),
        target.join("runs"),
        target.join("figures"),
    ] {
        // Do not follow a symbolic link.
        if !fs::symlink_metadata(&folder).is_ok_and(|there| there.is_dir()) {
            continue;
        }
        for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
            if is_temporary(&entry.file_name().to_string_lossy(), None, "tmp") {
                remove(&entry.path())?;
            }
        }
    }
    Ok(())
}

/// Removes files by name from a folder, and then the folder if it is empty. A symbolic link in its
/// place is left unchanged.
///
/// # Errors
/// If the system reports an error.
pub fn remove_files(folder: &Path, is_ours: fn(&str) -> bool) -> io::Result<()> {
    if !fs::symlink_metadata(folder).is_ok_and(|there| there.is_dir()) {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && is_ours(&entry.file_name().to_string_lossy()) {
            remove(&entry.path())?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

/// Removes a file or a folder; of a symbolic link, only the link.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
