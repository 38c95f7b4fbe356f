//! When the last flit of a packet is where its header waits.
//!
//! A stage starts with the header and passes a flit in every cycle in which one is there. All stages have the pace of
//! the core, which is at least that of the links, so only the last flit matters: a stage is held until it has passed.

use netloom_units::Tick;

use crate::switch::tiled::Tiles;

/// By record of a packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tails(Vec<Tick>);

impl Tails {
    #[inline]
    pub(crate) fn of(&self, id: u32) -> Tick {
        self.0[id as usize]
    }

    #[inline]
    pub(crate) fn set(&mut self, id: u32, tail: Tick) {
        let at = id as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, Tick::ZERO);
        }
        self.0[at] = tail;
    }
}

impl Tiles {
    /// A packet that is granted a stage now passes it, in so many cycles; until when it holds the stage.
    #[inline]
    pub(super) fn pass(&mut self, now: Tick, id: u32, flits: u16, cycles: u64) -> Tick {
        let tail = self.tails.of(id);
        let mut last = now + self.clock.period * u64::from(flits - 1);
        if tail > last {
            last = self.clock.edge_at_or_after(tail);
        }
        self.tails.set(id, tail + self.cycles(cycles));
        last + self.clock.period
    }

    /// When a packet in an output buffer, whose header came there at `header`, may ask for a link with such a flit time:
    /// so late that the link never waits for a flit. Each passes up to a cycle later than it came.
    #[inline]
    pub(super) fn fed(&self, header: Tick, id: u32, flits: u16, flit: u64) -> Tick {
        let tail = self.tails.of(id);
        let own = header + self.clock.period * u64::from(flits - 1);
        if tail <= own {
            return header;
        }
        let ahead = u64::from(flits - 1) * flit + self.cycles(self.stages.output);
        let ready = (tail.0 + self.clock.period - 1).saturating_sub(ahead);
        header.max(self.clock.edge_at_or_after(Tick(ready)))
    }
}
