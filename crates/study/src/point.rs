//! Points, series and units of a study.

use serde::{Deserialize, Serialize};

/// One value for every axis, by its number ([`crate::Axis::value`]). Points are in order of their numbers, the first
/// axis first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub Vec<u64>);

/// The points along the axis that is walked by a rule, with everything else fixed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Its first point.
    pub first: Point,
    /// Which axis is walked.
    pub axis: usize,
}

impl Series {
    /// The point with this number along the axis.
    pub fn point(&self, number: u64) -> Point {
        let mut point = self.first.clone();
        point.0[self.axis] = number;
        point
    }
}

/// What one process does alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Unit {
    /// A point with one seed.
    Run(Point, u64),
    /// A point whose seeds are added by a rule ([`crate::Seeds::needs_another`]).
    Point(Point),
    /// A series whose points follow from each other ([`crate::Rising::next`]), each with seeds as above.
    Series(Series),
}
