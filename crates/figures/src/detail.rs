//! Arranges the lines of a few selected points in panels.

use std::collections::BTreeMap;

use crate::model::{Line, Point};
use crate::study::{Study, StudyPoint};
use crate::style::Style;

/// Maximum number of panels of detail figures.
pub(crate) const DETAILS: usize = 9;

/// The selected points, and the arrangement of their lines.
pub(crate) struct Details<'s, 'c> {
    pub(crate) study: &'s Study<'c>,
    pub(crate) points: Vec<StudyPoint>,
}

/// The points of a line, by point of the study and group.
pub(crate) type ByPoint = BTreeMap<(u64, usize), Vec<Point>>;

/// Panels with their lines, and the meaning of the lines.
pub(crate) struct Arranged {
    pub(crate) panels: Vec<(String, Vec<Line>)>,
    pub(crate) series: String,
    pub(crate) columns: Option<usize>,
}

impl<'s, 'c> Details<'s, 'c> {
    pub(crate) fn new(study: &'s Study<'c>) -> Details<'s, 'c> {
        Details {
            study,
            points: study.chosen(DETAILS),
        }
    }

    /// Whether a point is selected.
    pub(crate) fn is_chosen(&self, number: u64) -> bool {
        self.points.iter().any(|point| point.number == number)
    }

    /// Arranges lines in panels. Classes are compared within a point; with one class, series are
    /// compared at one load; with one series, loads are compared. A few named points are compared
    /// for each class.
    pub(crate) fn arranged(&self, found: &ByPoint) -> Arranged {
        let study = self.study;
        let line = |name: String, style: Style, number: u64, group: usize| {
            let points = found
                .get(&(number, group))
                .filter(|points| !points.is_empty())?
                .clone();
            Some(Line {
                name,
                style,
                joined: true,
                marked: false,
                points,
            })
        };
        let n_groups = study.groups.names.len();
        let mut panels: Vec<(String, Vec<Line>)> = vec![];
        let series;
        let mut columns = None;
        if n_groups > 1 && study.is_side_by_side() {
            for (group, name) in study.groups.names.iter().enumerate() {
                let of = |(n, point): (usize, &StudyPoint)| {
                    line(study.x_text(point.x), Style::nth(n), point.number, group)
                };
                let lines = self.points.iter().enumerate().filter_map(of);
                panels.push((name.clone(), lines.collect()));
            }
            series = study.x.label.clone();
        } else if n_groups > 1 {
            for point in &self.points {
                let of = |group: usize| {
                    let name = study.groups.names[group].clone();
                    line(name, study.groups.style(group), point.number, group)
                };
                panels.push((
                    study.point_text(point),
                    (0..n_groups).filter_map(of).collect(),
                ));
            }
            series = study.groups.title().to_owned();
            columns = self.columns();
        } else if study.series.len() * study.facets.len() > 1 {
            let mut by_x: BTreeMap<u64, (String, Vec<Line>)> = BTreeMap::new();
            for point in &self.points {
                let key = crate::study::ordered_bits(point.x);
                let panel = by_x
                    .entry(key)
                    .or_insert_with(|| (study.x_text(point.x), vec![]));
                let name = study.series_text(point.facet, point.series);
                let nth = point.facet * study.series.len() + point.series;
                panel
                    .1
                    .extend(line(name, study.series_style(nth), point.number, 0));
            }
            panels.extend(by_x.into_values());
            series = study.series_title.clone();
        } else {
            let lines = self.points.iter().enumerate();
            let name = |point: &StudyPoint| match study.is_sweep() {
                true => study.x_text(point.x),
                false => study.groups.names.first().cloned().unwrap_or_default(),
            };
            let lines =
                lines.filter_map(|(n, point)| line(name(point), Style::nth(n), point.number, 0));
            panels.push((String::new(), lines.collect()));
            series = if study.is_sweep() {
                study.x.label.clone()
            } else {
                String::new()
            };
        }
        panels.retain(|(_, lines)| !lines.is_empty());
        Arranged {
            panels,
            series,
            columns,
        }
    }

    /// Returns the number of panels per series, which form a row, if there are several series.
    pub(crate) fn columns(&self) -> Option<usize> {
        let first = self.points.first().map(|p| (p.facet, p.series));
        let in_row = self
            .points
            .iter()
            .filter(|p| Some((p.facet, p.series)) == first);
        let n = in_row.count();
        (n > 1 && n < self.points.len()).then_some(n)
    }

    /// Returns a sentence for captions about the selected points.
    pub(crate) fn sentence(&self) -> &'static str {
        match self.study.is_numeric && self.study.is_sweep() {
            true => {
                " Points are the lowest, a middle and the highest without saturation, if there are \
                 any."
            }
            false => "",
        }
    }
}
