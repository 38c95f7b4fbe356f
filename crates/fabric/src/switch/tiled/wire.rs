//! When things happen on and behind a link.

use crate::LinkTiming;
use crate::plan::CrossbarStart;
use netloom_units::{Clock, Tick};

/// One link class as its users see it. Flit k of a packet sent from `start` on is wholly received at
/// `start + (k + 1) flit + delay`.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// One flit on the wire.
    pub(crate) flit: u64,
    /// Propagation.
    pub(crate) delay: u64,
    /// From a grant at an input to the edge at which the switch at the other end has the credit.
    pub(crate) credit: u64,
    /// Flits that a round trip keeps under way: not waiting for anything.
    pub(crate) round_trip: u32,
    /// How much longer a flit takes on the wire than on a row bus that waits for all of a packet.
    behind: u64,
    before_bus: u64,
}

impl Wire {
    pub(crate) fn new(
        link: LinkTiming,
        clock: Clock,
        before_bus: u64,
        start: CrossbarStart,
    ) -> Self {
        assert!(
            clock.period <= link.flit,
            "the core of a switch is at least as fast as its links"
        );
        Wire {
            flit: link.flit,
            delay: link.delay,
            credit: (clock.period + link.delay).div_ceil(clock.period) * clock.period,
            round_trip: (2 * link.delay).div_ceil(link.flit) as u32,
            behind: match start {
                CrossbarStart::AtOnce => 0,
                CrossbarStart::Stored => link.flit - clock.period,
            },
            before_bus: before_bus * clock.period,
        }
    }

    /// When the header of a packet is wholly received.
    #[inline]
    pub(crate) fn arrival(&self, start: Tick) -> Tick {
        start + (self.flit + self.delay)
    }

    /// The edge at which the packet may first ask for its row bus: written and routed and, unless that starts at once, so
    /// much of it received that the bus, which is faster than the link, does not run dry.
    #[inline]
    pub(crate) fn ready(&self, start: Tick, flits: u16, clock: Clock) -> Tick {
        let arrival = self.arrival(start);
        let fed = arrival + u64::from(flits - 1) * self.behind;
        let written = clock.edge_at_or_after(arrival) + self.before_bus;
        if fed <= written {
            return written;
        }
        clock.edge_at_or_after(fed)
    }

    /// When the last flit of a packet is wholly received whose header came at `arrival`.
    #[inline]
    pub(crate) fn tail(&self, arrival: Tick, flits: u16) -> Tick {
        arrival + u64::from(flits - 1) * self.flit
    }

    /// Ticks that a packet is on the wire.
    #[inline]
    pub(crate) fn occupancy(&self, flits: u16) -> u64 {
        u64::from(flits) * self.flit
    }
}
