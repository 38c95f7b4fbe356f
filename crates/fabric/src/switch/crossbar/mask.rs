//! Sets of ports or queues as bits.

/// A set of up to `64 * W` small numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mask<const W: usize>([u64; W]);

impl<const W: usize> netloom_encoding::Encoded for Mask<W> {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        netloom_encoding::Encoded::take(from).map(Mask)
    }
}

impl<const W: usize> Default for Mask<W> {
    fn default() -> Self {
        Mask([0; W])
    }
}

impl<const W: usize> Mask<W> {
    /// Number of possible members.
    pub(crate) const CAPACITY: usize = 64 * W;

    /// Returns the word of a bit, in a form that needs no bounds check (the widths are powers of
    /// two).
    #[inline(always)]
    fn word(bit: usize) -> usize {
        bit / 64 % W
    }

    #[inline]
    pub(crate) fn set(&mut self, bit: usize) {
        debug_assert!(bit < Self::CAPACITY);
        self.0[Self::word(bit)] |= 1 << (bit % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, bit: usize) {
        debug_assert!(bit < Self::CAPACITY);
        self.0[Self::word(bit)] &= !(1 << (bit % 64));
    }

    #[inline]
    pub(crate) fn has(&self, bit: usize) -> bool {
        self.0[Self::word(bit)] >> (bit % 64) & 1 == 1
    }

    /// Whether all members are below a bound.
    pub(crate) fn is_below(&self, bound: usize) -> bool {
        self.iter().all(|member| member < bound)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    #[inline]
    pub(crate) fn union(&mut self, other: Mask<W>) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Returns the only member, if there is exactly one.
    #[inline]
    pub(crate) fn only(&self) -> Option<usize> {
        if W == 1 {
            let word = self.0[0];
            return (word != 0 && word & (word - 1) == 0).then(|| word.trailing_zeros() as usize);
        }
        let mut members = self.iter();
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }

    /// Returns the smallest member.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        self.0
            .iter()
            .enumerate()
            .find(|(_, word)| **word != 0)
            .map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
    }

    /// Returns the smallest member not below `from`, or else the smallest of all: round robin from
    /// a pointer.
    #[inline]
    pub(crate) fn next_from(&self, from: usize) -> Option<usize> {
        let mut above = *self;
        above.keep_from(from);
        above.first().or_else(|| self.first())
    }

    #[inline]
    fn keep_from(&mut self, from: usize) {
        for (at, word) in self.0.iter_mut().enumerate() {
            let low = at * 64;
            if from >= low + 64 {
                *word = 0;
            } else if from > low {
                *word &= u64::MAX << (from - low);
            }
        }
    }

    /// Iterates over the members in ascending order.
    #[inline]
    pub(crate) fn iter(self) -> Members<W> {
        Members {
            left: self,
            word: 0,
        }
    }

    /// Iterates over the members in round-robin order from a pointer.
    #[inline]
    pub(crate) fn iter_from(self, from: usize) -> impl Iterator<Item = usize> {
        let mut above = self;
        above.keep_from(from);
        let mut below = self;
        for (word, taken) in below.0.iter_mut().zip(above.0) {
            *word &= !taken;
        }
        above.iter().chain(below.iter())
    }
}

/// Iterator over the members of a [`Mask`].
pub(crate) struct Members<const W: usize> {
    left: Mask<W>,
    word: usize,
}

impl<const W: usize> Iterator for Members<W> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word < W {
            let word = &mut self.left.0[self.word];
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(self.word * 64 + bit);
            }
            self.word += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_mask_is_a_set(members in proptest::collection::btree_set(0usize..192, 0..20), from in 0usize..200) {
            let mut mask = Mask::<3>::default();
            members.iter().for_each(|&m| mask.set(m));
            prop_assert_eq!(mask.iter().collect::<BTreeSet<_>>(), members.clone());
            let next = members.range(from..).next().or(members.first()).copied();
            prop_assert_eq!(mask.next_from(from), next);
            let turn: Vec<usize> = members.range(from..).chain(members.range(..from)).copied().collect();
            prop_assert_eq!(mask.iter_from(from).collect::<Vec<_>>(), turn);
            prop_assert_eq!(mask.only(), (members.len() == 1).then(|| *members.first().unwrap()));
        }
    }
}
