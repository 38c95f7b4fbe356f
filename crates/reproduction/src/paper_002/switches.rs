//! The switches that are compared: the plain tiled one, and stashes of three capacities.

/// A switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Switch {
    /// No stash.
    Baseline,
    /// All that short cables leave unused.
    Full,
    /// Half of it.
    Half,
    /// A quarter of it.
    Quarter,
}

impl Switch {
    /// The word of the paper for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Switch::Baseline => "baseline",
            Switch::Full => "100 %",
            Switch::Half => "50 %",
            Switch::Quarter => "25 %",
        }
    }

    /// The part of the stash that is there.
    pub(super) fn capacity(self) -> f64 {
        match self {
            Switch::Baseline => 0.0,
            Switch::Full => 1.0,
            Switch::Half => 0.5,
            Switch::Quarter => 0.25,
        }
    }
}
