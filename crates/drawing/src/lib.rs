//! Pictures of fabrics: where everything is drawn, and the drawing itself.
//!
//! [`layout`] gives every switch and NIC a place and every cable a line; [`svg`] draws that. They are two
//! steps because a report colours the same lines by how much they were used, long after the fabric is gone:
//! a [`Layout`] is plain data (`layout.json`) with the names that tables of results use.
//!
//! What is regular is drawn as such: trees by levels with the roots on top, grids as grids, cubes as nested
//! cubes, groups of switches on a circle, one switch as a star. Other fabrics go by levels if their NICs sit at the bottom, and otherwise
//! so that distances in the picture follow distances in the fabric. Beyond [`SWITCHES_DRAWN`] switches a
//! picture of each would be grey: the overview draws groups of switches and bundles of cables.
//!
//! A layout depends on nothing but the fabric: no clock, no random number, no order of a map.

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
