//! Studies: many runs described by one file.
//!
//! ```text
//!  file with [study] ─► Study (axes, seeds, rules) ─► units ─► points, seeds ─► spec::Loaded ─► a run
//!                          reading.rs                           │      ▲
//!                                                    outcomes ──┴──────┘ rising.rs, seeds.rs: choose the next
//! ```
//!
//! An **axis** is a key with several values, a **point** has one value for every axis, a **run** is
//! a point with one seed. A **unit** is the work of one process: a run; a point, if a rule adds
//! seeds; or a whole series along an axis whose values a rule selects. Rules use only the outcomes
//! of their own unit, so that any number of processes on any machines run the same runs.

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
