//! Placement of the switches, by the structure of the fabric.

mod circle;
mod cube;
mod fan;
mod grid;
mod groups;
mod levels;
mod plain;
mod star;
mod tree;

pub(crate) use grid::{WRAPS, grid, stubs};
pub(crate) use groups::groups;
pub(crate) use plain::plain;
pub(crate) use star::star;
pub(crate) use tree::tree;
