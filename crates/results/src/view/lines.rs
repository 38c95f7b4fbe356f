//! Reads a table about points line by line.

use netloom_metrics::Verdict;

use super::columns::{Numbers, words};
use crate::frame::{Frame, Words};
use crate::study::half_width_of;

/// A mean over seeds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    pub mean: f64,
    /// Half width of the 95 % interval over seeds; `None` for one seed.
    pub half_width: Option<f64>,
}

/// A table about points: `points`, with statistics over seeds, or one with a line per seed.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    pub table: &'a Frame,
    point: Option<Numbers<'a>>,
    scope: Option<&'a Words>,
    verdict: Option<&'a Words>,
}

impl<'a> Lines<'a> {
    /// Creates a reader of a table.
    pub fn of(table: &'a Frame) -> Lines<'a> {
        Lines {
            table,
            point: Numbers::of(table, "point"),
            scope: words(table, "scope"),
            verdict: words(table, "verdict"),
        }
    }

    /// Returns the lines of a scope: `total`, `class`, `sl`.
    pub fn about(self, scope: &str) -> impl Iterator<Item = usize> {
        let is_it = move |line: &usize| self.scope(*line) == Some(scope);
        (0..self.table.len()).filter(is_it)
    }

    /// Returns the scope of a line.
    pub fn scope(self, line: usize) -> Option<&'a str> {
        self.scope.and_then(|column| column.get(line))
    }

    /// Returns the point of a line; 0 if the table has no such column.
    pub fn point(self, line: usize) -> u64 {
        let number = self.point.and_then(|column| column.get(line));
        number.map_or(0, |number| number as u64)
    }

    /// Returns the verdict of a line.
    pub fn verdict(self, line: usize) -> Verdict {
        let word = self.verdict.and_then(|column| column.get(line));
        word.and_then(Verdict::of_word).unwrap_or_default()
    }

    /// Returns the column of a metric, if it exists.
    pub fn metric(self, name: &str) -> Option<Metric<'a>> {
        Some(Metric {
            mean: Numbers::of(self.table, name)?,
            half_width: Numbers::of(self.table, &half_width_of(name)),
        })
    }
}

/// A metric for every line, with its interval if the table has one.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'a> {
    mean: Numbers<'a>,
    half_width: Option<Numbers<'a>>,
}

impl Metric<'_> {
    /// Returns the value of a line.
    pub fn get(self, line: usize) -> Option<Estimate> {
        Some(Estimate {
            mean: self.mean.get(line)?,
            half_width: self.half_width.and_then(|column| column.get(line)),
        })
    }
}
