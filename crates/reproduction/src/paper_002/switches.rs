//! The compared switches: the plain tiled switch, and stashes of three capacities.

/// A switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Switch {
    /// No stash.
    Baseline,
    /// All memory that short cables leave unused.
    Full,
    /// Half of it.
    Half,
    /// A quarter of it.
    Quarter,
}

impl Switch {
    /// Returns its name in the paper.
    pub(super) fn word(self) -> &'static str {
        match self {
            Switch::Baseline => "baseline",
            Switch::Full => "100 %",
            Switch::Half => "50 %",
            Switch::Quarter => "25 %",
        }
    }

    /// Returns the fraction of the stash.
    pub(super) fn capacity(self) -> f64 {
        match self {
            Switch::Baseline => 0.0,
            Switch::Full => 1.0,
            Switch::Half => 0.5,
            Switch::Quarter => 0.25,
        }
    }
}
