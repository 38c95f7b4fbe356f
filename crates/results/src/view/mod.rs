//! Results as figures, reports and comparisons read them: points with what their seeds say together, the use of
//! links, the drawing of the fabric; and numbers and names as they are written for people.
//!
//! ```text
//!  Collection ─► Lines: a table about points, line by line ─► Study: points, verdicts, where series saturate
//!             ─► Links: how busy every link was            ─► layout: the places to draw that at
//! ```

mod columns;
pub mod layout;
mod lines;
mod links;
mod markup;
pub mod number;
mod study;

pub use columns::{Numbers, spelled_out, words};
pub use lines::{Estimate, Lines, Metric};
pub use links::{Link, Links, Use, ordered};
pub use markup::escaped;
pub use study::{BySettings, Line, Point, Saturation, Study};
