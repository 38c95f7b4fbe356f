//! The only place where files of results are made. Whoever is killed, at whatever moment, leaves the old state or
//! the new one.
//!
//! ```text
//!  one file      file.rs      written beside under a name of its own, synced, renamed
//!  one folder    sibling.rs   written beside, synced, and exchanged with what was there (run_folder.rs)
//!  some files    incoming.rs  of a folder that others work in: they arrive in a folder inside, then move
//!  a checkpoint  checkpoint.rs  a folder of its own, whole with its last file
//! ```
//!
//! Who writes holds a lock beside the folder (lock.rs), which the system drops when a process dies; so whoever
//! gets it alone knows that all hidden files are leftovers. Names come from lists of ours (names.rs): no name that
//! was read from a file becomes a path, and no symbolic link inside a folder is followed.

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

/// Why a folder cannot take results.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It holds something else.
    #[error("{path} holds {what}; give another folder with -o DIR, or replace it with --overwrite")]
    Taken {
        /// The folder.
        path: String,
        /// What it holds.
        what: String,
    },
    /// It holds something that is not to be replaced.
    #[error("{path} holds {what}; give another folder with -o DIR")]
    Foreign {
        /// The folder.
        path: String,
        /// What it holds.
        what: String,
    },
    /// It holds the finished results of this very run.
    #[error(
        "{path} holds the finished results of this run, which an interrupted one does not replace"
    )]
    Finished {
        /// The folder.
        path: String,
    },
    /// Somebody else writes it.
    #[error("{path} is in use by {holder}; wait for its end, or give another place with -o")]
    Busy {
        /// The folder.
        path: String,
        /// Who.
        holder: String,
    },
    /// The system refuses.
    #[error("cannot write {path}: {error}")]
    System {
        /// The folder or file.
        path: String,
        /// What it says.
        error: io::Error,
    },
}

impl FolderError {
    /// The system refuses to write a file or folder.
    pub fn system(path: &Path) -> impl FnOnce(io::Error) -> FolderError + use<> {
        let path = path.display().to_string();
        move |error| FolderError::System { path, error }
    }
}
