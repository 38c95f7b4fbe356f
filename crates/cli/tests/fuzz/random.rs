//! A small generator of random numbers: equal seeds give equal inputs on every machine.

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    /// Returns the generator of one input.
    pub(crate) fn new(seed: u64, input: u64) -> Random {
        let mut random = Random(seed ^ input.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        random
    }

    /// Returns 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number less than `n`, or zero if `n` is zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Returns true in one of `n` cases.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of the items.
    pub(crate) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
