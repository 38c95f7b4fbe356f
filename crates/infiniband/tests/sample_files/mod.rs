//! The sample files of these tests: output of real tools about small fabrics.

#![allow(dead_code, unreachable_pub, reason = "every test uses some of it")]

use std::path::PathBuf;

use netloom_catalog::{Note, Notes};
use netloom_infiniband::reading::{Asked, read_programmed, read_subnet};
use netloom_infiniband::{Programmed, Subnet};

/// Returns the path of a sample.
pub fn path(name: &str) -> PathBuf {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    samples.join(name)
}

/// Returns the text of a sample.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Reads the subnet of a sample, which has no errors.
pub fn subnet(name: &str) -> Subnet {
    let mut notes = Notes::new();
    let subnet = read_subnet(&text(name), 0, &mut notes);
    assert!(notes.is_empty(), "{name}: {notes:#?}");
    subnet
}

/// Reads what samples list as programmed in a subnet, without errors.
pub fn programmed(subnet: &Subnet, names: &[&str]) -> Programmed {
    let mut programmed = Programmed::default();
    for name in names {
        let asked = Asked { subnet, from: None };
        let mut notes = Notes::new();
        read_programmed(&text(name), 0, asked, &mut programmed, &mut notes);
        assert!(notes.is_empty(), "{name}: {notes:#?}");
    }
    programmed
}

/// Returns the code, line and message of each note, in printing order.
pub fn shown(text: &str, notes: Notes) -> Vec<String> {
    let line = |note: &Note| {
        let start = note.places[0].0.start as usize;
        1 + text[..start].bytes().filter(|byte| *byte == b'\n').count()
    };
    let notes = notes.sorted();
    let shown = notes.iter().map(|note| {
        assert!(note.help.is_some(), "a note without help: {note:?}");
        format!("{} line {}: {}", note.code, line(note), note.message)
    });
    shown.collect()
}
