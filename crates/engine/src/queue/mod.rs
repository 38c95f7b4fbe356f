//! Pending events by tick.
//!
//! Runs use [`Wheel`]. Tests compare it with [`Heap`].

mod chunks;
mod far;
mod heap;
mod near;
mod occupancy;
mod wheel;

pub use heap::Heap;
use netloom_units::Tick;
pub use wheel::Wheel;

/// Pending events, taken out one whole tick at a time.
///
/// Time moves forward: a push is never earlier than the last tick taken, and later than the `limit`
/// of the last [`take_next`](Self::take_next) that found nothing. No event is at [`Tick::NEVER`].
pub trait EventQueue<E>: Send + Default {
    /// Creates a queue for events of which most are pushed at most `ticks` ahead. The number
    /// affects only the speed.
    fn for_delays(_ticks: u64) -> Self {
        Self::default()
    }

    /// Adds an event.
    fn push(&mut self, when: Tick, event: E);

    /// Moves all events of the earliest tick that is at most `limit` into `batch` (cleared first)
    /// and returns that tick; `None` if there is none.
    ///
    /// The order within the batch is unspecified.
    fn take_next(&mut self, limit: Tick, batch: &mut Vec<E>) -> Option<Tick>;

    /// Returns the earliest pending tick. Time does not move.
    fn next(&mut self) -> Option<Tick>;

    /// Returns the number of pending events.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
