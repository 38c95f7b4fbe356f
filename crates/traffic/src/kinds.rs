//! The kinds that a `[[traffic]]` table may name.

use netloom_catalog::Kind;

use crate::{ARRIVALS, ArrivalProcess, Generator, PATTERNS, Pattern, SIZES, Sizes, WORKLOADS};

/// The kinds that a `[[traffic]]` table may name: the built-in ones, and those that a program adds.
#[derive(Clone)]
pub struct TrafficKinds {
    /// Laws of destinations.
    pub patterns: Vec<Kind<dyn Pattern>>,
    /// Laws of times.
    pub arrivals: Vec<Kind<dyn ArrivalProcess>>,
    /// Laws of sizes.
    pub sizes: Vec<Kind<dyn Sizes>>,
    /// Workloads that define all their messages.
    pub workloads: Vec<Kind<dyn Generator>>,
}

impl Default for TrafficKinds {
    fn default() -> Self {
        TrafficKinds {
            patterns: PATTERNS.to_vec(),
            arrivals: ARRIVALS.to_vec(),
            sizes: SIZES.to_vec(),
            workloads: WORKLOADS.to_vec(),
        }
    }
}
