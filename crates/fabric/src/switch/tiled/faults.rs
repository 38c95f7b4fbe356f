//! Injected errors: draws keyed by the packet, so that they do not depend on the partitioning.

use crate::Faults;
use netloom_random::Stream;

use crate::switch::tiled::record::Record;

/// Probability of each fault, for every packet and switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chances {
    corrupt: f64,
    lose: f64,
    link: f64,
}

/// Purposes of draws.
const CORRUPT: u32 = 0;
const LOSE: u32 = 1;
const LINK: u32 = 2;

impl Chances {
    /// Creates the probabilities; `None` if there are no errors.
    pub(crate) fn new(faults: &Faults) -> Option<Self> {
        (!faults.are_off()).then_some(Chances {
            corrupt: faults.corrupt,
            lose: faults.lose,
            link: faults.link,
        })
    }

    fn happens(chance: f64, draws: &Stream, record: &Record, kind: u32) -> bool {
        let packet = &record.packet;
        let try_at = u32::from(packet.hops) | u32::from(record.attempt) << 8;
        let occasion = [packet.source.0, packet.sequence, try_at, kind];
        chance > 0.0 && draws.draw(occasion).unit(0) < chance
    }

    /// Whether the switch that a packet has just reached damages it.
    pub(crate) fn corrupts(&self, draws: &Stream, record: &Record) -> bool {
        Self::happens(self.corrupt, draws, record, CORRUPT)
    }

    /// Whether that switch loses it.
    pub(crate) fn loses(&self, draws: &Stream, record: &Record) -> bool {
        Self::happens(self.lose, draws, record, LOSE)
    }

    /// Returns how often the link after the switch has to send it again.
    pub(crate) fn link_failures(&self, draws: &Stream, record: &Record) -> u64 {
        let fails = |again: &u32| Self::happens(self.link, draws, record, LINK + again);
        (0..1000).take_while(fails).count() as u64
    }
}
