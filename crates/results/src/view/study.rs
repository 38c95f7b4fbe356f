//! The points of a folder: their settings, their results, and where series of them saturate.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use netloom_metrics::Verdict;
use serde::Serialize;

use super::columns::Numbers;
use super::lines::{Estimate, Lines};
use super::number;
use crate::collection::Collection;
use crate::lines::over_seeds;
use crate::study::{Level, Setting};
use crate::table::{Column, Datum};

/// The name of the only series.
const ALL: &str = "all points";

/// Results of a point, in total or for one class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Empty for the total.
    pub class: String,
    metrics: BTreeMap<&'static str, Estimate>,
}

impl Line {
    /// Returns the value of one of [`over_seeds`].
    pub fn get(&self, metric: &str) -> Option<Estimate> {
        self.metrics.get(metric).copied()
    }

    /// Returns the mean.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.get(metric).map(|estimate| estimate.mean)
    }
}

/// A point of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// As in the column `point`.
    pub number: u64,
    /// Value on every axis of [`Study::axes`].
    pub values: Vec<Datum>,
    /// Its line of `points` with scope `total`.
    pub line: usize,
    /// Number of seeds.
    pub seeds: u64,
    /// Verdict of the total, over the seeds.
    pub verdict: Verdict,
    /// Number of saturated seeds.
    pub saturated_seeds: u64,
    /// Number of seeds that are unfinished, too short, not stationary or not converged.
    pub unsure_seeds: u64,
    /// Results of all classes together.
    pub total: Line,
    /// Results per traffic class.
    pub classes: Vec<Line>,
    /// Value on the load axis.
    pub load: Option<f64>,
    /// Index of its series.
    pub series: usize,
}

/// All points of a folder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Study {
    /// The axes that are columns of the table.
    pub axes: Vec<String>,
    /// The axes with several values.
    pub varied_axes: Vec<String>,
    /// The axis of the offered load, if it has several values.
    pub load_axis: Option<String>,
    /// The names of series. Points of a series differ only in load.
    pub series: Vec<String>,
    /// In the order of the table `points`.
    pub points: Vec<Point>,
    /// Indices of the points, by series, then by load.
    order: Vec<usize>,
}

impl Study {
    /// Reads the points of a folder; `None` if it has no table of points.
    pub fn of(collection: &Collection) -> Option<Study> {
        let table = collection.table("points")?;
        let lines = Lines::of(table);
        let has_column = |axis: &&String| table.column(axis).is_some();
        let axes: Vec<String> = collection.axes.iter().filter(has_column).cloned().collect();
        let columns: Vec<_> = axes.iter().filter_map(|axis| table.column(axis)).collect();
        let metric = |column: &'static Column| (column.name, lines.metric(column.name));
        let metrics: Vec<_> = over_seeds().map(metric).collect();
        let measured = |line: usize, class: &str| Line {
            class: class.to_owned(),
            metrics: metrics
                .iter()
                .filter_map(|(name, metric)| Some((*name, metric.as_ref()?.get(line)?)))
                .collect(),
        };
        let whole = |name: &str, line: usize| {
            let number = Numbers::of(table, name).and_then(|column| column.get(line));
            number.map_or(0, |n| n as u64)
        };
        let mut points: Vec<Point> = vec![];
        let mut at: HashMap<u64, usize> = HashMap::new();
        for line in lines.about("total") {
            let values = columns.iter().map(|column| column.values.datum(line));
            at.insert(lines.point(line), points.len());
            points.push(Point {
                number: lines.point(line),
                values: values.collect(),
                line,
                seeds: whole("seeds", line),
                verdict: lines.verdict(line),
                saturated_seeds: whole("saturated_seeds", line),
                unsure_seeds: whole("unsure_seeds", line),
                total: measured(line, ""),
                classes: vec![],
                load: None,
                series: 0,
            });
        }
        let class = table.column("class");
        for line in lines.about("class") {
            if let Some(&at) = at.get(&lines.point(line)) {
                let class = class.and_then(|column| column.text(line)).unwrap_or("");
                points[at].classes.push(measured(line, class));
            }
        }
        let mut study = Study {
            axes,
            points,
            ..Study::default()
        };
        study.find_series();
        Some(study)
    }

    /// Assigns every point its load and its series.
    fn find_series(&mut self) {
        let is_varied = |axis: &&String| {
            let values = self.points.iter().filter_map(|p| self.value(p, axis));
            values.map(shown).collect::<BTreeSet<_>>().len() > 1
        };
        self.varied_axes = self.axes.iter().filter(is_varied).cloned().collect();
        let mut varied = self.varied_axes.iter();
        self.load_axis = varied.find(|axis| self.is_load(axis)).cloned();
        let place = |point: &Point| {
            let load = self.load_axis.as_ref();
            let load = load.and_then(|axis| self.value(point, axis)?.number());
            let part = |axis: &String| Some(named(axis, &shown(self.value(point, axis)?)));
            let parts: Vec<String> = self.series_axes().filter_map(part).collect();
            match parts.is_empty() {
                true => (load, ALL.to_owned()),
                false => (load, parts.join(", ")),
            }
        };
        let places: Vec<(Option<f64>, String)> = self.points.iter().map(place).collect();
        for (point, (load, name)) in self.points.iter_mut().zip(places) {
            let known = self.series.iter().position(|other| *other == name);
            point.load = load;
            point.series = known.unwrap_or_else(|| {
                self.series.push(name);
                self.series.len() - 1
            });
        }
        let load = |point: &Point| point.load.unwrap_or(0.0);
        self.order = (0..self.points.len()).collect();
        self.order.sort_by(|&a, &b| {
            let (a, b) = (&self.points[a], &self.points[b]);
            (a.series.cmp(&b.series))
                .then(load(a).total_cmp(&load(b)))
                .then(a.number.cmp(&b.number))
        });
    }

    /// Returns the axes that distinguish series.
    pub fn series_axes(&self) -> impl Iterator<Item = &String> {
        let axes = self.varied_axes.iter();
        axes.filter(|axis| Some(*axis) != self.load_axis.as_ref())
    }

    /// Returns the points by series, then by load.
    pub fn in_order(&self) -> impl Iterator<Item = &Point> {
        self.order.iter().map(|at| &self.points[*at])
    }

    /// Returns the points of a series by load.
    pub fn of_series(&self, series: usize) -> impl Iterator<Item = &Point> {
        self.in_order().filter(move |point| point.series == series)
    }

    /// Returns the name of a point in lists.
    pub fn name(&self, point: &Point) -> String {
        let series = &self.series[point.series];
        match (point.load, self.series.len()) {
            (None, 1) => "the run".into(),
            (None, _) => series.clone(),
            (Some(load), 1) => format!("load {}", number::plain(load)),
            (Some(load), _) => format!("{series}, load {}", number::plain(load)),
        }
    }

    /// Returns all loads in ascending order.
    pub fn loads(&self) -> Vec<f64> {
        let mut loads: Vec<f64> = self.points.iter().filter_map(|point| point.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        loads
    }

    /// Returns the load at which to compare series: the highest at which all were run and are ok,
    /// or the lowest at which all were run.
    pub fn chosen_load(&self) -> Option<f64> {
        let at = |load: f64| self.points.iter().filter(move |p| p.load == Some(load));
        let mut common = self.loads();
        common.retain(|load| at(*load).count() == self.series.len());
        let is_steady = |load: &&f64| at(**load).all(|p| p.verdict == Verdict::Ok);
        let highest = common.iter().rev().find(is_steady);
        highest.or(common.first()).copied()
    }

    /// Returns the points for details: those at the chosen load, or a few of a study without loads.
    pub fn chosen(&self) -> Vec<&Point> {
        let mut points: Vec<&Point> = self.in_order().collect();
        match self.chosen_load() {
            Some(load) => points.retain(|point| point.load == Some(load)),
            None => points.truncate(6),
        }
        points
    }

    /// Returns the loads between which a series saturates.
    pub fn saturation(&self, series: usize) -> Saturation {
        let points = self.of_series(series);
        Saturation::of(points.filter_map(|point| Some((point.load?, point.verdict))))
    }

    /// Returns the names of all classes, in order of appearance.
    pub fn classes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for line in self.points.iter().flat_map(|point| &point.classes) {
            if !names.contains(&line.class.as_str()) {
                names.push(&line.class);
            }
        }
        names
    }

    /// Returns a point's value on an axis; `None` if the study does not have the axis.
    pub fn value<'p>(&self, point: &'p Point, axis: &str) -> Option<&'p Datum> {
        let at = self.axes.iter().position(|own| own == axis)?;
        point.values.get(at)
    }

    /// Whether an axis is the offered load: it has that name and numeric values.
    pub fn is_load(&self, axis: &str) -> bool {
        let number = |point: &Point| self.value(point, axis)?.number();
        axis.rsplit('.').next() == Some("load") && self.points.iter().any(|p| number(p).is_some())
    }

    /// Groups the points by their settings on these axes, in order of appearance. Axes that the
    /// study does not have are ignored.
    pub fn by_settings(&self, axes: &[String]) -> BySettings {
        let mut groups = BySettings::default();
        for (n, point) in self.points.iter().enumerate() {
            let setting = |axis: &String| Setting {
                column: axis.clone(),
                value: self
                    .value(point, axis)
                    .map_or(Level::Text(String::new()), Level::of),
            };
            let settings: Vec<Setting> = axes.iter().map(setting).collect();
            let at = *groups.at.entry(key(&settings)).or_insert_with(|| {
                groups.all.push((settings, vec![]));
                groups.all.len() - 1
            });
            groups.all[at].1.push(n);
        }
        groups
    }
}

/// Returns a value of an axis, with the last component of its path if it is not clear by itself.
fn named(axis: &str, value: &str) -> String {
    if value.parse::<f64>().is_err() {
        return value.to_owned();
    }
    let word = axis.rsplit('.').next().unwrap_or(axis);
    format!("{word} {value}")
}

/// Formats a value of an axis with as few digits as keep it distinct.
fn shown(value: &Datum) -> String {
    match value {
        Datum::Number(x) => number::plain(*x),
        value => value.to_string(),
    }
}

/// Points grouped by equal settings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BySettings {
    /// Settings, and indices into [`Study::points`].
    pub all: Vec<(Vec<Setting>, Vec<usize>)>,
    /// Index into `all` by [`key`].
    at: HashMap<String, usize>,
}

impl BySettings {
    /// Returns the points with these settings.
    pub fn get(&self, settings: &[Setting]) -> Option<&[usize]> {
        let at = *self.at.get(&key(settings))?;
        Some(&self.all[at].1)
    }
}

/// Returns a key that is equal for equal settings.
fn key(settings: &[Setting]) -> String {
    serde_json::to_string(settings).expect("plain data is JSON")
}

/// Where a series saturates: the highest steady load below saturation, and the first saturated
/// load.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Saturation {
    /// The highest load with verdict `ok` below the first saturated load.
    pub last_steady: Option<f64>,
    /// `None` if no load is saturated.
    pub first_saturated: Option<f64>,
}

impl Saturation {
    /// Finds the saturation of points in ascending order of load.
    pub fn of(points: impl IntoIterator<Item = (f64, Verdict)>) -> Saturation {
        let mut found = Saturation::default();
        for (load, verdict) in points {
            match verdict {
                Verdict::Saturated => {
                    found.first_saturated = Some(load);
                    break;
                }
                Verdict::Ok => found.last_steady = Some(load),
                // Not known to be steady.
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_saturates_between_two_loads() {
        let of = |verdicts: &[Verdict]| {
            let loads = (1..).map(f64::from);
            let found = Saturation::of(loads.zip(verdicts.iter().copied()));
            (found.last_steady, found.first_saturated)
        };
        let (ok, saturated) = (Verdict::Ok, Verdict::Saturated);
        assert_eq!(of(&[ok, ok, saturated, ok]), (Some(2.0), Some(3.0)));
        assert_eq!(of(&[saturated, ok]), (None, Some(1.0)));
        assert_eq!(of(&[ok]), (Some(1.0), None));
        assert_eq!(of(&[]), (None, None));
        for unsure in [
            Verdict::NotConverged,
            Verdict::NotStationary,
            Verdict::TooShort,
            Verdict::Unfinished,
        ] {
            assert_eq!(of(&[ok, unsure, saturated]), (Some(1.0), Some(3.0)));
            assert_eq!(of(&[unsure, unsure]), (None, None));
        }
    }
}
