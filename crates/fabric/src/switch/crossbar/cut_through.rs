//! How the flits of a packet pass a crossbar that is faster than they arrive.
//!
//! A crossbar may start as soon as the header is there. It takes the flits that have arrived at its
//! own pace. Once it has caught up with its feed, it passes flits as they arrive, and stays
//! occupied until the last one has passed. So a packet passes in at most three pieces, each at one
//! pace, and no event per flit is needed:
//!
//! ```text
//!  flits 0..own          at the pace of the crossbar, from the grant on
//!  flits own..through    as they came over the crossbar before this one (hierarchical switches only)
//!  flits through..       as they come over the link
//! ```

use netloom_encoding::{Encoded, Validity, ensure_below};
use netloom_units::Tick;

use crate::fabric::Fabric;
use crate::link::ramp::{Pace, Paces, Ramp};
use crate::rows::Rows;
use crate::switch::crossbar::Crossbars;
use crate::switch::crossbar::shape::Shape;
use crate::switch::crossbar::wire::{FROM_LINK, Passage, Stages, TO_CENTRE, Wire};
use crate::validation::Bounds;

/// Maximum lateness of flits for a crossbar that starts with the first: by flit, the maximum over
/// it and all before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lead(Rows<u64>);

impl Lead {
    /// Creates the lateness for a crossbar with this pace, where flit `k` arrives `comes(k)` after
    /// the first.
    pub(crate) fn new(longest: u16, pace: Pace, comes: impl Fn(u64) -> u64) -> Self {
        let mut most = 0;
        let late = |k: u64| comes(k).saturating_sub(pace.time_of(k));
        let each = (0..u64::from(longest)).map(|k| {
            most = late(k).max(most);
            most
        });
        Lead(each.collect::<Vec<_>>().into())
    }

    /// Returns how long after the first flit a packet must start so that it never waits for its
    /// feed.
    pub(crate) fn of(&self, flits: u16) -> u64 {
        let last = u32::from(flits).checked_sub(1);
        last.map_or(0, |last| self.0[last])
    }

    /// Returns the flits that pass at the pace of the crossbar, if the packet starts `since` ticks
    /// after its first flit.
    fn own(&self, flits: u16, since: u64) -> u16 {
        let flits = &self.0.as_slice()[..usize::from(flits)];
        flits.partition_point(|&lead| lead <= since) as u16
    }
}

/// How the flits of a packet arrive in the buffer that they leave.
#[derive(Clone, Copy, Debug, Default, Encoded)]
pub(crate) struct Feed {
    /// Arrival of the first flit.
    from: Tick,
    /// When the first flit would have arrived directly from the link; the flits from `own` on
    /// follow this line.
    link: Tick,
    /// Flits that arrive at the pace of the previous crossbar; zero without one.
    own: u16,
    /// Link class of the flits.
    wire: u8,
}

impl Feed {
    /// Validates that the flits came over an existing link and are not more than those of the
    /// largest packet.
    pub(super) fn validate(&self, bounds: &Bounds<'_>, n_wires: usize) -> Validity {
        bounds.time("feed of a packet", self.from)?;
        bounds.time("feed of a packet", self.link)?;
        ensure_below("link of a feed", self.wire, n_wires as u64)?;
        ensure_below("flits of a feed", self.own, u32::from(bounds.largest) + 1)
    }

    /// Whether this can be the feed of a packet of this many flits.
    pub(super) fn is_of(&self, flits: u16) -> bool {
        self.own <= flits
    }
}

/// How the flits of a packet pass, if not all do so at the pace of the crossbar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutThrough {
    /// When the first flit passes.
    begin: Tick,
    flits: u16,
    pub(crate) own: u16,
    through: u16,
    feed: Feed,
}

/// A piece of a packet whose flits pass at one pace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// When the first flit passes.
    pub(crate) start: Tick,
    pub(crate) flits: u16,
    /// Index of the pace in the buffer that the flits leave.
    pub(crate) pace: u8,
    /// Flits of the packet that passed before at the same pace.
    pub(crate) phase: u16,
}

impl Piece {
    /// Returns its flits as a release of a class that starts at `freed`.
    pub(crate) fn ramp(&self, freed: Tick, class: u16, paces: &Paces) -> Ramp {
        Ramp::after(freed, self.flits, class, self.pace, self.phase, paces)
    }
}

impl CutThrough {
    /// Creates the cut-through out of an input buffer, starting at `begin`, for a header that came
    /// at `arrival`.
    #[cold]
    fn from_input(flits: u16, begin: Tick, arrival: Tick, leads: &Lead, wire: u8) -> CutThrough {
        let own = leads.own(flits, begin - arrival);
        let feed = Feed {
            from: arrival,
            link: arrival,
            own: 0,
            wire,
        };
        CutThrough {
            begin,
            flits,
            own,
            through: own,
            feed,
        }
    }

    /// Creates the cut-through out of a central buffer, starting at `begin`.
    fn from_centre(
        flits: u16,
        begin: Tick,
        feed: Feed,
        stages: &Stages,
        wires: &Rows<Wire>,
    ) -> Option<CutThrough> {
        let mut own = stages.lead_in_centre.own(feed.own, begin - feed.from);
        if own == feed.own && own < flits {
            // Flits that did not come at the pace of the previous crossbar come over the link, and
            // not earlier.
            let lead = &wires[u32::from(feed.wire)].lead_through_centre;
            own = lead.own(flits, begin - feed.link);
            debug_assert!(own >= feed.own);
        }
        (own < flits).then(|| CutThrough {
            begin,
            flits,
            own,
            through: own.max(feed.own),
            feed,
        })
    }

    /// Returns its pieces, some of which may be empty.
    pub(crate) fn pieces(
        &self,
        stages: &Stages,
        wires: &Rows<Wire>,
        passage: Passage,
    ) -> [Piece; 3] {
        let is_central = passage == Passage::FromCentre;
        let link = wires[u32::from(self.feed.wire)].flit;
        let before = stages.to_centre().time_of(u64::from(self.own));
        [
            Piece {
                start: self.begin,
                flits: self.own,
                pace: u8::from(passage == Passage::ToCentre),
                phase: 0,
            },
            Piece {
                start: self.feed.from + before,
                flits: self.through - self.own,
                pace: TO_CENTRE,
                phase: self.own,
            },
            Piece {
                start: self.feed.link + u64::from(self.through) * link,
                flits: self.flits - self.through,
                pace: FROM_LINK + if is_central { self.feed.wire } else { 0 },
                phase: 0,
            },
        ]
    }

    /// Returns when the last flit passes.
    pub(crate) fn last(&self, stages: &Stages, wires: &Rows<Wire>) -> Tick {
        let last = u64::from(self.flits) - 1;
        if self.through < self.flits {
            self.feed.link + last * wires[u32::from(self.feed.wire)].flit
        } else {
            self.feed.from + stages.to_centre().time_of(last)
        }
    }

    /// Returns when a link with flit time `out` may start, so as not to wait for a flit that does
    /// not pass at the pace of the crossbar.
    pub(crate) fn ready(&self, stages: &Stages, wires: &Rows<Wire>, out: u64) -> Tick {
        let mut ready = 0;
        let mut see = |k: u16, passes: Tick| {
            ready = passes.0.saturating_sub(u64::from(k) * out).max(ready);
        };
        // On a line, the first or the last flit decides.
        if self.through < self.flits {
            let link = wires[u32::from(self.feed.wire)].flit;
            for k in [self.through, self.flits - 1] {
                see(k, self.feed.link + u64::from(k) * link);
            }
        }
        // If several flits pass in a period, one of the first or last of them decides.
        let before = stages.to_centre();
        let round = u16::try_from(before.num).unwrap_or(u16::MAX);
        let middle = self.own..self.through;
        let (first, last) = (
            middle.clone().take(usize::from(round)),
            middle.rev().take(usize::from(round)),
        );
        for k in first.chain(last) {
            see(k, self.feed.from + before.time_of(u64::from(k)));
        }
        Tick(ready)
    }

    /// Returns how much later its flits pass in total than at the pace of the crossbar (flits times
    /// ticks).
    pub(crate) fn lateness(&self, stages: &Stages, wires: &Rows<Wire>, passage: Passage) -> i64 {
        let signed = |n: u64| i64::try_from(n).expect("a residence below 2^63");
        let sum = |paces: &Rows<u64>, from: u16, to: u16| {
            signed(paces[u32::from(to)] - paces[u32::from(from)])
        };
        let of = |from: u16, to: u16, base: Tick, passed: i64| {
            let n = i64::from(to - from);
            n * (signed(base.0) - signed(self.begin.0)) + passed
                - sum(stages.times_of(passage), from, to)
        };
        let (own, through, flits) = (self.own, self.through, self.flits);
        let before = sum(stages.times_of(Passage::ToCentre), own, through);
        let link = wires[u32::from(self.feed.wire)].flit;
        let triangle = |n: u16| u64::from(n) * u64::from(n.saturating_sub(1)) / 2;
        let on_link = signed((triangle(flits) - triangle(through)) * link);
        of(own, through, self.feed.from, before) + of(through, flits, self.feed.link, on_link)
    }
}

impl<S: Shape> Fabric<Crossbars<S>> {
    /// Returns the cut-through of a packet granted now; `None` if all flits pass at the pace of the
    /// crossbar.
    #[inline(always)]
    pub(super) fn cut_through(
        &self,
        now: Tick,
        input: u32,
        id: u32,
        passage: Passage,
        flits: u16,
    ) -> Option<CutThrough> {
        let stages = &self.switches.stages;
        let begin = now + stages.allocation;
        if S::IS_HIERARCHICAL && passage == Passage::FromCentre {
            let feed = self.switches.feeds[id as usize];
            return CutThrough::from_centre(flits, begin, feed, stages, &self.switches.wires);
        }
        // If a packet crosses directly onto its link at the pace of links, or if there is only one
        // pace, it arrives in time.
        if !S::HAS_OUTPUT_BUFFER || S::ONE_PACE {
            return None;
        }
        let number = self.switches.ports[input].wire;
        let wire = &self.switches.wires[u32::from(number)];
        let arrival = self.switches.packets[id].packet.arrival;
        if wire.lead(flits, passage) <= begin - arrival {
            return None;
        }
        let leads = wire.leads(passage);
        Some(CutThrough::from_input(flits, begin, arrival, leads, number))
    }

    /// Returns when the crossbar releases the ports of a packet with a cut-through: when the last
    /// flit has passed, but not earlier than if it had never waited.
    pub(super) fn held_until(&self, cut_through: &CutThrough, now: Tick, passage: Passage) -> Tick {
        let stages = &self.switches.stages;
        let last = cut_through.last(stages, &self.switches.wires);
        let (whole, _) = stages.crossing_of::<S>(passage, cut_through.flits);
        let (one, _) = stages.crossing_of::<S>(passage, 1);
        // The next packet passes the allocation stage first.
        let passed = stages.clock.edge_at_or_after(last) + one;
        (now + whole).max(Tick(passed.0 - stages.allocation))
    }

    /// Stores how the flits of a packet granted now arrive in a central buffer.
    pub(super) fn remember_feed(&mut self, now: Tick, arrival: Tick, wire: u8, id: u32, own: u16) {
        let stages = &self.switches.stages;
        let crossbar = stages.allocation_to_output - stages.allocation;
        let feed = Feed {
            from: now + stages.allocation_to_output,
            link: arrival + crossbar,
            own,
            wire,
        };
        let feeds = &mut self.switches.feeds;
        if feeds.len() <= id as usize {
            feeds.resize(id as usize + 1, Feed::default());
        }
        feeds[id as usize] = feed;
    }
}
