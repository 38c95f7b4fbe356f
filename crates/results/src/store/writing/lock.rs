//! Who writes a folder.
//!
//! The lock file stands beside the folder, because the folder itself is exchanged. It is locked by the system, not by
//! being there: that of a process that died is taken over. Whoever writes the whole folder is alone; those who work on
//! one study share.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::FolderError;
use super::file::open_to_lock;
use super::incoming::finish_incoming;
use super::names::{hidden, is_temporary};
use super::sibling::restore;

/// How long we wait for somebody who is just ending, or writes a report.
const PATIENCE: Duration = Duration::from_secs(2);

/// A folder that is ours to write until this is dropped, or until the process dies in whatever way.
#[derive(Debug)]
pub struct FolderLock {
    /// None where the system knows no locks, or lets nobody write beside the folder.
    file: Option<File>,
    path: PathBuf,
    target: PathBuf,
    is_shared: bool,
}

impl FolderLock {
    /// Takes a folder, which need not be there, for us alone. What killed processes left of it is tidied up.
    ///
    /// # Errors
    /// If somebody else has it, or the system lets nobody write there.
    pub fn alone(folder: &Path) -> Result<FolderLock, FolderError> {
        take(folder, false)
    }

    /// Takes a folder together with others who do the same.
    ///
    /// # Errors
    /// If somebody has it alone.
    pub fn shared(folder: &Path) -> Result<FolderLock, FolderError> {
        take(folder, true)
    }

    /// Where the folder really is: behind the links that lead to it.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        // The last one takes the file away.
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
            // Somebody else's folder around ours: those who share can do without.
            Err(error) if is_shared && is_forbidden(&error) => return Ok(lock(None)),
            Err(error) => return Err(FolderError::system(folder)(error)),
        };
        if !is_lock(&mut file) {
            let error = format!("{} is there, and is not a lock of netloom", path.display());
            return Err(FolderError::system(folder)(io::Error::other(error)));
        }
        let mut is_ours = match file.try_lock() {
            Ok(()) if is_still(&file, &path) => {
                // Nobody else is at it: whatever is half done was left by the dead.
                tidy(&target).map_err(FolderError::system(folder))?;
                true
            }
            // Its owner took it away between our opening and locking it.
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
        if began.elapsed() > PATIENCE {
            return Err(FolderError::Busy {
                path: folder.display().to_string(),
                holder: holder(&mut file),
            });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where a folder that a user named is, or will be. The folders above it are made.
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

/// Whether the locked file is the one that stands there.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |there: fs::Metadata| (there.dev(), there.ino());
    let there = fs::symlink_metadata(path).map(id).ok();
    there.is_some() && there == file.metadata().map(id).ok()
}

/// Whether the locked file is the one that stands there; elsewhere an open file cannot be taken away.
#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

/// How a lock file begins.
const SIGNED: &[u8] = b"process ";

/// Whether a file is empty or begins as [`sign`] writes it: another one would be overwritten.
fn is_lock(file: &mut File) -> bool {
    let mut bytes = vec![];
    let read = file
        .rewind()
        .and_then(|()| file.take(SIGNED.len() as u64).read_to_end(&mut bytes));
    read.is_ok() && SIGNED.starts_with(&bytes)
}

/// Says in the lock file who has it, for those who are turned away.
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

/// What a lock file says, as one printable line.
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

/// Takes away what killed processes left beside a folder and in it, and ends what they had begun to replace.
fn tidy(target: &Path) -> io::Result<()> {
    restore(target)?;
    finish_incoming(target)?;
    for folder in [
        target.to_owned(),
        target.join("runs"),
        target.join("figures"),
    ] {
        // What is behind a symbolic link is not ours.
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

/// Removes the files of these names from a folder, and then the folder if nothing else is in it. A symbolic link in its
/// place is left alone.
///
/// # Errors
/// If the system refuses.
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

/// Takes a file or a folder away; of a symbolic link only the link.
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
