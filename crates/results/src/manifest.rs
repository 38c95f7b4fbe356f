//! Where a result comes from: all that may differ between machines and times.

use serde::{Deserialize, Serialize};

use crate::{RunId, Status, Timing};

/// Provenance of a folder of results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of netloom.
    pub netloom: String,
    /// Commit it was built from, with `-dirty` where files were changed; none outside git.
    pub git: Option<String>,
    /// Version of the results.
    pub results_version: u32,
    /// Name of the experiment.
    pub name: String,
    /// Which run.
    pub run_id: RunId,
    /// How it ended.
    pub status: Status,
    /// The command, word by word.
    pub command_line: Vec<String>,
    /// SHA-256 of `resolved.toml`.
    pub config_sha256: String,
    /// First seed.
    pub seed: u64,
    /// Number of seeds, counted up from the first.
    pub repeat: u32,
    /// Digest of the deliveries of each run, in order of seeds.
    pub digests: Vec<String>,
    /// Name of the machine, where the system tells.
    pub host: Option<String>,
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Threads that shared the partitions.
    pub threads: usize,
    /// Partitions of the fabric.
    pub partitions: usize,
    /// When it ended, in seconds since 1970.
    pub finished_unix_seconds: u64,
    /// What it cost.
    pub timing: Timing,
}

impl Manifest {
    /// The manifest as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}
