//! Points, series and units of a study.

use serde::{Deserialize, Serialize};

/// One value number ([`crate::Axis::value`]) for every axis. Points are ordered by these numbers,
/// the first axis first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub Vec<u64>);

/// The points along the axis of a rule; all other axes are fixed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Series {
    pub first: Point,
    /// Index of the axis.
    pub axis: usize,
}

impl Series {
    /// Returns the point with this number along the axis.
    pub fn point(&self, number: u64) -> Point {
        let mut point = self.first.clone();
        point.0[self.axis] = number;
        point
    }
}

/// The work of one process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Unit {
    /// A point with one seed.
    Run(Point, u64),
    /// A point to which a rule adds seeds ([`crate::Seeds::needs_another`]).
    Point(Point),
    /// A series in which each point depends on the previous ones ([`crate::Rising::next`]), each
    /// with seeds as above.
    Series(Series),
}
