//! Skeletons of MPI programs: their messages and dependencies, without computing.
//!
//! They replace the application traces of paper 002, which are not published. A skeleton repeats
//! the same round. Within a phase of a round every rank sends all its messages and then waits for
//! all messages of the others.

mod amg;
mod amr;
mod bigfft;
mod fill_boundary;
mod minife;
mod multi_grid;

pub use amg::Amg;
pub use amr::Amr;
pub use bigfft::BigFft;
pub use fill_boundary::FillBoundary;
pub use minife::MiniFe;
pub use multi_grid::MultiGrid;

use netloom_catalog::{FromToml, Notes, Section, Shape, Value};
use netloom_units::Bytes;

use super::programs::{Builder, Rank};
use super::{Generated, Generator};
use crate::{NicSet, Setting};

/// The source of all skeletons.
const PAPER: &str =
    "Replaces a DesignForward trace of the stashing switch (paper 002), which is not published";

/// An MPI program without its computing.
pub trait Skeleton: Send + Sync {
    /// Returns the number of ranks.
    fn n_ranks(&self) -> u32;

    /// Returns the NICs; the ranks run on the first of them.
    fn nics(&self) -> &NicSet;

    /// Returns the number of rounds.
    fn rounds(&self) -> u32;

    /// Returns the bytes of its largest message.
    fn largest_message(&self) -> u32;

    /// Adds the steps of one round.
    fn round(&self, builder: &mut Builder, setting: &Setting<'_>);
}

impl<S: Skeleton> Generator for S {
    fn largest(&self, _setting: &Setting<'_>) -> u32 {
        self.largest_message()
    }

    fn generate(&self, setting: &Setting<'_>) -> Result<Generated, String> {
        let nics = self
            .nics()
            .members(setting.n_nics, setting.groups)
            .map_err(|problem| format!("`nics`: {problem}"))?;
        let n_ranks = self.n_ranks();
        if n_ranks as usize > nics.len() {
            return Err(format!(
                "{n_ranks} ranks do not fit on {} NICs; use fewer ranks or more `nics`",
                nics.len()
            ));
        }
        let mut builder = Builder::new(n_ranks);
        self.round(&mut builder, setting);
        let programs = builder
            .repeat(self.rounds())
            .map_err(|misfit| misfit.to_string())?;
        Ok(Generated::Programs(programs.place(&nics, setting.n_nics)))
    }

    fn sets(&self) -> Vec<NicSet> {
        vec![self.nics().clone()]
    }

    fn is_program(&self) -> bool {
        true
    }
}

/// Returns all ranks.
fn everyone(builder: &Builder) -> Vec<Rank> {
    (0..builder.n_ranks()).map(Rank).collect()
}

/// Divides a size to make a program small, to at least 1.
fn divided(bytes: Bytes, divisor: u32) -> u32 {
    let bytes = u32::try_from(bytes.0).expect("sizes are checked when they are read");
    bytes.div_ceil(divisor).max(1)
}

/// Maximum of ranks, more than any machine has.
const MOST_RANKS: u64 = 1 << 20;

/// Ranks in N dimensions, at least one along each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid<const N: usize>(pub [u32; N]);

impl<const N: usize> Grid<N> {
    /// Returns the number of ranks.
    pub fn n_ranks(self) -> u32 {
        self.0.iter().product()
    }
}

impl<const N: usize> FromToml for Grid<N> {
    fn shape() -> Shape {
        Shape::Tuple(vec![u32::shape(); N])
    }

    fn read(value: &Value, notes: &mut Notes) -> Option<Self> {
        let sides = Vec::<u32>::read(value, notes)?;
        let n = sides
            .iter()
            .map(|side| u64::from(*side))
            .try_fold(1, u64::checked_mul);
        match <[u32; N]>::try_from(sides) {
            Ok(sides) if n.is_some_and(|n| (2..=MOST_RANKS).contains(&n)) => Some(Grid(sides)),
            Ok(_) => {
                let help = format!("use sides whose product is from 2 to {MOST_RANKS}");
                let message = match n {
                    Some(n) => format!("the grid has {n} ranks"),
                    None => "the grid has more ranks than can be counted".to_owned(),
                };
                notes.error("E0603", value.place, message).help(help);
                None
            }
            Err(sides) => {
                notes.error(
                    "E0603",
                    value.place,
                    format!("expected {N} sides of a grid, found {}", sides.len()),
                );
                None
            }
        }
    }

    fn write(&self) -> String {
        self.0.to_vec().write()
    }
}

/// Notes the errors in the values that all skeletons have.
fn check(rounds: u32, size_divisor: u32, sizes: &[(&str, Bytes)], section: &mut Section<'_>) {
    let mut wrong = |key: &str, message: String, help: &str| {
        let place = section.place_of(key);
        section.notes.error("E0603", place, message).help(help);
    };
    if rounds == 0 {
        wrong(
            "rounds",
            "the number of rounds is 0".to_owned(),
            "use 1 or more",
        );
    }
    if size_divisor == 0 {
        let help = "use 1 to keep the sizes";
        wrong("size-divisor", "the divisor is 0".to_owned(), help);
    }
    for (key, size) in sizes {
        if size.0 == 0 || size.0 > u64::from(u32::MAX) {
            let help = "use at least 1 byte and less than 4 GiB";
            wrong(key, format!("a message cannot have {size}"), help);
        }
    }
}
