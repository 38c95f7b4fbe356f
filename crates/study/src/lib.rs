//! Studies: many runs described by one file.
//!
//! ```text
//!  file with [study] ─► Study (axes, seeds, rules) ─► units ─► points, seeds ─► spec::Loaded ─► a run
//!                          reading.rs                           │      ▲
//!                                                    outcomes ──┴──────┘ rising.rs, seeds.rs: what comes next
//! ```
//!
//! An **axis** is a key with several values, a **point** has one value for every axis, a **run** is a point with one
//! seed. A **unit** is what one process does alone: a run; a point, if seeds are added by a rule; a whole series
//! along an axis that is walked by a rule. Rules see the outcomes of their own unit and nothing else, so that any
//! number of processes on any machines run the same runs.

mod axis;
mod check;
mod decimal;
mod point;
mod reading;
mod rising;
pub mod running;
mod seeds;
mod study;

pub use axis::{Axis, AxisValue};
pub use check::{Checked, StudyCost};
pub use point::{Point, Series, Unit};
pub use rising::Rising;
pub use seeds::{SeedOutcome, Seeds};
pub use study::{Division, OpenedStudy, Study};
