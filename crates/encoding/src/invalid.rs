//! Errors for saved states that fail validation.

use std::fmt;

/// A value that no run could have saved, with its place, the expected value and the found one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    place: String,
    expected: String,
    found: String,
}

impl Invalid {
    /// Creates an error for the value at `place`.
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

    /// Prefixes the place with what it belongs to.
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

/// The result of validating a saved state.
pub type Validity = Result<(), Invalid>;

/// Checks a condition. `invalid` runs only if the condition does not hold.
///
/// # Errors
/// Returns the error of `invalid` if the condition does not hold.
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
/// If the number is not below the bound.
#[inline]
pub fn ensure_below(place: &str, found: impl Into<u64>, bound: impl Into<u64>) -> Validity {
    let (found, bound) = (found.into(), bound.into());
    ensure(found < bound, || {
        Invalid::new(place, format_args!("a number below {bound}"), found)
    })
}

/// Checks that a value equals the expected one.
///
/// # Errors
/// If the values differ.
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
