//! FillBoundary: the exchange of ghost cells with all neighbours.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Halo};
use super::{Grid, PAPER, Skeleton, check, divided};
use crate::{NicSet, Setting};

params! {
    /// In a round every rank exchanges faces, edges and corners with its 26 neighbours, all posted
    /// at once. Bandwidth determines its duration.
    #[derive(Clone, Debug)]
    pub struct FillBoundary {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks along the three dimensions; the first varies fastest.
        pub grid: Grid<3> = Grid([10, 10, 10]),
        /// Whether the grid wraps around; otherwise ranks at its edge have fewer neighbours.
        pub periodic: bool = true,
        /// Number of rounds.
        pub rounds: u32 = 10,
        /// Bytes to a neighbour with a common face.
        pub faces: Bytes = Bytes(64 << 10),
        /// Bytes to a neighbour with a common edge.
        pub edges: Bytes = Bytes(4 << 10),
        /// Bytes to a neighbour with a common corner.
        pub corners: Bytes = Bytes(256),
        /// Divisor of all sizes, for a small run of a large program.
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
