//! The model against its twin: the same packets at the same ticks.

mod compare;
mod support;
mod twin;

use support::cases::cases;

#[test]
fn every_case_is_as_its_twin() {
    let mut parted = vec![];
    for (name, case) in cases() {
        if let Err(place) = compare::difference(&case) {
            parted.push(format!("{name}: model and twin part {place}"));
        }
    }
    assert!(parted.is_empty(), "{}", parted.join("\n"));
}
