//! The points of a study: what was measured at each, and which of them form a series.

use std::collections::BTreeMap;

use netloom_results::{Collection, Datum, Frame, OVER_SEEDS, Verdict, half_width_of};

use crate::number;

/// A mean over seeds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    /// Half of the 95 % interval over seeds; nothing for one seed.
    pub(crate) half_width: Option<f64>,
}

/// What was measured at a point, in total or for one class.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Line {
    /// Empty for the total.
    pub(crate) class: String,
    metrics: BTreeMap<&'static str, Estimate>,
}

impl Line {
    /// What was measured of one of [`OVER_SEEDS`].
    pub(crate) fn get(&self, metric: &str) -> Option<Estimate> {
        self.metrics.get(metric).copied()
    }

    pub(crate) fn mean(&self, metric: &str) -> Option<f64> {
        self.get(metric).map(|estimate| estimate.mean)
    }
}

/// Every verdict of a point with its sign, its class of style and its words.
pub(crate) const SIGNS: [(Verdict, &str, &str, &str); 5] = [
    (Verdict::Ok, "●", "ok", "steady and as exact as asked"),
    (
        Verdict::NotConverged,
        "◐",
        "unconverged",
        "less exact than asked",
    ),
    (Verdict::NotStationary, "◑", "unconverged", "not stationary"),
    (Verdict::TooShort, "◔", "unconverged", "too short to tell"),
    (Verdict::Saturated, "▲", "saturated", "saturated"),
];

/// The sign, class of style and words of a verdict.
pub(crate) fn sign(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    let found = SIGNS.iter().find(|(own, ..)| *own == verdict);
    let (_, sign, style, words) = found.expect("every verdict has a sign");
    (sign, style, words)
}

/// One value for every axis.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Point {
    /// As in the column `point`.
    pub(crate) number: u64,
    /// Its value on every axis of [`Study::axes`].
    pub(crate) values: Vec<String>,
    /// Its value on the axis of load.
    pub(crate) load: Option<f64>,
    /// The number of its series.
    pub(crate) series: usize,
    pub(crate) seeds: u64,
    /// Of everything together, over the seeds.
    pub(crate) verdict: Verdict,
    /// How many seeds are saturated.
    pub(crate) saturated_seeds: u64,
    /// How many are too short to tell, not stationary or not converged.
    pub(crate) unsure_seeds: u64,
    pub(crate) total: Line,
    pub(crate) classes: Vec<Line>,
}

/// All points of a collection.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Study {
    /// The axes that have more than one value; others say nothing.
    pub(crate) axes: Vec<String>,
    /// Which of them is the offered load.
    pub(crate) load_axis: Option<usize>,
    /// The names of series: points that differ in load only.
    pub(crate) series: Vec<String>,
    pub(crate) points: Vec<Point>,
}

impl Study {
    pub(crate) fn of(collection: &Collection) -> Study {
        let Some(table) = collection.table("points") else {
            return Study::default();
        };
        let axes: Vec<String> = collection
            .axes
            .iter()
            .filter(|axis| n_values(table, axis) > 1)
            .cloned()
            .collect();
        let load_axis = axes.iter().position(|axis| is_load(table, axis));
        let mut study = Study {
            axes,
            load_axis,
            ..Study::default()
        };
        for line in 0..table.len() {
            study.add(table, line);
        }
        let load = |point: &Point| point.load.unwrap_or(0.0);
        study.points.sort_by(|a, b| {
            (a.series.cmp(&b.series))
                .then(load(a).total_cmp(&load(b)))
                .then(a.number.cmp(&b.number))
        });
        study
    }

    fn add(&mut self, table: &Frame, line: usize) {
        let number = |name: &str| table.column(name).and_then(|column| column.number(line));
        let text = |name: &str| table.column(name).and_then(|column| column.text(line));
        let whole = |name: &str| number(name).map_or(0, |n| n as u64);
        let at = whole("point");
        let mut metrics = BTreeMap::new();
        for metric in OVER_SEEDS {
            if let Some(mean) = number(metric) {
                let half_width = number(&half_width_of(metric));
                metrics.insert(metric, Estimate { mean, half_width });
            }
        }
        let class = text("class").unwrap_or("").to_owned();
        let measured = Line { class, metrics };
        let known = self.points.iter().position(|point| point.number == at);
        let known = known.unwrap_or_else(|| {
            let values: Vec<String> = self
                .axes
                .iter()
                .map(|axis| axis_value(table, axis, line))
                .collect();
            let series = self.series_of(&values);
            self.points.push(Point {
                number: at,
                load: self.load_axis.and_then(|axis| number(&self.axes[axis])),
                values,
                series,
                seeds: 0,
                verdict: Verdict::Ok,
                saturated_seeds: 0,
                unsure_seeds: 0,
                total: Line::default(),
                classes: vec![],
            });
            self.points.len() - 1
        });
        let point = &mut self.points[known];
        match text("scope") {
            Some("total") => {
                point.seeds = whole("seeds");
                point.saturated_seeds = whole("saturated_seeds");
                point.unsure_seeds = whole("unsure_seeds");
                point.verdict = text("verdict")
                    .and_then(Verdict::of_word)
                    .unwrap_or_default();
                point.total = measured;
            }
            Some("class") => point.classes.push(measured),
            _ => {}
        }
    }

    /// The number of the series with these values, load aside; a new one if need be.
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

    /// What a point is called where points are listed.
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

    /// Every load, from low to high.
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

    /// The load at which series are best compared: the highest at which all were run and none is saturated;
    /// if there is none, the lowest at which all were run.
    pub(crate) fn chosen_load(&self) -> Option<f64> {
        let at = |load: f64| self.points.iter().filter(move |p| p.load == Some(load));
        let common: Vec<f64> = self
            .loads()
            .into_iter()
            .filter(|load| at(*load).count() == self.series.len())
            .collect();
        let is_steady = |load: &&f64| at(**load).all(|p| p.verdict != Verdict::Saturated);
        let highest = common.iter().rev().find(is_steady);
        highest.or(common.first()).copied()
    }

    /// The points that details are told about: those at the chosen load, or a few of a study without loads.
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

    /// The names of all classes, in the order of appearance.
    pub(crate) fn classes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for line in self.points.iter().flat_map(|point| &point.classes) {
            if !names.contains(&line.class.as_str()) {
                names.push(&line.class);
            }
        }
        names
    }
}

/// A value with the last word of its axis, where it says nothing by itself.
fn told(axis: &str, value: &str) -> String {
    if value.parse::<f64>().is_err() {
        return value.to_owned();
    }
    let word = axis.rsplit('.').next().unwrap_or(axis);
    format!("{word} {value}")
}

fn axis_value(table: &Frame, axis: &str, line: usize) -> String {
    let Some(column) = table.column(axis) else {
        return String::new();
    };
    match column.values.datum(line) {
        Datum::Number(x) => number::plain(x),
        datum => datum.to_string(),
    }
}

fn n_values(table: &Frame, axis: &str) -> usize {
    let values = (0..table.len()).map(|line| axis_value(table, axis, line));
    values.collect::<std::collections::BTreeSet<_>>().len()
}

/// Whether an axis is the offered load: a number, and called so.
fn is_load(table: &Frame, axis: &str) -> bool {
    let is_number = table
        .column(axis)
        .is_some_and(|column| (0..table.len()).any(|line| column.number(line).is_some()));
    is_number && axis.rsplit('.').next() == Some("load")
}
