//! Patterns: the destination of each message.
//!
//! Patterns that map positions (permutations, bit patterns, tornado, neighbour) map the sources of
//! the class among themselves. With `sources = "0-63"` they use the first 64 NICs as if there were
//! no others. A NIC that such a pattern maps to itself sends nothing.

mod bits;
mod hot_spot;
mod incast;
mod neighbour;
mod pairs;
mod permutation;
mod random_partner;
mod tornado;
mod uniform;

pub use bits::{BitComplement, BitReversal, Shuffle, Transpose};
pub use hot_spot::{HotSources, HotSpot, Idle};
pub use incast::{Drawn, Incast};
pub use neighbour::Neighbour;
pub use pairs::Pairs;
pub use permutation::Permutation;
pub use random_partner::RandomPartner;
pub use tornado::Tornado;
pub use uniform::Uniform;

use netloom_catalog::{Kind, kind};
use netloom_random::Draw;
use netloom_units::NicId;

use crate::{Context, NicSet, Window};

/// A law of destinations.
#[warn(missing_docs)]
pub trait Pattern: Send + Sync {
    /// Prepares for a run (draws its permutation, for example), or returns why this is not
    /// possible.
    fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String>;

    /// Returns the sets of NICs that the pattern itself names.
    fn sets(&self) -> Vec<NicSet> {
        vec![]
    }
}

/// The destinations of one class, ready for the run. They depend on the message alone and have no
/// state, so a checkpoint need not save them.
pub trait Destinations: Send + Sync {
    /// Returns the destination of message (or burst) `number` of a NIC, created in `cycle`; `None`
    /// if this NIC sends nothing in this class. `draw` is the message's own; its word 2 is for the
    /// destination.
    fn destination(&self, nic: NicId, number: u32, cycle: u64, draw: Draw) -> Option<NicId>;

    /// Returns whether every source has one destination for the whole run.
    fn is_fixed(&self) -> bool;

    /// Returns the time in which a NIC sends at all.
    fn window(&self, _nic: NicId) -> Window {
        Window::ALWAYS
    }
}

/// All laws of destinations.
pub const PATTERNS: &[Kind<dyn Pattern>] = &[
    kind!(Uniform, dyn Pattern),
    kind!(Permutation, dyn Pattern),
    kind!(RandomPartner, dyn Pattern),
    kind!(BitReversal, dyn Pattern),
    kind!(BitComplement, dyn Pattern),
    kind!(Transpose, dyn Pattern),
    kind!(Shuffle, dyn Pattern),
    kind!(Tornado, dyn Pattern),
    kind!(Neighbour, dyn Pattern),
    kind!(HotSpot, dyn Pattern),
    kind!(Incast, dyn Pattern),
    kind!(Pairs, dyn Pattern),
];

/// One destination per NIC for the whole run, as a table.
struct Table {
    to: Vec<Option<NicId>>,
}

impl Table {
    /// Returns the table in which the source at index `i` of the class sends to the source at
    /// `place_of(i)`.
    fn among_sources(
        context: &Context<'_>,
        place_of: impl Fn(u32) -> u32,
    ) -> Box<dyn Destinations> {
        let mut to = vec![None; context.n_nics as usize];
        for (i, &source) in (0u32..).zip(context.sources) {
            let destination = context.sources[place_of(i) as usize];
            to[source.index()] = (destination != source).then_some(destination);
        }
        Box::new(Table { to })
    }
}

impl Destinations for Table {
    #[inline]
    fn destination(&self, nic: NicId, _number: u32, _cycle: u64, _draw: Draw) -> Option<NicId> {
        self.to[nic.index()]
    }

    fn is_fixed(&self) -> bool {
        true
    }
}

/// Returns the number of sources.
fn n_sources(context: &Context<'_>) -> u32 {
    u32::try_from(context.sources.len()).expect("no more sources than NIC ids")
}

/// Contexts for the tests of patterns.
#[cfg(test)]
mod testing {
    use super::*;

    pub(super) fn nics(n: u32) -> Vec<NicId> {
        (0..n).map(NicId).collect()
    }

    /// Prepares a pattern for `n` NICs that all send; 1 ns is one cycle.
    pub(super) fn prepare(pattern: &dyn Pattern, n: u32) -> Result<Box<dyn Destinations>, String> {
        pattern.prepare(&Context {
            n_nics: n,
            groups: &crate::NO_GROUPS,
            seed: 5,
            class: 0,
            sources: &nics(n),
            destinations: None,
            mean_flits: 1.0,
            cycles: &|time| time.as_nanos() as u64,
        })
    }

    /// Returns the map of a fixed pattern; a NIC that sends nothing maps to itself.
    pub(super) fn map(pattern: &dyn Pattern, n: u32) -> Vec<u32> {
        let destinations = prepare(pattern, n).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(destinations.is_fixed());
        let to = |nic| destinations.destination(NicId(nic), 0, 0, Draw([0; 4]));
        (0..n).map(|nic| to(nic).map_or(nic, |d| d.0)).collect()
    }

    pub(super) fn is_bijection(map: &[u32]) -> bool {
        let mut sorted = map.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..map.len() as u32)
    }
}
