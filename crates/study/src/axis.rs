//! An axis: keys that take several values in turn.

use netloom_catalog::{Place, Value, ValueShape};
use netloom_results::Level;

use crate::Rising;
use crate::decimal::Decimal;

/// One value of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct AxisValue {
    /// Label: `0.3`, `dtable`, `deep buffers`; for axes that step together, `100 Gbps, 16 KiB`.
    pub label: String,
    /// Values in the columns of the axis.
    pub levels: Vec<Level>,
    /// Settings in the file, by key path.
    pub sets: Vec<(String, Value)>,
    /// Values of other axes, by column, with which it is combined; columns not listed are
    /// unrestricted.
    pub only: Vec<(String, Vec<Level>)>,
}

/// Keys that take several values in turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// The columns in tables: the path of its key (several for axes that step together), or its
    /// name, which is `variant` by default for variants.
    pub columns: Vec<String>,
    /// The values in the file.
    pub values: Vec<AxisValue>,
    /// The rule that selects values, if any.
    pub rising: Option<Rising>,
    /// Its steps, if it is given by steps.
    pub(crate) range: Option<ExactRange>,
}

impl Axis {
    /// Returns the number of steps between consecutive values of the file: more than 1 if a rule
    /// can add values.
    pub fn fineness(&self) -> u64 {
        self.rising.map_or(1, |rising| rising.fineness)
    }

    /// Returns the value with this number: value `number / fineness` of the file, or one between
    /// two of them.
    ///
    /// # Panics
    /// If the number is out of range.
    pub fn value(&self, number: u64) -> AxisValue {
        let fineness = self.fineness();
        if number.is_multiple_of(fineness) {
            let at = usize::try_from(number / fineness).expect("a number of a value");
            return self.values[at].clone();
        }
        let range = self.range.expect("only ranges have values between");
        range.value(&self.columns[0], number, fineness)
    }

    /// Returns the paths of the keys that the axis sets.
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
    /// `refine` if it is set, otherwise `step`.
    pub(crate) part: Decimal,
    pub(crate) is_whole: bool,
    pub(crate) place: Place,
}

impl ExactRange {
    /// Returns the value `number` parts above the first.
    pub(crate) fn value(&self, path: &str, number: u64, fineness: u64) -> AxisValue {
        let above = match number.is_multiple_of(fineness) {
            true => self.step.times(number / fineness),
            false => self.part.times(number),
        };
        let x = self.from.plus(above).to_f64();
        let shape = match self.is_whole {
            // Floats represent integers below 10^15 exactly.
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
