//! Queries about this machine and this process.

use netloom_results::Provenance;

/// Resets the peak memory, so that the next query covers what follows. Has no effect if the system
/// does not support it.
pub(super) fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns how this process makes results.
pub(super) fn provenance() -> Provenance {
    Provenance {
        git: option_env!("NETLOOM_GIT").map(str::to_owned),
        ..Provenance::of_this_process()
    }
}
