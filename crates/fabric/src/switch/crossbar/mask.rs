//! Sets of ports or queues as bits.

use std::fmt::Debug;

use netloom_encoding::Encoded;

/// A set of small numbers: ports or queues of a switch.
pub(crate) trait Set: Clone + Encoded + Debug + Send {
    /// Creates an empty set of numbers below `bound`, at most [`CAPACITY`](Self::CAPACITY).
    fn below(bound: usize) -> Self;

    /// Maximum number of possible members.
    const CAPACITY: usize;

    fn set(&mut self, bit: usize);

    fn clear(&mut self, bit: usize);

    fn has(&self, bit: usize) -> bool;

    fn is_empty(&self) -> bool;

    /// Returns the only member, if there is exactly one.
    fn only(&self) -> Option<usize>;

    /// A position in the members in round-robin order.
    type Turn;

    /// Begins with the members from a pointer on.
    fn turn(&self, from: usize) -> Self::Turn;

    /// Returns the next member; the set must not have changed since the turn began.
    fn next_in(&self, turn: &mut Self::Turn) -> Option<usize>;

    /// Whether a restored set was created for numbers below `bound` and has no others.
    fn is_below(&self, bound: usize) -> bool;
}

/// A set of ports, which has a fixed size and is copied.
pub(crate) trait Ports: Set + Copy + Default {
    fn union(&mut self, other: Self);

    /// Returns the smallest member not below `from`, or else the smallest of all: round robin from
    /// a pointer.
    fn next_from(&self, from: usize) -> Option<usize>;

    /// Iterates over the members in ascending order.
    fn iter(self) -> impl Iterator<Item = usize>;
}

/// A set of up to `64 * W` small numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encoded)]
pub(crate) struct Mask<const W: usize>([u64; W]);

impl<const W: usize> Default for Mask<W> {
    fn default() -> Self {
        Mask([0; W])
    }
}

impl<const W: usize> Mask<W> {
    /// Returns the word of a bit, in a form that needs no bounds check (the widths are powers of
    /// two).
    #[inline(always)]
    fn word(bit: usize) -> usize {
        bit / 64 % W
    }

    /// Returns the smallest member.
    #[inline]
    fn first(&self) -> Option<usize> {
        self.0
            .iter()
            .enumerate()
            .find(|(_, word)| **word != 0)
            .map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
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
}

impl<const W: usize> Set for Mask<W> {
    const CAPACITY: usize = 64 * W;

    fn below(bound: usize) -> Self {
        assert!(bound <= Self::CAPACITY, "a set wide enough");
        Mask::default()
    }

    #[inline]
    fn set(&mut self, bit: usize) {
        debug_assert!(bit < Self::CAPACITY);
        self.0[Self::word(bit)] |= 1 << (bit % 64);
    }

    #[inline]
    fn clear(&mut self, bit: usize) {
        debug_assert!(bit < Self::CAPACITY);
        self.0[Self::word(bit)] &= !(1 << (bit % 64));
    }

    #[inline]
    fn has(&self, bit: usize) -> bool {
        self.0[Self::word(bit)] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    #[inline]
    fn only(&self) -> Option<usize> {
        if W == 1 {
            let word = self.0[0];
            return (word != 0 && word & (word - 1) == 0).then(|| word.trailing_zeros() as usize);
        }
        let mut members = self.iter();
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }

    type Turn = [Members<W>; 2];

    #[inline]
    fn turn(&self, from: usize) -> [Members<W>; 2] {
        let mut above = *self;
        above.keep_from(from);
        let mut below = *self;
        for (word, taken) in below.0.iter_mut().zip(above.0) {
            *word &= !taken;
        }
        [above, below].map(|left| Members { left, word: 0 })
    }

    #[inline]
    fn next_in(&self, [above, below]: &mut [Members<W>; 2]) -> Option<usize> {
        above.next().or_else(|| below.next())
    }

    fn is_below(&self, bound: usize) -> bool {
        self.iter().all(|member| member < bound)
    }
}

impl<const W: usize> Ports for Mask<W> {
    #[inline]
    fn union(&mut self, other: Mask<W>) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    #[inline]
    fn next_from(&self, from: usize) -> Option<usize> {
        let mut above = *self;
        above.keep_from(from);
        above.first().or_else(|| self.first())
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = usize> {
        Members {
            left: self,
            word: 0,
        }
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

/// A set of up to 8192 queues. It takes the memory that its bound needs, and its operations do not
/// depend on the bound.
#[derive(Clone, PartialEq, Eq, Debug, Encoded)]
pub(crate) struct Many {
    /// The members themselves if there are no words, otherwise the words with a member.
    top: u128,
    words: Box<[u64]>,
}

/// Returns the smallest bit that is set from `from` on.
#[inline]
fn bit_from(bits: u128, from: usize) -> Option<usize> {
    let above = bits & u128::MAX.checked_shl(from as u32)?;
    (above != 0).then(|| above.trailing_zeros() as usize)
}

impl Many {
    /// Returns the smallest member from `from` on.
    #[inline]
    fn member_from(&self, from: usize) -> Option<usize> {
        if self.words.is_empty() {
            return bit_from(self.top, from);
        }
        let at = from / 64;
        let word = self.words.get(at)? & (u64::MAX << (from % 64));
        if word != 0 {
            return Some(at * 64 + word.trailing_zeros() as usize);
        }
        let at = bit_from(self.top, at + 1)?;
        Some(at * 64 + self.words[at].trailing_zeros() as usize)
    }
}

impl Set for Many {
    const CAPACITY: usize = 128 * 64;

    fn below(bound: usize) -> Self {
        assert!(bound <= Self::CAPACITY, "a set wide enough");
        let n_words = if bound <= 128 { 0 } else { bound.div_ceil(64) };
        Many {
            top: 0,
            words: vec![0; n_words].into(),
        }
    }

    #[inline]
    fn set(&mut self, bit: usize) {
        if self.words.is_empty() {
            self.top |= 1 << bit;
        } else {
            self.words[bit / 64] |= 1 << (bit % 64);
            self.top |= 1 << (bit / 64);
        }
    }

    #[inline]
    fn clear(&mut self, bit: usize) {
        if self.words.is_empty() {
            self.top &= !(1 << bit);
            return;
        }
        let word = &mut self.words[bit / 64];
        *word &= !(1 << (bit % 64));
        if *word == 0 {
            self.top &= !(1 << (bit / 64));
        }
    }

    #[inline]
    fn has(&self, bit: usize) -> bool {
        match self.words.is_empty() {
            true => self.top >> bit & 1 == 1,
            false => self.words[bit / 64] >> (bit % 64) & 1 == 1,
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.top == 0
    }

    #[inline]
    fn only(&self) -> Option<usize> {
        let first = self.member_from(0)?;
        self.member_from(first + 1).is_none().then_some(first)
    }

    /// The next position, and the end of the turn once it has wrapped around.
    type Turn = (usize, Option<usize>, usize);

    #[inline]
    fn turn(&self, from: usize) -> Self::Turn {
        (from, None, from)
    }

    #[inline]
    fn next_in(&self, (next, end, from): &mut Self::Turn) -> Option<usize> {
        let mut member = self.member_from(*next);
        if member.is_none() && end.is_none() {
            *end = Some(*from);
            member = self.member_from(0);
        }
        let member = member.filter(|&member| end.is_none_or(|end| member < end))?;
        *next = member + 1;
        Some(member)
    }

    fn is_below(&self, bound: usize) -> bool {
        let n_words = Many::below(bound).words.len();
        let n_tops = if n_words == 0 { bound } else { n_words };
        let holds = |(at, &word): (usize, &u64)| (self.top >> at & 1 == 1) == (word != 0);
        // The number of words comes first: more of them than bits of `top` cannot be looked up.
        self.words.len() == n_words
            && bit_from(self.top, n_tops).is_none()
            && self.words.iter().enumerate().all(holds)
            && self.member_from(bound).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn turn_of(set: &impl Set, from: usize) -> Vec<usize> {
        let mut turn = set.turn(from);
        std::iter::from_fn(|| set.next_in(&mut turn)).collect()
    }

    /// Compares a set with the standard library's.
    fn check<S: Set>(bound: usize, members: &BTreeSet<usize>, from: usize) {
        let mut set = S::below(bound);
        members.iter().for_each(|&member| set.set(member));
        let turn: Vec<usize> = members
            .range(from..)
            .chain(members.range(..from))
            .copied()
            .collect();
        assert_eq!(turn_of(&set, from), turn);
        assert_eq!(
            set.only(),
            (members.len() == 1).then(|| *members.first().unwrap())
        );
        assert_eq!(set.is_empty(), members.is_empty());
        assert!((0..bound).all(|bit| set.has(bit) == members.contains(&bit)));
        assert!(set.is_below(bound));
        assert_eq!(
            S::from_bytes(&set.to_bytes()).map(|set| turn_of(&set, from)),
            Some(turn)
        );
        if let Some(&last) = members.last() {
            assert!(!set.is_below(last));
            set.clear(last);
            assert!(!set.has(last));
            assert_eq!(turn_of(&set, 0).len(), members.len() - 1);
        }
    }

    proptest! {
        #[test]
        fn a_mask_is_a_set(members in proptest::collection::btree_set(0usize..192, 0..20), from in 0usize..200) {
            check::<Mask<3>>(192, &members, from);
            let mut mask = Mask::<3>::default();
            members.iter().for_each(|&m| mask.set(m));
            prop_assert_eq!(mask.iter().collect::<BTreeSet<_>>(), members.clone());
            let next = members.range(from..).next().or(members.first()).copied();
            prop_assert_eq!(mask.next_from(from), next);
        }

        #[test]
        fn many_queues_are_a_set(
            bound in prop_oneof![1usize..=130, 120usize..=8192],
            members in proptest::collection::vec(0usize..8192, 0..20),
            from in 0usize..8192,
        ) {
            let members = members.into_iter().map(|member| member % bound).collect();
            check::<Many>(bound, &members, from % bound);
        }
    }

    #[test]
    fn a_saved_set_of_other_queues_is_rejected() {
        let mut set = Many::below(200);
        set.set(150);
        assert!(set.is_below(200) && !set.is_below(300) && !set.is_below(100));
        let forged = |top, n_words| Many {
            top,
            words: vec![1; n_words].into(),
        };
        assert!(!forged(u128::MAX, 0).is_below(100) && forged(u128::MAX, 0).is_below(128));
        assert!(!forged(u128::MAX, 200).is_below(8192) && forged(u128::MAX, 128).is_below(8192));
        set.top = 0;
        assert!(!set.is_below(200));
    }
}
