//! What a named kind is, and how a file is read.
//!
//! Every concept of netloom that has several kinds (topology, routing, arbiter, pattern, …) keeps one
//! constant slice of [`Kind`]s. The same description gives the reader of experiment files, the messages
//! about unknown names, `netloom list`, `netloom explain`, the schema and the conformance tests.
//!
//! A file is read into a tree of [`Value`]s that remember where they stand. [`Section`] hands out the
//! values of one table, notes every mistake with its place ([`Notes`]) instead of stopping at the first,
//! and writes down every value with its default ([`Resolved`]), so that what was really run can be kept.

mod document;
pub mod file;
mod kind;
mod merge;
mod name;
mod nearest;
mod notes;
mod params;
mod print;
mod read;
mod section;

pub use document::{Document, Place, Shape as ValueShape, Value, keys_of, split_assignment};
pub use kind::{Described, Kind, KindInfo, info, read_kind};
pub use name::{is_formula, is_hidden, no_name, visible, visible_name};
pub use nearest::nearest;
pub use notes::{MOST_NOTES, Note, Notes, Severity};
pub use params::{Param, Params};
pub use read::{FromToml, Shape};
pub use section::{Resolved, ResolvedLine, Section};
