//! Quantities that formulas call by name and that Rust computes, one in each file.

mod accumulator;
mod dips;
mod queues;
mod registers;
mod saturation;

pub(crate) use saturation::{knee, saturation};

use super::evaluation::Evaluation;
use super::value::{Answer, Missing, Value};
use crate::{Outcome, Results};

/// A quantity.
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    /// Its parameters, all required.
    pub(crate) parameters: &'static [&'static str],
    /// Whether it has a value for each seed, [`Call::seed`].
    pub(crate) by_seed: bool,
    pub(crate) of: fn(&Call<'_, '_>) -> Answer,
}

/// All quantities.
const QUANTITIES: &[&Quantity] = &[
    &accumulator::LARGEST_ACCUMULATOR,
    &dips::DEPTH,
    &dips::AFTER,
    &queues::QUEUE_AREA,
    &queues::QUEUE_MEMORY,
    &registers::REGISTER_BITS,
    &saturation::KNEE,
    &saturation::SATURATION,
];

/// The values of the parameters of a quantity.
pub(crate) struct Call<'c, 'a> {
    pub(crate) results: &'a Results,
    /// The seed, counted from 0, if the quantity is by seed.
    pub(crate) seed: Option<usize>,
    pub(super) values: &'c [Value],
    pub(super) evaluation: &'c Evaluation<'a>,
}

impl<'a> Call<'_, 'a> {
    pub(crate) fn value(&self, at: usize) -> &Value {
        &self.values[at]
    }

    pub(crate) fn text(&self, at: usize) -> Result<&str, Missing> {
        self.values[at].as_text()
    }

    pub(crate) fn number(&self, at: usize) -> Result<f64, Missing> {
        self.values[at].number()
    }

    /// Returns the runs of a series, by seed: at a load, or all.
    #[allow(dead_code)]
    pub(crate) fn runs(
        &self,
        series: &str,
        load: Option<f64>,
    ) -> Result<Vec<&'a Outcome>, Missing> {
        self.evaluation.runs(series, load, self.seed)
    }

    /// Returns the run of a series with this seed.
    pub(crate) fn run(&self, series: &str, load: Option<f64>) -> Result<&'a Outcome, Missing> {
        self.evaluation.run(series, load, self.seed)
    }
}

pub(super) fn quantity(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().copied().find(|own| own.name == name)
}

pub(super) fn is_by_seed(name: &str) -> bool {
    quantity(name).is_some_and(|own| own.by_seed)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    QUANTITIES.iter().map(|own| own.name)
}
