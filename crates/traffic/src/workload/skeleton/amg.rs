//! AMG: V-cycles of algebraic multigrid, whose coarser levels have more neighbours.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Halo, all_reduce};
use super::multi_grid::{check_levels, v_cycle};
use super::{Grid, PAPER, Skeleton, check, divided, everyone};
use crate::{NicSet, Setting};

params! {
    /// A round is one V-cycle: from the finest level to the coarsest and back, on each level one
    /// exchange with neighbours and one all-reduce. Coarser operators reach further. On the finest
    /// level a rank has the 6 neighbours with a common face, on the next also the 12 with an edge,
    /// then also the 8 with a corner. Messages are halved from level to level.
    #[derive(Clone, Debug)]
    pub struct Amg {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks along the three dimensions; the first varies fastest.
        pub grid: Grid<3> = Grid([12, 12, 12]),
        /// Number of V-cycles.
        pub rounds: u32 = 5,
        /// Number of levels.
        pub levels: u32 = 8,
        /// Bytes to a neighbour on the finest level.
        pub finest: Bytes = Bytes(8 << 10),
        /// Bytes to a neighbour on coarse levels; no message is smaller.
        pub coarsest: Bytes = Bytes(512),
        /// Bytes that an all-reduce sums; not divided.
        pub reduced: Bytes = Bytes(8),
        /// Divisor of all sizes, for a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        let sizes = [("finest", it.finest), ("coarsest", it.coarsest), ("reduced", it.reduced)];
        check(it.rounds, it.size_divisor, &sizes, section);
        check_levels(it.levels, section);
    }
}

impl Described for Amg {
    const NAME: &'static str = "amg";
    const SUMMARY: &'static str =
        "A skeleton of AMG: V-cycles of halos with 6 to 26 neighbours, each with an all-reduce.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "grid = [3, 3, 3]\nrounds = 1\nlevels = 3";
}

impl Skeleton for Amg {
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
        let largest = self.finest.max(self.coarsest);
        divided(largest, self.size_divisor).max(divided(self.reduced, 1))
    }

    fn round(&self, builder: &mut Builder, _setting: &Setting<'_>) {
        let everyone = everyone(builder);
        for level in v_cycle(self.levels) {
            let bytes = Bytes(self.finest.0.checked_shr(level).unwrap_or(0)).max(self.coarsest);
            let bytes = divided(bytes, self.size_divisor);
            let halo = Halo {
                grid: self.grid.0,
                is_periodic: false,
                bytes: [0, 1, 2].map(|reach| Some(bytes).filter(|_| reach <= level)),
            };
            halo.exchange(builder);
            all_reduce(builder, &everyone, divided(self.reduced, 1));
        }
    }
}
