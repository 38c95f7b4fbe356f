//! Paper 002: stashing in tiled switches, idle port buffers as storage for the whole switch.
//!
//! S002-1 and S002-2 are two views of the same runs (uniform traffic), and so are S002-4 to S002-6
//! (aggressors begin). S002-3 are applications, S002-7 bursts. S002-8 (Table I) is computed by
//! `netloom_design::cost`. At CI size, a dragonfly of 72 endpoints replaces the paper's, and only
//! orders and Little's law are judged.

mod tables;

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan};

/// The runs of the paper.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::read(files!["002":
        "paper.toml",
        "figures.toml",
        "printed.csv",
        "s002_1.toml",
        "s002_3.toml",
        "s002_4.toml",
        "s002_7.toml",
        "studies/S002-1.toml",
        "studies/S002-3.toml",
        "studies/S002-4.toml",
        "studies/S002-5.toml",
        "studies/S002-7.toml",
    ])
});

/// The paper.
pub(crate) const PAPER: BuiltIn = BuiltIn {
    id: "002",
    plan: &PLAN,
    claims: include_str!("../../papers/002/claims.toml"),
    tables: tables::tables,
};

#[cfg(test)]
pub(crate) mod tests;
