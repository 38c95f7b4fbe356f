//! Checkpoints with changed bytes and a correct checksum: each is refused, or the run ends without
//! harm.
//!
//! With debug assertions, every access to the arrays of a fabric is checked, and every use of a
//! freed record is detected: an index that was not validated panics here. `NETLOOM_FORGED=300 cargo
//! nextest run -p netloom-experiment --test forged` forges more.

mod drawn;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use drawn::shelf::{OnShelf, Parts, Shelf};
use netloom_experiment::Experiment;
use netloom_experiment::runner::{Control, NotContinued, RunOptions, run_with_checkpoints};
use netloom_experiment::spec::{Request, load};
use netloom_results::Status;

/// SplitMix64: the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Every kind of machine has its own state.
const KINDS: &[&str] = &[
    "kind = \"cioq\"",
    "kind = \"iq\"",
    "kind = \"hierarchical\"",
    "kind = \"tiled\"",
    "stash = { kind = \"reliability\"",
    "stash = { kind = \"congestion\"",
    "faults = ",
    "ib-two-table",
    "dtable",
    "bxi-table",
    "bxi-deficit",
    "deficit-round-robin",
    "scfq",
    "flow-control = \"pfc\"",
    "flow-control = \"pause\"",
    "flow-control = \"queue-credits\"",
    "per-destination",
    "congestion-control = ",
    "acknowledge = ",
    "workload = ",
    "all-reduce",
    "[[connections.class]]",
    "kind = \"ugal\"",
    "knowledge = \"global\"",
    "choice = \"least",
    "deadlock = \"dateline",
    "buffer = ",
    "order = \"strict\"",
    "sc2sc",
    "waits = true",
];

/// Returns experiments that together have all of these.
fn machines() -> Vec<(String, Experiment)> {
    let mut missing = KINDS.to_vec();
    let mut machines = Vec::new();
    let mut numbers = Numbers(7);
    for _ in 0..4000 {
        let tape: Vec<u32> = (0..120).map(|_| numbers.next() as u32).collect();
        let text = drawn::experiment(&mut drawn::Tape::new(&tape));
        if !missing.iter().any(|kind| text.contains(kind)) {
            continue;
        }
        let request = Request {
            files: netloom_catalog::Disk::folder(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/drawn"
            )),
            partitions: Some([1, 3][numbers.below(2)]),
            ..Request::new("drawn.toml", &text)
        };
        let Some(experiment) = load(&request).experiment else {
            continue;
        };
        missing.retain(|kind| !text.contains(kind));
        machines.push((text, experiment));
    }
    // Few drawn experiments have these.
    missing.retain(|kind| !["waits = true", "[[connections.class]]"].contains(kind));
    assert!(missing.is_empty(), "no experiment with {missing:?}");
    machines
}

/// Runs from the checkpoint in memory, and stops after this number of calls of `control`.
fn run(experiment: &Experiment, shelf: &Shelf, stop_after: u32) -> Result<Status, NotContinued> {
    let mut checkpoints = OnShelf { shelf, leads: true };
    let mut asked = 0;
    let mut control = |_: &_| {
        asked += 1;
        match asked > stop_after {
            true => Control::Stop,
            false => Control::Continue,
        }
    };
    let options = RunOptions::default();
    let done = run_with_checkpoints(
        experiment,
        &options,
        None,
        Some(&mut checkpoints),
        &mut control,
    )?;
    Ok(done.document.status())
}

/// Changes bytes: whole words to numbers that an index or a counter may be, single bits, or words
/// of other places.
fn forge(numbers: &mut Numbers, bytes: &mut [u8]) -> String {
    let width = [1, 2, 4, 4, 4, 8][numbers.below(6)].min(bytes.len());
    let at = numbers.below(bytes.len() - width + 1);
    let word = match numbers.below(6) {
        0 => u64::MAX,
        1 => numbers.below(64) as u64,
        2 => numbers.next(),
        3 => 1 << numbers.below(64),
        4 => {
            let from = numbers.below(bytes.len() - width + 1);
            let mut word = [0; 8];
            word[..width].copy_from_slice(&bytes[from..from + width]);
            u64::from_le_bytes(word)
        }
        _ => {
            let mut word = [0; 8];
            word[..width].copy_from_slice(&bytes[at..at + width]);
            u64::from_le_bytes(word) ^ 1 << numbers.below(8 * width)
        }
    };
    bytes[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
    format!("{width} bytes at {at} become {word:#x}")
}

/// The outcome of a forged checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    /// It was refused before anything ran.
    Refused,
    /// A law did not hold later, and the program refused the checkpoint then.
    Stopped,
    /// The run finished.
    Harmless,
    /// The change had no effect.
    Unchanged,
}

#[test]
fn forged_checkpoints_are_refused_or_harmless() {
    let wanted = std::env::var("NETLOOM_FORGED").ok();
    let wanted: usize = wanted.and_then(|n| n.parse().ok()).unwrap_or(30);
    let seed = std::env::var("NETLOOM_FORGED_SEED").ok();
    let mut numbers = Numbers(seed.and_then(|seed| seed.parse().ok()).unwrap_or(1));
    // Panics are reported below.
    std::panic::set_hook(Box::new(|_| {}));
    let mut saved = Vec::new();
    for (text, experiment) in machines() {
        let shelf = Shelf::default();
        let epochs = experiment
            .measure
            .length
            .0
            .div_ceil(experiment.measure.epoch) as u32;
        let status = run(&experiment, &shelf, epochs / 3).expect("a run that begins");
        if let (Status::Interrupted, Some(last)) = (status, shelf.last()) {
            let again = run(
                &experiment,
                &Shelf::with(last.0.clone(), last.1.clone()),
                u32::MAX,
            );
            again.unwrap_or_else(|why| panic!("a sound checkpoint is refused: {why}\n{text}"));
            saved.push((text, experiment, last));
        }
    }
    assert!(saved.len() >= 10, "{} checkpoints", saved.len());
    let mut outcomes = BTreeMap::<Outcome, usize>::new();
    let mut stops = BTreeMap::<String, usize>::new();
    let mut harm = Vec::new();
    for turn in 0..wanted {
        let (text, experiment, (shared, parts)) = &saved[turn % saved.len()];
        let (mut shared, mut parts): (Vec<u8>, Parts) = (shared.clone(), parts.clone());
        let mut forgeries = Vec::new();
        for _ in 0..1 + numbers.below(2) {
            let which = numbers.below(parts.len() * 4 + 1);
            let bytes = match which {
                0 => &mut shared,
                _ => parts.get_mut(&(which % parts.len())).expect("a partition"),
            };
            forgeries.push(forge(&mut numbers, bytes));
        }
        let (send, receive) = mpsc::channel();
        let experiment = experiment.clone();
        let is_same = saved[turn % saved.len()].2 == (shared.clone(), parts.clone());
        std::thread::spawn(move || {
            let shelf = Shelf::with(shared, parts);
            let ran = catch_unwind(AssertUnwindSafe(|| run(&experiment, &shelf, u32::MAX)));
            let ended = match ran {
                Ok(Ok(_)) if is_same => Ok(Outcome::Unchanged),
                Ok(Ok(_)) => Ok(Outcome::Harmless),
                Ok(Err(NotContinued::Invalid { .. })) => Ok(Outcome::Refused),
                Ok(Err(other)) => Err(other.to_string()),
                Err(panic) => {
                    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                    Err(text
                        .or_else(|| panic.downcast_ref::<String>().cloned())
                        .unwrap_or_default())
                }
            };
            let _ = send.send(ended);
        });
        let ended = receive.recv_timeout(Duration::from_secs(120));
        let outcome = match ended {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(law)) => {
                // An index out of bounds, or of a freed record.
                if law.starts_with("row ") || law.starts_with("slot ") {
                    harm.push(format!("turn {turn}, {forgeries:?}: {law}\n{text}"));
                }
                *stops.entry(law).or_default() += 1;
                Outcome::Stopped
            }
            Err(_) => {
                harm.push(format!(
                    "turn {turn}, {forgeries:?}: no end after two minutes\n{text}"
                ));
                Outcome::Stopped
            }
        };
        *outcomes.entry(outcome).or_default() += 1;
    }
    let _ = std::panic::take_hook();
    println!(
        "{wanted} forged checkpoints of {} machines: {outcomes:?}",
        saved.len()
    );
    for (law, n) in &stops {
        println!("{n} stopped: {law}");
    }
    assert!(harm.is_empty(), "{}", harm.join("\n"));
    let refused = outcomes.get(&Outcome::Refused).copied().unwrap_or(0);
    assert!(
        4 * refused >= wanted,
        "{refused} of {wanted} are refused: what is checked?"
    );
}
