//! Arrays with 32-bit indices for the hot path: checked in debug builds and in every test, but not
//! in releases.
#![allow(unsafe_code)]

use std::ops::{Index, IndexMut};

use netloom_encoding::{Encoded, State};

/// Prefetches the cache line at an address; an invalid address does no harm.
#[inline(always)]
pub(crate) fn prefetch_line<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A vector whose accesses are bounds-checked only with debug assertions.
///
/// A packet-hop makes some forty accesses by indices that the model itself created. Checking each
/// of them costs 8 % of all instructions (ft64: 1,395 instead of 1,287 per packet-hop). The test
/// profile keeps the checks, and the comparison runs of the fabric cover every access.
///
/// # Safety of use
/// An index must come from this vector's own numbering: a position below its length at build time
/// (rows are never removed), or a live slot of the [`Slab`](crate::slab::Slab) above it. No index
/// is computed from input. Those of a checkpoint are validated before anything runs
/// (`validation.rs`).
#[derive(Clone, Debug)]
pub(crate) struct Rows<T>(Vec<T>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl<T> From<Vec<T>> for Rows<T> {
    fn from(rows: Vec<T>) -> Self {
        Rows(rows)
    }
}

impl<T> Rows<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, row: T) {
        self.0.push(row);
    }

    /// Prefetches a cache line of a row; an invalid index does no harm.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u32, line: usize) {
        let row = self.0.as_ptr().wrapping_add(at as usize).cast::<u8>();
        prefetch_line(row.wrapping_add(64 * line));
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> AsRef<[T]> for Rows<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> AsMut<[T]> for Rows<T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Rows with a state, whose number does not change after construction.
impl<T: State> State for Rows<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
    }

    fn restore(&mut self, from: &mut &[u8]) -> Option<()> {
        self.0.restore(from)
    }
}

/// Rows of a slab, which grows.
impl<T: Encoded> Encoded for Rows<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Encoded::take(from).map(Rows)
    }
}

impl<'a, T> IntoIterator for &'a Rows<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Index<u32> for Rows<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: u32) -> &T {
        debug_assert!((at as usize) < self.0.len(), "row {at} of {}", self.0.len());
        // SAFETY: see "Safety of use": indices are positions of this vector, which never shrinks.
        unsafe { self.0.get_unchecked(at as usize) }
    }
}

impl<T> IndexMut<u32> for Rows<T> {
    #[inline(always)]
    fn index_mut(&mut self, at: u32) -> &mut T {
        debug_assert!((at as usize) < self.0.len(), "row {at} of {}", self.0.len());
        // SAFETY: see "Safety of use": indices are positions of this vector, which never shrinks.
        unsafe { self.0.get_unchecked_mut(at as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    #[should_panic(expected = "row 3 of 3")]
    fn tests_check_every_access() {
        let rows = Rows::from(vec![1, 2, 3]);
        let _ = rows[3];
    }
}
