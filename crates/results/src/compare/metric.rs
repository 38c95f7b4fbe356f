//! The metrics that can be compared, and which direction of each is better.

use std::fmt;
use std::str::FromStr;

use netloom_catalog::nearest;
use serde::{Serialize, Serializer};

use super::CompareError;
use crate::view::spelled_out;
use crate::{Better, Column, Kind, Summary, Table};

/// Compared only for classes that have them: those that complete, collective operations, and
/// classes of studies with a variant `alone`.
pub(super) const OF_JOBS: [&str; 3] = ["completion_time_ns", "bus_bandwidth", "slowdown"];

/// The default metrics for all classes.
const USUAL: [&str; 3] = ["delivered_load", "latency_mean_ns", "latency_p99_ns"];

/// A column of [`Summary`] that is a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    pub column: &'static Column,
}

impl Metric {
    /// Returns all metrics. A verdict is not a number.
    pub fn all() -> Vec<Metric> {
        let columns = Summary::COLUMNS.iter().zip(Summary::KINDS);
        columns
            .filter(|(_, kind)| matches!(kind, Kind::Whole | Kind::Number))
            .map(|(column, _)| Metric { column })
            .collect()
    }

    /// Returns the default metrics.
    pub fn usual() -> Vec<Metric> {
        let names = USUAL.iter().chain(&OF_JOBS);
        names.filter_map(|name| Metric::named(name)).collect()
    }

    /// Returns the metric with a name, which may be short as for `plot --y`.
    fn named(name: &str) -> Option<Metric> {
        let all = Metric::all();
        let find = |name: &String| all.iter().find(|metric| metric.column.name == *name);
        spelled_out(name).iter().find_map(find).copied()
    }

    pub fn name(self) -> &'static str {
        self.column.name
    }

    /// Returns the words for a higher and for a lower value.
    pub(super) fn words(self) -> [&'static str; 2] {
        match self.column.better {
            Some(Better::Lower) => ["worse (higher)", "better (lower)"],
            Some(Better::Higher) => ["better (higher)", "worse (lower)"],
            None => ["higher", "lower"],
        }
    }
}

/// Serialised as its name.
impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = CompareError;

    /// Returns the metric with this name, whole or short: `p99` is `latency_p99_ns`.
    fn from_str(name: &str) -> Result<Metric, CompareError> {
        Metric::named(name).ok_or_else(|| {
            let all = Metric::all();
            let known = || all.iter().map(|metric| metric.name());
            let instead = match nearest(name, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                // A part of a name, such as `p99` of `latency_p99_ns`.
                None => match known()
                    .filter(|known| known.contains(name))
                    .take(5)
                    .collect::<Vec<_>>()
                {
                    none if none.is_empty() => {
                        "use `netloom explain p99` to find names by a part of them".to_owned()
                    }
                    some => format!("did you mean {}?", some.join(", ")),
                },
            };
            CompareError::Unknown(format!("there is no metric \"{name}\"; {instead}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_the_columns_that_are_numbers() {
        assert_eq!(Metric::all().len(), Summary::COLUMNS.len() - 1);
        assert_eq!(Metric::named("verdict"), None);
        assert_eq!(Metric::usual().len(), 6);
    }

    #[test]
    fn short_names_are_those_of_plot() {
        let named = |name| Metric::named(name).map(Metric::name);
        assert_eq!(named("p99"), Some("latency_p99_ns"));
        assert_eq!(named("latency_p99_ns"), Some("latency_p99_ns"));
        assert_eq!(named("delivered"), Some("delivered_load"));
        assert_eq!(named("p98"), None);
    }

    #[test]
    fn some_metrics_have_a_better_side() {
        let words = |name: &str| Metric::named(name).unwrap().words();
        assert_eq!(words("latency_p99_ns")[1], "better (lower)");
        assert_eq!(words("delivered_load")[1], "worse (lower)");
        assert_eq!(words("offered_load"), ["higher", "lower"]);
    }
}
