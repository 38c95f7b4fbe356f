//! The identity of a run.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::RESULTS_VERSION;

/// Hash of the resolved experiment, its first seed and [`RESULTS_VERSION`]: 16 hexadecimal digits.
///
/// Equal ids mean equal results. The id does not depend on host, threads or partitions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Computes the id of a resolved experiment and a seed.
    pub fn new(resolved: &str, seed: u64) -> RunId {
        let mut id = sha256(format!("{resolved}\u{0}{seed}\u{0}{RESULTS_VERSION}"));
        id.truncate(16);
        RunId(id)
    }

    /// Parses an id from its digits.
    pub fn parse(digits: &str) -> Option<RunId> {
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        (digits.len() == 16 && digits.chars().all(is_hex)).then(|| RunId(digits.to_owned()))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Computes the SHA-256 of a text or of bytes, in hexadecimal digits.
pub fn sha256(text: impl AsRef<[u8]>) -> String {
    let bytes = Sha256::digest(text.as_ref());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_known_one() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), expected);
    }

    #[test]
    fn text_and_seed_both_count() {
        let id = RunId::new("load = 0.5", 1);
        assert_eq!(id.as_str().len(), 16);
        assert_ne!(id, RunId::new("load = 0.5", 2));
        assert_ne!(id, RunId::new("load = 0.51", 1));
        assert_eq!(id, RunId::new("load = 0.5", 1));
    }
}
