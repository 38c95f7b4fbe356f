//! Encoding of plain records as bytes, for messages between the processes of a run and for
//! checkpoints.
//!
//! Numbers are little-endian and as wide as their type, so both ends must run the same version.
//! Input is not trusted: too few bytes, an unknown variant or a length beyond the end give `None`.
//!
//! Start with [`Encoded`] (whole records) and [`State`] (objects that are rebuilt from a plan, then
//! restored); both can be derived. [`Invalid`] describes a restored value that fails validation.
//!
//! The derives are netloom's own. Borsh could encode the records, with lengths of 32 bits, but no
//! crate that we found restores into an existing object and leaves its constant fields unchanged.

// The derives name this crate.
#[cfg(test)]
extern crate self as netloom_encoding;

mod invalid;
mod state;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::num::NonZero;

pub use invalid::{Invalid, Validity, ensure, ensure_below, ensure_equal};
pub use netloom_encoding_derive::{Encoded, State};
pub use state::{State, restore_records, save_records};

/// A record that can be encoded as bytes and decoded again.
///
/// The derive encodes the fields of a struct in the order of their declaration. An enum starts with
/// the number of its variant, as one byte.
///
/// ```
/// use netloom_encoding::Encoded;
///
/// #[derive(Debug, PartialEq, Encoded)]
/// struct Point { x: u32, y: u16 }
///
/// #[derive(Debug, PartialEq, Encoded)]
/// struct Id(u32);
///
/// #[derive(Debug, PartialEq, Encoded)]
/// enum Step { Stay, Go { by: u8 } }
///
/// let point = Point { x: 7, y: 300 };
/// assert_eq!(point.to_bytes(), [7, 0, 0, 0, 44, 1]);
/// assert_eq!(Point::from_bytes(&point.to_bytes()), Some(point));
/// assert_eq!(Step::from_bytes(&[1, 9]), Some(Step::Go { by: 9 }));
/// assert_eq!(Step::from_bytes(&[2, 9]), None);
/// assert_eq!(Id(5).to_bytes(), [5, 0, 0, 0]);
/// ```
pub trait Encoded: Sized {
    /// Appends the encoded record.
    fn put(&self, out: &mut Vec<u8>);

    /// Decodes a record from the front of `from` and advances `from` past it.
    fn take(from: &mut &[u8]) -> Option<Self>;

    /// Returns the encoded record.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Decodes a record that takes up all of `bytes`.
    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let record = Self::take(&mut bytes)?;
        bytes.is_empty().then_some(record)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Encoded for $number {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$number>::from_le_bytes(*bytes))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i32, i64);

impl Encoded for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Encoded> Encoded for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(record) = self {
            record.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match bool::take(from)? {
            true => T::take(from).map(Some),
            false => Some(None),
        }
    }
}

impl<T: Encoded> Encoded for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|record| record.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let n = u64::take(from)?;
        // A record takes at least one byte, so a longer list is invalid and nothing is allocated
        // for it.
        let is_possible = n <= from.len() as u64;
        is_possible.then(|| (0..n).map(|_| T::take(from)).collect())?
    }
}

impl<T: Encoded + Copy + Default, const N: usize> Encoded for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|record| record.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut all = [T::default(); N];
        for record in &mut all {
            *record = T::take(from)?;
        }
        Some(all)
    }
}

impl Encoded for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        usize::try_from(u64::take(from)?).ok()
    }
}

impl Encoded for NonZero<u64> {
    fn put(&self, out: &mut Vec<u8>) {
        self.get().put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        NonZero::new(u64::take(from)?)
    }
}

impl<T: Encoded> Encoded for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        T::take(from).map(Box::new)
    }
}

impl<T: Encoded> Encoded for Box<[T]> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|record| record.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Vec::take(from).map(Vec::into_boxed_slice)
    }
}

impl Encoded for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::take(from)?).ok()
    }
}

/// Sorted by key, so that equal maps have equal bytes.
impl<K: Encoded + Ord + Hash, V: Encoded, H: BuildHasher + Default> Encoded for HashMap<K, V, H> {
    fn put(&self, out: &mut Vec<u8>) {
        let mut all: Vec<(&K, &V)> = self.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        (all.len() as u64).put(out);
        for (key, value) in all {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Vec::take(from)?.into_iter().collect())
    }
}

impl<K: Encoded + Ord, V: Encoded> Encoded for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Vec::take(from)?.into_iter().collect())
    }
}

/// Sorted, so that equal sets have equal bytes.
impl<K: Encoded + Ord + Hash, H: BuildHasher + Default> Encoded for HashSet<K, H> {
    fn put(&self, out: &mut Vec<u8>) {
        let mut all: Vec<&K> = self.iter().collect();
        all.sort_unstable();
        (all.len() as u64).put(out);
        all.into_iter().for_each(|key| key.put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Vec::take(from)?.into_iter().collect())
    }
}

impl<A: Encoded, B: Encoded> Encoded for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl<A: Encoded, B: Encoded, C: Encoded> Encoded for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?, C::take(from)?))
    }
}

impl<A: Encoded, B: Encoded, C: Encoded, D: Encoded> Encoded for (A, B, C, D) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
        self.3.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((
            A::take(from)?,
            B::take(from)?,
            C::take(from)?,
            D::take(from)?,
        ))
    }
}

#[cfg(test)]
mod tests;
