//! Results for figures, reports and comparisons: points with statistics over seeds, use of links,
//! the drawing of the fabric, and the formatting of numbers and names.
//!
//! ```text
//!  Collection ─► Lines: a table about points, line by line ─► Study: points, verdicts, where series saturate
//!             ─► Links: use of every link                  ─► layout: where to draw it
//! ```

mod columns;
pub mod layout;
mod lines;
mod links;
mod markup;
mod study;

pub use columns::{Numbers, spelled_out, words};
pub use lines::{Estimate, Lines, Metric};
pub use links::{Link, Links, Use, ordered};
pub use markup::escaped;
pub use netloom_text::number;
pub use study::{BySettings, Line, Point, Saturation, Study};
