//! Plain records as bytes: what crosses between the processes of a run.
//!
//! Numbers are written with the lowest byte first and as wide as their type, so both ends need only be of the same
//! version. What comes from outside is never believed: too few bytes, an unknown variant or a length beyond the
//! end give `None`.

mod record;

/// A record that can be written as bytes and read again.
pub trait Encoded: Sized {
    /// Appends the record.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes a record from the front; `None` if there is none.
    fn take(from: &mut &[u8]) -> Option<Self>;

    /// The record alone.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// A record from bytes that are it and nothing more.
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

numbers!(u8, u16, u32, u64, u128);

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
        // A record has a byte at least: a longer list cannot be there, and nothing is reserved for it.
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

#[cfg(test)]
mod tests;
