//! The manifest of a study: everything that depends on machine and time.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use netloom_results::{Provenance, RESULTS_VERSION, peak_memory};

use crate::Study;

use super::folder::StudyFolder;
use super::journal::{Entry, entries};
use super::merge::Merged;

/// Returns the manifest as JSON, with totals from the journals of all processes.
pub(super) fn manifest(
    study: &Study,
    folder: &StudyFolder,
    merged: &Merged,
    provenance: &Provenance,
) -> io::Result<String> {
    let mut hosts: Vec<String> = vec![];
    let (mut processes, mut run_seconds, mut packet_hops) = (0, 0.0, 0);
    for entry in entries(folder.path())? {
        match entry {
            Entry::Process { host, .. } => {
                processes += 1;
                hosts.push(host);
            }
            Entry::Finished {
                seconds,
                packet_hops: hops,
                ..
            } => {
                run_seconds += seconds;
                packet_hops += hops;
            }
            _ => {}
        }
    }
    hosts.sort_unstable();
    hosts.dedup();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let manifest = serde_json::json!({
        "netloom": env!("CARGO_PKG_VERSION"),
        "git": provenance.git,
        "results_version": RESULTS_VERSION,
        "name": study.name,
        "study_id": study.id(),
        "points": merged.points,
        "runs": merged.runs,
        "statuses": merged.by_status,
        "command_line": provenance.command_line,
        "seed": study.seeds.first,
        "repeat": study.seeds.repeat,
        "hosts": hosts,
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "processes": processes,
        "run_seconds_of_all_processes": run_seconds,
        "packet_hops_of_all_processes": packet_hops,
        "peak_rss_bytes_of_the_last_process": peak_memory(),
        "finished_unix_seconds": now.map_or(0, |since| since.as_secs()),
    });
    Ok(format!("{manifest:#}\n"))
}
