//! Routings defined outside of this crate.
//!
//! Such a kind implements [`Routing`](crate::Routing), like the kinds here: it reads its parameters
//! from a file and compiles to a [`Forwarding`]. If one port per switch and destination is enough,
//! use a [`TableBuilder`](crate::TableBuilder). Otherwise implement [`Route`] and wrap it with
//! [`Forwarding::own`]. Choices, proofs and paths then work as for any other routing.

use std::fmt::Debug;
use std::sync::Arc;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::forwarding::{Plan, WORD_BITS};
use crate::{Facts, Forwarding, Hop, Occasion, QueueView};

/// A compiled routing defined outside of this crate. Immutable, so all partitions share it.
///
/// A route depends only on the arguments, not on earlier calls or the time. Random choices are
/// keyed by the [`Occasion`]. So results do not depend on the partitioning, and a checkpoint stores
/// no state of a routing. Whatever a packet has to carry is in its routing word.
#[warn(missing_docs)]
pub trait Route: Send + Sync + Debug {
    /// Returns the next hop. `from` is the input port, `lane` the lane of arrival (0 at injection),
    /// and `word` what the packet carries: 0 at injection, [`WORD_BITS`] bits at most. `view` shows
    /// the queues at the outputs. Set [`Facts::adaptive`] if `route()` reads the view or writes the
    /// word; otherwise packets carry no word.
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

    /// Adds every hop that [`Route::route`] may return for some occasion, word and view. Proofs of
    /// freedom from deadlock rely on this list: they do not cover a hop that is missing from it.
    fn choices(&self, at: SwitchId, from: Port, lane: u8, destination: NicId, hops: &mut Vec<Hop>);

    /// Returns why packets cannot wait for each other in a cycle, if that follows from the
    /// structure of the routing on this fabric. It is used where following all destinations takes
    /// too long.
    fn theorem(&self, _topology: &Topology) -> Option<String> {
        None
    }

    /// Whether a route to another destination than the last one takes long.
    fn is_slow_to_turn(&self) -> bool {
        false
    }
}

impl Forwarding {
    /// Wraps a routing, with facts that hold for all its packets.
    ///
    /// # Panics
    ///
    /// If the facts have no lane, or more than 31.
    pub fn own(route: Arc<dyn Route>, facts: Facts) -> Forwarding {
        let lanes = facts.lanes;
        assert!(
            (1..32).contains(&lanes),
            "expected 1 to 31 lanes, found {lanes}"
        );
        Forwarding::new(Plan::Own(route), facts)
    }
}

/// Calls a routing. Not inlined, so that [`Forwarding::route`] stays small enough to be inlined.
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
        "expected a routing word of {WORD_BITS} bits at {at}, found {word}"
    );
    hop
}
