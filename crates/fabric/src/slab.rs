//! Room for records that come and go: indices instead of references, no allocation in steady state.

use netloom_encoding::Encoded;

use crate::rows::Rows;

/// A vector with a free list. An index is valid from `insert` to `remove`, and only inside its partition.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    slots: Rows<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab {
            slots: Rows::default(),
            free: Vec::new(),
        }
    }
}

impl<T: Encoded> Encoded for Slab<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.slots.put(out);
        self.free.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Slab {
            slots: Encoded::take(from)?,
            free: Encoded::take(from)?,
        })
    }
}

impl<T: Copy> Slab<T> {
    /// Stores a record and says where.
    #[inline]
    pub(crate) fn insert(&mut self, record: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.slots[at] = record;
                at
            }
            None => {
                self.slots.push(record);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 records in a partition")
            }
        }
    }

    /// Takes a record out and frees its slot.
    #[inline]
    pub(crate) fn remove(&mut self, at: u32) -> T {
        self.free.push(at);
        self.slots[at]
    }

    /// See [`Rows::prefetch`].
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u32) {
        self.slots.prefetch(at, 0);
    }

    /// How many records are stored.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.slots[at]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.slots[at]
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn freed_slots_are_used_again() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), 'a');
        assert_eq!(slab.insert('c'), a);
        assert_eq!((slab[a], slab[b], slab.len()), ('c', 'b', 2));
    }
}
