//! The interface of compiled routings: what is asked of them, and what they answer.
//!
//! The routings of this crate and those of other crates implement [`Route`]. One from another crate
//! also implements [`Routing`](crate::Routing): it reads its parameters from a file and compiles to
//! a [`Forwarding`]. If one port per switch and destination is enough, use a
//! [`TableBuilder`](crate::TableBuilder). Otherwise implement [`Route`] and wrap it with
//! [`Forwarding::own`]. Choices, proofs and paths then work as for any other routing.

use std::fmt::Debug;
use std::num::NonZero;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::deadlock::{Network, Verdict};
use crate::{Announcements, EmptyQueues, Facts, Forwarding, QueueView};

/// A packet at an input of a switch, where its route is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lookup {
    pub at: SwitchId,
    /// The input port.
    pub from: Port,
    /// The lane of arrival (0 at injection).
    pub lane: u8,
    pub destination: NicId,
    pub occasion: Occasion,
}

impl Lookup {
    /// Looks up what does not depend on the packet, as in [`Route::choices`].
    pub fn any(at: SwitchId, from: Port, lane: u8, destination: NicId) -> Self {
        Lookup {
            at,
            from,
            lane,
            destination,
            occasion: Occasion::default(),
        }
    }

    /// Looks up the route of one packet.
    pub fn with(self, occasion: Occasion) -> Self {
        Lookup { occasion, ..self }
    }
}

/// The key of random choices: a packet and its progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Occasion {
    pub source: NicId,
    /// The packet's sequence number at that NIC.
    pub sequence: u32,
    /// Switches that it passed before this one.
    pub hop: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hop {
    pub port: Port,
    /// The lane on the link of that port (0 towards NICs).
    pub lane: u8,
}

/// Bits of the routing word that a packet carries from switch to switch; its value is below `1 <<
/// WORD_BITS`.
///
/// The word is 0 when a packet is injected. Only its routing interprets it; switches store and
/// forward it.
pub const WORD_BITS: u32 = 2;

/// A compiled routing. Immutable, so all partitions share it.
///
/// A route depends only on the arguments, not on earlier calls or the time. Random choices are
/// keyed by the [`Occasion`]. So results do not depend on the partitioning, and a checkpoint stores
/// no state of a routing. Whatever a packet has to carry is in its routing word.
///
/// All methods but [`Route::route`] are called before a run only.
#[warn(missing_docs)]
pub trait Route: Send + Sync + Debug {
    /// Returns the next hop. `word` is what the packet carries: 0 at injection, [`WORD_BITS`] bits
    /// at most. `view` shows the queues at the outputs. Set [`Facts::adaptive`] if `route()` reads
    /// the view or writes the word; otherwise packets carry no word.
    fn route(&self, lookup: &Lookup, word: &mut u8, view: &dyn QueueView) -> Hop;

    /// Adds every hop that [`Route::route`] may return for some occasion, word and view; none if
    /// there is no path. Proofs of freedom from deadlock rely on this list: they do not cover a hop
    /// that is missing from it.
    fn choices(&self, lookup: &Lookup, hops: &mut Vec<Hop>);

    /// Whether there may be several choices, which makes proofs longer.
    fn has_choices(&self, facts: Facts) -> bool {
        facts.needs_occasion || facts.adaptive
    }

    /// Returns destinations that together cover every turn a packet can take between switches.
    fn representatives(&self, topology: &Topology) -> Vec<NicId> {
        topology.nics().collect()
    }

    /// Returns the verdict that follows from the structure of the routing, on fabrics where that is
    /// quicker than to follow `n_targets` destinations. It may take that many steps.
    fn by_structure(&self, _network: Network<'_>, _n_targets: u64, _steps: u64) -> Option<Verdict> {
        None
    }

    /// Returns [`Network::by_theorem`] with the reason why packets cannot wait for each other in a
    /// cycle, if there is one. It is used where following all destinations takes too long, and
    /// inputs of a switch share no queues.
    fn theorem(&self, _network: Network<'_>) -> Option<Verdict> {
        None
    }

    /// Whether a route to another destination than the last one takes long, as with tables that
    /// are filled for one destination at a time.
    fn is_slow_to_turn(&self) -> bool {
        false
    }

    /// Returns what a switch announces to its neighbours; `None` if it announces nothing.
    fn announcements(&self, _at: SwitchId) -> Option<Announcements> {
        None
    }

    /// Returns the core cycles between two announcements of a switch, if switches announce their
    /// queues.
    fn announced_every(&self) -> Option<NonZero<u32>> {
        None
    }

    /// Returns which of `lanes` lanes are used on the links of a class between switches, one bit
    /// each; `None` if all are.
    fn lanes_on(&self, _class: &str, _lanes: u8) -> Option<u32> {
        None
    }

    /// Returns the routing for switches in which packets of one lane for different outputs share a
    /// buffer, if it is another one.
    fn for_shared_buffers(&self, _facts: Facts) -> Option<Forwarding> {
        None
    }
}

/// A routing with code for each type of view, so that it looks at queues without virtual calls.
pub(crate) trait RouteSeeing: Route {
    /// Does the same as [`Route::route`].
    #[inline(always)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, word: &mut u8, view: &V) -> Hop {
        self.route(lookup, word, view)
    }

    /// Does the same for [`Forwarding::route`]: queues are empty, and packets carry no word.
    #[inline(always)]
    fn route_unseeing(&self, lookup: &Lookup, _facts: Facts) -> Hop {
        self.route_seeing(lookup, &mut 0, &EmptyQueues)
    }
}

/// A routing from another crate, whose word is checked. Not inlined, so that
/// [`Forwarding::route_seeing`] stays small.
impl RouteSeeing for dyn Route {
    #[inline(never)]
    fn route_seeing<V: QueueView>(&self, lookup: &Lookup, word: &mut u8, view: &V) -> Hop {
        let hop = self.route(lookup, word, view);
        assert!(
            u32::from(*word) < 1 << WORD_BITS,
            "expected a routing word of {WORD_BITS} bits at {}, found {word}",
            lookup.at
        );
        hop
    }

    #[inline(never)]
    fn route_unseeing(&self, lookup: &Lookup, facts: Facts) -> Hop {
        let mut word = 0;
        let hop = self.route_seeing(lookup, &mut word, &EmptyQueues);
        assert!(
            word == 0 || facts.adaptive,
            "expected Facts::adaptive for a routing that writes words"
        );
        hop
    }
}
