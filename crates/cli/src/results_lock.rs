//! Locks results while a report or figures are added to them.

use std::path::Path;

use netloom_results::store::FolderLock;

/// Keeps other processes from replacing a folder of results while a report or figures are added to
/// it. Returns `None` for a missing folder, which the reader of the results reports.
pub(super) fn lock_results(folder: &Path) -> anyhow::Result<Option<FolderLock>> {
    match folder.is_dir() {
        true => Ok(Some(FolderLock::shared(folder)?)),
        false => Ok(None),
    }
}
