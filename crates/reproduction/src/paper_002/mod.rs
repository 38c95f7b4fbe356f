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
//! S002-1 and S002-2 are two views of the same runs, and so are S002-4 to S002-6. S002-8 (Table I) is arithmetic of
//! `netloom_design::cost`. At CI size a dragonfly of 72 endpoints stands for the paper's, and only orders and Little's
//! law are judged.

mod applications;
mod bursts;
mod claims;
mod figures;
mod machines;
mod onset;
mod readings;
mod scenarios;
mod series;
mod switches;
mod tables;
mod uniform;

use crate::{Effort, Paper, Runs, Size};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "002",
    title: "stashing in tiled switches",
    runs: Runs::Listed {
        effort,
        runs: scenarios::runs,
        variations: readings::VARIATIONS,
    },
    claims: claims::CLAIMS,
    readings: readings::READINGS,
    tables: tables::tables,
    figures: figures::FIGURES,
};

fn effort(size: Size) -> Effort {
    Effort {
        seeds: match size {
            Size::Tiny => 1,
            Size::Ci => 5,
            Size::Paper => 2,
        },
        length: scenarios::length(size),
    }
}

#[cfg(test)]
mod tests;
