//! Values of which some are missing, in the layout of Arrow: the values of all lines, and one bit
//! per line. Arrow takes both without copying them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values of which some are missing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nullable<T> {
    /// The default where a value is missing.
    values: Vec<T>,
    /// A bit per line, 1 if it has a value; the lowest bit of a byte is its first line.
    validity: Vec<u8>,
}

impl<T: Copy + Default> Nullable<T> {
    /// Adds a line.
    pub fn push(&mut self, value: Option<T>) {
        let line = self.values.len();
        if line.is_multiple_of(8) {
            self.validity.push(0);
        }
        self.values.push(value.unwrap_or_default());
        self.validity[line / 8] |= u8::from(value.is_some()) << (line % 8);
    }

    /// Sets the value of a line that exists.
    pub fn set(&mut self, line: usize, value: T) {
        self.values[line] = value;
        self.validity[line / 8] |= 1 << (line % 8);
    }

    /// Returns the value of a line; `None` if it is missing or the line does not exist.
    pub fn get(&self, line: usize) -> Option<T> {
        let value = *self.values.get(line)?;
        self.is_valid(line).then_some(value)
    }

    fn is_valid(&self, line: usize) -> bool {
        (self.validity[line / 8] >> (line % 8)) & 1 == 1
    }

    /// Returns all lines in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> + '_ {
        (0..self.len()).map(|line| self.get(line))
    }
}

impl<T> Nullable<T> {
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values of all lines; the default where a value is missing.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns a bit per line, 1 if it has a value; the lowest bit of a byte is its first line.
    pub fn validity(&self) -> &[u8] {
        &self.validity
    }

    /// Returns the buffers of [`Nullable::values`] and [`Nullable::validity`].
    pub fn into_buffers(self) -> (Vec<T>, Vec<u8>) {
        (self.values, self.validity)
    }
}

impl<T: Copy + Default> Extend<Option<T>> for Nullable<T> {
    fn extend<I: IntoIterator<Item = Option<T>>>(&mut self, lines: I) {
        let lines = lines.into_iter();
        self.values.reserve(lines.size_hint().0);
        lines.for_each(|value| self.push(value));
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Nullable<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(lines: I) -> Self {
        let mut found = Nullable::default();
        found.extend(lines);
        found
    }
}

/// Writes a list in which missing values are null.
impl<T: Copy + Default + Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Copy + Default + Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines<T>(PhantomData<T>);

        impl<'de, T: Copy + Default + Deserialize<'de>> Visitor<'de> for Lines<T> {
            type Value = Nullable<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Nullable<T>, A::Error> {
                let mut found = Nullable::default();
                while let Some(value) = list.next_element()? {
                    found.push(value);
                }
                Ok(found)
            }
        }

        deserializer.deserialize_seq(Lines(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bits_are_those_of_arrow() {
        let mut some: Nullable<f64> = [Some(1.5), None, Some(-2.0)].into_iter().collect();
        assert_eq!(some.values(), [1.5, 0.0, -2.0]);
        assert_eq!(some.validity(), [0b101]);
        some.set(1, 7.0);
        assert_eq!((some.get(1), some.get(3)), (Some(7.0), None));
        let nine: Nullable<u64> = (0..9).map(Some).collect();
        assert_eq!(nine.into_buffers().1, [0b1111_1111, 0b1]);
    }

    proptest! {
        #[test]
        fn lines_are_those_that_were_added(
            lines in prop::collection::vec(prop::option::of(any::<u64>()), 0..40),
        ) {
            let found: Nullable<u64> = lines.iter().copied().collect();
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), lines.clone());
            let text = serde_json::to_string(&found).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&lines).unwrap());
            prop_assert_eq!(serde_json::from_str::<Nullable<u64>>(&text).unwrap(), found);
        }
    }
}
