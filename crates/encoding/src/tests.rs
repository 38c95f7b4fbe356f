use proptest::prelude::*;

use crate::Encoded;

#[derive(Clone, Copy, Debug, PartialEq, Default, Encoded)]
struct Small {
    id: u16,
    is_on: bool,
}

#[derive(Clone, Debug, PartialEq, Encoded)]
enum Kind {
    Empty,
    Whole {
        all: Vec<Small>,
        last: Option<u64>,
    },
    Wide {
        number: u128,
        pair: (u8, u32),
        three: [u16; 3],
    },
}

fn kinds() -> impl Strategy<Value = Kind> {
    let small = (any::<u16>(), any::<bool>()).prop_map(|(id, is_on)| Small { id, is_on });
    prop_oneof![
        Just(Kind::Empty),
        (proptest::collection::vec(small, 0..5), any::<Option<u64>>())
            .prop_map(|(all, last)| Kind::Whole { all, last }),
        (any::<u128>(), any::<(u8, u32)>(), any::<[u16; 3]>()).prop_map(|(number, pair, three)| {
            Kind::Wide {
                number,
                pair,
                three,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn what_was_put_is_taken(kinds in proptest::collection::vec(kinds(), 0..4)) {
        prop_assert_eq!(Vec::<Kind>::from_bytes(&kinds.to_bytes()), Some(kinds));
    }

    #[test]
    fn what_is_cut_off_is_nothing(kind in kinds(), part in 0.0..1.0) {
        let bytes = kind.to_bytes();
        let cut = (bytes.len() as f64 * part) as usize;
        prop_assert_eq!(Kind::from_bytes(&bytes[..cut]), None);
    }

    #[test]
    fn any_bytes_are_a_record_or_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Some(kind) = Kind::from_bytes(&bytes) {
            prop_assert_eq!(kind.to_bytes(), bytes);
        }
    }
}

#[test]
fn a_length_that_is_not_there_reserves_nothing() {
    assert_eq!(Vec::<u64>::from_bytes(&u64::MAX.to_bytes()), None);
    assert_eq!(bool::from_bytes(&[2]), None);
}
