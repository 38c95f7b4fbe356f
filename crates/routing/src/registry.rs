//! The concept: a description of a routing that can be compiled for a fabric.

use std::sync::Arc;

use netloom_catalog::{Kind, kind};
use netloom_topology::{Structure, Topology};

use crate::{
    DModK, Det, DimensionOrder, Ecmp, Forwarding, Minimal, Par, ParUgal, RandomUp, Shortest, Ugal,
    UpDown, Valiant,
};

/// A description of a routing, as a file gives it.
#[warn(missing_docs)]
pub trait Routing: Send + Sync {
    /// Compiles the routing for a fabric, or returns why it does not fit. Random choices come from
    /// the seed.
    fn compile(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String>;

    /// Does the same for a check, which asks for a few routes only: large tables may be made when
    /// they are asked for. The routes are the same.
    fn compile_for_check(&self, topology: &Arc<Topology>, seed: u64) -> Result<Forwarding, String> {
        self.compile(topology, seed)
    }
}

/// All kinds of routing of this crate.
pub const KINDS: &[Kind<dyn Routing>] = &[
    kind!(Det, dyn Routing),
    kind!(DModK, dyn Routing),
    kind!(RandomUp, dyn Routing),
    kind!(Ecmp, dyn Routing),
    kind!(DimensionOrder, dyn Routing),
    kind!(Minimal, dyn Routing),
    kind!(Valiant, dyn Routing),
    kind!(Ugal, dyn Routing),
    kind!(Par, dyn Routing),
    kind!(ParUgal, dyn Routing),
    kind!(UpDown, dyn Routing),
    kind!(Shortest, dyn Routing),
];

/// Returns the names of the kinds that fit a fabric, the most specific first.
pub fn fitting(structure: &Structure) -> Vec<&'static str> {
    let own: &[&str] = match structure {
        Structure::Tree(tree) if tree.is_k_ary_n_tree() => &["d-mod-k", "det", "random-up", "ecmp"],
        Structure::Tree(_) => &["d-mod-k", "random-up", "ecmp"],
        Structure::Grid(_) => &["dimension-order"],
        Structure::Dragonfly(_) => &["minimal", "valiant", "ugal", "par", "par-ugal"],
        Structure::Megafly(_) => &["minimal", "valiant", "ugal"],
        Structure::Plain => &[],
    };
    [own, &["up-down", "shortest"]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_catalog::{Document, Notes, Section};

    /// Reads a kind by its parameters.
    fn read<T: ?Sized>(kind: &Kind<T>, params: &str) -> Box<T> {
        let mut notes = Notes::new();
        let document = Document::parse("test", params, &mut notes);
        let mut section = Section::open(&document.root, &mut notes).unwrap();
        (kind.read)(&mut section).unwrap()
    }

    #[test]
    fn what_fits_a_fabric_is_what_compiles_for_it() {
        let fabrics = [
            ("fat-tree", "arity = 2\nlevels = 2"),
            ("pgft", "children = [4, 3]\nparents = [1, 2]"),
            ("torus", "sides = [3, 3]"),
            ("hypercube", "dimensions = 3"),
            ("dragonfly", "hosts = 1\nswitches = 2\nglobals = 2"),
            ("megafly", "hosts = 1\nleaves = 2\nspines = 2\nglobals = 2"),
            ("random-regular", "switches = 8\ndegree = 3\nhosts = 1"),
        ];
        for (name, params) in fabrics {
            let kinds = netloom_topology::KINDS.iter();
            let kind = kinds.clone().find(|kind| kind.name == name).unwrap();
            let topology = Arc::new(read(kind, params).build(1).unwrap());
            let mut fitting = fitting(topology.structure());
            fitting.sort_unstable();
            let compiles = |kind: &&Kind<dyn Routing>| read(kind, "").compile(&topology, 1).is_ok();
            let mut compile: Vec<&str> = KINDS.iter().filter(compiles).map(|k| k.name).collect();
            compile.sort_unstable();
            assert_eq!(fitting, compile, "{name}");
        }
    }
}
