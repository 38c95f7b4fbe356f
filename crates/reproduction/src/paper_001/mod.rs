//! Paper 001: OBQA, queues per output port against head-of-line blocking in fat trees.
//!
//! ```text
//!  schemes.rs      scenarios.rs
//!  1Q, DBBM, OBQA  S001-1, S001-2  uniform, over load   ──► C001-1 to C001-7     saturation.rs
//!  VOQsw, VOQnet   S001-3, S001-4  a hot spot, over time ─► C001-8 to C001-11    course.rs
//!                  S001-5, S001-6  storage, over time    ─► C001-12, C001-13     course.rs
//! ```
//!
//! S001-7 (memory) is computed by `netloom_design::cost`. S001-8 consists of examples that tests of
//! the crates routing and fabric check. At CI size, a 4-ary 3-tree of 64 nodes replaces the paper's
//! 256 nodes, and only orders are judged.

mod claims;
mod course;
mod readings;
mod saturation;
mod scenarios;
mod schemes;
mod tables;

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan};

/// The runs of the paper.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::read(files!["001":
        "paper.toml",
        "figures.toml",
        "printed.csv",
        "s001_1.toml",
        "s001_2.toml",
        "s001_3.toml",
        "s001_4.toml",
        "s001_5.toml",
        "studies/S001-1.toml",
        "studies/S001-2.toml",
        "studies/S001-3.toml",
        "studies/S001-4.toml",
        "studies/S001-5.toml",
        "studies/S001-6.toml",
    ])
});

/// The paper.
pub(crate) const PAPER: BuiltIn = BuiltIn {
    id: "001",
    title: "OBQA in fat-trees",
    plan: &PLAN,
    data: None,
    claims: claims::CLAIMS,
    readings: readings::READINGS,
    tables: tables::tables,
};

#[cfg(test)]
mod tests;
