//! The kinds of this crate keep the promises of theirs.

#[path = "../../topology/tests/promises/mod.rs"]
mod promises;

use std::sync::Arc;

use netloom_catalog::{Document, Notes, Section};
use netloom_infiniband::{ROUTING, Site, TOPOLOGY};
use netloom_topology::{Blueprint, SingleSwitch};
use promises::{keeps_promises, read};

#[test]
fn the_example_of_a_subnet_builds_and_keeps_the_promises() {
    keeps_promises(&TOPOLOGY);
}

#[test]
fn forwarding_tables_require_a_real_site_with_tables() {
    let mut notes = Notes::new();
    let document = Document::parse("routing", ROUTING.example, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).unwrap();
    let routing = (ROUTING.read)(&mut section).unwrap();
    let generated = SingleSwitch { ports: 4 }.build(1).unwrap();
    assert!(Site::of(&generated).is_none());
    let why = routing.compile(&Arc::new(generated), 1).unwrap_err();
    assert!(why.contains("require a real site"), "{why}");
    let real = read(&TOPOLOGY, TOPOLOGY.example).build(1).unwrap();
    assert_eq!(Site::of(&real).unwrap().nics.len(), 2);
    let why = routing.compile(&Arc::new(real), 1).unwrap_err();
    assert!(why.contains("expected forwarding tables"), "{why}");
}
