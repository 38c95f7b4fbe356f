//! The limits of one input: no panic, bounded memory and time.
//!
//! A panic is caught and reported with its input. An input that takes too long or too much memory
//! ends the process, which stores each input before it uses it.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::random::Random;

/// An input: files by name.
pub(crate) type Input = Vec<(String, Vec<u8>)>;

/// An input may take this long in a test build on a busy machine.
const MOST_TIME: Duration = Duration::from_secs(30);
/// An input may raise the memory of the process by this.
const MOST_MEMORY: u64 = 1 << 30;
/// The process may never have more.
#[cfg(unix)]
const MOST_ADDRESSES: u64 = 8 << 30;

/// Returns the number of inputs: the default times `NETLOOM_FUZZ`.
fn inputs(usual: u64) -> u64 {
    let times = std::env::var("NETLOOM_FUZZ").ok();
    usual
        * times.map_or(1, |times| {
            times.parse().expect("NETLOOM_FUZZ is a whole number")
        })
}

fn seed() -> u64 {
    let seed = std::env::var("NETLOOM_FUZZ_SEED").ok();
    seed.map_or(1, |seed| {
        seed.parse().expect("NETLOOM_FUZZ_SEED is a whole number")
    })
}

/// Returns the folder of inputs that failed.
fn failed_inputs(target: &str, number: u64) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}-{number}"))
}

fn keep(target: &str, number: u64, input: &Input) -> PathBuf {
    let folder = failed_inputs(target, number);
    for (name, bytes) in input {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder above it")).expect("writable");
        std::fs::write(path, bytes).expect("writable");
    }
    folder
}

thread_local! {
    static PANICKED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs an action on an input, and returns the place of a panic.
pub(crate) fn caught(act: impl FnOnce()) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(act))
        .map_err(|_| PANICKED.with(|panicked| panicked.borrow().clone()))
}

/// Records panics from now on instead of printing them.
pub(crate) fn silence() {
    panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        PANICKED.with(|panicked| *panicked.borrow_mut() = message);
    }));
}

/// Generates inputs and runs an action on them; fails with every input that causes an error.
pub(crate) fn fuzz(
    target: &'static str,
    usual: u64,
    make: impl Fn(&mut Random) -> Input,
    mut act: impl FnMut(&Input),
) {
    limit_addresses();
    silence();
    let (n, seed, began) = (inputs(usual), seed(), Instant::now());
    let now = Arc::new((AtomicU64::new(u64::MAX), Mutex::new((began, Input::new()))));
    let watched = Arc::clone(&now);
    std::thread::spawn(move || watch(target, &watched));
    let mut failures: Vec<String> = vec![];
    let mut slowest = (Duration::ZERO, 0);
    let mut largest = (0, 0);
    let only = std::env::var("NETLOOM_FUZZ_INPUT").ok();
    let only = only.map(|number| {
        number
            .parse()
            .expect("NETLOOM_FUZZ_INPUT is a whole number")
    });
    let numbers = only.map_or(0..n, |number: u64| number..number + 1);
    for number in numbers {
        // For the case that this process is ended.
        let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}-now"));
        std::fs::write(at, number.to_string()).expect("writable");
        let input = make(&mut Random::new(seed, number));
        *now.1.lock().expect("no panic holds the lock") = (Instant::now(), input.clone());
        now.0.store(number, Ordering::SeqCst);
        let (before, since) = (memory("VmRSS:"), Instant::now());
        forget_peak();
        let end = caught(|| act(&input));
        let took = since.elapsed();
        let grown = memory("VmHWM:").saturating_sub(before);
        slowest = slowest.max((took, number));
        largest = largest.max((grown, number));
        let what = match end {
            Err(panicked) => panicked,
            Ok(()) if grown > MOST_MEMORY => format!("took {} MB", grown >> 20),
            Ok(()) => continue,
        };
        let folder = keep(target, number, &input);
        failures.push(format!("input {number} in {}: {what}", folder.display()));
        if failures.len() >= 20 {
            break;
        }
    }
    now.0.store(u64::MAX, Ordering::SeqCst);
    let _ = panic::take_hook();
    println!(
        "{target}: {n} inputs of seed {seed} in {:.1} s; slowest {} ({:.2} s), largest {} ({} MB)",
        began.elapsed().as_secs_f64(),
        slowest.1,
        slowest.0.as_secs_f64(),
        largest.1,
        largest.0 >> 20,
    );
    assert!(failures.is_empty(), "{target}:\n{}", failures.join("\n"));
}

/// Ends the process if an input takes too long.
fn watch(target: &str, now: &(AtomicU64, Mutex<(Instant, Input)>)) {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let number = now.0.load(Ordering::SeqCst);
        let Ok(current) = now.1.lock() else { return };
        if number != u64::MAX && current.0.elapsed() > MOST_TIME {
            let folder = keep(target, number, &current.1);
            eprintln!(
                "{target}: input {number} in {} takes too long",
                folder.display()
            );
            std::process::exit(101);
        }
    }
}

/// Returns a line of `/proc/self/status` in bytes; zero if it is missing.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|own| own.strip_prefix(line));
    let kilobytes = found.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Limits the memory of this process, so that an input cannot exhaust that of the machine.
#[cfg(unix)]
fn limit_addresses() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(MOST_ADDRESSES),
        maximum: Some(MOST_ADDRESSES),
    };
    let _ = setrlimit(Resource::As, limit);
}

#[cfg(not(unix))]
fn limit_addresses() {}
