//! S003-4 and S003-5: an application that searches, bursts between, and a background.
//!
//! The application's trace is not published. It is replaced by messages with the public size
//! distribution of the same workload: an open loop for 4 ms, whose execution time is the time of
//! its last delivery.

use super::scenarios::whole;
use crate::{Outcome, Results};

/// The class of the application.
pub(super) const APPLICATION: &str = "search";

/// An arbiter and a table for the application.
pub(super) struct Variant {
    pub(super) series: &'static str,
}

/// All variants: round robin, then Table 8 without and with deficits, tuned for latency.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        series: "S003-5 RR",
    },
    Variant {
        series: "S003-4 fair basic",
    },
    Variant {
        series: "S003-4 fair deficits",
    },
    Variant {
        series: "S003-4 step basic",
    },
    Variant {
        series: "S003-4 step deficits",
    },
    Variant {
        series: "S003-4 2powers basic",
    },
    Variant {
        series: "S003-4 2powers deficits",
    },
];

/// The tables, as indices into [`VARIANTS`]: without and with deficits.
pub(super) const TABLES: [(&str, usize, usize); 3] =
    [("fair", 1, 2), ("step", 3, 4), ("2powers", 5, 6)];

impl Variant {
    /// Returns its outcomes, if none is missing.
    pub(super) fn outcomes<'a>(&self, results: &'a Results) -> Option<Vec<&'a Outcome>> {
        whole(results, self.series)
    }
}
