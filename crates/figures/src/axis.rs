//! An axis for what was measured: its unit, its scale and its ends.

use crate::model::{Axis, Scale};
use crate::ticks::{round_ends, round_log_ends};

/// What an axis measures, and in what it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantity {
    /// A time, stored in ns.
    Time,
    /// A fraction of what a link carries.
    Load,
    /// An index from 0 to 1.
    Index,
}

/// An axis and by what stored values are divided to stand on it.
pub(crate) struct Fitted {
    pub(crate) axis: Axis,
    pub(crate) divisor: f64,
}

/// Units of time in which people read, with their length in ns.
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// The unit in which the largest of some times is a number from 1 to 1000.
pub(crate) fn time_unit(largest_ns: f64) -> (&'static str, f64) {
    let fits = |unit: &&(&str, f64)| largest_ns >= unit.1;
    *TIMES.iter().rev().find(fits).unwrap_or(&TIMES[0])
}

/// The axis on which all these stored values are seen.
///
/// Values from one to twenty times the smallest stand on an even axis from zero, a wider range of times on a
/// logarithmic one.
pub(crate) fn fitted(label: &str, quantity: Quantity, values: impl Iterator<Item = f64>) -> Fitted {
    let (mut min, mut max) = (f64::INFINITY, 0f64);
    for value in values.filter(|value| value.is_finite()) {
        (min, max) = (min.min(value), max.max(value));
    }
    if min > max {
        (min, max) = (0.0, 1.0);
    }
    let (unit, divisor) = match quantity {
        Quantity::Time => time_unit(max),
        Quantity::Load => ("fraction of link rate", 1.0),
        Quantity::Index => ("", 1.0),
    };
    let is_log = quantity == Quantity::Time && min > 0.0 && max > 20.0 * min;
    let (scale, (low, high)) = match is_log {
        true => (Scale::Log, round_log_ends(min / divisor, max / divisor)),
        false if max == 0.0 => (Scale::Linear, (0.0, 1.0)),
        false => (Scale::Linear, round_ends(0.0, max / divisor)),
    };
    let high = if quantity == Quantity::Index {
        high.max(1.0)
    } else {
        high
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
    fn times_stand_in_readable_units() {
        let units = [0.4, 999.0, 1e3, 2.5e5, 7e6, 3e10].map(|largest| time_unit(largest).0);
        assert_eq!(units, ["ns", "ns", "µs", "µs", "ms", "s"]);
    }

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
