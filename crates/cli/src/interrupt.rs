//! Ctrl-C and broken laws.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::Exit;

const PLEASE: &str =
    "This is a fault of netloom. Please report it with the experiment and the seed.";

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static FABRIC_RUNS: AtomicBool = AtomicBool::new(false);
static RESUMES_FROM: OnceLock<PathBuf> = OnceLock::new();

/// From now on, Ctrl-C (or SIGTERM) once asks for a stop at the end of the epoch; twice stops at once.
pub(super) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(Exit::Interrupted as i32);
        }
    })?;
    Ok(())
}

/// Whether a stop was asked for.
pub(super) fn is_asked() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// From now on, a panic is a law of the fabric that does not hold.
pub(super) fn fabric_runs() {
    FABRIC_RUNS.store(true, Ordering::SeqCst);
}

/// From now on, a panic may come from a state that was changed after netloom saved it.
pub(super) fn resumes_from(checkpoint: &Path) {
    let _ = RESUMES_FROM.set(checkpoint.to_owned());
}

/// Refuses a checkpoint with which a run cannot go further: what is checked before it starts does not show everything.
fn refuse(checkpoint: &Path, panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("a law is broken");
    let why = format!(
        "{} cannot be used: a law does not hold after it: {what}",
        checkpoint.display()
    );
    let told = super::checkpoint::refused(&why, checkpoint);
    let place = panic.location().map(ToString::to_string);
    let place = place.unwrap_or_default();
    let _ = writeln!(
        std::io::stderr(),
        "error: {told}. If the checkpoint was not changed, this is a fault of netloom at {place}: please report it."
    );
}

/// A panic is our mistake: say what to do with it, and end with the code for what was going on.
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
