//! Storage for records that are created and removed: indices instead of references, and no
//! allocation in steady state.

use netloom_encoding::{Encoded, Invalid, Validity, ensure};

use crate::rows::Rows;
use crate::switch::NIL;

/// A vector with a free list. An index is valid from `insert` to `remove`, and only inside its
/// partition. With debug assertions, every access checks that the slot is in use.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    slots: Rows<T>,
    free: Vec<u32>,
    #[cfg(debug_assertions)]
    is_live: Vec<bool>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab {
            slots: Rows::default(),
            free: Vec::new(),
            #[cfg(debug_assertions)]
            is_live: Vec::new(),
        }
    }
}

/// Decodes only if the free list contains existing slots, each at most once.
impl<T: Encoded> Encoded for Slab<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.slots.put(out);
        self.free.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let slots: Rows<T> = Encoded::take(from)?;
        let free: Vec<u32> = Encoded::take(from)?;
        let mut is_live = vec![true; slots.len()];
        for &at in &free {
            let slot = is_live.get_mut(at as usize)?;
            if !std::mem::replace(slot, false) {
                return None;
            }
        }
        Some(Slab {
            slots,
            free,
            #[cfg(debug_assertions)]
            is_live,
        })
    }
}

impl<T: Copy> Slab<T> {
    /// Stores a record and returns its index.
    #[inline]
    pub(crate) fn insert(&mut self, record: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                #[cfg(debug_assertions)]
                {
                    self.is_live[at as usize] = true;
                }
                self.slots[at] = record;
                at
            }
            None => {
                #[cfg(debug_assertions)]
                self.is_live.push(true);
                self.slots.push(record);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 records in a partition")
            }
        }
    }

    /// Removes a record and frees its slot.
    #[inline]
    pub(crate) fn remove(&mut self, at: u32) -> T {
        self.check(at);
        #[cfg(debug_assertions)]
        {
            self.is_live[at as usize] = false;
        }
        self.free.push(at);
        self.slots[at]
    }

    /// See [`Rows::prefetch`].
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u32) {
        self.slots.prefetch(at, 0);
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> Slab<T> {
    /// Checks in debug builds that a slot is in use.
    #[inline(always)]
    fn check(&self, at: u32) {
        #[cfg(debug_assertions)]
        assert!(
            self.is_live.get(at as usize) == Some(&true),
            "slot {at} of {} is not in use",
            self.is_live.len()
        );
        let _ = at;
    }

    /// Returns the number of slots, in use or free.
    pub(crate) fn n_slots(&self) -> usize {
        self.slots.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, at: u32) -> &T {
        self.check(at);
        &self.slots[at]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        self.check(at);
        &mut self.slots[at]
    }
}

/// The references to the records of a restored slab. Each record must be referenced exactly once.
/// Then no list has a cycle, no two lists meet, and no record is used after it was freed.
pub(crate) struct Claims<'a, T> {
    slab: &'a Slab<T>,
    /// The noun for a record in messages.
    what: &'static str,
    is_open: Vec<bool>,
    n_open: usize,
}

impl<'a, T: Copy> Claims<'a, T> {
    /// Creates claims without any reference.
    pub(crate) fn new(slab: &'a Slab<T>, what: &'static str) -> Self {
        let mut is_open = vec![true; slab.slots.len()];
        for &at in &slab.free {
            is_open[at as usize] = false;
        }
        Claims {
            slab,
            what,
            is_open,
            n_open: slab.len(),
        }
    }

    /// Takes a reference to a record.
    pub(crate) fn take(&mut self, at: u32) -> Result<&'a T, Invalid> {
        let slot = self.is_open.get_mut(at as usize);
        let is_open = slot.is_some_and(|open| std::mem::replace(open, false));
        ensure(is_open, || {
            let expected = format!("a {} that nothing else refers to", self.what);
            Invalid::new(format_args!("{} {at}", self.what), expected, "none")
        })?;
        self.n_open -= 1;
        Ok(&self.slab[at])
    }

    /// Takes the records of a list, from the first to the last; the list is empty if the first is
    /// [`NIL`]. `look` receives each of them.
    pub(crate) fn list(
        &mut self,
        (head, tail): (u32, u32),
        next: impl Fn(&T) -> u32,
        mut look: impl FnMut(u32, &'a T) -> Validity,
    ) -> Validity {
        let (mut at, mut last) = (head, tail);
        while at != NIL {
            let record = self.take(at)?;
            look(at, record)?;
            last = at;
            at = next(record);
        }
        ensure(last == tail, || {
            Invalid::new(
                "the end of a list",
                format_args!("{} {last}", self.what),
                tail,
            )
        })
    }

    /// Checks that every record has been referenced.
    pub(crate) fn finish(self) -> Validity {
        ensure(self.n_open == 0, || {
            let expected = format!("a reference to each {}", self.what);
            let found = format!("{} without one", self.n_open);
            Invalid::new("references", expected, found)
        })
    }
}

#[cfg(test)]
mod tests {
    use netloom_encoding::Encoded;

    use super::{Claims, NIL, Slab};

    #[test]
    fn freed_slots_are_used_again() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), 'a');
        assert_eq!(slab.insert('c'), a);
        assert_eq!((slab[a], slab[b], slab.len()), ('c', 'b', 2));
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "slot 0 of 1 is not in use")]
    fn tests_see_a_use_after_free() {
        let mut slab = Slab::default();
        let a = slab.insert(7);
        slab.remove(a);
        let _ = slab[a];
    }

    #[test]
    fn a_free_list_is_within_its_slots_and_names_each_once() {
        let bytes = |slots: &[u32], free: &[u32]| {
            let mut bytes = slots.to_vec().to_bytes();
            bytes.extend(free.to_vec().to_bytes());
            bytes
        };
        let read = |free: &[u32]| Slab::<u32>::from_bytes(&bytes(&[7, 8, 9], free));
        assert_eq!(read(&[2, 0]).map(|slab| slab.len()), Some(1));
        assert!(read(&[3]).is_none() && read(&[1, 1]).is_none());
    }

    #[test]
    fn lists_have_no_cycles_and_do_not_meet() {
        let mut slab = Slab::default();
        // Each record is the next of its list: 0, 1, 2 and 3 alone; 4 is free.
        for next in [1, 2, NIL, NIL, NIL] {
            slab.insert(next);
        }
        slab.remove(4);
        let walk =
            |claims: &mut Claims<'_, u32>, ends| claims.list(ends, |&next| next, |_, _| Ok(()));
        let mut claims = Claims::new(&slab, "packet");
        walk(&mut claims, (0, 2)).unwrap();
        walk(&mut claims, (NIL, NIL)).unwrap();
        let message = walk(&mut claims, (1, 2)).unwrap_err().to_string();
        assert_eq!(
            message,
            "packet 1: expected a packet that nothing else refers to, found none"
        );
        assert!(walk(&mut claims, (3, 0)).is_err(), "another end");
        assert!(claims.take(4).is_err() && claims.take(5).is_err());
        claims.finish().unwrap();
        let mut claims = Claims::new(&slab, "packet");
        walk(&mut claims, (0, 2)).unwrap();
        assert!(claims.finish().is_err(), "record 3 is lost");
        slab[2] = 0;
        let result = walk(&mut Claims::new(&slab, "packet"), (0, 2));
        assert!(result.is_err(), "a cycle");
    }
}
