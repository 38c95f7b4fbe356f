//! Stopping long work before its end.

/// Whether to continue long work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Continues.
    Continue,
    /// Stops. A run keeps the results so far.
    Stop,
}

/// The work was stopped before its end, and gives no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("stopped before the end")]
pub struct Stopped;

impl Control {
    /// Returns an error to stop with.
    ///
    /// # Errors
    /// If the work is to stop.
    pub fn check(self) -> Result<(), Stopped> {
        match self {
            Control::Continue => Ok(()),
            Control::Stop => Err(Stopped),
        }
    }
}
