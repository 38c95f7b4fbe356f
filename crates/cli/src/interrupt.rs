//! Ctrl-C, and panics of a simulation.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use netloom_results::Control;

use super::Exit;

const PLEASE: &str =
    "This is a bug in netloom. Please report it with the experiment file and the seed.";

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static FABRIC_RUNS: AtomicBool = AtomicBool::new(false);
static RESUMES_FROM: OnceLock<PathBuf> = OnceLock::new();

/// Handles Ctrl-C and SIGTERM from now on: the first one stops the run at the end of the epoch, the
/// second one at once.
pub(super) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(Exit::Interrupted as i32);
        }
    })?;
    Ok(())
}

/// Returns whether a stop was requested.
pub(super) fn is_asked() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// Returns whether work is to continue.
pub(super) fn control() -> Control {
    match is_asked() {
        true => Control::Stop,
        false => Control::Continue,
    }
}

/// Treats panics from now on as violated invariants of the fabric.
pub(super) fn fabric_runs() {
    FABRIC_RUNS.store(true, Ordering::SeqCst);
}

/// Treats panics from now on as possible effects of a modified checkpoint.
pub(super) fn resumes_from(checkpoint: &Path) {
    let _ = RESUMES_FROM.set(checkpoint.to_owned());
}

/// Reports a checkpoint from which a run cannot continue. The checks before the start do not find
/// all modifications.
fn refuse(checkpoint: &Path, panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("an invariant is violated");
    let why = format!(
        "cannot use {}: an invariant is violated: {what}",
        checkpoint.display()
    );
    let error = super::checkpoint::refused(&why, checkpoint);
    let place = panic.location().map(ToString::to_string);
    let place = place.unwrap_or_default();
    let _ = writeln!(
        std::io::stderr(),
        "error: {error}. If the checkpoint was not modified, this is a bug in netloom at {place}: \
         please report it."
    );
}

/// Installs a panic hook that asks for a report and exits with the code of the current activity.
pub(super) fn report_broken_laws() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if netloom_results::store::is_guarded() {
            return;
        }
        if let Some(checkpoint) = RESUMES_FROM.get() {
            refuse(checkpoint, panic);
            std::process::exit(Exit::Failed as i32);
        }
        print(panic);
        let exit = if FABRIC_RUNS.load(Ordering::SeqCst) {
            Exit::Fault
        } else {
            Exit::Failed
        };
        // A closed stderr must not make this a second panic.
        let _ = writeln!(std::io::stderr(), "{PLEASE}");
        std::process::exit(exit as i32);
    }));
}
