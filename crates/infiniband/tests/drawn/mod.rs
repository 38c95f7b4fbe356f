//! Random numbers that are the same on every machine.

#![allow(unreachable_pub, dead_code, reason = "every test uses some of it")]

/// Draws numbers from a seed (SplitMix64).
pub struct Draw(pub u64);

impl Draw {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 => 0,
            n => (self.number() % n as u64) as usize,
        }
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Returns the number of inputs: `NETLOOM_DRAWS`, or the default.
pub fn draws(usual: u64) -> u64 {
    let wanted = std::env::var("NETLOOM_DRAWS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(usual)
}
