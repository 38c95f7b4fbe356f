//! Creates a folder atomically: it is written as a sibling of its place, then exchanged with the
//! existing folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::file::{create_new, make_folder, sync_folder, sync_folder_of};
use super::lock::remove;
use super::names::{inside, is_temporary, temporary};

/// A folder that is not yet at its place. If it is dropped before, nothing remains.
#[derive(Debug)]
pub struct Sibling {
    target: PathBuf,
    path: PathBuf,
    is_persistent: bool,
}

impl Sibling {
    /// Creates a folder next to its place, and checks that the exchange will be possible.
    ///
    /// # Errors
    /// If the system reports an error, or if the existing folder cannot be exchanged.
    pub fn create(target: &Path) -> io::Result<Sibling> {
        if target.exists() {
            refuse_fixed(target)?;
        }
        let path = temporary(target, "tmp");
        fs::create_dir(&path)?;
        let sibling = Sibling {
            target: target.to_owned(),
            path,
            is_persistent: false,
        };
        create_new(&sibling.path.join("tried"))?;
        fs::remove_file(sibling.path.join("tried"))?;
        Ok(sibling)
    }

    /// Creates a folder in it.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn make(&self, name: &str) -> io::Result<()> {
        fs::create_dir(inside(&self.path, name)?)
    }

    /// Writes a file to it.
    ///
    /// # Errors
    /// If the system reports an error, or the name is invalid.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_synced(&inside(&self.path, name)?, bytes)
    }

    /// Writes a file to a folder in it, by a relative path of plain names.
    ///
    /// # Errors
    /// If the system reports an error, or a component of the path is invalid.
    pub fn write_below(&self, name: &str, relative: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut path = inside(&self.path, name)?;
        for part in relative {
            make_folder(&path)?;
            sync_folder_of(&path)?;
            path = inside(&path, &part.to_string_lossy())?;
        }
        write_synced(&path, bytes)?;
        sync_folder_of(&path)
    }

    /// Moves the folder to its place if nothing or an empty folder is there. Returns false
    /// otherwise.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn appear(&self) -> io::Result<bool> {
        sync_folder(&self.path)?;
        // An empty folder may block the rename on some systems.
        #[cfg(not(unix))]
        let _ = fs::remove_dir(&self.target);
        match fs::rename(&self.path, &self.target) {
            Ok(()) => sync_folder_of(&self.target).map(|()| true),
            Err(_) if holds_something(&self.target) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Moves the folder to its place, and removes what was there.
    ///
    /// # Errors
    /// If the system reports an error; then the old folder stays in its place.
    pub fn replace(&self) -> io::Result<()> {
        if self.appear()? {
            return Ok(());
        }
        if exchange(&self.path, &self.target)? {
            sync_folder_of(&self.target)?;
        } else {
            self.replace_in_two_steps()?;
        }
        // The old folder, now under the hidden name.
        remove(&self.path)
    }

    /// Replaces the folder in two renames, if two folders cannot be exchanged atomically. A process
    /// that is killed in between leaves both folders next to each other, and [`restore`] puts the
    /// old one back.
    fn replace_in_two_steps(&self) -> io::Result<()> {
        let old = temporary(&self.target, "old");
        fs::rename(&self.target, &old)?;
        if let Err(error) = fs::rename(&self.path, &self.target) {
            fs::rename(&old, &self.target)?;
            return Err(error);
        }
        sync_folder_of(&self.target)?;
        remove(&old)
    }

    /// Keeps the sibling until a process locks the folder exclusively.
    pub(super) fn keep(mut self) -> PathBuf {
        self.is_persistent = true;
        self.path.clone()
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        if !self.is_persistent {
            let _ = remove(&self.path);
        }
    }
}

/// Removes leftover siblings, and restores a folder that was interrupted between two renames. The
/// caller must hold the exclusive lock.
pub(super) fn restore(target: &Path) -> io::Result<()> {
    let above = target.parent().unwrap_or(Path::new("."));
    let mut left = vec![];
    for entry in fs::read_dir(above)?.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_old = is_temporary(&name, Some(target), "old");
        if is_old && fs::symlink_metadata(target).is_err() {
            fs::rename(entry.path(), target)?;
        } else if is_old || is_temporary(&name, Some(target), "tmp") {
            left.push(entry.path());
        }
    }
    left.iter().try_for_each(|path| remove(path))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn holds_something(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Exchanges two folders atomically. Returns false if the file system does not support it.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns false: this system cannot exchange two folders atomically.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Rejects a folder that cannot be exchanged for another.
fn refuse_fixed(target: &Path) -> io::Result<()> {
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(target)) {
        return Err(io::Error::other(
            "it is or contains the current directory, and would be replaced by a new folder; run \
             the command elsewhere, or use a folder inside it",
        ));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let above = target.parent().map(fs::metadata).transpose()?;
        if above.is_none_or(|above| fs::metadata(target).is_ok_and(|own| own.dev() != above.dev()))
        {
            return Err(io::Error::other(
                "it is the root of a file system, which cannot be replaced; use a folder inside it",
            ));
        }
        rustix::fs::access(
            target,
            rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("netloom-sibling-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("target")).unwrap();
        fs::canonicalize(path).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_folder_is_exchanged_whole_at_once_or_in_two_steps() {
        let place = place("exchanged");
        let target = place.join("target");
        for in_two_steps in [false, true] {
            fs::write(target.join("stale"), "old").unwrap();
            let new = Sibling::create(&target).unwrap();
            new.write("fresh", b"new").unwrap();
            assert!(new.write("../evil", b"").is_err());
            match in_two_steps {
                true => new.replace_in_two_steps().unwrap(),
                false => new.replace().unwrap(),
            }
            drop(new);
            assert_eq!(names(&target), ["fresh"]);
            assert_eq!(names(&place), ["target"], "nothing is left next to it");
        }
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn who_dies_between_two_steps_leaves_the_old_folder_to_be_put_back() {
        let place = place("between");
        let target = place.join("target");
        fs::write(target.join("results"), "old").unwrap();
        let new = Sibling::create(&target).unwrap();
        fs::rename(&target, temporary(&target, "old")).unwrap();
        std::mem::forget(new);
        restore(&target).unwrap();
        assert_eq!(names(&place), ["target"]);
        assert_eq!(fs::read(target.join("results")).unwrap(), b"old");
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn an_empty_folder_is_taken_and_a_full_one_only_replaced() {
        let place = place("empty");
        let target = place.join("target");
        let one = Sibling::create(&target).unwrap();
        one.write("one", b"").unwrap();
        let other = Sibling::create(&target).unwrap();
        assert!(one.appear().unwrap());
        assert!(!other.appear().unwrap());
        drop(other);
        assert_eq!(names(&target), ["one"]);
        assert_eq!(names(&place), ["target"]);
        fs::remove_dir_all(&place).unwrap();
    }
}
