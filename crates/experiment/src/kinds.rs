//! The kinds that files may name: the built-in kinds, and those that a program adds.
//!
//! ```
//! use netloom_catalog::{Described, kind, params};
//! use netloom_experiment::Kinds;
//! use netloom_topology::{Blueprint, SingleSwitch, Topology};
//!
//! params! {
//!     /// A switch and nothing else.
//!     pub struct Lone {
//!         /// NICs at it.
//!         pub nics: u32 = 4,
//!     }
//! }
//!
//! impl Described for Lone {
//!     const NAME: &'static str = "lone";
//!     const SUMMARY: &'static str = "A single switch with a NIC at every port.";
//!     const EXAMPLE: &'static str = "nics = 8";
//! }
//!
//! impl Blueprint for Lone {
//!     fn build(&self, seed: u64) -> Result<Topology, String> {
//!         SingleSwitch { ports: self.nics }.build(seed)
//!     }
//!     fn n_nics(&self) -> Option<u64> {
//!         Some(self.nics.into())
//!     }
//!     fn n_ports(&self) -> Option<u64> {
//!         Some(self.nics.into())
//!     }
//! }
//!
//! let kinds = Kinds::default().with_topology(kind!(Lone, dyn Blueprint));
//! assert!(kinds.check().is_ok());
//! ```

use std::sync::LazyLock;

use netloom_arbitration::Policy;
use netloom_catalog::Kind;
use netloom_fabric::{CONGESTION_CONTROLS, CongestionControl};
use netloom_routing::Routing;
use netloom_topology::Blueprint;
use netloom_traffic::{ArrivalProcess, Generator, Pattern, Sizes, TrafficKinds};

/// The kinds that files may name: by default the built-in kinds. `with_…` adds a kind of a program,
/// which messages, lists, explanations, the schema and resolved files then treat like all others.
#[derive(Clone)]
pub struct Kinds {
    pub(crate) topologies: Vec<Kind<dyn Blueprint>>,
    pub(crate) routings: Vec<Kind<dyn Routing>>,
    pub(crate) arbiters: Vec<Kind<dyn Policy>>,
    pub(crate) congestion_controls: Vec<Kind<dyn CongestionControl>>,
    pub(crate) traffic: TrafficKinds,
}

impl Default for Kinds {
    fn default() -> Self {
        Kinds {
            topologies: netloom_topology::KINDS.to_vec(),
            routings: netloom_routing::KINDS.to_vec(),
            arbiters: netloom_arbitration::KINDS.to_vec(),
            congestion_controls: CONGESTION_CONTROLS.to_vec(),
            traffic: TrafficKinds::default(),
        }
        .with_topology(netloom_infiniband::TOPOLOGY)
        .with_routing(netloom_infiniband::ROUTING)
    }
}

/// Two kinds of a concept have the same name, so that a file could not select between them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("two kinds of {concept} have the name \"{name}\"")]
pub struct TwoOfAName {
    /// Concept of both kinds.
    pub concept: &'static str,
    /// Name of both kinds.
    pub name: &'static str,
}

impl Kinds {
    /// Returns the built-in kinds.
    pub fn built_in() -> &'static Kinds {
        static BUILT_IN: LazyLock<Kinds> = LazyLock::new(Kinds::default);
        &BUILT_IN
    }

    /// Adds a topology.
    #[must_use]
    pub fn with_topology(mut self, kind: Kind<dyn Blueprint>) -> Self {
        self.topologies.push(kind);
        self
    }

    /// Adds a routing.
    #[must_use]
    pub fn with_routing(mut self, kind: Kind<dyn Routing>) -> Self {
        self.routings.push(kind);
        self
    }

    /// Adds an arbiter.
    #[must_use]
    pub fn with_arbiter(mut self, kind: Kind<dyn Policy>) -> Self {
        self.arbiters.push(kind);
        self
    }

    /// Adds a congestion control.
    #[must_use]
    pub fn with_congestion_control(mut self, kind: Kind<dyn CongestionControl>) -> Self {
        self.congestion_controls.push(kind);
        self
    }

    /// Adds a pattern: the destinations of messages.
    #[must_use]
    pub fn with_pattern(mut self, kind: Kind<dyn Pattern>) -> Self {
        self.traffic.patterns.push(kind);
        self
    }

    /// Adds an arrival process: when messages are created.
    #[must_use]
    pub fn with_arrival(mut self, kind: Kind<dyn ArrivalProcess>) -> Self {
        self.traffic.arrivals.push(kind);
        self
    }

    /// Adds a distribution of message sizes.
    #[must_use]
    pub fn with_size(mut self, kind: Kind<dyn Sizes>) -> Self {
        self.traffic.sizes.push(kind);
        self
    }

    /// Adds a workload, which defines all of its messages.
    #[must_use]
    pub fn with_workload(mut self, kind: Kind<dyn Generator>) -> Self {
        self.traffic.workloads.push(kind);
        self
    }

    /// Checks that every name is unique within its concept. Loading a file and the command line
    /// call this first.
    pub fn check(&self) -> Result<(), TwoOfAName> {
        unique("topology", &self.topologies)?;
        unique("routing", &self.routings)?;
        unique("arbiter", &self.arbiters)?;
        unique("congestion control", &self.congestion_controls)?;
        unique("pattern", &self.traffic.patterns)?;
        unique("arrival process", &self.traffic.arrivals)?;
        unique("message size", &self.traffic.sizes)?;
        unique("workload", &self.traffic.workloads)
    }
}

fn unique<T: ?Sized>(concept: &'static str, kinds: &[Kind<T>]) -> Result<(), TwoOfAName> {
    for (at, kind) in kinds.iter().enumerate() {
        if kinds[..at].iter().any(|other| other.name == kind.name) {
            let name = kind.name;
            return Err(TwoOfAName { concept, name });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use netloom_arbitration::{Policy, RoundRobin};
    use netloom_catalog::kind;

    use super::*;
    use crate::spec::{Request, load};

    #[test]
    fn a_name_that_is_taken_is_reported_by_whoever_loads_a_file() {
        assert_eq!(Kinds::built_in().check(), Ok(()));
        let kinds = Kinds::default().with_arbiter(kind!(RoundRobin, dyn Policy));
        let twice = kinds.check().unwrap_err();
        let message = "two kinds of arbiter have the name \"round-robin\"";
        assert_eq!(twice.to_string(), message);
        let text = "netloom = 1\ntopology = { kind = \"single-switch\", ports = 4 }\n\
            traffic = [{ load = 0.5 }]\n";
        let request = Request {
            kinds: &kinds,
            ..Request::new("twice.toml", text)
        };
        let loaded = load(&request);
        assert!(loaded.experiment.is_none());
        let notes: Vec<&str> = loaded.notes.iter().map(|n| n.message.as_str()).collect();
        assert_eq!(notes, [message]);
    }
}
