//! Tables for classes with shares and distances.
//!
//! ```text
//! needs ── dtable ──┬─ placement   which slots each class has
//!            │      └─ weights     how much each slot may send
//!            └── DeficitTable      (000, 1.2.4)
//! needs ── bxi ───── QuantumTable  (003, 4.2.3)
//! tables ── wait ─── the longest wait of a class at an output, or why there is none
//! tables ── predict ─ the share of each class when all have something to send
//! ```

pub mod bxi;
pub mod dtable;
pub mod placement;
pub mod predict;
pub mod wait;
pub mod weights;
