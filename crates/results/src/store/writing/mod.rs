//! Creates all files of results. A process that is killed at any moment leaves either the old state
//! or the new one.
//!
//! ```text
//!  one file      file.rs      written under a temporary name, synced, renamed
//!  one folder    sibling.rs   written as a sibling, synced, exchanged with the old (run_folder.rs)
//!  some files    incoming.rs  of a shared folder: written to a folder inside it, then moved
//!  a checkpoint  checkpoint.rs  a separate folder, complete with its last file
//! ```
//!
//! A writer holds a lock file next to the folder (lock.rs), which the system releases when the
//! process dies. So the process that holds the lock exclusively knows that all hidden files are
//! leftovers. File names are checked against lists (names.rs): a name read from a file never
//! becomes a path, and symbolic links inside a folder are not followed.

mod checkpoint;
mod file;
mod incoming;
mod lock;
mod names;
mod run_folder;
mod sibling;
mod sums;

use std::io;
use std::path::Path;

pub use checkpoint::{CheckpointFolder, CheckpointOf};
pub use file::{create_new, make_folder, open_to_lock, write_file};
pub use incoming::{INCOMING, Incoming, finish_incoming};
pub use lock::{FolderLock, remove_files};
pub use names::{foreign, is_table, is_unit, table_file};
pub use run_folder::RunFolder;
pub use sibling::Sibling;
pub use sums::SUMS;
pub(crate) use sums::Sums;

/// Why results cannot be written to a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It contains other results.
    #[error("{path} contains {what}")]
    Taken { path: String, what: String },
    /// It contains something that must not be replaced.
    #[error("{path} contains {what}")]
    Foreign { path: String, what: String },
    /// It contains the complete results of the same run.
    #[error(
        "{path} contains the complete results of this run, which an interrupted run does not \
         replace"
    )]
    Finished { path: String },
    /// Another process writes to it.
    #[error("{path} is in use by {holder}")]
    Busy {
        path: String,
        /// The process that holds the lock.
        holder: String,
    },
    /// It cannot be written.
    #[error("cannot write {path}: {error}")]
    System { path: String, error: io::Error },
}

impl FolderError {
    /// Returns a function that wraps an error of the system for this path.
    pub fn system(path: &Path) -> impl FnOnce(io::Error) -> FolderError + use<> {
        let path = path.display().to_string();
        move |error| FolderError::System { path, error }
    }
}
