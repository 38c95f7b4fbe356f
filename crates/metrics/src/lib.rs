//! Statistics: what a run says about itself, without knowing what was simulated.
//!
//! Two families live here. What is recorded while a fabric runs ([`Histogram`], [`Tally`], [`Series`],
//! [`Digest`]) holds integers only, and merging is exact in any order, so that a run says the same on
//! one partition and on seven. What is computed afterwards ([`mser5`], [`batch_means`],
//! [`over_seeds`], [`jain`], [`Verdict`]) uses floats, but only the operations IEEE 754 rounds
//! exactly (`+ - * /` and the square root), in a fixed order: no logarithm of some C library, hence
//! the same bits on every machine.

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
