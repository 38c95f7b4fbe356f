//! Buffers shared by virtual channels (DAMQ): each channel has a reserve, and the rest is shared.

use netloom_encoding::{Invalid, State, Validity, ensure, ensure_equal};
use netloom_routing::Occupancy;

use crate::Sizes;

/// Maximum number of virtual channels of a link.
pub(crate) const MOST_LANES: usize = 16;

/// The division of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// Flits of the whole buffer.
    pub(crate) capacity: u32,
    /// Reserve of each channel.
    pub(crate) reserve: [u16; MOST_LANES],
    /// Maximum of each channel: its limit, and what the reserves of others leave.
    most: [u16; MOST_LANES],
}

impl Shares {
    pub(crate) fn new(sizes: &Sizes) -> Self {
        let (capacity, min) = match sizes {
            Sizes::Pool { capacity, min, .. } => (*capacity, min),
            Sizes::Static(parts) => (parts.iter().sum(), parts),
        };
        let fill = |of: &dyn Fn(usize) -> u32| {
            std::array::from_fn(|lane| if lane < min.len() { of(lane) as u16 } else { 0 })
        };
        let reserve: [u16; MOST_LANES] = fill(&|lane| min[lane]);
        let reserved: u32 = reserve.iter().map(|&flits| u32::from(flits)).sum();
        assert!(reserved <= capacity, "reserves fit the buffer");
        let most: [u16; MOST_LANES] = fill(&|lane| sizes.most(lane));
        let are_limits = reserve.iter().zip(&most).all(|(least, most)| least <= most);
        assert!(are_limits, "a channel may take its reserve");
        Shares {
            capacity,
            reserve,
            most,
        }
    }
}

/// The use of a pool, as its writer knows it.
#[derive(Clone, Debug, State)]
pub(crate) struct Pool {
    used: [u16; MOST_LANES],
    /// Flits in use or reserved: the sum over channels of the larger of the two.
    allocated: u32,
    total: u32,
}

impl Pool {
    pub(crate) fn new(shares: &Shares) -> Self {
        Pool {
            used: [0; MOST_LANES],
            allocated: shares.reserve.iter().map(|&flits| u32::from(flits)).sum(),
            total: 0,
        }
    }

    /// Validates that the sums follow from the use of `n_lanes` channels and fit the buffer.
    pub(crate) fn validate(&self, shares: &Shares, n_lanes: usize) -> Validity {
        ensure(
            self.used[n_lanes.min(MOST_LANES)..]
                .iter()
                .all(|&used| used == 0),
            || Invalid::new("buffer", format_args!("{n_lanes} channels"), "more"),
        )?;
        let pairs = || self.used.iter().zip(&shares.reserve);
        let allocated = pairs().map(|(used, reserve)| u32::from(*used.max(reserve)));
        ensure_equal("flits kept in a buffer", allocated.sum(), self.allocated)?;
        ensure_equal(
            "flits in a buffer",
            pairs().map(|(used, _)| u32::from(*used)).sum(),
            self.total,
        )?;
        ensure(self.allocated <= shares.capacity, || {
            let expected = format!("at most {} flits in a buffer", shares.capacity);
            Invalid::new("buffer", expected, self.allocated)
        })
    }

    /// Returns the flits in use by a channel.
    pub(crate) fn used(&self, lane: usize) -> u32 {
        u32::from(self.used[lane % MOST_LANES])
    }

    #[inline]
    fn allocated_with(&self, lane: usize, used: u16, shares: &Shares) -> u32 {
        let reserve = shares.reserve[lane];
        self.allocated - u32::from(self.used[lane].max(reserve)) + u32::from(used.max(reserve))
    }

    /// Whether a packet fits: its channel stays within its limit, and no other one loses its
    /// reserve.
    #[inline]
    pub(crate) fn fits(&self, lane: u8, flits: u16, shares: &Shares) -> bool {
        let lane = usize::from(lane) % MOST_LANES;
        let used = self.used[lane] + flits;
        used <= shares.most[lane] && self.allocated_with(lane, used, shares) <= shares.capacity
    }

    /// Returns what a channel uses, and its maximum.
    pub(crate) fn occupancy(&self, lane: u8, shares: &Shares) -> Occupancy {
        let lane = usize::from(lane) % MOST_LANES;
        Occupancy {
            used: u32::from(self.used[lane]),
            most: u32::from(shares.most[lane]).max(1),
        }
    }

    /// Takes the space of a packet.
    #[inline]
    pub(crate) fn take(&mut self, lane: u8, flits: u16, shares: &Shares) {
        let lane = usize::from(lane) % MOST_LANES;
        let used = self.used[lane] + flits;
        self.allocated = self.allocated_with(lane, used, shares);
        self.used[lane] = used;
        self.total += u32::from(flits);
        debug_assert!(
            self.allocated <= shares.capacity,
            "a buffer never overflows and no channel loses its reserve"
        );
    }

    /// Frees the space of a packet.
    #[inline]
    pub(crate) fn give(&mut self, lane: u8, flits: u16, shares: &Shares) {
        let lane = usize::from(lane) % MOST_LANES;
        debug_assert!(self.used[lane] >= flits, "space is freed once");
        let used = self.used[lane] - flits;
        self.allocated = self.allocated_with(lane, used, shares);
        self.used[lane] = used;
        self.total -= u32::from(flits);
    }

    /// Returns the flits in use by all channels.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares() -> Shares {
        Shares::new(&Sizes::Pool {
            capacity: 100,
            min: Box::new([24, 10, 0]),
            max: Box::new([100; 3]),
        })
    }

    #[test]
    fn a_channel_keeps_its_reserve() {
        let (shares, pool) = (shares(), Pool::new(&shares()));
        assert!(pool.fits(2, 66, &shares) && !pool.fits(2, 67, &shares));
        assert!(pool.fits(0, 90, &shares) && !pool.fits(0, 91, &shares));
    }

    #[test]
    fn a_channel_keeps_to_its_limit() {
        let shares = Shares::new(&Sizes::Pool {
            capacity: 100,
            min: Box::new([24, 10]),
            max: Box::new([40, 100]),
        });
        let mut pool = Pool::new(&shares);
        assert!(pool.fits(0, 40, &shares) && !pool.fits(0, 41, &shares));
        pool.take(0, 30, &shares);
        assert!(pool.fits(0, 10, &shares) && !pool.fits(0, 11, &shares));
        assert_eq!(pool.occupancy(0, &shares), Occupancy { used: 30, most: 40 });
        assert_eq!(pool.occupancy(1, &shares), Occupancy { used: 0, most: 76 });
    }

    proptest! {
        /// The running sum equals the definition after any sequence of changes.
        #[test]
        fn allocated_flits_are_the_sum_over_channels(steps in proptest::collection::vec((0u8..3, 1u16..30, any::<bool>()), 1..60)) {
            let shares = shares();
            let mut pool = Pool::new(&shares);
            for (lane, flits, gives) in steps {
                let used = pool.used[usize::from(lane)];
                if gives && used >= flits {
                    pool.give(lane, flits, &shares);
                } else if pool.fits(lane, flits, &shares) {
                    pool.take(lane, flits, &shares);
                }
                let sum: u32 = (0..3).map(|l| u32::from(pool.used[l].max(shares.reserve[l]))).sum();
                prop_assert_eq!(pool.allocated, sum);
                prop_assert!(sum <= shares.capacity);
                prop_assert_eq!(pool.total, pool.used.iter().map(|&u| u32::from(u)).sum::<u32>());
            }
        }
    }
}
