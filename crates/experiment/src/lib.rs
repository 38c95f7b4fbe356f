//! Loads an experiment file, checks it, runs it, and returns its results.
//!
//! ```text
//!  text ─► Document ─► sections (spec/) ─► checks (check/) ─► Experiment ─► runner ─► results
//!          positions   typed values        across sections    in ticks
//! ```
//!
//! All errors of a file are found before anything runs, and are reported together.

#![warn(clippy::too_many_lines)]

mod available_memory;
pub mod bench;
mod check;
pub mod codes;
pub mod experiment;
pub mod huge_pages;
mod kinds;
pub mod render;
pub mod runner;
pub mod schema;
pub mod shared_run;
pub mod spec;

pub use available_memory::available_memory;
pub use codes::{Code, codes};
pub use experiment::{
    ClassInfo, ConnectionInfo, ConnectionSet, Experiment, Measure, NotBuilt, TooManyRanks,
    UntilPackets, WarmupRule,
};
pub use kinds::{Kinds, TwoOfAName};
pub use render::render;
