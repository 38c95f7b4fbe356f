//! Amounts of data.

use std::fmt;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Returns the number of `flit`-sized flits that hold this; the last one may be partly empty.
    ///
    /// # Panics
    /// If `flit` is zero.
    pub fn in_flits(self, flit: Bytes) -> u64 {
        self.0.div_ceil(flit.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1u64 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        for (size, name) in units {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{} {name}", self.0 / size);
            }
        }
        write!(f, "{} B", self.0)
    }
}
