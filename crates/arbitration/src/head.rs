//! The input of an arbiter: the heads of the queues of one output.

use netloom_units::{Sl, Tick, Vl};

/// Maximum of queues per output.
pub const N_QUEUES: usize = 32;

/// The lane of management packets, which precedes all others.
pub const MANAGEMENT_VL: Vl = Vl(15);

/// What an arbiter may know about the packet at the head of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// When the packet was generated.
    pub born: Tick,
    /// The length on the wire, in bytes.
    pub bytes: u32,
    /// The service level.
    pub sl: Sl,
    /// The virtual lane that it will use on the link.
    pub vl: Vl,
}

/// The queues of one output at the moment of a decision.
pub struct View<'a> {
    /// Bit q is set if queue q has a head and holds the credits for the whole packet.
    pub eligible: u32,
    /// The heads; an element is meaningful only if its bit is set.
    pub heads: &'a [Head; N_QUEUES],
}

impl View<'_> {
    /// Returns the lanes of the eligible heads, one bit each.
    #[inline]
    pub fn vls(&self) -> u32 {
        let mut vls = 0;
        for queue in queues(self.eligible) {
            vls |= vl_bit(self.heads[queue].vl);
        }
        vls
    }

    /// Returns the eligible queue with the oldest head, the lowest such queue on a tie.
    #[inline]
    pub fn oldest(&self) -> Option<u8> {
        self.oldest_where(|_| true)
    }

    /// Returns the same among the queues whose head uses `vl`: what one FIFO for that lane would
    /// send.
    #[inline]
    pub fn oldest_of(&self, vl: Vl) -> Option<u8> {
        self.oldest_where(|head| head.vl == vl)
    }

    /// Returns the queue with a management packet, if there is one.
    #[inline]
    pub(crate) fn management(&self) -> Option<u8> {
        self.oldest_of(MANAGEMENT_VL)
    }

    #[inline]
    fn oldest_where(&self, wanted: impl Fn(&Head) -> bool) -> Option<u8> {
        let mut found: Option<(Tick, u8)> = None;
        for queue in queues(self.eligible) {
            let head = &self.heads[queue];
            if wanted(head) && found.is_none_or(|(born, _)| head.born < born) {
                found = Some((head.born, queue as u8));
            }
        }
        found.map(|(_, queue)| queue)
    }
}

/// Returns the set bits of a mask, from the lowest.
#[inline]
pub(crate) fn queues(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let queue = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(queue)
    })
}

/// Returns the bit of a lane in a mask of lanes. Fabrics have at most 32 lanes.
#[inline]
pub(crate) fn vl_bit(vl: Vl) -> u32 {
    debug_assert!(vl.0 < 32, "{vl} on a link of at most 32 lanes");
    1 << (vl.0 & 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_queues_of_one_lane_are_one_fifo() {
        let mut heads = [Head::default(); N_QUEUES];
        for (queue, born, vl) in [(1, 50, 2), (4, 30, 2), (6, 30, 2), (9, 10, 3), (11, 5, 2)] {
            heads[queue].born = Tick(born);
            heads[queue].vl = Vl(vl);
        }
        // Queue 11 would be the oldest, but is not eligible.
        let view = View {
            eligible: 1 << 1 | 1 << 4 | 1 << 6 | 1 << 9,
            heads: &heads,
        };
        assert_eq!(view.vls(), 0b1100);
        assert_eq!(view.oldest_of(Vl(2)), Some(4));
        assert_eq!(view.oldest(), Some(9));
        assert_eq!(view.oldest_of(Vl(0)), None);
    }
}
