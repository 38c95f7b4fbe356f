//! MultiGrid: V-cycles over finer and coarser grids.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Halo};
use super::{Grid, PAPER, Skeleton, check, divided};
use crate::{NicSet, Setting};

params! {
    /// A round is one V-cycle: from the finest level to the coarsest and back, with one exchange
    /// between neighbours with a common face on each level. A level has a quarter of the bytes of
    /// the one above it.
    #[derive(Clone, Debug)]
    pub struct MultiGrid {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks along the three dimensions; the first varies fastest.
        pub grid: Grid<3> = Grid([10, 10, 10]),
        /// Number of V-cycles.
        pub rounds: u32 = 5,
        /// Number of levels.
        pub levels: u32 = 5,
        /// Bytes to a neighbour on the finest level.
        pub faces: Bytes = Bytes(16 << 10),
        /// Divisor of all sizes, for a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        check(it.rounds, it.size_divisor, &[("faces", it.faces)], section);
        check_levels(it.levels, section);
    }
}

/// Notes an error if the number of levels is out of range.
pub(super) fn check_levels(levels: u32, section: &mut netloom_catalog::Section<'_>) {
    if !(1..=64).contains(&levels) {
        let place = section.place_of("levels");
        let message = format!("a V-cycle cannot have {levels} levels");
        let help = "use a number from 1 to 64";
        section.notes.error("E0603", place, message).help(help);
    }
}

/// Returns the levels of a V-cycle in order: 0, 1, …, the coarsest, …, 1, 0.
pub(super) fn v_cycle(levels: u32) -> impl Iterator<Item = u32> {
    (0..levels).chain((0..levels.saturating_sub(1)).rev())
}

impl Described for MultiGrid {
    const NAME: &'static str = "multi-grid";
    const SUMMARY: &'static str =
        "A skeleton of MultiGrid: V-cycles of halos with 6 neighbours, smaller on coarser levels.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "grid = [3, 3, 3]\nrounds = 2\nlevels = 3\nsize-divisor = 16";
}

impl Skeleton for MultiGrid {
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
        divided(self.faces, self.size_divisor)
    }

    fn round(&self, builder: &mut Builder, _setting: &Setting<'_>) {
        for level in v_cycle(self.levels) {
            let faces = Bytes(self.faces.0.checked_shr(2 * level).unwrap_or(0));
            let halo = Halo {
                grid: self.grid.0,
                is_periodic: false,
                bytes: [Some(divided(faces, self.size_divisor)), None, None],
            };
            halo.exchange(builder);
        }
    }
}
