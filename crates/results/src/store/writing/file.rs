//! Writes files atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::names::temporary;

/// Writes a file under a temporary name in the same folder and renames it. A process that is killed
/// in between leaves a hidden file, which is never read as a result. Two processes that write the
/// same file do not interfere. A symbolic link or a device of that name is rejected, since netloom
/// did not create it.
///
/// # Errors
/// If the system reports an error.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_other(path)?;
    let temporary_path = temporary(path, "tmp");
    let written = create_new(&temporary_path).and_then(|mut file| {
        file.write_all(bytes)?;
        // After a crash of the machine, a renamed file must have its content.
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary_path, path)?;
        sync_folder_of(path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary_path);
    }
    written
}

/// Creates a new file. Anything of that name is an error, including a symbolic link.
///
/// # Errors
/// If the path exists, or the system reports an error.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file to lock. It is created if missing, never truncated, and must not be a symbolic
/// link.
///
/// # Errors
/// If the system reports an error.
pub fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(|error| match is_link(path) {
        true => link(),
        false => error,
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("expected a regular file at this path")),
    }
}

/// Creates a folder and its parents. An existing one must be a real folder, not a symbolic link.
///
/// # Errors
/// If the system reports an error.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => Ok(()),
        Ok(there) if there.is_symlink() => Err(link()),
        Ok(_) => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        Err(_) => fs::create_dir_all(path),
    }
}

/// Rejects a path that exists and is not a regular file.
pub(super) fn refuse_other(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => Err(link()),
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if !there.is_file() => {
            Err(io::Error::other("expected a regular file at this path"))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Syncs the names in a folder, so that they survive a crash of the machine.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    // On other systems a folder cannot be opened as a file, and its names need no sync.
    #[cfg(unix)]
    match File::open(path)?.sync_all() {
        // Not supported by some file systems.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
        synced => synced?,
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Syncs the names in the parent folder of a path.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent != Path::new("") => sync_folder(parent),
        _ => sync_folder(Path::new(".")),
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink())
}

fn link() -> io::Error {
    io::Error::other("it is a symbolic link; results are written to regular files and folders only")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_refused_and_nothing_behind_them_changes() {
        let place = std::env::temp_dir().join(format!("netloom-file-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("elsewhere")).unwrap();
        let victim = place.join("victim");
        fs::write(&victim, "precious").unwrap();
        for to in [victim.as_path(), Path::new("nowhere")] {
            let path = place.join("link");
            symlink(to, &path).unwrap();
            let refused = write_file(&path, b"results").unwrap_err();
            assert!(refused.to_string().contains("symbolic link"), "{refused}");
            assert!(open_to_lock(&path).is_err() && create_new(&path).is_err());
            fs::remove_file(&path).unwrap();
        }
        let folder = place.join("folder");
        symlink(place.join("elsewhere"), &folder).unwrap();
        let refused = make_folder(&folder).unwrap_err();
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        let plain = place.join("plain");
        write_file(&plain, b"old").unwrap();
        write_file(&plain, b"new").unwrap();
        assert_eq!(fs::read(&plain).unwrap(), b"new");
        assert_eq!(
            fs::read_dir(&place).unwrap().count(),
            4,
            "temporary files are removed"
        );
        fs::remove_dir_all(&place).unwrap();
    }
}
