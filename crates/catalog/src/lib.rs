//! Named kinds with described parameters, and reading of experiment files.
//!
//! Every concept with several kinds (topology, routing, arbiter, pattern, …) has one constant slice
//! of [`Kind`]s. That description drives the reader of experiment files, the messages about unknown
//! names, `netloom explain`, the schema and the conformance tests.
//!
//! A file becomes a tree of [`Value`]s with source positions. A [`Section`] hands out the values of
//! one table. It collects every mistake with its position in [`Notes`] instead of stopping at the
//! first, and records every value, defaults included, in [`Resolved`].
//!
//! This crate depends only on `netloom-units`. Start with [`params!`] and [`kind!`], which declare
//! a kind, then [`Section`].

mod codes;
mod document;
pub mod file;
mod files;
mod kind;
mod merge;
mod name;
mod nearest;
mod notes;
mod params;
mod print;
mod read;
mod section;

pub use codes::{Code, codes};
pub use document::{Document, Place, Position, Value, ValueShape, keys_of, split_assignment};
pub use files::{Disk, Files, MemoryFiles};
pub use kind::{Described, Kind, KindInfo, info, read_kind};
pub use name::{is_formula, is_hidden, no_name, visible, visible_name};
pub use nearest::nearest;
pub use notes::{MOST_NOTES, Note, Notes, Severity};
pub use params::{Param, Params};
pub use read::{FromToml, Shape, one_of};
pub use section::{Resolved, ResolvedLine, Section};
