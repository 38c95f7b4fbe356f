//! Two collections side by side: which points are the same, and which seeds of them both have.
//!
//! A single run is a collection with one point and no axes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use netloom_results::{Collection, Datum, Frame, Level, Setting, Verdict};

use super::pairs::TOTAL;

/// A folder's runs by point and seed.
pub(super) struct Runs<'a> {
    pub(super) collection: &'a Collection,
    results: &'a Frame,
    pub(super) points: Vec<Point>,
    /// In the order of the results.
    pub(super) classes: Vec<String>,
}

/// A point with its runs.
pub(super) struct Point {
    /// What stands in the column of every axis.
    values: Vec<Level>,
    /// For each seed the lines of the results about its total and its classes.
    runs: BTreeMap<u64, Vec<usize>>,
}

impl Point {
    /// Its seeds.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        self.runs.keys().copied()
    }
}

impl<'a> Runs<'a> {
    /// `None` if the collection has no results.
    pub(super) fn of(collection: &'a Collection) -> Option<Runs<'a>> {
        let results = collection.table("results")?;
        let axes: Option<Vec<_>> = collection.axes.iter().map(|a| results.column(a)).collect();
        let (axes, point, seed) = (axes?, results.column("point")?, results.column("seed")?);
        let (scope, class) = (results.column("scope")?, results.column("class")?);
        results.column("verdict")?;
        let mut at: BTreeMap<u64, usize> = BTreeMap::new();
        let (mut points, mut classes) = (vec![], vec![]);
        for line in 0..results.len() {
            let is_class = match scope.text(line) {
                Some(TOTAL) => false,
                Some("class") => true,
                _ => continue,
            };
            let (number, seed) = (point.number(line)? as u64, seed.number(line)? as u64);
            let own = *at.entry(number).or_insert_with(|| {
                let level = |axis: &&netloom_results::FrameColumn| match axis.values.datum(line) {
                    Datum::Whole(n) => Level::Number(n as f64),
                    Datum::Number(x) => Level::Number(x),
                    other => Level::Text(other.to_string()),
                };
                points.push(Point {
                    values: axes.iter().map(level).collect(),
                    runs: BTreeMap::new(),
                });
                points.len() - 1
            });
            let lines: &mut Vec<usize> = points[own].runs.entry(seed).or_default();
            lines.push(line);
            let class = class.text(line).unwrap_or_default();
            if is_class && !classes.iter().any(|known| known == class) {
                classes.push(class.to_owned());
            }
        }
        Some(Runs {
            collection,
            results,
            points,
            classes,
        })
    }

    /// The id of a single run.
    pub(super) fn run_id(&self) -> Option<String> {
        let is_single = self.collection.axes.is_empty();
        let id = self.text(0, "run_id").filter(|_| is_single);
        id.map(str::to_owned)
    }

    /// The classes that the other does not have.
    pub(super) fn own_classes(&self, other: &Runs<'_>) -> Vec<String> {
        let own = self.classes.iter();
        own.filter(|class| !other.classes.contains(class))
            .cloned()
            .collect()
    }

    /// The axes that the other does not have.
    pub(super) fn own_axes(&self, other: &Runs<'_>) -> Vec<String> {
        let own = self.collection.axes.iter();
        own.filter(|axis| !other.collection.axes.contains(axis))
            .cloned()
            .collect()
    }

    /// All seeds of all points.
    pub(super) fn seeds(&self) -> BTreeSet<u64> {
        let points = self.points.iter();
        points
            .flat_map(|point| point.runs.keys().copied())
            .collect()
    }

    /// A column of the results for a point, a seed and a class, or for the total.
    pub(super) fn value(
        &self,
        point: usize,
        seed: u64,
        class: Option<&str>,
        column: &str,
    ) -> Option<f64> {
        let is_it = |line: &&usize| match class {
            Some(class) => {
                self.is_scope(**line, "class") && self.text(**line, "class") == Some(class)
            }
            None => self.is_scope(**line, TOTAL),
        };
        let line = *self.points[point].runs.get(&seed)?.iter().find(is_it)?;
        let value = self.results.column(column)?.number(line)?;
        value.is_finite().then_some(value)
    }

    fn text(&self, line: usize, column: &str) -> Option<&str> {
        self.results.column(column)?.text(line)
    }

    fn is_scope(&self, line: usize, scope: &str) -> bool {
        self.text(line, "scope") == Some(scope)
    }

    /// The verdict of a run: that of its total.
    pub(super) fn verdict_of_run(&self, point: usize, seed: u64) -> Verdict {
        let lines = self.points[point].runs.get(&seed).into_iter().flatten();
        let mut totals = lines.filter(|line| self.is_scope(**line, TOTAL));
        let word = totals.next().and_then(|line| self.text(*line, "verdict"));
        word.and_then(Verdict::of_word).unwrap_or_default()
    }

    /// The verdict of a point, over all its seeds.
    pub(super) fn verdict(&self, point: usize) -> Verdict {
        let seeds = self.points[point].runs.keys();
        Verdict::of_seeds(seeds.map(|seed| self.verdict_of_run(point, *seed)))
    }

    /// What a point sets on these axes.
    fn settings(&self, point: usize, axes: &[String]) -> Vec<Setting> {
        let own = self.collection.axes.iter().zip(&self.points[point].values);
        let own: BTreeMap<&String, &Level> = own.collect();
        let setting = |axis: &String| Setting {
            column: axis.clone(),
            value: (*own[axis]).clone(),
        };
        axes.iter().map(setting).collect()
    }

    /// The points by what they set on these axes, in the order of their appearance.
    fn by_settings(&self, axes: &[String]) -> Groups {
        let mut groups = Groups::default();
        for point in 0..self.points.len() {
            let settings = self.settings(point, axes);
            let at = *groups.at.entry(key(&settings)).or_insert_with(|| {
                groups.all.push((settings, vec![]));
                groups.all.len() - 1
            });
            groups.all[at].1.push(point);
        }
        groups
    }
}

/// Points that set the same.
#[derive(Default)]
struct Groups {
    all: Vec<(Vec<Setting>, Vec<usize>)>,
    /// Where the settings are, by [`key`].
    at: HashMap<String, usize>,
}

impl Groups {
    fn get(&self, settings: &[Setting]) -> Option<&[usize]> {
        let at = *self.at.get(&key(settings))?;
        Some(&self.all[at].1)
    }
}

/// Equal for equal settings.
fn key(settings: &[Setting]) -> String {
    serde_json::to_string(settings).expect("plain data is JSON")
}

/// `qos.arbiter = wfq, traffic.load = 0.4`; nothing for the only point of a single run.
pub(super) fn label(settings: &[Setting]) -> String {
    let one = |setting: &Setting| format!("{} = {}", setting.column, setting.value);
    settings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A point that both have.
pub(super) struct Pair {
    /// What both set, on the axes that both have.
    pub(super) settings: Vec<Setting>,
    pub(super) a: usize,
    pub(super) b: usize,
    /// The seeds that both have; at least one.
    pub(super) seeds: Vec<u64>,
}

/// What can be held against each other.
pub(super) struct Pairing {
    /// The axes that both have, in the order of A.
    pub(super) axes: Vec<String>,
    pub(super) pairs: Vec<Pair>,
    /// What was left out.
    pub(super) remarks: Vec<String>,
}

/// At most so many points are named in a remark.
const NAMED: usize = 3;

/// Pairs points by what they set on the axes that both have; only where that is unique on both sides.
///
/// # Errors
/// Says why nothing can be paired.
pub(super) fn pair(a: &Runs<'_>, b: &Runs<'_>) -> Result<Pairing, String> {
    let is_common = |axis: &&String| b.collection.axes.contains(axis);
    let axes: Vec<String> = a
        .collection
        .axes
        .iter()
        .filter(is_common)
        .cloned()
        .collect();
    let (of_a, of_b) = (a.by_settings(&axes), b.by_settings(&axes));
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
                let seeds_b = &b.points[*b_point].runs;
                let seeds = a.points[*a_point].runs.keys().copied();
                let seeds: Vec<u64> = seeds.filter(|seed| seeds_b.contains_key(seed)).collect();
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
                "no common seed: {name_a} has {}, {name_b} has {}; run both with the same measure.seed and \
                 measure.repeat",
                super::words(a.seeds()),
                super::words(b.seeds())
            ),
            () if !several.is_empty() => format!(
                "no point of {name_a} belongs to a single one of {name_b}: {own_axes}; leave that axis with one \
                 value, as in --set 'study.axes.\"{}\"=[VALUE]'",
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
            "left out, since they are several points in one of both:".to_owned(),
        ),
        (&seedless, "left out, without a common seed:".to_owned()),
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

/// Where a series saturates: the last load below, and the first at which it does.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize)]
pub(super) struct Edge {
    pub(super) last_unsaturated: Option<f64>,
    pub(super) first_saturated: Option<f64>,
}

/// The axis along which load rises, if both have one.
pub(super) fn load_axis(axes: &[String]) -> Option<&String> {
    let is_load = |axis: &&String| axis.rsplit('.').next() == Some("load");
    axes.iter().find(is_load)
}

/// The edge of every series along an axis, by what the series has on the other ones. All points of a folder
/// count, not only those that both have; a series with two points at one load is left out.
pub(super) fn edges(runs: &Runs<'_>, axes: &[String], along: &String) -> Vec<(Vec<Setting>, Edge)> {
    let others: Vec<String> = axes.iter().filter(|axis| *axis != along).cloned().collect();
    let along = std::slice::from_ref(along);
    let edge = |points: &[usize]| {
        let mut steps = vec![];
        for &point in points {
            let Level::Number(load) = runs.settings(point, along)[0].value else {
                return None;
            };
            steps.push((load, runs.verdict(point) == Verdict::Saturated));
        }
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        if steps.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let first = steps.iter().position(|(_, is_saturated)| *is_saturated);
        let before = &steps[..first.unwrap_or(steps.len())];
        Some(Edge {
            last_unsaturated: before.last().map(|step| step.0),
            first_saturated: first.map(|at| steps[at].0),
        })
    };
    let groups = runs.by_settings(&others).all.into_iter();
    groups
        .filter_map(|(settings, points)| Some((settings, edge(&points)?)))
        .collect()
}
