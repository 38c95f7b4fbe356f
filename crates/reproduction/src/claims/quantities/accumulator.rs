//! The largest accumulator of the deficit table of paper 000.

use netloom_design::qos::dtable::{self, Needs};

use super::Quantity;
use crate::claims::{Missing, Value};

/// `largest_accumulator()`: with the table that is planned from Table 4.
pub(super) const LARGEST_ACCUMULATOR: Quantity = Quantity {
    name: "largest_accumulator",
    parameters: &[],
    by_seed: false,
    of: |_| match dtable::plan(&Needs::table_4_as_printed()) {
        Ok(plan) => Ok(Value::Number(plan.largest_accumulator as f64)),
        Err(refusals) => Err(Missing::because(refusals[0].to_string())),
    },
};
