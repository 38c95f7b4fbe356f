//! The manifest of a run: everything that may differ between machines and times.

use serde::{Deserialize, Serialize};

use crate::{RunId, Status, Timing};

/// The contents of `manifest.json` in the folder of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub netloom: String,
    /// Commit it was built from, with `-dirty` if files were changed; `None` outside git.
    pub git: Option<String>,
    /// Version of the results.
    pub results_version: u32,
    pub name: String,
    pub run_id: RunId,
    pub status: Status,
    /// The arguments of the command.
    pub command_line: Vec<String>,
    /// SHA-256 of `resolved.toml`.
    pub config_sha256: String,
    /// First seed.
    pub seed: u64,
    /// Number of seeds, ascending from the first.
    pub repeat: u32,
    /// Digest of the deliveries of each run, in order of seeds.
    pub digests: Vec<String>,
    /// Name of the machine, if the system reports it.
    pub host: Option<String>,
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Threads that shared the partitions.
    pub threads: usize,
    /// Partitions of the fabric.
    pub partitions: usize,
    /// End of the run, in seconds since 1970.
    pub finished_unix_seconds: u64,
    pub timing: Timing,
}

impl Manifest {
    /// Returns the manifest as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data is JSON");
        text.push('\n');
        text
    }
}
