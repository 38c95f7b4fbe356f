//! S003-4 and S003-5: an application that searches, bursts between, and a background.
//!
//! The application's trace is not published; messages of the public size distribution of the same workload stand in
//! for it (G003-9): an open loop for 4 ms, whose execution time is its last delivery.

use super::arbiters::Arbiter;
use super::completion::HISTOGRAMS;
use super::efficiency::SERIES;
use super::scenarios::{Asked, whole};
use crate::{Outcome, Results, Size};

/// The class of the application.
pub(super) const APPLICATION: &str = "search";

/// How the application runs: under which arbiter, with which table.
pub(super) struct Variant {
    pub(super) series: &'static str,
    pub(super) arbiter: Arbiter,
    /// The weights of the application, the bursts and the background.
    pub(super) weights: [u16; 3],
}

macro_rules! variant {
    ($series:literal, $arbiter:ident, $weights:expr) => {
        Variant {
            series: $series,
            arbiter: Arbiter::$arbiter,
            weights: $weights,
        }
    };
}

/// All of them: round robin, then Table 8 without and with deficits, tuned for latency.
pub(super) const VARIANTS: &[Variant] = &[
    variant!("S003-5 RR", RoundRobin, [1, 1, 1]),
    variant!("S003-4 fair basic", BasicTuned, [1, 1, 1]),
    variant!("S003-4 fair deficits", DeficitsTuned, [1, 1, 1]),
    variant!("S003-4 step basic", BasicTuned, [3, 2, 1]),
    variant!("S003-4 step deficits", DeficitsTuned, [3, 2, 1]),
    variant!("S003-4 2powers basic", BasicTuned, [4, 2, 1]),
    variant!("S003-4 2powers deficits", DeficitsTuned, [4, 2, 1]),
];

/// The tables, as indices into [`VARIANTS`]: without and with deficits.
pub(super) const TABLES: [(&str, usize, usize); 3] =
    [("fair", 1, 2), ("step", 3, 4), ("2powers", 5, 6)];

impl Variant {
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            series: self.series,
            load: 0.8,
            file: "search.toml",
            text: TEXT,
            arbiter: self.arbiter,
            weights: &self.weights,
            tables: &[SERIES, HISTOGRAMS],
        }
    }

    /// Its outcomes, if none is lacking.
    pub(super) fn outcomes<'a>(&self, results: &'a Results) -> Option<Vec<&'a Outcome>> {
        whole(results, self.series)
    }
}

/// The scenario, as a person can run it.
pub(super) const TEXT: &str = include_str!("../../../../experiments/papers/003/search.toml");

/// What a size makes of the scenario.
pub(super) struct Length {
    /// The application generates for so long.
    pub(super) generated_us: u32,
    /// From a burst to the next; the paper's bursts are 1 ms apart.
    pub(super) period_us: u32,
    /// Messages of 32 KiB in a burst: 256 are the paper's 8 MiB (X003-14).
    pub(super) burst_messages: u32,
    /// Message sizes of the application over those of the workload (spec 8.3).
    pub(super) scale: u32,
    /// Simulated at most.
    pub(super) length_us: u32,
    pub(super) epoch_us: u32,
}

pub(super) fn length(size: Size) -> Length {
    match size {
        Size::Tiny => Length {
            generated_us: 20,
            period_us: 5,
            burst_messages: 16,
            scale: 1,
            length_us: 60,
            epoch_us: 1,
        },
        // A quarter of the times and of the bursts.
        Size::Ci => Length {
            generated_us: 1000,
            period_us: 250,
            burst_messages: 64,
            scale: 8,
            length_us: 3000,
            epoch_us: 5,
        },
        Size::Paper => Length {
            generated_us: 4000,
            period_us: 1000,
            burst_messages: 256,
            scale: 8,
            length_us: 12_000,
            epoch_us: 10,
        },
    }
}

impl Length {
    /// As a person is told.
    pub(super) fn words(&self) -> String {
        format!(
            "search for {} us with bursts every {} us",
            self.generated_us, self.period_us
        )
    }

    pub(super) fn sets(&self) -> Vec<String> {
        vec![
            format!("traffic.0.until=\"{} us\"", self.generated_us),
            format!("traffic.0.size.scale={}", self.scale),
            format!("traffic.1.arrival.period=\"{} us\"", self.period_us),
            format!("traffic.1.arrival.messages={}", self.burst_messages),
            format!("measure.length=\"{} us\"", self.length_us),
            format!("measure.epochs={}", self.length_us / self.epoch_us),
        ]
    }
}
