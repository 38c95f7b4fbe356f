//! The timing of a packet on a link and after it.

use crate::LinkTiming;
use crate::plan::CrossbarStart;
use netloom_units::Tick;

use crate::switch::tiled::edges::Edges;

/// The timing of a link class. Flit k of a packet sent from `start` on is received completely at
/// `start + (k + 1) flit + delay`.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// One flit on the wire.
    pub(crate) flit: u64,
    /// Propagation.
    pub(crate) delay: u64,
    /// From a grant at an input to the edge at which the switch at the other end has the credit.
    pub(crate) credit: u64,
    /// Flits that a round trip keeps in transit without waiting.
    pub(crate) round_trip: u32,
    /// Extra time of a flit on the wire, compared with a row bus that waits for the whole packet.
    lag: u64,
    before_bus: u64,
}

impl Wire {
    pub(crate) fn new(
        link: LinkTiming,
        clock: Edges,
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
            lag: match start {
                CrossbarStart::AtOnce => 0,
                CrossbarStart::Stored => link.flit - clock.period,
            },
            before_bus: before_bus * clock.period,
        }
    }

    /// Returns when the header of a packet is received completely.
    #[inline]
    pub(crate) fn arrival(&self, start: Tick) -> Tick {
        start + (self.flit + self.delay)
    }

    /// Returns the edge at which the packet may first request its row bus. It has been written and
    /// routed. Unless the bus starts at once, enough of it has been received that the bus, which is
    /// faster than the link, does not run dry.
    #[inline]
    pub(crate) fn ready(&self, start: Tick, flits: u16, clock: Edges) -> Tick {
        let arrival = self.arrival(start);
        let fed = arrival + u64::from(flits - 1) * self.lag;
        let written = clock.edge_at_or_after(arrival) + self.before_bus;
        if fed <= written {
            return written;
        }
        clock.edge_at_or_after(fed)
    }

    /// Returns when the last flit of a packet is received completely, if its header came at
    /// `arrival`.
    #[inline]
    pub(crate) fn tail(&self, arrival: Tick, flits: u16) -> Tick {
        arrival + u64::from(flits - 1) * self.flit
    }

    /// Returns the ticks of a packet on the wire.
    #[inline]
    pub(crate) fn occupancy(&self, flits: u16) -> u64 {
        u64::from(flits) * self.flit
    }
}
