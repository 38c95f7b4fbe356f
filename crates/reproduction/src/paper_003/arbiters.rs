//! The five arbiters.

/// An arbiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arbiter {
    RoundRobin,
    /// Algorithm 1, one entry per service level.
    Basic,
    /// Algorithm 1, tuned for latency.
    BasicTuned,
    /// Algorithm 2, one entry per service level.
    Deficits,
    /// Algorithm 2, tuned for latency.
    DeficitsTuned,
}

impl Arbiter {
    /// The order of the paper's figures.
    pub(super) const ALL: [Arbiter; 5] = [
        Arbiter::RoundRobin,
        Arbiter::Basic,
        Arbiter::BasicTuned,
        Arbiter::Deficits,
        Arbiter::DeficitsTuned,
    ];
}
