//! BIGFFT: transposes of a distributed matrix.

use netloom_catalog::{Described, params};
use netloom_units::Bytes;

use super::super::programs::{Builder, Rank, all_to_all};
use super::{Grid, PAPER, Skeleton, check, divided};
use crate::{NicSet, Setting};

params! {
    /// In a round all ranks of each row exchange data with each other (all-to-all), then all ranks
    /// of each column. Bandwidth determines its duration.
    #[derive(Clone, Debug)]
    pub struct BigFft {
        /// NICs of the ranks: rank r runs on the r-th NIC of this set, which may have more.
        pub nics: NicSet = NicSet::All,
        /// Ranks as [columns, rows]; those of a row have consecutive numbers.
        pub grid: Grid<2> = Grid([32, 32]),
        /// Number of rounds.
        pub rounds: u32 = 4,
        /// Bytes from a rank to each other rank of its row or column.
        pub pair: Bytes = Bytes(64 << 10),
        /// Divisor of all sizes, for a small run of a large program.
        pub size_divisor: u32 = 1,
    }
    check |it, section| {
        check(it.rounds, it.size_divisor, &[("pair", it.pair)], section);
    }
}

impl Described for BigFft {
    const NAME: &'static str = "bigfft";
    const SUMMARY: &'static str = "A skeleton of BIGFFT: all-to-all in rows, then in columns.";
    const PAPER: Option<&'static str> = Some(PAPER);
    const EXAMPLE: &'static str = "grid = [4, 4]\nrounds = 1\nsize-divisor = 16";
}

impl Skeleton for BigFft {
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
        divided(self.pair, self.size_divisor)
    }

    fn round(&self, builder: &mut Builder, _setting: &Setting<'_>) {
        let [n_columns, n_rows] = self.grid.0;
        let bytes = divided(self.pair, self.size_divisor);
        for row in 0..n_rows {
            let ranks: Vec<Rank> = (0..n_columns).map(|x| Rank(row * n_columns + x)).collect();
            all_to_all(builder, &ranks, bytes);
        }
        for column in 0..n_columns {
            let ranks: Vec<Rank> = (0..n_rows).map(|y| Rank(y * n_columns + column)).collect();
            all_to_all(builder, &ranks, bytes);
        }
    }
}
