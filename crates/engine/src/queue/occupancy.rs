//! The occupied slots of a level, so that the next one is found in a few instructions even if slots
//! are sparse.

/// One bit per slot, and in `summary` one bit per word that is not zero.
pub(super) struct Occupancy<const WORDS: usize, const SUMMARY: usize> {
    words: [u64; WORDS],
    summary: [u64; SUMMARY],
}

impl<const WORDS: usize, const SUMMARY: usize> Occupancy<WORDS, SUMMARY> {
    /// Slots; they are reused cyclically.
    pub(super) const SLOTS: usize = {
        assert!(WORDS.is_power_of_two() && SUMMARY == WORDS.div_ceil(64));
        64 * WORDS
    };

    /// No slot is occupied.
    pub(super) fn new() -> Self {
        Occupancy {
            words: [0; WORDS],
            summary: [0; SUMMARY],
        }
    }

    /// Marks the slot as occupied.
    #[inline]
    pub(super) fn set(&mut self, slot: usize) {
        let word = (slot >> 6) & (WORDS - 1);
        self.words[word] |= 1 << (slot & 63);
        self.summary[word >> 6] |= 1 << (word & 63);
    }

    /// Marks the slot as empty.
    #[inline]
    pub(super) fn clear(&mut self, slot: usize) {
        let word = (slot >> 6) & (WORDS - 1);
        self.words[word] &= !(1 << (slot & 63));
        // Without a branch, since it is hard to predict how many slots share a word.
        self.summary[word >> 6] &= !(u64::from(self.words[word] == 0) << (word & 63));
    }

    /// Returns the cyclic distance from `from` to the next occupied slot (zero if `from` itself is
    /// occupied).
    #[inline]
    pub(super) fn distance(&self, from: usize) -> Option<usize> {
        let word = (from >> 6) & (WORDS - 1);
        let here = self.words[word] >> (from & 63);
        if here != 0 {
            return Some(here.trailing_zeros() as usize);
        }
        let found = self.next_word(word)? & (WORDS - 1);
        let slot = found * 64 + self.words[found].trailing_zeros() as usize;
        Some(slot.wrapping_sub(from) & (Self::SLOTS - 1))
    }

    /// Returns the first word after this one in cyclic order that is not zero. This one comes last:
    /// if it is returned, its slot lies before the one searched from, because nothing at or after
    /// that is occupied.
    #[inline]
    fn next_word(&self, word: usize) -> Option<usize> {
        let at = word >> 6;
        let after = self.summary[at] & (!1 << (word & 63));
        if after != 0 {
            return Some(at * 64 + after.trailing_zeros() as usize);
        }
        let mut others = (1..=SUMMARY).map(|ahead| (at + ahead) & (SUMMARY - 1));
        let at = others.find(|&at| self.summary[at] != 0)?;
        Some(at * 64 + self.summary[at].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn the_distance_is_that_of_a_scan<const WORDS: usize, const SUMMARY: usize>(
        slots: &BTreeSet<usize>,
        from: usize,
        gone: usize,
    ) {
        let n = Occupancy::<WORDS, SUMMARY>::SLOTS;
        let (from, gone) = (from % n, gone % n);
        let slots: BTreeSet<usize> = slots.iter().map(|slot| slot % n).collect();
        let mut occupancy = Occupancy::<WORDS, SUMMARY>::new();
        slots.iter().for_each(|&slot| occupancy.set(slot));
        occupancy.clear(gone);
        let scan = (0..n).find(|d| {
            let slot = (from + d) % n;
            slot != gone && slots.contains(&slot)
        });
        assert_eq!(occupancy.distance(from), scan);
    }

    proptest! {
        #[test]
        fn the_distances_are_those_of_a_scan(slots in prop::collection::btree_set(0usize..1 << 14, 0..6), from in 0usize..1 << 14, gone in 0usize..1 << 14) {
            the_distance_is_that_of_a_scan::<16, 1>(&slots, from, gone);
            the_distance_is_that_of_a_scan::<256, 4>(&slots, from, gone);
        }
    }
}
