//! Paper 003: M. Sánchez de la Rosa et al., "Quality-of-service provision for BXIv3-based
//! interconnection networks", The Journal of Supercomputing, 2025.
//!
//! S003-1 to S003-3: five service levels under five arbiters. S003-4 and S003-5: an application that
//! searches, bursts between, and a background. The trace of the application is not published. It is
//! replaced by messages with the public size distribution of the same workload: an open loop for
//! 4 ms, whose execution time is the time of its last delivery. S003-6 consists of bits of tables
//! and registers, and S003-7 of unit tests of `netloom_arbitration`; S003-8 is not simulated.

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan, points_csv};

/// The runs of the paper.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::read(files!["003":
        "paper.toml",
        "figures.toml",
        "printed.csv",
        "fair.toml",
        "step.toml",
        "2powers.toml",
        "search.toml",
        "studies/S003-1.toml",
        "studies/S003-2.toml",
        "studies/S003-3.toml",
        "studies/S003-4.toml",
        "studies/S003-5.toml",
    ])
});

/// The paper.
pub(crate) const PAPER: BuiltIn = BuiltIn {
    id: "003",
    plan: &PLAN,
    claims: include_str!("../../papers/003/claims.toml"),
    tables: |results| vec![("points", points_csv(results))],
};

#[cfg(test)]
pub(crate) mod tests;
