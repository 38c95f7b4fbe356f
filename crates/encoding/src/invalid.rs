//! What is wrong with a state that was read.

use std::fmt;

/// A value that no run could have saved: where it is, what is expected there, and what is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    place: String,
    expected: String,
    found: String,
}

impl Invalid {
    /// At a place.
    pub fn new(
        place: impl fmt::Display,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Invalid {
        Invalid {
            place: place.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// Names what the place is in.
    #[must_use]
    pub fn within(mut self, outer: impl fmt::Display) -> Invalid {
        self.place = match self.place.as_str() {
            "" => outer.to_string(),
            inner => format!("{outer}, {inner}"),
        };
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Invalid {
            place,
            expected,
            found,
        } = self;
        write!(f, "{place}: expected {expected}, found {found}")
    }
}

impl std::error::Error for Invalid {}

/// Whether a state is one that a run could have saved.
pub type Validity = Result<(), Invalid>;

/// Checks a condition; what is wrong is written only if it does not hold.
///
/// # Errors
/// If it does not hold.
#[inline]
pub fn ensure(holds: bool, invalid: impl FnOnce() -> Invalid) -> Validity {
    match holds {
        true => Ok(()),
        false => Err(invalid()),
    }
}

/// Checks that a number is below a bound.
///
/// # Errors
/// If it is not.
#[inline]
pub fn ensure_below(place: &str, found: impl Into<u64>, bound: impl Into<u64>) -> Validity {
    let (found, bound) = (found.into(), bound.into());
    ensure(found < bound, || {
        Invalid::new(place, format_args!("a number below {bound}"), found)
    })
}

/// Checks that a value is what it must be.
///
/// # Errors
/// If it is not.
#[inline]
pub fn ensure_equal<T: PartialEq + fmt::Debug>(place: &str, expected: T, found: T) -> Validity {
    ensure(found == expected, || {
        Invalid::new(
            place,
            format_args!("{expected:?}"),
            format_args!("{found:?}"),
        )
    })
}
