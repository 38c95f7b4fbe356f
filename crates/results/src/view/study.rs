//! The points of a folder: what they set, what was measured at each, where series of them saturate.

use std::collections::{BTreeMap, HashMap};

use netloom_metrics::Verdict;
use serde::Serialize;

use super::columns::Numbers;
use super::lines::{Estimate, Lines};
use crate::collection::Collection;
use crate::study::{Level, OVER_SEEDS, Setting};
use crate::table::Datum;

/// What was measured at a point, in total or for one class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Empty for the total.
    pub class: String,
    metrics: BTreeMap<&'static str, Estimate>,
}

impl Line {
    /// What was measured of one of [`OVER_SEEDS`].
    pub fn get(&self, metric: &str) -> Option<Estimate> {
        self.metrics.get(metric).copied()
    }

    /// Its mean.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.get(metric).map(|estimate| estimate.mean)
    }
}

/// One value for every axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// As in the column `point`.
    pub number: u64,
    /// Its value on every axis of [`Study::axes`].
    pub values: Vec<Datum>,
    /// The line of `points` about everything together.
    pub line: usize,
    /// How many seeds were run.
    pub seeds: u64,
    /// Of everything together, over the seeds.
    pub verdict: Verdict,
    /// How many seeds are saturated.
    pub saturated_seeds: u64,
    /// How many are unfinished, too short to tell, not stationary or not converged.
    pub unsure_seeds: u64,
    /// Everything together.
    pub total: Line,
    /// By traffic class.
    pub classes: Vec<Line>,
}

/// All points of a folder, in the order of the table `points`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Study {
    /// The axes that are columns of the table.
    pub axes: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
}

impl Study {
    /// Nothing if the folder has no table of points.
    pub fn of(collection: &Collection) -> Option<Study> {
        let table = collection.table("points")?;
        let lines = Lines::of(table);
        let has_column = |axis: &&String| table.column(axis).is_some();
        let axes: Vec<String> = collection.axes.iter().filter(has_column).cloned().collect();
        let columns: Vec<_> = axes.iter().filter_map(|axis| table.column(axis)).collect();
        let metrics = OVER_SEEDS.map(|name| (name, lines.metric(name)));
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
            });
        }
        let class = table.column("class");
        for line in lines.about("class") {
            if let Some(&at) = at.get(&lines.point(line)) {
                let class = class.and_then(|column| column.text(line)).unwrap_or("");
                points[at].classes.push(measured(line, class));
            }
        }
        Some(Study { axes, points })
    }

    /// The names of all classes, in the order of appearance.
    pub fn classes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for line in self.points.iter().flat_map(|point| &point.classes) {
            if !names.contains(&line.class.as_str()) {
                names.push(&line.class);
            }
        }
        names
    }

    /// A point's value on an axis; nothing if the study has no such axis.
    pub fn value<'p>(&self, point: &'p Point, axis: &str) -> Option<&'p Datum> {
        let at = self.axes.iter().position(|own| own == axis)?;
        point.values.get(at)
    }

    /// Whether an axis is the offered load: called so, and with numbers.
    pub fn is_load(&self, axis: &str) -> bool {
        let number = |point: &Point| self.value(point, axis)?.number();
        axis.rsplit('.').next() == Some("load") && self.points.iter().any(|p| number(p).is_some())
    }

    /// The points by what they set on these axes, in the order of appearance. An axis of others sets nothing.
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

/// Points that set the same.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BySettings {
    /// What they set, and their places in [`Study::points`].
    pub all: Vec<(Vec<Setting>, Vec<usize>)>,
    /// Where the settings are, by [`key`].
    at: HashMap<String, usize>,
}

impl BySettings {
    /// The points with these settings.
    pub fn get(&self, settings: &[Setting]) -> Option<&[usize]> {
        let at = *self.at.get(&key(settings))?;
        Some(&self.all[at].1)
    }
}

/// Equal for equal settings.
fn key(settings: &[Setting]) -> String {
    serde_json::to_string(settings).expect("plain data is JSON")
}

/// Where a series saturates: the last load below that is known to be steady, and the first at which it saturates.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Saturation {
    /// The last load whose verdict is `ok`, below the first saturated one.
    pub last_steady: Option<f64>,
    /// Nothing if it never is.
    pub first_saturated: Option<f64>,
}

impl Saturation {
    /// Of points by rising load.
    pub fn of(points: impl IntoIterator<Item = (f64, Verdict)>) -> Saturation {
        let mut found = Saturation::default();
        for (load, verdict) in points {
            match verdict {
                Verdict::Saturated => {
                    found.first_saturated = Some(load);
                    break;
                }
                Verdict::Ok => found.last_steady = Some(load),
                // Whether it is steady is not known.
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
