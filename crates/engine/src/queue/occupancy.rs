//! The occupied slots of a level, so that the next one is found in a few instructions even if slots
//! are sparse.

/// Slots of every level of the wheel.
pub(super) const SLOTS: usize = 1 << SLOT_BITS;
/// Bits of a tick that one level resolves.
pub(super) const SLOT_BITS: u32 = 10;
/// Turns a tick or a block number into its slot; slots are reused cyclically.
pub(super) const SLOT_MASK: usize = SLOTS - 1;

const WORDS: usize = SLOTS / 64;
const WORD_MASK: usize = WORDS - 1;

/// One bit per slot, and in `summary` one bit per word that is not zero.
#[derive(Default)]
pub(super) struct Occupancy {
    words: [u64; WORDS],
    summary: u16,
}

impl Occupancy {
    /// Marks the slot as occupied.
    #[inline]
    pub(super) fn set(&mut self, slot: usize) {
        let word = (slot >> 6) & WORD_MASK;
        self.words[word] |= 1 << (slot & 63);
        self.summary |= 1 << word;
    }

    /// Marks the slot as empty.
    #[inline]
    pub(super) fn clear(&mut self, slot: usize) {
        let word = (slot >> 6) & WORD_MASK;
        self.words[word] &= !(1 << (slot & 63));
        // Without a branch, since it is hard to predict how many slots share a word.
        self.summary &= !(u16::from(self.words[word] == 0) << word);
    }

    /// Returns the cyclic distance from `from` to the next occupied slot (zero if `from` itself is
    /// occupied).
    #[inline]
    pub(super) fn distance(&self, from: usize) -> Option<usize> {
        let word = (from >> 6) & WORD_MASK;
        let here = self.words[word] >> (from & 63);
        if here != 0 {
            return Some(here.trailing_zeros() as usize);
        }
        // The words after this one in cyclic order. This one comes last: if its bit is found, the
        // slot lies before `from`, because nothing at or after `from` is occupied.
        let after = self.summary.rotate_right(word as u32 + 1);
        if after == 0 {
            return None;
        }
        let found = (word + 1 + after.trailing_zeros() as usize) & WORD_MASK;
        let slot = found * 64 + self.words[found].trailing_zeros() as usize;
        Some(slot.wrapping_sub(from) & SLOT_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_distance_is_that_of_a_scan(slots in prop::collection::btree_set(0..SLOTS, 0..6), from in 0..SLOTS, gone in 0..SLOTS) {
            let mut occupancy = Occupancy::default();
            slots.iter().for_each(|&slot| occupancy.set(slot));
            occupancy.clear(gone);
            let scan = (0..SLOTS).find(|d| {
                let slot = (from + d) & SLOT_MASK;
                slot != gone && slots.contains(&slot)
            });
            prop_assert_eq!(occupancy.distance(from), scan);
        }
    }
}
