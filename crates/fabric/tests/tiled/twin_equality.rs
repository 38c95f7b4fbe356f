//! The model against its twin: the same packets at the same ticks.

use proptest::prelude::*;

use crate::compare;
use crate::support::cases::cases;
use crate::support::random::{any_case, so_many};

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

#[test]
fn every_case_is_the_same_in_any_partitions() {
    for (name, case) in cases() {
        compare::any_partitions(name, &case);
    }
}

proptest! {
    #![proptest_config(so_many(48))]

    #[test]
    fn any_case_is_as_its_twin(case in any_case()) {
        prop_assert_eq!(compare::unequal_at_end(&case), vec![]);
    }
}
