//! Files that others name: only regular ones, and only so much of them.
//!
//! A file that an experiment or a folder of results names may be anything: a device that never ends, a pipe that
//! nobody writes to, a table larger than memory. Every such file is read here.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Experiments are written by hand: this is a thousand times the longest.
pub const MOST_EXPERIMENT: u64 = 16 << 20;

/// Lists of cables, messages, sizes and connections.
pub const MOST_LIST: u64 = 256 << 20;

/// The bytes of a regular file.
///
/// # Errors
/// If the system refuses, if it is no regular file, or if it has more than `most` bytes.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    // Before it is opened: opening a pipe waits for its writer.
    if !std::fs::metadata(path)?.is_file() {
        let what = "it is no regular file";
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    read_at_most(File::open(path)?, most)
}

/// The text of a regular file.
///
/// # Errors
/// As [`read_bytes`], and if it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    utf8(read_bytes(path, most)?)
}

/// The text of a file that a person names, which may be a pipe.
///
/// # Errors
/// If the system refuses, if it is not UTF-8, or if it has more than `most` bytes.
pub fn read_text_or_pipe(path: &Path, most: u64) -> Result<String> {
    utf8(read_at_most(File::open(path)?, most)?)
}

fn read_at_most(file: File, most: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it has more than {most} bytes, the most that is read of such a file"),
        )),
        false => Ok(bytes),
    }
}

/// Bytes as the text that they are.
///
/// # Errors
/// If they are not UTF-8; the first such byte is named.
pub fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let what = format!("it is no UTF-8 text: byte {at} begins no character");
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
        assert!(says(read_text(&path, 11)).contains("more than 11 bytes"));
        std::fs::write(&path, [b'a', 0xff]).unwrap();
        assert!(says(read_text(&path, 12)).contains("byte 1"));
        std::fs::remove_file(&path).unwrap();
        assert!(says(read_text(&std::env::temp_dir(), 9)).contains("no regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_that_never_ends_is_refused() {
        let zero = Path::new("/dev/zero");
        assert!(says(read_text(zero, 99)).contains("no regular file"));
        assert!(says(read_text_or_pipe(zero, 99)).contains("more than 99 bytes"));
    }
}
