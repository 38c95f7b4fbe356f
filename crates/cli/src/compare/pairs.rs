//! The values to compare: metrics of classes at points, in pairs.

use netloom_results::view::spelled_out;
use netloom_results::{Column, Kind, Summary, Table};

use super::OF_JOBS;
use super::points::{Pair, Pairing, Runs};

/// A column of [`Summary`] that is a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Metric {
    pub(super) column: &'static Column,
}

/// Name prefixes of metrics where lower is better, and where higher is better. Other metrics have
/// no direction.
const LESS: [&str; 7] = [
    "latency_",
    "completion_",
    "slowdown",
    "rank_imbalance",
    "network_latency_",
    "jitter_",
    "reordered_",
];
const MORE: [&str; 4] = ["delivered_", "fairness_", "algorithm_", "bus_"];

impl Metric {
    /// Returns all metrics. A verdict is not a number.
    pub(super) fn all() -> Vec<Metric> {
        let columns = Summary::COLUMNS.iter().zip(Summary::KINDS);
        columns
            .filter(|(_, kind)| matches!(kind, Kind::Whole | Kind::Number))
            .map(|(column, _)| Metric { column })
            .collect()
    }

    /// Returns the metric with a name, which may be short as for `plot --y`.
    pub(super) fn named(name: &str) -> Option<Metric> {
        let all = Metric::all();
        let find = |name: &String| all.iter().find(|metric| metric.column.name == *name);
        spelled_out(name).iter().find_map(find).copied()
    }

    /// Returns the words for a higher and for a lower value.
    pub(super) fn words(self) -> [&'static str; 2] {
        let begins = |with: &&str| self.column.name.starts_with(*with);
        match () {
            () if LESS.iter().any(&begins) => ["worse (higher)", "better (lower)"],
            () if MORE.iter().any(begins) => ["better (higher)", "worse (lower)"],
            () => ["higher", "lower"],
        }
    }
}

/// One metric of one class, or of the total, at one common point.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    /// Index of the common point.
    pub(super) point: usize,
    /// The class; `None` for the total.
    pub(super) class: Option<String>,
    pub(super) metric: Metric,
    /// The values of A and B for each common seed where both have one.
    pub(super) pairs: Vec<(f64, f64)>,
}

impl Line {
    /// Returns the class or `total`.
    pub(super) fn scope(&self) -> &str {
        self.class.as_deref().unwrap_or(TOTAL)
    }
}

/// The name of the total.
pub(super) const TOTAL: &str = "total";

/// Returns the common classes, in the order of A.
pub(super) fn common_classes<'a>(a: &'a Runs<'_>, b: &Runs<'_>) -> Vec<&'a str> {
    let own = a.classes.iter().filter(|class| b.classes.contains(class));
    own.map(String::as_str).collect()
}

/// Returns one line for each metric of each common class, and of the total, at each common point. A
/// class has no line for a metric of jobs that it has in neither.
pub(super) fn lines(
    a: &Runs<'_>,
    b: &Runs<'_>,
    pairing: &Pairing,
    metrics: &[Metric],
) -> Vec<Line> {
    let common = common_classes(a, b).into_iter();
    let scopes: Vec<Option<&str>> = common.map(Some).chain([None]).collect();
    let has = |class: Option<&str>, name: &str| {
        let of_pair = |pair: &Pair| {
            let has = |seed: &u64| {
                a.value(pair.a, *seed, class, name).is_some()
                    || b.value(pair.b, *seed, class, name).is_some()
            };
            pair.seeds.iter().any(has)
        };
        !OF_JOBS.contains(&name) || pairing.pairs.iter().any(of_pair)
    };
    let shown = |class: &Option<&str>| -> Vec<Metric> {
        let own = metrics.iter().copied();
        own.filter(|metric| has(*class, metric.column.name))
            .collect()
    };
    let shown: Vec<Vec<Metric>> = scopes.iter().map(shown).collect();
    let mut lines = vec![];
    for (point, pair) in pairing.pairs.iter().enumerate() {
        for (class, metrics) in scopes.iter().zip(&shown) {
            for &metric in metrics {
                let name = metric.column.name;
                let values = |seed: &u64| {
                    let a = a.value(pair.a, *seed, *class, name)?;
                    Some((a, b.value(pair.b, *seed, *class, name)?))
                };
                lines.push(Line {
                    point,
                    class: class.map(str::to_owned),
                    metric,
                    pairs: pair.seeds.iter().filter_map(values).collect(),
                });
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_the_columns_that_are_numbers() {
        let all = Metric::all();
        let names: Vec<&str> = all.iter().map(|metric| metric.column.name).collect();
        assert_eq!(names.len(), Summary::COLUMNS.len() - 1);
        assert_eq!(Metric::named("verdict"), None);
    }

    #[test]
    fn short_names_are_those_of_plot() {
        let named = |name| Metric::named(name).map(|metric| metric.column.name);
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
