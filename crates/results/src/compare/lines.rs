//! The values to compare: metrics of classes at points, in pairs.

use super::metric::{Metric, OF_JOBS};
use super::points::{Pair, Pairing, Runs};

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
        own.filter(|metric| has(*class, metric.name())).collect()
    };
    let shown: Vec<Vec<Metric>> = scopes.iter().map(shown).collect();
    let mut lines = vec![];
    for (point, pair) in pairing.pairs.iter().enumerate() {
        for (class, metrics) in scopes.iter().zip(&shown) {
            for &metric in metrics {
                let name = metric.name();
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
