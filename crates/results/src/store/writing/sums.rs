//! Checksums of files written together, in the format of `sha256sum -c SHA256SUMS`.
//!
//! The manifest is not included, since it differs between machines: equal results have equal
//! checksums.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::sha256;

/// The file with the checksums of a folder.
pub const SUMS: &str = "SHA256SUMS";

/// Files that differ between runs of equal results.
const NOT_SUMMED: [&str; 2] = ["manifest.json", SUMS];

/// The checksums of files by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums(BTreeMap<String, String>);

impl Sums {
    /// Adds a file with its content.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) {
        if !NOT_SUMMED.contains(&name) {
            self.0.insert(name.to_owned(), sha256(bytes));
        }
    }

    /// Returns the text of the file.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, sum) in &self.0 {
            writeln!(text, "{sum}  {name}").expect("writing to a string cannot fail");
        }
        text
    }

    /// Parses the text of the file.
    ///
    /// # Errors
    /// If a line does not have the format of [`Sums::to_text`]; reports the first.
    pub(crate) fn parse(text: &str) -> Result<Sums, String> {
        let mut sums = Sums::default();
        for (line, number) in text.lines().zip(1..) {
            let parts = line.split_once("  ").filter(|(sum, name)| {
                sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()) && !name.is_empty()
            });
            let (sum, name) = parts.ok_or_else(|| {
                format!("line {number}: expected 64 hexadecimal digits, two spaces and a name")
            })?;
            sums.0.insert(name.to_owned(), sum.to_owned());
        }
        Ok(sums)
    }

    /// Whether the checksum of a file is listed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Checks a file against its checksum. A file that is not listed passes.
    ///
    /// # Errors
    /// If the checksum does not match.
    pub(crate) fn check(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let Some(expected) = self.0.get(name) else {
            return Ok(());
        };
        match sha256(bytes) {
            found if found == *expected => Ok(()),
            found => Err(format!(
                "expected SHA-256 {} (from {SUMS}), found {}; it was damaged or changed after it \
                 was written",
                &expected[..12],
                &found[..12]
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_read_back_and_find_what_was_changed() {
        let mut sums = Sums::default();
        sums.add("links.parquet", b"abc");
        sums.add("manifest.json", b"today");
        sums.add("a b.csv", b"");
        let text = sums.to_text();
        assert_eq!(
            text,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a b.csv\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  links.parquet\n"
        );
        let sums = Sums::parse(&text).unwrap();
        assert_eq!(sums.check("links.parquet", b"abc"), Ok(()));
        assert_eq!(sums.check("manifest.json", b"tomorrow"), Ok(()));
        let changed = sums.check("links.parquet", b"abd").unwrap_err();
        assert!(
            changed.starts_with("expected SHA-256 ba7816bf8f01 (from SHA256SUMS), found "),
            "{changed}"
        );
        for wrong in ["x  a\n", &text[1..], &text.replace("  ", " "), "é"] {
            assert!(
                Sums::parse(wrong).unwrap_err().starts_with("line "),
                "{wrong}"
            );
        }
    }
}
