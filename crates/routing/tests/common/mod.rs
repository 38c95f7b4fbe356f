//! Fabrics and readers shared by the tests.

// Not every test uses all of them.
#![allow(dead_code)]

use std::sync::Arc;

use netloom_catalog::{Document, Kind, Notes, Section};
use netloom_routing::{Forwarding, Routing};
use netloom_topology::{Blueprint, Topology};

/// Builds a fabric that is known to be sound.
pub(crate) fn build(blueprint: &dyn Blueprint) -> Arc<Topology> {
    Arc::new(blueprint.build(1).expect("a sound fabric"))
}

/// Compiles a routing that is known to fit.
pub(crate) fn compile(routing: &dyn Routing, topology: &Arc<Topology>) -> Forwarding {
    routing.compile(topology, 1).expect("a routing that fits")
}

/// Reads a kind from text.
pub(crate) fn read(kind: &Kind<dyn Routing>, text: &str) -> Box<dyn Routing> {
    let mut notes = Notes::new();
    let document = Document::parse(kind.name, text, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).expect("a file is a table");
    let routing = (kind.read)(&mut section);
    section.finish();
    assert!(notes.is_empty(), "{}: {notes:?}", kind.name);
    routing.expect("no notes, hence a value")
}
