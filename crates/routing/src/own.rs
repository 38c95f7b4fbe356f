//! Routings that live outside of this crate.
//!
//! A kind of your own implements [`Routing`](crate::Routing), like those here: it reads its parameters from a file and
//! compiles to a [`Forwarding`]. Where one port per switch and destination says it all, a
//! [`TableBuilder`](crate::TableBuilder) makes one; everything else implements [`Route`] and is wrapped by
//! [`Forwarding::own`]. Choices, proofs and paths then work as for any other routing.

use std::fmt::Debug;
use std::sync::Arc;

use netloom_units::{NicId, Port, SwitchId};

use crate::forwarding::{Plan, WORD_BITS};
use crate::{Facts, Forwarding, Hop, Occasion, QueueView};

/// A compiled routing of your own. Immutable, so all partitions share it.
///
/// An answer depends on nothing but the arguments: not on what was asked before, and on no clock. Random choices are
/// keyed by the [`Occasion`]. Then results are the same for any division into partitions, and there
/// is nothing to save where a run is saved: what a packet must carry is in its routing word.
pub trait Route: Send + Sync + Debug {
    /// Which output port, which lane. `from` is the port the packet came in by, `lane` the lane it came on (0 at
    /// injection), `word` what it carries: 0 at injection, [`WORD_BITS`] bits at most. What waits at the outputs
    /// is told by `view`. Who looks at it, or writes the word, says so by [`Facts::adaptive`]; others carry no word.
    #[allow(clippy::too_many_arguments)]
    fn route(
        &self,
        at: SwitchId,
        from: Port,
        lane: u8,
        destination: NicId,
        occasion: Occasion,
        word: &mut u8,
        view: &dyn QueueView,
    ) -> Hop;

    /// Adds every hop that [`Route::route`] may answer for some occasion, word and view. Proofs of freedom from deadlock
    /// believe it: a hop that is missing here is not proved.
    fn choices(&self, at: SwitchId, from: Port, lane: u8, destination: NicId, hops: &mut Vec<Hop>);
}

impl Forwarding {
    /// A routing of your own, and what holds for all its packets.
    ///
    /// # Panics
    ///
    /// If the facts have no lane, or more than 31.
    pub fn own(route: Arc<dyn Route>, facts: Facts) -> Forwarding {
        let lanes = facts.lanes;
        assert!((1..32).contains(&lanes), "1 to 31 lanes, not {lanes}");
        Forwarding::new(Plan::Own(route), facts)
    }
}

/// Asks a routing. Kept out of line, so that [`Forwarding::route`] stays small enough to be inlined.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn ask(
    route: &dyn Route,
    at: SwitchId,
    from: Port,
    lane: u8,
    destination: NicId,
    occasion: Occasion,
    word: &mut u8,
    view: &dyn QueueView,
) -> Hop {
    let hop = route.route(at, from, lane, destination, occasion, word, view);
    assert!(
        u32::from(*word) < 1 << WORD_BITS,
        "a routing word of {WORD_BITS} bits at {at}, not {word}"
    );
    hop
}
