//! What is regular about a fabric.

use crate::{DragonflyShape, Grid, MegaflyShape, Pgft};

/// What arithmetic routings need to know about a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Structure {
    /// A fat tree, numbered as [`Pgft`] says.
    Tree(Pgft),
    /// A mesh, torus or hypercube, numbered as [`Grid`] says.
    Grid(Grid),
    /// A dragonfly, numbered as [`DragonflyShape`] says.
    Dragonfly(DragonflyShape),
    /// A megafly, numbered as [`MegaflyShape`] says.
    Megafly(MegaflyShape),
    /// Nothing regular is known.
    Plain,
}

impl Structure {
    /// What a person calls it, with its numbers.
    pub fn words(&self) -> String {
        match self {
            Structure::Tree(tree) => tree.to_string(),
            Structure::Grid(grid) => grid.to_string(),
            Structure::Dragonfly(dragonfly) => dragonfly.to_string(),
            Structure::Megafly(megafly) => megafly.to_string(),
            Structure::Plain => "no regular structure".to_owned(),
        }
    }

    /// A fabric of it, as a sentence goes on after "for".
    pub fn fabric(&self) -> String {
        match self {
            Structure::Plain => "a fabric of no regular structure".to_owned(),
            regular => regular.words(),
        }
    }
}
