//! The reference mode of a partition: another order within each tick.

/// A fixed sequence of random numbers (xorshift64), so that the order is the same in every run.
pub(crate) struct Scramble(u64);

impl Default for Scramble {
    fn default() -> Self {
        Scramble(0x9e37_79b9_7f4a_7c15)
    }
}

impl Scramble {
    /// Shuffles a list (Fisher and Yates).
    // Not inlined: a normal run has none.
    #[cold]
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            list.swap(at, (self.0 % (at as u64 + 1)) as usize);
        }
    }
}
