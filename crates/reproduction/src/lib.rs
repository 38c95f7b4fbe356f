//! Reproduces published results: compares the claims of papers with measurements.
//!
//! ```text
//!  experiments/papers/NNN ─► Plan ── size, seeds, reading ──► Scenario: a study ─► its folder ─► Results ── judge ─► Finding
//!   experiments, studies,    plan.rs                          run as any other     collected.rs  by series,          holds,
//!   paper.toml                                                                                   load and class      undecided, …
//!  claims.toml ─► claims/: the value printed in the paper, the band, the readings it depends on, and formulas
//!  figures.toml, printed.csv ─► figures.rs: measured results, overlaid with the numbers that the paper prints
//! ```
//!
//! A paper is data: studies and a list of claims. [`Paper::read`] reads any folder of this form. A
//! band is never widened to let a claim pass. If a claim misses, the table lists the readings that
//! decide it (X: contradictions of the paper, G: gaps), and a [`Variation`] checks the claims under
//! another reading.

mod claim;
mod claims;
mod collected;
mod counts;
mod figures;
mod order;
mod paper;
mod paper_000;
mod paper_001;
mod paper_002;
mod paper_003;
mod paper_004;
mod plan;
mod points;
mod results;
mod table;

pub use claim::{Basis, Finding, Tier, Verdict};
pub use claims::ClaimsFile;
pub use collected::Failure;
pub use counts::{Counted, Counts};
pub use figures::figures;
pub use order::Truth;
pub(crate) use paper::BuiltIn;
pub use paper::{Effort, Paper, Reading, Run, Size, Variation, paper, paper_ids, papers};
pub use plan::{Plan, Scenario};
pub use points::{points_csv, runs_csv};
pub use results::{Measured, Outcome, Point, Results, Series};
pub use table::{Judged, Row, Table, Under};
