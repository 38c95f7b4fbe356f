//! What this machine says about itself and about us.

use std::time::Duration;

/// Processor time of this process so far, all threads together.
#[cfg(unix)]
pub(super) fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

/// Processor time of this process so far; not known here.
#[cfg(not(unix))]
pub(super) fn cpu_time() -> Option<Duration> {
    None
}

/// The most memory this process has used, where `/proc` tells.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Forgets the peak so far, so that the next one is that of what follows; where the system cannot, the
/// peak stays that of the process.
pub(super) fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The name of this machine.
pub(super) fn host() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = told.or_else(|| std::env::var("HOSTNAME").ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
