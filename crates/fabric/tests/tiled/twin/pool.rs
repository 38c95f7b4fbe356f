//! Space in a buffer that virtual channels share, counted in whole packets.

use netloom_fabric::Sizes;
use netloom_routing::Occupancy;

#[derive(Clone, Debug)]
pub(crate) struct Pool {
    sizes: Sizes,
    used: Vec<u32>,
}

impl Pool {
    pub(crate) fn new(sizes: &Sizes, n_vls: usize) -> Self {
        Pool {
            sizes: sizes.clone(),
            used: vec![0; n_vls],
        }
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.sizes.total()
    }

    pub(crate) fn used(&self, vc: usize) -> u32 {
        self.used[vc]
    }

    pub(crate) fn in_use(&self) -> u32 {
        self.used.iter().sum()
    }

    /// Returns what would be taken or reserved if a channel used this much.
    fn allocated_with(&self, vc: usize, used: u32) -> u32 {
        let Sizes::Pool { min, .. } = &self.sizes else {
            unreachable!("a pool");
        };
        let of = |v: usize| if v == vc { used } else { self.used[v] };
        (0..self.used.len()).map(|v| of(v).max(min[v])).sum()
    }

    pub(crate) fn fits(&self, vc: usize, flits: u32) -> bool {
        let used = self.used[vc] + flits;
        match &self.sizes {
            Sizes::Static(sizes) => used <= sizes[vc],
            Sizes::Pool { capacity, max, .. } => {
                used <= max[vc] && self.allocated_with(vc, used) <= *capacity
            }
        }
    }

    pub(crate) fn occupancy(&self, vc: usize) -> Occupancy {
        Occupancy {
            used: self.used[vc],
            most: self.sizes.most(vc),
        }
    }

    pub(crate) fn take(&mut self, vc: usize, flits: u32) {
        assert!(self.fits(vc, flits), "space is free before it is taken");
        self.used[vc] += flits;
        self.check();
    }

    pub(crate) fn give(&mut self, vc: usize, flits: u32) {
        let left = self.used[vc].checked_sub(flits);
        self.used[vc] = left.expect("space is freed once");
    }

    /// Checks that every channel has its reserve, regardless of the others.
    pub(crate) fn check(&self) {
        if let Sizes::Pool { capacity, min, .. } = &self.sizes {
            let allocated: u32 = self.used.iter().zip(min).map(|(&u, &m)| u.max(m)).sum();
            assert!(
                allocated <= *capacity,
                "every virtual channel keeps its reserve"
            );
            for (vc, &reserve) in min.iter().enumerate() {
                let free = reserve.saturating_sub(self.used[vc]);
                assert!(free == 0 || self.fits(vc, free), "the reserve of VC {vc}");
            }
        }
    }
}

/// Returns the first candidate from a pointer on, cyclically: the smallest that is not below it,
/// else the smallest.
pub(crate) fn first_from(pointer: usize, candidates: &[usize]) -> Option<usize> {
    let later = candidates.iter().copied().filter(|&c| c >= pointer).min();
    later.or_else(|| candidates.iter().copied().min())
}
