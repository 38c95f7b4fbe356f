//! Pictures of fabrics: layout and SVG.
//!
//! [`layout`] gives every switch and NIC a position and every cable a line; [`svg`] draws the
//! result. The steps are separate because a report colours the same lines by utilisation long after
//! the run. A [`Layout`] is plain data (`layout.json`) with the names that result tables use.
//!
//! Regular fabrics are drawn as such: trees by levels with the roots on top, grids as grids, cubes
//! as nested cubes, groups of switches on a circle, a single switch as a star. Other fabrics are
//! drawn by levels if their NICs are at the bottom. Otherwise distances in the picture follow
//! distances in the fabric. Beyond [`SWITCHES_DRAWN`] switches, the overview draws groups of
//! switches and bundles of cables.
//!
//! A layout depends only on the fabric, not on time, random numbers or the order of a map.
//!
//! This crate may depend on the topology and the results, not on routing or simulation. Start with
//! [`layout`]; each file in `place/` draws one structure.

mod canvas;
mod layout;
mod overview;
mod palette;
mod place;
mod stress;
mod svg;

pub use layout::{
    Anchor, Cable, Edge, EdgeKind, Hosts, Label, Layout, Node, NodeKind, SWITCHES_DRAWN, layout,
    layout_with,
};
pub use svg::{Scheme, Style, svg};
