//! FillBoundary: the exchange of ghost cells with all neighbours.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Halo};
use super::{Grid, PAPER, Skeleton, check, divided};
use crate::{NicSet, Setting};

params! {
    /// In a round every rank exchanges with its 26 neighbours what lies along their faces, edges and corners, all
    /// posted at once. Bandwidth decides how long it takes (spec 8.2).
    #[derive(Clone, Debug)]
    pub struct FillBoundary {
        /// Where the ranks run: rank r on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks along the three dimensions; those of the first are numbered one after another.
        pub grid: Grid<3> = Grid([10, 10, 10]),
        /// Whether the grid is closed round its ends; otherwise ranks at the rim have fewer neighbours.
        pub periodic: bool = true,
        /// How often.
        pub rounds: u32 = 10,
        /// To a neighbour with a common face.
        pub faces: Bytes = Bytes(64 << 10),
        /// To a neighbour with a common edge.
        pub edges: Bytes = Bytes(4 << 10),
        /// To a neighbour with a common corner.
        pub corners: Bytes = Bytes(256),
        /// Sizes are divided by this, to make a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        let sizes = [("faces", it.faces), ("edges", it.edges), ("corners", it.corners)];
        check(it.rounds, it.size_divisor, &sizes, section);
    }
}

impl Described for FillBoundary {
    const NAME: &'static str = "fill-boundary";
    const SUMMARY: &'static str = "A skeleton of FillBoundary: halos with 26 neighbours at once.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "grid = [3, 3, 3]\nrounds = 2\nsize-divisor = 16";
}

impl FillBoundary {
    fn sizes(&self) -> [u32; 3] {
        [self.faces, self.edges, self.corners].map(|size| divided(size, self.size_divisor))
    }
}

impl Skeleton for FillBoundary {
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
        self.sizes().into_iter().fold(1, u32::max)
    }

    fn round(&self, builder: &mut Builder, _setting: &Setting<'_>) {
        let halo = Halo {
            grid: self.grid.0,
            is_periodic: self.periodic,
            bytes: self.sizes().map(Some),
        };
        halo.exchange(builder);
    }
}
