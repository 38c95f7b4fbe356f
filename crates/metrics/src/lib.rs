//! Statistics of runs, independent of what was simulated.
//!
//! What is recorded during a run ([`Histogram`], [`Tally`], [`Series`], [`Digest`]) holds integers
//! only. Merging is exact in any order, so a result does not depend on the number of partitions.
//! What is computed afterwards ([`mser5`], [`batch_means`], [`over_seeds`], [`jain`], [`Verdict`])
//! uses floats. It is limited to the operations that IEEE 754 rounds exactly (`+ - * /` and the
//! square root), in a fixed order and without functions of a C library. So the results have the
//! same bits on every machine.
//!
//! This crate may depend only on the units and the encoding. Start with [`Histogram`] for recording
//! and [`Verdict`], which judges the numbers of a run.

mod confidence;
mod digest;
mod fairness;
mod histogram;
mod holm;
mod punctuality;
mod series;
mod steady_state;
mod student_t;
mod tally;
mod verdict;

pub use confidence::{Interval, batch_means, over_seeds};
pub use digest::{Delivery, Digest};
pub use fairness::jain;
pub use histogram::{Histogram, RESOLUTION};
pub use holm::holm;
pub use punctuality::{
    DEADLINES, InterArrival, JITTER_BINS, LONGEST_SHARED, Punctuality, PunctualityMeter,
};
pub use series::Series;
pub use steady_state::{Warmup, mser5};
pub use student_t::{student_t_975, student_t_beyond};
pub use tally::Tally;
pub use verdict::{Epoch, Measured, Verdict};
