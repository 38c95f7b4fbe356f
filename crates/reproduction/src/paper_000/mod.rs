//! Paper 000: InfiniBand against Omni-Path with a deficit table.
//!
//! ```text
//!                4-ary 3-tree   24-ary 2-tree   8x8 torus   8x8x8 torus
//!  InfiniBand    S000-1 (2x)    S000-3          S000-5      S000-7
//!  Omni-Path     S000-2         S000-4          S000-6      S000-8
//!   x1, 6 x1     S000-2         S000-4
//! ```
//!
//! In addition to the paper's InfiniBand crossbar (one flit per cycle over each port), one of twice
//! that speed is run (`2x`). With it, queues form at the outputs, where the tables decide. With the
//! paper's crossbar, packets wait at the inputs, which serve their lanes round robin, one message
//! each, so that round robin determines the shares. In addition to Omni-Path's internal links of
//! three flits per cycle, links of one flit are run: two (`x1`) and six (`6 x1`, with the same
//! total as in the paper), to measure their part of the advantage.
//!
//! At CI size, a 4-ary 2-tree replaces the trees and a 4x4 torus the tori, and only orders are
//! judged.
//!
//! `experiments/papers/000/claims.toml` holds the claims.

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan, points_csv};

/// The runs of the paper.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::read(files!["000":
        "paper.toml",
        "figures.toml",
        "printed.csv",
        "s000_1.toml",
        "s000_2.toml",
        "s000_5.toml",
        "s000_6.toml",
        "studies/S000-1.toml",
        "studies/S000-2.toml",
        "studies/S000-3.toml",
        "studies/S000-4.toml",
        "studies/S000-5.toml",
        "studies/S000-6.toml",
        "studies/S000-7.toml",
        "studies/S000-8.toml",
    ])
});

/// The paper.
pub(crate) const PAPER: BuiltIn = BuiltIn {
    id: "000",
    plan: &PLAN,
    claims: include_str!("../../papers/000/claims.toml"),
    tables: |results| vec![("points", points_csv(results))],
};

#[cfg(test)]
mod tests;
