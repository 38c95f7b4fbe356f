//! An axis: keys that take several values, one after the other.

use netloom_catalog::{Place, Value, ValueShape};
use netloom_results::Level;

use crate::Rising;
use crate::decimal::Decimal;

/// One value of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct AxisValue {
    /// What people call it: `0.3`, `dtable`, `deep buffers`; of axes that step together, `100 Gbps, 16 KiB`.
    pub label: String,
    /// What stands in the columns of the axis.
    pub levels: Vec<Level>,
    /// What it puts into the file, by paths of keys.
    pub sets: Vec<(String, Value)>,
    /// With which values of other axes it goes, by their columns; with all of those that are not named.
    pub only: Vec<(String, Vec<Level>)>,
}

/// Keys that take several values, one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// The columns of tables: the path of its key, several for axes that step together; or its own name, which is
    /// `variant` for variants that give none.
    pub columns: Vec<String>,
    /// The values that the file names.
    pub values: Vec<AxisValue>,
    /// How the axis is walked, if by a rule.
    pub rising: Option<Rising>,
    /// Its steps, if it is given by such.
    pub(crate) range: Option<ExactRange>,
}

impl Axis {
    /// How many numbers lie from one value of the file to the next: more than 1 where values can be added between.
    pub fn fineness(&self) -> u64 {
        self.rising.map_or(1, |rising| rising.fineness)
    }

    /// The value of a number: that of the file number `number / fineness`, or one between two of them.
    ///
    /// # Panics
    /// If there is no such value.
    pub fn value(&self, number: u64) -> AxisValue {
        let fineness = self.fineness();
        if number.is_multiple_of(fineness) {
            let at = usize::try_from(number / fineness).expect("a number of a value");
            return self.values[at].clone();
        }
        let range = self.range.expect("only ranges have values between");
        range.value(&self.columns[0], number, fineness)
    }

    /// The keys that the axis sets.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let all = self.values.iter().flat_map(|value| &value.sets);
        all.map(|(path, _)| path.as_str())
    }
}

/// Values in exact steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ExactRange {
    pub(crate) from: Decimal,
    pub(crate) step: Decimal,
    /// `step` in parts of `refine`, which is the last of these; `step` itself without one.
    pub(crate) part: Decimal,
    pub(crate) is_whole: bool,
    pub(crate) place: Place,
}

impl ExactRange {
    /// The value a number of parts above the first.
    pub(crate) fn value(&self, path: &str, number: u64, fineness: u64) -> AxisValue {
        let above = match number.is_multiple_of(fineness) {
            true => self.step.times(number / fineness),
            false => self.part.times(number),
        };
        let x = self.from.plus(above).to_f64();
        let shape = match self.is_whole {
            // Whole numbers below 10^15 are floats exactly.
            true => ValueShape::Integer(x as i64),
            false => ValueShape::Float(x),
        };
        let value = Value {
            place: self.place,
            shape,
        };
        AxisValue {
            label: format!("{x}"),
            levels: vec![Level::Number(x)],
            sets: vec![(path.to_owned(), value)],
            only: vec![],
        }
    }
}
