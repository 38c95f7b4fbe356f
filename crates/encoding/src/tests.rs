use proptest::prelude::*;

use crate::{Encoded, State};

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

/// Saves a word as its complement.
mod complement {
    use crate::Encoded;

    pub(super) fn save(word: &u8, out: &mut Vec<u8>) {
        (!word).put(out);
    }

    pub(super) fn restore(word: &mut u8, from: &mut &[u8]) -> Option<()> {
        *word = !u8::take(from)?;
        Some(())
    }
}

/// Its fields have the names of parameters of the derived functions.
#[derive(State)]
#[state(bound = "T: Copy")]
struct Object<T> {
    out: T,
    #[state(constant)]
    plan: u8,
    #[state(with = "complement")]
    word: u8,
    #[state(records)]
    from: [u8; 2],
    #[state(part)]
    parts: Vec<Part<T>>,
}

#[derive(Debug, PartialEq, State)]
struct Part<T>(T, #[state(constant)] u8);

fn object(changing: u8, plan: u8, n_parts: usize) -> Object<u8> {
    Object {
        out: changing,
        plan,
        word: changing,
        from: [changing; 2],
        parts: (0..n_parts).map(|_| Part(changing, plan)).collect(),
    }
}

#[test]
fn state_is_restored_into_an_object_of_the_same_plan() {
    let mut saved = vec![];
    object(3, 1, 1).save(&mut saved);
    let (two, one) = (2u64.to_bytes(), 1u64.to_bytes());
    assert_eq!(saved, [&[3, 252], &two[..], &[3, 3], &one, &[3]].concat());

    let mut other = object(0, 2, 1);
    assert_eq!(other.restore(&mut saved.as_slice()), Some(()));
    assert_eq!((other.out, other.plan, other.word), (3, 2, 3));
    assert_eq!((other.from, other.parts), ([3, 3], vec![Part(3, 2)]));

    for end in 0..saved.len() {
        assert_eq!(object(0, 2, 1).restore(&mut &saved[..end]), None);
    }
    assert_eq!(object(0, 2, 2).restore(&mut saved.as_slice()), None);
}
