//! Tables for classes with shares and distances.
//!
//! ```text
//! needs ── dtable ──┬─ placement   the slots of each class
//!            │      └─ weights     the amount that each slot may send
//!            └── DeficitTable      (paper 000)
//! tables ── wait ─── the longest wait of a class at an output, or why there is none
//! tables ── slowdown  how much longer a backlog takes, or why there is no bound
//! tables ── predict ─ the share of each class when all have something to send
//! tables ── judged ── all of these for the lanes of an existing port
//! ```

pub mod dtable;
pub mod judged;
pub mod placement;
pub mod predict;
pub mod slowdown;
pub mod wait;
pub mod weights;
