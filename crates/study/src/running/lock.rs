//! Locks of units.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use netloom_results::store::{make_folder, open_to_lock};

/// The lock of a unit, held until it is dropped or the process dies.
pub(super) struct UnitLock {
    /// `None` if the file system does not support locks: then two processes may run a unit, and
    /// write the same bytes.
    _file: Option<File>,
    path: PathBuf,
}

impl UnitLock {
    /// Locks a unit; returns `None` if another process holds the lock.
    pub(super) fn take(folder: &Path, unit: usize) -> io::Result<Option<UnitLock>> {
        let path = folder.join("locks").join(unit.to_string());
        let file = match open_to_lock(&path) {
            Ok(file) => file,
            // A merge has removed the folder of locks: the study is complete.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&folder.join("locks"))?;
                open_to_lock(&path)?
            }
            Err(error) => return Err(error),
        };
        // A lock file is empty. Any other file of that name must not be removed.
        if file.metadata()?.len() > 0 {
            let error = format!(
                "{} exists and is not a lock file of netloom",
                path.display()
            );
            return Err(io::Error::other(error));
        }
        match file.try_lock() {
            Ok(()) => Ok(Some(UnitLock {
                _file: Some(file),
                path,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Some(UnitLock { _file: None, path }))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes the lock file of a completed unit. A process that opened the file before looks for
    /// the runs again after it has locked it, and finds them.
    pub(super) fn done(self) {
        let _ = fs::remove_file(&self.path);
    }
}
