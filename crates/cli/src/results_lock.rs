//! Who puts a report or figures beside results.

use std::path::Path;

use netloom_results::store::FolderLock;

/// Keeps others from exchanging a folder of results while something is made from them and put beside them. A folder
/// that is not there is told by whoever reads it.
pub(super) fn lock_results(folder: &Path) -> anyhow::Result<Option<FolderLock>> {
    match folder.is_dir() {
        true => Ok(Some(FolderLock::shared(folder)?)),
        false => Ok(None),
    }
}
