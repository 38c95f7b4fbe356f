//! Pairs the points of two collections, and finds the common seeds of each pair.
//!
//! A single run is a collection with one point and no axes.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::TOTAL;
use crate::view::{Lines, Saturation, Study};
use crate::{Collection, Setting, Verdict};

/// A folder's runs by point and seed.
pub(super) struct Runs<'a> {
    pub(super) collection: &'a Collection,
    pub(super) study: Study,
    results: Lines<'a>,
    /// For each point and seed, the lines of the results for its total and its classes.
    seeds: Vec<BTreeMap<u64, Vec<usize>>>,
    /// In the order of the results.
    pub(super) classes: Vec<String>,
}

impl<'a> Runs<'a> {
    /// Returns `None` if the collection has no results.
    pub(super) fn of(collection: &'a Collection) -> Option<Runs<'a>> {
        let study = Study::of(collection)?;
        let results = Lines::of(collection.table("results")?);
        let seed = results.table.column("seed")?;
        let at = study.points.iter().zip(0..);
        let at: BTreeMap<u64, usize> = at.map(|(point, at)| (point.number, at)).collect();
        let mut seeds = vec![BTreeMap::new(); study.points.len()];
        for line in 0..results.table.len() {
            let is_asked = matches!(results.scope(line), Some(TOTAL | "class"));
            if let (true, Some(&at)) = (is_asked, at.get(&results.point(line))) {
                let seed = seed.number(line)? as u64;
                let lines: &mut Vec<usize> = seeds[at].entry(seed).or_default();
                lines.push(line);
            }
        }
        Some(Runs {
            collection,
            classes: study.classes().into_iter().map(str::to_owned).collect(),
            study,
            results,
            seeds,
        })
    }

    /// Returns the seeds of a point.
    pub(super) fn seeds_of(&self, point: usize) -> impl Iterator<Item = u64> {
        self.seeds[point].keys().copied()
    }

    /// Returns the id of a single run.
    pub(super) fn run_id(&self) -> Option<String> {
        let is_single = self.study.axes.is_empty();
        let id = self.text(0, "run_id").filter(|_| is_single);
        id.map(str::to_owned)
    }

    /// Returns the classes that `other` does not have.
    pub(super) fn own_classes(&self, other: &Runs<'_>) -> Vec<String> {
        let own = self.classes.iter();
        own.filter(|class| !other.classes.contains(class))
            .cloned()
            .collect()
    }

    /// Returns the axes that `other` does not have.
    pub(super) fn own_axes(&self, other: &Runs<'_>) -> Vec<String> {
        let own = self.study.axes.iter();
        own.filter(|axis| !other.study.axes.contains(axis))
            .cloned()
            .collect()
    }

    /// Returns all seeds of all points.
    pub(super) fn seeds(&self) -> BTreeSet<u64> {
        let points = self.seeds.iter();
        points.flat_map(|seeds| seeds.keys().copied()).collect()
    }

    /// Returns a value of the results for a point, a seed and a class, or for the total.
    pub(super) fn value(
        &self,
        point: usize,
        seed: u64,
        class: Option<&str>,
        column: &str,
    ) -> Option<f64> {
        let is_it = |line: &&usize| match class {
            Some(class) => {
                self.results.scope(**line) == Some("class")
                    && self.text(**line, "class") == Some(class)
            }
            None => self.results.scope(**line) == Some(TOTAL),
        };
        let line = *self.seeds[point].get(&seed)?.iter().find(is_it)?;
        let value = self.results.table.column(column)?.number(line)?;
        value.is_finite().then_some(value)
    }

    fn text(&self, line: usize, column: &str) -> Option<&str> {
        self.results.table.column(column)?.text(line)
    }

    /// Returns the verdict of a run, which is that of its total.
    pub(super) fn verdict_of_run(&self, point: usize, seed: u64) -> Verdict {
        let lines = self.seeds[point].get(&seed).into_iter().flatten();
        let mut totals = lines.filter(|line| self.results.scope(**line) == Some(TOTAL));
        let total = totals.next().map(|line| self.results.verdict(*line));
        total.unwrap_or_default()
    }

    /// Returns the verdict of a point over all its seeds.
    pub(super) fn verdict(&self, point: usize) -> Verdict {
        self.study.points[point].verdict
    }
}

/// Formats settings: `qos.arbiter = wfq, traffic.load = 0.4`; an empty text for the only point of a
/// single run.
pub(super) fn label(settings: &[Setting]) -> String {
    let one = |setting: &Setting| format!("{} = {}", setting.column, setting.value);
    settings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A common point.
pub(super) struct Pair {
    /// Values on the common axes.
    pub(super) settings: Vec<Setting>,
    pub(super) a: usize,
    pub(super) b: usize,
    /// The common seeds; at least one.
    pub(super) seeds: Vec<u64>,
}

/// The points that can be compared.
pub(super) struct Pairing {
    /// The common axes, in the order of A.
    pub(super) axes: Vec<String>,
    pub(super) pairs: Vec<Pair>,
    /// What is skipped.
    pub(super) remarks: Vec<String>,
}

/// Most points to name in a remark.
const NAMED: usize = 3;

/// Pairs points by their values on the common axes, if these are unique in both.
///
/// # Errors
/// If there are no pairs.
pub(super) fn pair(a: &Runs<'_>, b: &Runs<'_>) -> Result<Pairing, String> {
    let is_common = |axis: &&String| b.study.axes.contains(axis);
    let axes: Vec<String> = a.study.axes.iter().filter(is_common).cloned().collect();
    let (of_a, of_b) = (a.study.by_settings(&axes), b.study.by_settings(&axes));
    let (name_a, name_b) = (&a.collection.folder, &b.collection.folder);
    let mut remarks = vec![];
    for (side, name, own) in [("A", name_a, a.own_axes(b)), ("B", name_b, b.own_axes(a))] {
        if !own.is_empty() {
            let own = super::named("axis", "axes", &own);
            remarks.push(format!("only {side} ({name}) has the {own}"));
        }
    }
    let (mut pairs, mut several, mut seedless, mut only_a) = (vec![], vec![], vec![], vec![]);
    for (settings, points_a) in &of_a.all {
        match (points_a.as_slice(), of_b.get(settings)) {
            (_, None) => only_a.push(label(settings)),
            ([a_point], Some([b_point])) => {
                let is_common = |seed: &u64| b.seeds[*b_point].contains_key(seed);
                let seeds: Vec<u64> = a.seeds_of(*a_point).filter(is_common).collect();
                if seeds.is_empty() {
                    seedless.push(label(settings));
                    continue;
                }
                pairs.push(Pair {
                    settings: settings.clone(),
                    a: *a_point,
                    b: *b_point,
                    seeds,
                });
            }
            (_, Some(_)) => several.push(label(settings)),
        }
    }
    let only_b = of_b.all.iter().filter(|(own, _)| of_a.get(own).is_none());
    let only_b: Vec<String> = only_b.map(|(settings, _)| label(settings)).collect();
    if pairs.is_empty() {
        let own_axes = remarks.join(", ");
        return Err(match () {
            () if !seedless.is_empty() => format!(
                "no common seed: {name_a} has {}, {name_b} has {}; run both with the same \
                 measure.seed and measure.repeat",
                super::words(a.seeds()),
                super::words(b.seeds())
            ),
            () if !several.is_empty() => format!(
                "no point of {name_a} matches exactly one of {name_b}: {own_axes}; give that axis \
                 one value, as in --set 'study.axes.\"{}\"=[VALUE]'",
                a.own_axes(b)
                    .first()
                    .or(b.own_axes(a).first())
                    .map_or("KEY", String::as_str)
            ),
            () => format!(
                "no common point: {name_a} has {}, {name_b} has {}",
                several_of(&only_a),
                several_of(&only_b)
            ),
        });
    }
    for (points, what) in [
        (&only_a, format!("only A ({name_a}) has")),
        (&only_b, format!("only B ({name_b}) has")),
        (
            &several,
            "skipped, since several points of one folder match:".to_owned(),
        ),
        (&seedless, "skipped, without a common seed:".to_owned()),
    ] {
        if !points.is_empty() {
            remarks.push(format!("{what} {}", several_of(points)));
        }
    }
    Ok(Pairing {
        axes,
        pairs,
        remarks,
    })
}

fn several_of(points: &[String]) -> String {
    let named = points[..points.len().min(NAMED)].join("; ");
    match points.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more points"),
    }
}

/// Returns the saturation of each series along an axis, by the values of the series on the other
/// axes. Includes all points of a folder, not only the common ones; skips a series with two points
/// at one load.
pub(super) fn saturations(
    runs: &Runs<'_>,
    axes: &[String],
    along: &String,
) -> Vec<(Vec<Setting>, Saturation)> {
    let others: Vec<String> = axes.iter().filter(|axis| *axis != along).cloned().collect();
    let saturation = |points: &[usize]| {
        let step = |&at: &usize| {
            let point = &runs.study.points[at];
            Some((runs.study.value(point, along)?.number()?, point.verdict))
        };
        let mut steps: Vec<(f64, Verdict)> = points.iter().map(step).collect::<Option<_>>()?;
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_twice = steps.windows(2).any(|pair| pair[0].0 == pair[1].0);
        (!is_twice).then(|| Saturation::of(steps))
    };
    let groups = runs.study.by_settings(&others).all.into_iter();
    groups
        .filter_map(|(settings, points)| Some((settings, saturation(&points)?)))
        .collect()
}
