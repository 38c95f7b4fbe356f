//! A file is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A hidden name beside a file under which it is written; no other process, on whatever machine, takes the same.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    path.with_file_name(format!(".{name}.{}-{nanos:x}.tmp", std::process::id()))
}

/// Writes a file under a temporary name beside it and renames it. Whoever is killed in between leaves a
/// hidden file that nobody takes for a result; two processes that write the same file do not mix.
///
/// # Errors
/// If the system refuses.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    // A crash of the machine must not leave a renamed file without its content.
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)
}
