//! Paper 003: M. Sánchez de la Rosa et al., "Quality-of-service provision for BXIv3-based
//! interconnection networks", The Journal of Supercomputing, 2025.
//!
//! ```text
//!  scenarios: fair, step, 2powers ── five arbiters ──► S003-1  what each host injects    throughput.rs
//!             one file each                            to -3   how long packets take     latency.rs
//!  search: bursts between an application ── RR and ──► S003-4  execution time, FCT       completion.rs
//!             and a background       six tables        S003-5  efficiency over time      efficiency.rs
//!  bits of tables and registers ─────────────────────► S003-6                            space.rs
//! ```
//!
//! S003-7 consists of unit tests of `netloom_arbitration`; S003-8 is not simulated. Arbiters are
//! compared seed by seed (`order.rs`): a seed creates the same messages under every arbiter.

mod arbiters;
mod claims;
mod completion;
mod efficiency;
mod latency;
mod readings;
mod scenarios;
mod search;
mod space;
mod tables;
mod throughput;

use std::sync::LazyLock;

use crate::plan::files;
use crate::{BuiltIn, Plan};

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
    title: "QoS for BXIv3 with arbitration tables",
    plan: &PLAN,
    data: None,
    claims: claims::CLAIMS,
    readings: readings::READINGS,
    tables: tables::tables,
};

#[cfg(test)]
mod tests;
