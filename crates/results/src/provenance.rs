//! How results were made: the command, the machine and the cost.

use std::time::{Duration, Instant};

use crate::Timing;

/// How results were made. It is stored with them in their manifest, and does not affect them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Provenance {
    /// Commit that the program was built from, with `-dirty` if files were changed.
    pub git: Option<String>,
    /// The arguments of the command.
    pub command_line: Vec<String>,
    /// Name of the machine, if the system reports it.
    pub host: Option<String>,
    /// Threads that shared the partitions of a run.
    pub threads: usize,
    /// Cost of a run; the cost of a study is the sum over the journals of its processes.
    pub timing: Timing,
}

impl Provenance {
    /// Describes this process: its arguments, its machine and one thread.
    pub fn of_this_process() -> Provenance {
        Provenance {
            git: None,
            command_line: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            host: host(),
            threads: 1,
            timing: Timing::default(),
        }
    }
}

/// Measures the cost of a run.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    began: Instant,
    cpu_time: Option<Duration>,
}

impl Stopwatch {
    /// Starts measuring.
    pub fn start() -> Stopwatch {
        Stopwatch {
            began: Instant::now(),
            cpu_time: cpu_time(),
        }
    }

    /// Returns the cost since the start. Processor time and memory are those of this process.
    pub fn timing(&self) -> Timing {
        let cpu_time = cpu_time().zip(self.cpu_time);
        Timing {
            wall_seconds: self.began.elapsed().as_secs_f64(),
            cpu_seconds: cpu_time.map(|(now, then)| now.saturating_sub(then).as_secs_f64()),
            peak_rss_bytes: peak_memory(),
        }
    }
}

/// Returns the processor time of this process so far, over all threads.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

/// Returns `None`: this platform does not report processor time.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// Returns the peak memory of this process in bytes, if `/proc` reports it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the name of this machine.
pub fn host() -> Option<String> {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = hostname.or_else(|| std::env::var("HOSTNAME").ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
