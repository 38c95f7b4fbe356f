//! Paper 002: stashing in tiled switches, idle port buffers as storage for the whole switch.
//!
//! ```text
//!  machines.rs, switches.rs       scenarios.rs
//!  3080 endpoints, or 72          S002-1, S002-2   uniform, copies until acknowledged ─► C002-1 to C002-4   uniform.rs
//!  baseline, 100 %, 50 %, 25 %    S002-3           applications, the same             ─► C002-5 to C002-7   applications.rs
//!                                 S002-4 to S002-6 aggressors begin, with ECN         ─► C002-8 to C002-11, C002-14  onset.rs
//!                                 S002-7           bursts, with ECN                   ─► C002-12, C002-13   bursts.rs
//! ```
//!
//! S002-1 and S002-2 are two views of the same runs, and so are S002-4 to S002-6. S002-8 (Table I)
//! is computed by `netloom_design::cost`. At CI size, a dragonfly of 72 endpoints replaces the
//! paper's, and only orders and Little's
//! law are judged.

mod applications;
mod bursts;
mod claims;
mod machines;
mod onset;
mod readings;
mod scenarios;
mod series;
mod switches;
mod tables;
mod uniform;

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
    title: "stashing in tiled switches",
    plan: &PLAN,
    data: None,
    claims: claims::CLAIMS,
    readings: readings::READINGS,
    tables: tables::tables,
};

#[cfg(test)]
mod tests;
