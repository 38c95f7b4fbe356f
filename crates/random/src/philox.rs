//! Philox4x32-10: ten rounds of multiplication and mixing over a 128-bit counter.

use crate::Purpose;

const MULTIPLIERS: (u32, u32) = (0xD251_1F53, 0xCD9E_8D57);
const WEYL: (u32, u32) = (0x9E37_79B9, 0xBB67_AE85);

/// The round keys. They depend on nothing else, so a stream stores them.
type Keys = [(u32, u32); 10];

fn keys(key: (u32, u32)) -> Keys {
    std::array::from_fn(|round| {
        let step = |word: u32, weyl: u32| word.wrapping_add(weyl.wrapping_mul(round as u32));
        (step(key.0, WEYL.0), step(key.1, WEYL.1))
    })
}

#[inline]
fn philox(mut counter: [u32; 4], keys: &Keys) -> [u32; 4] {
    for key in keys {
        let a = u64::from(MULTIPLIERS.0) * u64::from(counter[0]);
        let b = u64::from(MULTIPLIERS.1) * u64::from(counter[2]);
        let high = |x: u64| (x >> 32) as u32;
        counter = [
            high(b) ^ counter[1] ^ key.0,
            b as u32,
            high(a) ^ counter[3] ^ key.1,
            a as u32,
        ];
    }
    counter
}

/// The draws of one seed and purpose.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    keys: Keys,
}

impl Stream {
    /// Creates the stream of a seed and a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        // One more Philox call spreads similar seeds and purposes over the whole key space.
        let mixed = philox(
            [seed as u32, (seed >> 32) as u32, purpose as u32, 0],
            &keys((0x6E65_746C, 0x6F6F_6D00)),
        );
        Stream {
            keys: keys((mixed[0], mixed[1])),
        }
    }

    /// Returns the draw of an occasion, named by four words.
    #[inline]
    pub fn draw(&self, occasion: [u32; 4]) -> Draw {
        Draw(philox(occasion, &self.keys))
    }
}

/// 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draw(pub [u32; 4]);

impl Draw {
    /// Returns a number below `n` from one word, with a bias below `n / 2^32`.
    #[inline]
    pub fn below(self, word: usize, n: u32) -> u32 {
        ((u64::from(self.0[word]) * u64::from(n)) >> 32) as u32
    }

    /// Returns a number in [0, 1) with 53 random bits, from words 0 and 1 (`half` 0) or 2 and 3
    /// (`half` 1).
    #[inline]
    pub fn unit(self, half: usize) -> f64 {
        let bits = u64::from(self.0[2 * half]) << 32 | u64::from(self.0[2 * half + 1]);
        (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_random123() {
        assert_eq!(
            philox([0; 4], &keys((0, 0))),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox([u32::MAX; 4], &keys((u32::MAX, u32::MAX))),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                &keys((0xa409_3822, 0x299f_31d0))
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn purposes_and_occasions_differ() {
        let (a, b) = (
            Stream::new(1, Purpose::Arrival),
            Stream::new(1, Purpose::Routing),
        );
        assert_ne!(a.draw([0; 4]), b.draw([0; 4]));
        assert_ne!(a.draw([1, 0, 0, 0]), a.draw([0, 1, 0, 0]));
        assert_eq!(
            a.draw([5, 6, 7, 8]),
            Stream::new(1, Purpose::Arrival).draw([5, 6, 7, 8])
        );
    }

    #[test]
    fn below_is_uniform() {
        let stream = Stream::new(3, Purpose::Message);
        let mut seen = [0u32; 7];
        for i in 0..70_000 {
            seen[stream.draw([i, 0, 0, 0]).below(2, 7) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&n| (9_600..10_400).contains(&n)),
            "{seen:?}"
        );
    }
}
