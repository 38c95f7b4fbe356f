//! Who works on a unit.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use netloom_results::store::{make_folder, open_to_lock};

/// A unit that is ours until this is dropped, or until the process dies in whatever way.
pub(super) struct UnitLock {
    /// None where the file system knows no locks: then two may work on a unit, and write the same.
    _file: Option<File>,
    path: PathBuf,
}

impl UnitLock {
    /// Takes a unit, or says that somebody else has it.
    pub(super) fn take(folder: &Path, unit: usize) -> io::Result<Option<UnitLock>> {
        let path = folder.join("locks").join(unit.to_string());
        let file = match open_to_lock(&path) {
            Ok(file) => file,
            // A merge has tidied up: there is nothing left to do that somebody would guard.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&folder.join("locks"))?;
                open_to_lock(&path)?
            }
            Err(error) => return Err(error),
        };
        // A lock is empty. Anything else of that name is not ours to remove.
        if file.metadata()?.len() > 0 {
            let error = format!("{} is there, and is not a lock of netloom", path.display());
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

    /// The unit is done. Whoever opened the file before sees its runs when it looks again, as everybody does
    /// who has taken a lock.
    pub(super) fn done(self) {
        let _ = fs::remove_file(&self.path);
    }
}
