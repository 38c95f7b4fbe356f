//! Chooses unit, scale and ends of an axis for measured values.

use netloom_results::view::number::TimeUnit;
use netloom_results::{axis_label, described};

use crate::model::{Axis, Scale};
use crate::ticks::{round_ends, round_log_ends};

/// The quantity of an axis, with its stored unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantity {
    /// A time, stored in ns.
    Time,
    /// A fraction of what a link carries.
    Load,
    /// An index from 0 to 1.
    Index,
    /// A data rate in GB/s.
    Rate,
    /// A factor or a number, such as a slowdown.
    Factor,
}

impl Quantity {
    /// Returns the quantity of a column of results; `unit` is that of a column without description.
    pub(crate) fn of(column: &str, unit: &str) -> Quantity {
        let known = described(column);
        match known.map_or(unit, |column| column.unit) {
            _ if known.is_some_and(|column| column.is_index) => Quantity::Index,
            "ns" => Quantity::Time,
            "fraction" => Quantity::Load,
            "GB/s" => Quantity::Rate,
            _ => Quantity::Factor,
        }
    }
}

/// An axis, and the divisor of stored values.
pub(crate) struct Fitted {
    pub(crate) axis: Axis,
    pub(crate) divisor: f64,
}

/// Returns an axis that fits these values of a column of results, with its label.
pub(crate) fn fitted_to(column: &str, values: impl Iterator<Item = f64>) -> Fitted {
    fitted(&axis_label(column), Quantity::of(column, ""), values)
}

/// Returns an axis that fits all these stored values.
///
/// If all values are within a factor of twenty, the axis is linear and starts at zero. For a wider
/// range of times, it is logarithmic.
pub(crate) fn fitted(label: &str, quantity: Quantity, values: impl Iterator<Item = f64>) -> Fitted {
    let (mut min, mut max) = (f64::INFINITY, 0f64);
    for value in values.filter(|value| value.is_finite()) {
        (min, max) = (min.min(value), max.max(value));
    }
    if min > max {
        (min, max) = (0.0, 1.0);
    }
    let (unit, divisor) = match quantity {
        Quantity::Time => {
            let unit = TimeUnit::of(max);
            (unit.sign, unit.ns)
        }
        Quantity::Load => ("fraction of link rate", 1.0),
        Quantity::Index | Quantity::Factor => ("", 1.0),
        Quantity::Rate => ("GB/s", 1.0),
    };
    let is_log = quantity == Quantity::Time && min > 0.0 && max > 20.0 * min;
    let (scale, (low, high)) = match is_log {
        true => (Scale::Log, round_log_ends(min / divisor, max / divisor)),
        false if max == 0.0 => (Scale::Linear, (0.0, 1.0)),
        false => {
            // Leave space for the markers of the largest value.
            let room = if quantity == Quantity::Index {
                1.0
            } else {
                1.03
            };
            (Scale::Linear, round_ends(0.0, max / divisor * room))
        }
    };
    let high = match quantity {
        Quantity::Index => high.max(1.0),
        // A load cannot exceed 1.
        Quantity::Load if max <= 1.0 => high.min(1.0),
        _ => high,
    };
    let axis = Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale,
        low,
        high,
    };
    Fitted { axis, divisor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_of_times_is_logarithmic() {
        let narrow = fitted("Latency", Quantity::Time, [900.0, 4_300.0].into_iter());
        assert_eq!(narrow.axis.title(), "Latency (µs)");
        assert_eq!((narrow.axis.low, narrow.axis.high), (0.0, 5.0));
        let wide = fitted("Latency", Quantity::Time, [900.0, 430_000.0].into_iter());
        assert_eq!(wide.axis.scale, Scale::Log);
        assert_eq!((wide.axis.low, wide.axis.high), (0.5, 500.0));
        let load = fitted("Load", Quantity::Load, [0.01, 0.9].into_iter());
        assert_eq!((load.axis.scale, load.axis.high), (Scale::Linear, 1.0));
    }
}
