//! The points of a study, their results and their series.

use std::collections::BTreeSet;
use std::ops::Deref;

use netloom_results::view::{self, Saturation, number};
use netloom_results::{Collection, Datum, Verdict};

/// All verdicts of a point, each with its sign, CSS class and description.
pub(crate) const SIGNS: [(Verdict, &str, &str, &str); 7] = [
    (Verdict::Idle, "○", "ok", "nothing sent"),
    (
        Verdict::Ok,
        "●",
        "ok",
        "steady and as exact as requested, or completed",
    ),
    (
        Verdict::NotConverged,
        "◐",
        "unconverged",
        "less exact than requested",
    ),
    (Verdict::NotStationary, "◑", "unconverged", "not stationary"),
    (Verdict::TooShort, "◔", "unconverged", "too short to tell"),
    (Verdict::Saturated, "▲", "saturated", "saturated"),
    (Verdict::Unfinished, "◇", "unconverged", "unfinished"),
];

/// Returns the sign, CSS class and description of a verdict.
pub(crate) fn sign(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    let found = SIGNS.iter().find(|(own, ..)| *own == verdict);
    let (_, sign, style, words) = found.expect("every verdict has a sign");
    (sign, style, words)
}

/// A point, with its load and series.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Point {
    pub(crate) measured: view::Point,
    /// Value on the load axis.
    pub(crate) load: Option<f64>,
    /// Index of its series.
    pub(crate) series: usize,
}

impl Deref for Point {
    type Target = view::Point;

    fn deref(&self) -> &view::Point {
        &self.measured
    }
}

/// All points of a collection, by series and load.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Study {
    /// The axes with more than one value.
    pub(crate) axes: Vec<String>,
    /// Index of the offered load in `axes`.
    pub(crate) load_axis: Option<usize>,
    /// The names of series. Points of a series differ only in load.
    pub(crate) series: Vec<String>,
    pub(crate) points: Vec<Point>,
    /// The points in the order of the table.
    pub(crate) measured: view::Study,
}

impl Study {
    pub(crate) fn of(collection: &Collection) -> Study {
        let measured = view::Study::of(collection).unwrap_or_default();
        let is_varied = |axis: &&String| {
            let values = measured.points.iter();
            let values = values.filter_map(|point| measured.value(point, axis).map(shown));
            values.collect::<BTreeSet<_>>().len() > 1
        };
        let axes: Vec<String> = measured.axes.iter().filter(is_varied).cloned().collect();
        let mut study = Study {
            load_axis: axes.iter().position(|axis| measured.is_load(axis)),
            axes,
            ..Study::default()
        };
        for point in &measured.points {
            let value = |axis: &String| measured.value(point, axis);
            let values: Vec<String> = study.axes.iter().filter_map(value).map(shown).collect();
            let load = study
                .load_axis
                .and_then(|at| value(&study.axes[at])?.number());
            let series = study.series_of(&values);
            study.points.push(Point {
                measured: point.clone(),
                load,
                series,
            });
        }
        let load = |point: &Point| point.load.unwrap_or(0.0);
        study.points.sort_by(|a, b| {
            (a.series.cmp(&b.series))
                .then(load(a).total_cmp(&load(b)))
                .then(a.number.cmp(&b.number))
        });
        study.measured = measured;
        study
    }

    /// Returns the index of the series with these values, ignoring load; adds a series if needed.
    fn series_of(&mut self, values: &[String]) -> usize {
        let parts: Vec<String> = self
            .axes
            .iter()
            .zip(values)
            .enumerate()
            .filter(|(at, _)| Some(*at) != self.load_axis)
            .map(|(_, (axis, value))| told(axis, value))
            .collect();
        let name = if parts.is_empty() {
            "all points".to_owned()
        } else {
            parts.join(", ")
        };
        let known = self.series.iter().position(|other| *other == name);
        known.unwrap_or_else(|| {
            self.series.push(name);
            self.series.len() - 1
        })
    }

    /// Returns the name of a point in lists.
    pub(crate) fn name(&self, point: &Point) -> String {
        match (point.load, self.series.len()) {
            (None, 1) => "the run".into(),
            (None, _) => self.series[point.series].clone(),
            (Some(load), 1) => format!("load {}", number::plain(load)),
            (Some(load), _) => format!(
                "{}, load {}",
                self.series[point.series],
                number::plain(load)
            ),
        }
    }

    /// Returns all loads in ascending order.
    pub(crate) fn loads(&self) -> Vec<f64> {
        let mut loads: Vec<f64> = self.points.iter().filter_map(|point| point.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        loads
    }

    pub(crate) fn series_points(&self, series: usize) -> impl Iterator<Item = &Point> {
        self.points
            .iter()
            .filter(move |point| point.series == series)
    }

    /// Returns the load at which to compare series: the highest at which all were run and are ok,
    /// or the lowest at which all were run.
    pub(crate) fn chosen_load(&self) -> Option<f64> {
        let at = |load: f64| self.points.iter().filter(move |p| p.load == Some(load));
        let common: Vec<f64> = self
            .loads()
            .into_iter()
            .filter(|load| at(*load).count() == self.series.len())
            .collect();
        let is_steady = |load: &&f64| at(**load).all(|p| p.verdict == Verdict::Ok);
        let highest = common.iter().rev().find(is_steady);
        highest.or(common.first()).copied()
    }

    /// Returns the points for details: those at the chosen load, or a few of a study without loads.
    pub(crate) fn chosen(&self) -> Vec<&Point> {
        match self.chosen_load() {
            Some(load) => self
                .points
                .iter()
                .filter(|p| p.load == Some(load))
                .collect(),
            None => self.points.iter().take(6).collect(),
        }
    }

    /// Returns the loads between which a series saturates.
    pub(crate) fn saturation(&self, series: usize) -> Saturation {
        let points = self.series_points(series);
        Saturation::of(points.filter_map(|point| Some((point.load?, point.verdict))))
    }
}

/// Returns a value, with the last component of its axis if it is not clear by itself.
fn told(axis: &str, value: &str) -> String {
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
