//! Bounded reading of files whose names come from outside.
//!
//! An experiment or a results folder may name anything: an endless device, a pipe without a writer,
//! or a table larger than memory. This module reads all such files.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Experiments are written by hand; this is a thousand times the size of the longest one.
pub const MOST_EXPERIMENT: u64 = 16 << 20;

/// Lists of cables, messages, sizes and connections.
pub const MOST_LIST: u64 = 256 << 20;

/// Reads the bytes of a regular file.
///
/// # Errors
/// If reading fails, if it is not a regular file, or if it is larger than `most` bytes.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    // Checked before opening, since opening a pipe waits for its writer.
    if !std::fs::metadata(path)?.is_file() {
        let what = "not a regular file";
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    read_at_most(File::open(path)?, most)
}

/// Reads the text of a regular file.
///
/// # Errors
/// Those of [`read_bytes`], or if the file is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    utf8(read_bytes(path, most)?)
}

/// Reads a text file or pipe that the user names.
///
/// # Errors
/// If reading fails, if it is not UTF-8, or if it is larger than `most` bytes.
pub fn read_text_or_pipe(path: &Path, most: u64) -> Result<String> {
    utf8(read_at_most(File::open(path)?, most)?)
}

fn read_at_most(file: File, most: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(too_large(most)),
        false => Ok(bytes),
    }
}

pub(crate) fn too_large(most: u64) -> Error {
    let what = format!("larger than the limit of {most} bytes");
    Error::new(ErrorKind::FileTooLarge, what)
}

/// Converts bytes to text.
///
/// # Errors
/// If they are not UTF-8. The error names the first invalid byte.
pub fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let what = format!("not valid UTF-8 at byte {at}");
        Error::new(ErrorKind::InvalidData, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(read: Result<String>) -> String {
        read.expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        let name = format!("netloom-catalog-file-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "twelve bytes").unwrap();
        assert_eq!(read_text(&path, 12).unwrap(), "twelve bytes");
        assert!(says(read_text(&path, 11)).contains("the limit of 11 bytes"));
        std::fs::write(&path, [b'a', 0xff]).unwrap();
        assert!(says(read_text(&path, 12)).contains("byte 1"));
        std::fs::remove_file(&path).unwrap();
        assert!(says(read_text(&std::env::temp_dir(), 9)).contains("not a regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_that_never_ends_is_refused() {
        let zero = Path::new("/dev/zero");
        assert!(says(read_text(zero, 99)).contains("not a regular file"));
        assert!(says(read_text_or_pipe(zero, 99)).contains("the limit of 99 bytes"));
    }
}
