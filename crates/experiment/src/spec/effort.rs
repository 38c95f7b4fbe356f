//! How much is computed when a file is loaded.

use super::Request;

/// How much of an experiment is computed when it is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// All that a run needs. A proof of freedom from deadlock has a bounded number of steps.
    #[default]
    Run,
    /// All that `check` prints. Large routing tables are not filled, so a run would be slow.
    Check,
    /// All that a run needs, and a proof however long it takes.
    Proof,
}

/// Receives the name of each step that may take long.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// The effort of a request, and who hears of its steps.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) effort: Effort,
    progress: Option<Progress<'a>>,
}

impl<'a> Work<'a> {
    pub(crate) fn of(request: &Request<'a>) -> Work<'a> {
        Work {
            effort: request.effort,
            progress: request.progress,
        }
    }

    /// Reports that a step begins.
    pub(crate) fn begins(&self, step: &str) {
        if let Some(progress) = self.progress {
            progress(step);
        }
    }
}
