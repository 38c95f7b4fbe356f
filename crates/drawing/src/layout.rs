//! Choice of the drawing that suits a fabric.

pub use netloom_results::view::layout::{
    Anchor, Cable, Edge, EdgeKind, Label, Layout, Node, NodeKind,
};
use netloom_topology::{Structure, Topology};

use crate::canvas::Canvas;
use crate::{overview, place};

/// Maximum number of switches that are drawn individually.
pub const SWITCHES_DRAWN: u32 = 400;

/// Whether NICs are part of a drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hosts {
    /// Each NIC is drawn, or one box per switch if there are too many.
    Drawn,
    /// Only switches and the cables between them.
    LeftOut,
}

/// Lays out a fabric, NICs included.
pub fn layout(topology: &Topology) -> Layout {
    layout_with(topology, Hosts::Drawn)
}

/// Lays out a fabric with or without NICs.
pub fn layout_with(topology: &Topology, hosts: Hosts) -> Layout {
    let mut canvas = Canvas::new(topology, hosts);
    let is_large = topology.n_switches() > SWITCHES_DRAWN;
    match (topology.structure(), is_large) {
        (_, false) if topology.n_switches() == 1 => place::star(&mut canvas),
        (Structure::Tree(tree), false) => place::tree(&mut canvas, tree),
        (Structure::Tree(tree), true) => overview::tree(&mut canvas, tree),
        (Structure::Grid(grid), false) => place::grid(&mut canvas, grid),
        (Structure::Grid(grid), true) => overview::grid(&mut canvas, grid),
        (Structure::Dragonfly(shape), false) => {
            place::groups(&mut canvas, shape.switches, None);
        }
        (Structure::Megafly(shape), false) => {
            place::groups(&mut canvas, shape.switches(), Some(shape.leaves));
        }
        (Structure::Dragonfly(shape), true) => overview::groups(&mut canvas, shape.groups),
        (Structure::Megafly(shape), true) => overview::groups(&mut canvas, shape.groups),
        (Structure::Plain, false) => place::plain(&mut canvas),
        (Structure::Plain, true) => overview::plain(&mut canvas),
    }
    canvas.finish(is_large)
}
