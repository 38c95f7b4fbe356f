//! Paper 001: OBQA, queues per output port against head-of-line blocking in fat trees.
//!
//! `experiments/papers/001/claims.toml` holds its claims. S001-7 (memory) is computed by
//! `netloom_design::cost`. S001-8 consists of examples that tests of the crates routing and fabric
//! check.

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
    plan: &PLAN,
    claims: include_str!("../../papers/001/claims.toml"),
    tables: tables::tables,
};

#[cfg(test)]
mod tests;
