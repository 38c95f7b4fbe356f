//! The model delivers the same packets at the same ticks as its reference implementation.

use netloom_fabric::CrossbarStart;
use proptest::prelude::*;

use crate::compare;
use crate::support::Case;
use crate::support::cases::cases;
use crate::support::random::{any_case, so_many};

#[test]
fn every_case_is_as_its_twin() {
    let mut parted = vec![];
    for (name, case) in cases() {
        for start in [CrossbarStart::AtOnce, CrossbarStart::Stored] {
            let case = Case {
                start,
                ..case.clone()
            };
            if let Err(place) = compare::difference(&case) {
                parted.push(format!(
                    "{name}, {start:?}: model and reference diverge {place}"
                ));
            }
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
    fn any_case_is_as_its_twin(mut case in any_case(), is_stored in any::<bool>()) {
        if is_stored {
            case.start = CrossbarStart::Stored;
        }
        prop_assert_eq!(compare::unequal_at_end(&case), vec![]);
    }
}
