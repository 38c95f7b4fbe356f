//! Paper 004: F. J. Alfaro, J. L. Sánchez and J. Duato, "A strategy to compute the InfiniBand
//! arbitration tables", DIAB-01-02-20, 2001.
//!
//! Implemented: S004-2 to S004-7, connections of constant rate at 1x on 16 switches; for 4x and 12x
//! (S004-8, S004-9), the admission, and delay and jitter with the most connections (C004-14).
//!
//! C004-15 and C004-16 are exact and hold for every admission, not only for these runs: property
//! tests of `netloom_design::infiniband` check them.

mod tables;

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan};

/// The runs of the paper.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::read(files!["004":
        "paper.toml",
        "figures.toml",
        "printed.csv",
        "irregular_256.toml",
        "studies/S004-2.toml",
        "studies/S004-2-strict.toml",
        "studies/S004-3.toml",
        "studies/S004-8.toml",
        "studies/S004-9.toml",
        "studies/S004-8-delivered.toml",
        "studies/S004-9-delivered.toml",
    ])
});

/// The paper.
pub(crate) const PAPER: BuiltIn = BuiltIn {
    id: "004",
    plan: &PLAN,
    claims: include_str!("../../papers/004/claims.toml"),
    tables: tables::tables,
};

#[cfg(test)]
mod tests;
