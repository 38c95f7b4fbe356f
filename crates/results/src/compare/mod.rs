//! Differences between two collections of results, and whether they may be due to chance.
//!
//! ```text
//!  collections ─► points.rs: common points and seeds ─► lines.rs: values in pairs
//!       ▲                                                  │
//!  by.rs: parts of a study                     difference.rs: intervals, verdicts
//!                                                          ▼
//!       text.rs: text, Markdown ◄─ Comparison ◄─ overall.rs: Holm, saturation; limit.rs: limits
//! ```
//!
//! Runs are paired by seed. All numbers and verdicts are data of [`Comparison`], which serialises
//! as JSON; [`Comparison::text`] and [`Comparison::markdown`] show it to people.

mod by;
mod difference;
mod limit;
mod lines;
mod metric;
mod overall;
mod points;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

pub use limit::Limit;
pub use metric::Metric;
pub use overall::{Overall, SaturationChange};

use crate::{Collection, Level, Setting, Verdict};
use difference::Difference;
use lines::Line;
use points::{Pairing, Runs, label};

/// Why results cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompareError {
    /// There is no such metric or axis.
    #[error("{0}")]
    Unknown(String),
    /// Texts that are not limits, or limits on classes that are not in both.
    #[error("{}", .0.join("; "))]
    Limits(Vec<String>),
    /// Folders without results.
    #[error("no results to compare in {}", .0.join(", "))]
    Empty(Vec<String>),
    /// The results have other versions, or no points or seeds in common.
    #[error("{}", .0.join("; "))]
    Unlike(Vec<String>),
}

/// The differences of B from A.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    pub a: Side,
    pub b: Side,
    /// The common axes.
    pub axes: Vec<String>,
    /// The common seeds of any point.
    pub seeds: Vec<u64>,
    /// The summary of all points; `None` for single runs.
    pub overall: Option<Overall>,
    pub warnings: Vec<String>,
    pub lines: Vec<ComparedLine>,
    pub limits: Vec<JudgedLimit>,
}

/// One of the collections.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Side {
    pub folder: String,
    pub name: String,
    /// Only for single runs.
    pub run_id: Option<String>,
    /// Classes that the other does not have.
    pub own_classes: Vec<String>,
}

/// One metric of one class, or of the total, at one point.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ComparedLine {
    /// Values of the point on the common axes.
    #[serde(serialize_with = "by_axis")]
    pub point: Vec<Setting>,
    /// `None` for the total.
    pub class: Option<String>,
    pub metric: Metric,
    pub unit: &'static str,
    /// Number of seeds with a value in both. With zero, there are no numbers.
    pub seeds: usize,
    pub mean_a: Option<f64>,
    pub mean_b: Option<f64>,
    /// Mean of B minus A over seeds.
    pub difference: Option<f64>,
    /// Half width of its 95 % interval; `None` for a single seed.
    pub half_width: Option<f64>,
    /// The difference as a fraction of A, and the ends of its interval.
    pub relative: Option<f64>,
    pub relative_low: Option<f64>,
    pub relative_high: Option<f64>,
    /// Probability of such a difference by chance; `None` without an interval.
    pub by_chance: Option<f64>,
    pub verdict: String,
    /// Whether the difference is significant.
    #[serde(skip)]
    pub is_significant: bool,
}

/// A limit and the lines that break it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JudgedLimit {
    pub limit: String,
    /// Classes, or `total`, whose whole interval lies beyond the limit, with their points.
    pub broken_by: Vec<String>,
    /// Classes, or `total`, that have no values to judge, with their points.
    pub without_values: Vec<String>,
    /// Number of judged lines.
    pub judged: usize,
    /// The lines that break it and by how much, as sentences.
    #[serde(skip)]
    pub sentences: Vec<String>,
}

fn by_axis<S: Serializer>(point: &[Setting], serializer: S) -> Result<S::Ok, S::Error> {
    let values: BTreeMap<&str, &Level> = point
        .iter()
        .map(|s| (s.column.as_str(), &s.value))
        .collect();
    values.serialize(serializer)
}

/// Compares `b` with `a`: these metrics and those of the limits, for all classes that both have.
///
/// # Errors
/// If the results cannot be compared, or a limit names a class that is not in both.
pub fn compare(
    a: &Collection,
    b: &Collection,
    metrics: &[Metric],
    limits: &[Limit],
) -> Result<Comparison, CompareError> {
    let (Some(runs_a), Some(runs_b)) = (Runs::of(a), Runs::of(b)) else {
        let empty = [a, b].into_iter().filter(|own| Runs::of(own).is_none());
        return Err(CompareError::Empty(
            empty.map(|own| own.folder.clone()).collect(),
        ));
    };
    let common = lines::common_classes(&runs_a, &runs_b);
    let unknown: Vec<String> = limits
        .iter()
        .filter_map(|limit| limit.unknown_class(&common))
        .collect();
    if !unknown.is_empty() {
        return Err(CompareError::Limits(unknown));
    }
    let version = other_version(a, b);
    let pairing = match (points::pair(&runs_a, &runs_b), version) {
        (Ok(pairing), None) => pairing,
        (pairing, version) => {
            let reasons = version.into_iter().chain(pairing.err());
            return Err(CompareError::Unlike(reasons.collect()));
        }
    };
    let mut wanted: Vec<Metric> = vec![];
    for metric in metrics
        .iter()
        .copied()
        .chain(limits.iter().map(Limit::metric))
    {
        if !wanted.contains(&metric) {
            wanted.push(metric);
        }
    }
    let lines = lines::lines(&runs_a, &runs_b, &pairing, &wanted);
    let differences: Vec<Option<Difference>> = lines
        .iter()
        .map(|line| Difference::over(line.metric, &line.pairs))
        .collect();
    let settings = |line: &Line| pairing.pairs[line.point].settings.clone();
    let compared: Vec<ComparedLine> = lines
        .iter()
        .zip(&differences)
        .map(|(line, difference)| ComparedLine::new(settings(line), line, difference.as_ref()))
        .collect();
    let seeds = pairing.pairs.iter().flat_map(|pair| pair.seeds.iter());
    let seeds: BTreeSet<u64> = seeds.copied().collect();
    let is_study = !(a.axes.is_empty() && b.axes.is_empty());
    Ok(Comparison {
        warnings: warnings(&runs_a, &runs_b, &pairing),
        a: Side::of(&runs_a, &runs_b),
        b: Side::of(&runs_b, &runs_a),
        overall: is_study
            .then(|| overall::overall(&runs_a, &runs_b, &pairing, &lines, &differences)),
        limits: limits
            .iter()
            .map(|limit| JudgedLimit::of(limit, &lines, &differences, &compared))
            .collect(),
        lines: compared,
        axes: pairing.axes,
        seeds: seeds.into_iter().collect(),
    })
}

/// Compares the points of one study: each other value of an axis, or each other variant, with the
/// first. The axis may be named by its end, such as `kind` for `qos.arbiter.kind`.
///
/// # Errors
/// If there is no such axis, or its values cannot be compared.
pub fn compare_by(
    study: &Collection,
    axis: &str,
    metrics: &[Metric],
    limits: &[Limit],
) -> Result<Vec<Comparison>, CompareError> {
    let parts = by::parts(study, axis)?;
    let (first, others) = parts.split_first().expect("at least two values");
    let compared = |other| compare(first, other, metrics, limits);
    others.iter().map(compared).collect()
}

/// Returns a reason if the versions of the results differ.
fn other_version(a: &Collection, b: &Collection) -> Option<String> {
    let (of_a, of_b) = a.results_version.zip(b.results_version)?;
    (of_a != of_b).then(|| {
        format!(
            "{} has results of version {of_a}, {} of version {of_b}: the same experiment has \
             different numbers in each (see \"Changed results\" in the changelog); run the older \
             one again",
            a.folder, b.folder
        )
    })
}

/// Returns warnings about the comparison.
fn warnings(a: &Runs<'_>, b: &Runs<'_>, pairing: &Pairing) -> Vec<String> {
    let mut warnings = pairing.remarks.clone();
    let of_a: Vec<usize> = pairing.pairs.iter().map(|pair| pair.a).collect();
    let of_b: Vec<usize> = pairing.pairs.iter().map(|pair| pair.b).collect();
    for (side, own, other, points) in [("A", a, b, of_a), ("B", b, a, of_b)] {
        let name = format!("{side} ({})", own.collection.folder);
        let only = own.own_classes(other);
        if !only.is_empty() {
            let only = named("class", "classes", &only);
            warnings.push(format!("only {name} has the {only}: not compared"));
        }
        let common: BTreeSet<u64> = pairing.pairs.iter().flat_map(|p| p.seeds.clone()).collect();
        let unpaired: Vec<u64> = own.seeds().difference(&common).copied().collect();
        if !unpaired.is_empty() {
            let unpaired = named("seed", "seeds", &unpaired);
            warnings.push(format!("only {name} has the {unpaired}: skipped"));
        }
        let n = pairing.pairs.len();
        // The worst verdict first.
        for verdict in Verdict::warnings() {
            let is_it = |point: &&usize| own.verdict(**point) == verdict;
            let marked: Vec<usize> = points.iter().filter(is_it).copied().collect();
            let (words, meaning) = (verdict.words(), verdict.meaning());
            match marked.as_slice() {
                [] => {}
                [point] if n == 1 => {
                    let seeds = own.seeds_of(*point);
                    let seeds = seeds.filter(|seed| own.verdict_of_run(*point, *seed) == verdict);
                    let seeds = named("seed", "seeds", &seeds.collect::<Vec<u64>>());
                    warnings.push(format!("{name} is {words} with {seeds}: {meaning}"));
                }
                marked => warnings.push(format!(
                    "{name} is {words} at {} of {n} points: {meaning}",
                    marked.len()
                )),
            }
        }
        let own = own.collection.warnings.iter();
        warnings.extend(own.map(|warning| format!("{name}: {warning}")));
    }
    warnings
}

impl Side {
    fn of(own: &Runs<'_>, other: &Runs<'_>) -> Side {
        Side {
            folder: own.collection.folder.clone(),
            name: own.collection.name.clone(),
            run_id: own.run_id(),
            own_classes: own.own_classes(other),
        }
    }
}

impl ComparedLine {
    fn new(point: Vec<Setting>, line: &Line, difference: Option<&Difference>) -> ComparedLine {
        let of = |number: fn(&Difference) -> f64| difference.map(number);
        let ends = difference.filter(|d| d.half_width.is_some());
        ComparedLine {
            point,
            class: line.class.clone(),
            metric: line.metric,
            unit: line.metric.column.unit,
            seeds: line.pairs.len(),
            mean_a: of(|d| d.mean_a),
            mean_b: of(|d| d.mean_b),
            difference: of(|d| d.mean),
            half_width: difference.and_then(|d| d.half_width),
            relative: difference.and_then(|d| d.relative(d.mean)),
            relative_low: ends.and_then(|d| d.relative(d.low())),
            relative_high: ends.and_then(|d| d.relative(d.high())),
            by_chance: difference.and_then(Difference::by_chance),
            verdict: match difference {
                Some(difference) => difference.verdict(),
                None => "no seed with a value in both".to_owned(),
            },
            is_significant: difference.is_some_and(|difference| difference.side() != 0),
        }
    }

    /// Returns the class or `total`.
    pub fn scope(&self) -> &str {
        self.class.as_deref().unwrap_or(lines::TOTAL)
    }
}

impl JudgedLimit {
    fn of(
        limit: &Limit,
        lines: &[Line],
        differences: &[Option<Difference>],
        compared: &[ComparedLine],
    ) -> JudgedLimit {
        let mut judged = JudgedLimit {
            limit: limit.to_string(),
            broken_by: vec![],
            without_values: vec![],
            judged: 0,
            sentences: vec![],
        };
        for ((line, difference), compared) in lines.iter().zip(differences).zip(compared) {
            if !limit.covers(line) {
                continue;
            }
            // `bulk`, or in a study `bulk at traffic.load = 0.4`.
            let scope = match compared.point.as_slice() {
                [] => line.scope().to_owned(),
                point => format!("{} at {}", line.scope(), label(point)),
            };
            let Some(difference) = difference else {
                judged.without_values.push(scope);
                continue;
            };
            judged.judged += 1;
            if limit.is_broken_by(difference) {
                judged.sentences.push(format!(
                    "{} of {scope} is beyond \"{limit}\": B - A is {}",
                    line.metric,
                    text::change(line.metric, difference)
                ));
                judged.broken_by.push(scope);
            }
        }
        judged
    }
}

/// Formats a list with its noun: `seed 1`, or `seeds 1, 2`.
fn named<T: ToString>(one: &str, many: &str, things: &[T]) -> String {
    let noun = if things.len() == 1 { one } else { many };
    format!("{noun} {}", words(things.iter().map(T::to_string)))
}

fn words<T: ToString>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(", ")
}
