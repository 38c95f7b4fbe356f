//! MiniFE: iterations of conjugate gradients.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Halo, all_reduce};
use super::{Grid, PAPER, Skeleton, check, divided, everyone};
use crate::{NicSet, Setting};

params! {
    /// A round is one iteration of conjugate gradients: an exchange between neighbours with a
    /// common face for the product of matrix and vector, and two all-reduces for the dot products.
    #[derive(Clone, Debug)]
    pub struct MiniFe {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks along the three dimensions; the first varies fastest.
        pub grid: Grid<3> = Grid([8, 12, 12]),
        /// Number of iterations.
        pub rounds: u32 = 100,
        /// Bytes to a neighbour.
        pub faces: Bytes = Bytes(8 << 10),
        /// Bytes that an all-reduce sums; not divided.
        pub reduced: Bytes = Bytes(8),
        /// Divisor of all sizes, for a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        let sizes = [("faces", it.faces), ("reduced", it.reduced)];
        check(it.rounds, it.size_divisor, &sizes, section);
    }
}

impl Described for MiniFe {
    const NAME: &'static str = "minife";
    const SUMMARY: &'static str =
        "A skeleton of MiniFE: halos with 6 neighbours and two all-reduces per iteration.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "grid = [2, 3, 3]\nrounds = 5";
}

impl Skeleton for MiniFe {
    fn n_ranks(&self) -> u32 {
        self.grid.n_ranks()
    }

    fn nics(&self) -> &NicSet {
        &self.nics
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn largest_message(&self) -> u32 {
        divided(self.faces, self.size_divisor).max(divided(self.reduced, 1))
    }

    fn round(&self, builder: &mut Builder, _setting: &Setting<'_>) {
        let halo = Halo {
            grid: self.grid.0,
            is_periodic: false,
            bytes: [Some(divided(self.faces, self.size_divisor)), None, None],
        };
        halo.exchange(builder);
        let everyone = everyone(builder);
        for _ in 0..2 {
            all_reduce(builder, &everyone, divided(self.reduced, 1));
        }
    }
}
