//! When the last flit of a packet is where its header waits.
//!
//! A stage starts with the header and passes a flit in every cycle in which one is available. All
//! stages have the pace of the core, which is at least that of the links. So only the last flit
//! matters: a stage is occupied until it has passed. From the row bus to the output buffer, the
//! arrival time of the header is not needed, and `packet.arrival` stores this time.

use netloom_units::Tick;

use crate::switch::tiled::Tiles;

impl Tiles {
    /// Passes a packet that is granted a stage now through it in `cycles` cycles; returns until
    /// when it occupies the stage.
    #[inline]
    pub(super) fn pass(&mut self, now: Tick, id: u32, flits: u16, cycles: u64) -> Tick {
        let later = self.cycles(cycles);
        let tail = &mut self.packets[id].packet.arrival;
        let mut last = now + self.clock.period * u64::from(flits - 1);
        if *tail > last {
            last = self.clock.edge_at_or_after(*tail);
        }
        *tail += later;
        last + self.clock.period
    }

    /// Returns when a packet may request a link with flit time `flit`, given its tail and the
    /// arrival `header` of its header in an output buffer. It is late enough that the link never
    /// waits for a flit, each of which passes up to a cycle after it came.
    #[inline]
    pub(super) fn fed(&self, header: Tick, tail: Tick, flits: u16, flit: u64) -> Tick {
        let own = header + self.clock.period * u64::from(flits - 1);
        if tail <= own {
            return header;
        }
        let ahead = u64::from(flits - 1) * flit + self.cycles(self.stages.output);
        let ready = (tail.0 + self.clock.period - 1).saturating_sub(ahead);
        header.max(self.clock.edge_at_or_after(Tick(ready)))
    }
}
