//! From a file to results.
//!
//! ```text
//!  text ─► Document ─► sections (spec/) ─► checks (check/) ─► Experiment ─► runner ─► results
//!          positions   typed values        across sections    in ticks
//! ```
//!
//! Every mistake of a file is found before anything runs, and all are told at once.

pub mod bench;
mod check;
pub mod codes;
pub mod experiment;
mod kinds;
pub mod render;
pub mod runner;
pub mod schema;
pub mod shared_run;
pub mod spec;

pub use codes::{Code, codes, explain_code};
pub use experiment::{
    ClassInfo, ConnectionInfo, ConnectionSet, Experiment, Measure, NotBuilt, TooManyRanks,
    UntilPackets, WarmupRule,
};
pub use kinds::{Kinds, TwoOfAName};
pub use render::render;
