//! The parameters of each kind in a file, and the messages about wrong ones.

use netloom_arbitration::KINDS;
use netloom_catalog::{Document, Notes, Section};

/// Returns the messages about the parameters of a kind; none if they are correct.
fn messages(name: &str, text: &str) -> Vec<String> {
    let kind = KINDS.iter().find(|kind| kind.name == name).expect(name);
    let mut notes = Notes::new();
    let document = Document::parse(name, text, &mut notes);
    let mut section = Section::open(&document.root, &mut notes).expect("a table");
    let policy = (kind.read)(&mut section);
    section.finish();
    let messages: Vec<String> = notes.iter().map(|note| note.message.clone()).collect();
    assert_eq!(policy.is_some(), messages.is_empty(), "{messages:?}");
    messages
}

#[test]
fn mistakes_are_reported() {
    for (kind, text, expected) in [
        ("dtable", "table = [[0, 3], [1, 5]]", ""),
        (
            "dtable",
            "table = [[0, 3], [16, 5]]",
            "entry 1: SL16 is not a service level; service levels are SL0 to SL15",
        ),
        ("dtable", "table = [[0, 65536]]", "65536 is out of range"),
        (
            "bxi-table",
            "table = [[16, 3]]",
            "entry 0: SL16 is not a service level; service levels are SL0 to SL15",
        ),
        ("bxi-deficit", "table = [[0, 3]]\nflit = \"256 B\"", ""),
        (
            "bxi-deficit",
            "table = [[0, 3]]\nk = 0",
            "a unit of weight must be at least 1 flit",
        ),
        (
            "bxi-table",
            "table = [[0, 3]]\nflit = \"0 B\"",
            "expected a flit of 1 byte to 4 GiB, found 0 B",
        ),
        (
            "bxi-table",
            "table = [[0, 65535]]\nk = 65535",
            "entry 0: expected a quantum of at most 1073741824 flits, found 4294836225",
        ),
        ("deficit-round-robin", "quanta = [[0, 1], [14, 9000]]", ""),
        (
            "deficit-round-robin",
            "quanta = [[15, 64]]",
            "VL15 is not a data lane; data lanes are VL0 to VL14",
        ),
        (
            "deficit-round-robin",
            "quanta = [[3, 64], [3, 64]]",
            "VL3 is listed twice",
        ),
        (
            "deficit-round-robin",
            "quanta = [[3, 0]]",
            "expected a quantum of 1 to 1073741824 bytes, found 0",
        ),
        (
            "weighted-round-robin",
            "weights = [[15, 1]]\nby = \"sl\"\nunit = \"bytes\"",
            "",
        ),
        (
            "weighted-round-robin",
            "weights = [[15, 1]]",
            "15 is not a data lane; use 0 to 14",
        ),
        (
            "weighted-round-robin",
            "weights = [[2, 1], [2, 2]]\nby = \"sl\"",
            "service level 2 is listed twice",
        ),
        (
            "weighted-round-robin",
            "weights = [[2, 0]]",
            "data lane 2 has weight 0; use at least 1, or remove it",
        ),
        ("scfq", "", ""),
        (
            "scfq",
            "weights = [[1, 0]]",
            "SL1 has weight 0; use at least 1",
        ),
        ("wfq", "weights = [[1, 2], [1, 3]]", "SL1 is listed twice"),
        (
            "wfq",
            "weights = [[16, 2]]",
            "SL16 is not a service level; service levels are SL0 to SL15",
        ),
    ] {
        let messages = messages(kind, text);
        assert_eq!(messages.join("; "), expected, "{kind}: {text}");
    }
}
