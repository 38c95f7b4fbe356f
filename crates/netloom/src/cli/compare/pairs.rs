//! Two documents side by side: which metrics, which classes, which seeds.

use std::collections::BTreeSet;

use netloom_results::{Column, Document, Run, Summary, Table};

/// A column of [`Summary`] that is a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Metric {
    pub(super) column: &'static Column,
    index: usize,
}

impl Metric {
    /// All of them; the marks `saturated` and `converged` are no numbers.
    pub(super) fn all() -> Vec<Metric> {
        let cells = Summary::default().cells();
        let is_mark = |index: usize| cells[index].parse::<bool>().is_ok();
        let columns = Summary::COLUMNS.iter().enumerate();
        columns
            .filter(|(index, _)| !is_mark(*index))
            .map(|(index, column)| Metric { column, index })
            .collect()
    }

    pub(super) fn named(name: &str) -> Option<Metric> {
        let all = Metric::all();
        all.into_iter().find(|metric| metric.column.name == name)
    }

    /// Its value, where there is one. A cell reads back to the same bits.
    fn of(self, summary: &Summary) -> Option<f64> {
        let value = summary.cells()[self.index].parse::<f64>().ok()?;
        value.is_finite().then_some(value)
    }
}

/// One metric of one class, or of the total, as both have it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    /// The class; `None` for the total.
    pub(super) class: Option<String>,
    pub(super) metric: Metric,
    /// The values of A and B for each common seed where both have one.
    pub(super) pairs: Vec<(f64, f64)>,
}

impl Line {
    /// What the line is about, for people.
    pub(super) fn scope(&self) -> &str {
        self.class.as_deref().unwrap_or(TOTAL)
    }
}

/// How the total is called.
pub(super) const TOTAL: &str = "total";

/// The seeds that both documents have, in order.
pub(super) fn common_seeds(a: &Document, b: &Document) -> Vec<u64> {
    let seeds = |document: &Document| document.runs().map(|run| run.seed).collect();
    let (a, b): (BTreeSet<u64>, BTreeSet<u64>) = (seeds(a), seeds(b));
    a.intersection(&b).copied().collect()
}

/// The classes of a document, in its order.
pub(super) fn classes(document: &Document) -> Vec<&str> {
    let classes = document.run.classes.iter();
    classes.map(|class| class.class.as_str()).collect()
}

/// The classes of the one that the other does not have.
pub(super) fn classes_only_in(one: &Document, other: &Document) -> Vec<String> {
    let known = classes(other);
    let own = classes(one)
        .into_iter()
        .filter(|class| !known.contains(class));
    own.map(str::to_owned).collect()
}

/// One line for each class that both have, and for the total, and each metric.
pub(super) fn lines(a: &Document, b: &Document, seeds: &[u64], metrics: &[Metric]) -> Vec<Line> {
    let known = classes(b);
    let common = classes(a).into_iter().filter(|class| known.contains(class));
    let scopes = common.map(Some).chain([None]);
    let line = |class: Option<&str>, metric: Metric| {
        let pair = |seed: &u64| {
            let [a, b] = [a, b].map(|document| {
                let run = document.runs().find(|run| run.seed == *seed)?;
                metric.of(summary(run, class)?)
            });
            a.zip(b)
        };
        Line {
            class: class.map(str::to_owned),
            metric,
            pairs: seeds.iter().filter_map(pair).collect(),
        }
    };
    scopes
        .flat_map(|class| metrics.iter().map(move |metric| line(class, *metric)))
        .collect()
}

fn summary<'a>(run: &'a Run, class: Option<&str>) -> Option<&'a Summary> {
    let Some(name) = class else {
        return Some(&run.total);
    };
    let found = run.classes.iter().find(|class| class.class == name);
    found.map(|class| &class.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_the_columns_that_are_numbers() {
        let all = Metric::all();
        let names: Vec<&str> = all.iter().map(|metric| metric.column.name).collect();
        assert_eq!(names.len(), Summary::COLUMNS.len() - 2);
        assert!(!names.contains(&"saturated") && !names.contains(&"converged"));
    }

    #[test]
    fn a_metric_reads_its_own_column() {
        let summary = Summary {
            delivered_load: 0.1 + 0.2,
            latency_p99_ns: Some(1234.5),
            delivered_packets: 7,
            ..Summary::default()
        };
        let of = |name: &str| Metric::named(name).and_then(|metric| metric.of(&summary));
        assert_eq!(of("delivered_load"), Some(0.1 + 0.2));
        assert_eq!(of("latency_p99_ns"), Some(1234.5));
        assert_eq!(of("delivered_packets"), Some(7.0));
        assert_eq!(of("latency_mean_ns"), None, "there were no messages");
        assert_eq!(Metric::named("saturated"), None);
    }
}
