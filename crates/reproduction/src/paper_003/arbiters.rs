//! The five arbiters.

/// Who is next on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arbiter {
    RoundRobin,
    /// Algorithm 1, one entry per service level.
    Basic,
    /// The same tuned for latency.
    BasicTuned,
    /// Algorithm 2 (X003-3), one entry per service level.
    Deficits,
    /// The same tuned for latency.
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
