//! Regular structure of fabrics.

use crate::{DragonflyShape, Grid, MegaflyShape, Pgft};

/// Regular structure of a fabric, for arithmetic routings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Structure {
    /// A fat tree, numbered as in [`Pgft`].
    Tree(Pgft),
    /// A mesh, torus or hypercube, numbered as in [`Grid`].
    Grid(Grid),
    /// A dragonfly, numbered as in [`DragonflyShape`].
    Dragonfly(DragonflyShape),
    /// A megafly, numbered as in [`MegaflyShape`].
    Megafly(MegaflyShape),
    /// No structure is known.
    Plain,
}

impl Structure {
    /// Returns a phrase with the numbers of the structure.
    pub fn words(&self) -> String {
        match self {
            Structure::Tree(tree) => tree.to_string(),
            Structure::Grid(grid) => grid.to_string(),
            Structure::Dragonfly(dragonfly) => dragonfly.to_string(),
            Structure::Megafly(megafly) => megafly.to_string(),
            Structure::Plain => "no regular structure".to_owned(),
        }
    }

    /// Returns a phrase for a fabric of this structure, for use in a sentence.
    pub fn fabric(&self) -> String {
        match self {
            Structure::Plain => "a fabric without regular structure".to_owned(),
            regular => regular.words(),
        }
    }
}
