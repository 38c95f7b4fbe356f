//! Permutations of the bits of a source's number (Dally and Towles, 3.2).
//!
//! With `b` bits, source bit `i` becomes destination bit: reversal `b - 1 - i`; complement `i`,
//! inverted; transpose `i + b/2` modulo `b`; shuffle `i + 1` modulo `b`.

use netloom_catalog::{Described, params};

use super::{Destinations, Pattern, Table, n_sources};
use crate::Context;

const PAPER: Option<&str> =
    Some("Dally and Towles, Principles and Practices of Interconnection Networks, 2004, table 3.1");

macro_rules! bit_pattern {
    ($(#[$about:meta])* $type:ident, $name:literal, $summary:literal, $step:literal, |$place:ident, $bits:ident| $map:expr) => {
        params! {
            $(#[$about])*
            #[derive(Clone, Debug)]
            pub struct $type {}
        }

        impl Described for $type {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const PAPER: Option<&'static str> = PAPER;
            const EXAMPLE: &'static str = "";
        }

        impl Pattern for $type {
            fn prepare(&self, context: &Context<'_>) -> Result<Box<dyn Destinations>, String> {
                context.refuse_destinations(Self::NAME)?;
                let $bits = bits_of(n_sources(context), $step, Self::NAME)?;
                Ok(Table::among_sources(context, |$place| $map))
            }
        }
    };
}

bit_pattern! {
    /// Destination = the source's bits in reverse order; palindromes send nothing.
    BitReversal, "bit-reversal", "Destination = the bits of the source in reverse order.", 1,
    |place, bits| place.reverse_bits() >> (32 - bits)
}
bit_pattern! {
    /// Destination = the source's bits inverted.
    BitComplement, "bit-complement", "Destination = the bits of the source inverted.", 1,
    |place, bits| !place & ((1 << bits) - 1)
}
bit_pattern! {
    /// Destination = the two halves of the source's bits exchanged; sources with equal halves send
    /// nothing.
    Transpose, "transpose", "Destination = the two halves of the bits of the source exchanged.", 2,
    |place, bits| rotate(place, bits / 2, bits)
}
bit_pattern! {
    /// Destination = the source's bits rotated left by one; the first and the last source send
    /// nothing.
    Shuffle, "shuffle", "Destination = the bits of the source rotated left by one.", 1,
    |place, bits| rotate(place, 1, bits)
}

/// Rotates the lowest `bits` bits of a number left.
fn rotate(number: u32, by: u32, bits: u32) -> u32 {
    (number << by | number >> (bits - by)) & ((1 << bits) - 1)
}

/// Returns the number of bits of an index below `n`, which must be 2 to a multiple of `step`.
fn bits_of(n: u32, step: u32, name: &str) -> Result<u32, String> {
    let bits = n.checked_ilog2().unwrap_or(0);
    if n.is_power_of_two() && bits > 0 && bits.is_multiple_of(step) {
        return Ok(bits);
    }
    let smaller = bits / step * step;
    let larger = smaller + step;
    let what = match step {
        1 => "a power of two",
        _ => "a power of four",
    };
    let mut problem = format!("pattern \"{name}\" needs {what} of sources, but the class has {n}");
    if smaller > 0 {
        let size = 1u32 << smaller;
        problem += &format!("; use {size}, for example sources = \"0-{}\"", size - 1);
    }
    if larger < 32 {
        problem += &format!("; the next larger number is {}", 1u32 << larger);
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{is_bijection, map, prepare};
    use super::*;

    #[test]
    fn eight_sources_by_hand() {
        assert_eq!(map(&BitReversal {}, 8), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(map(&BitComplement {}, 8), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(map(&Shuffle {}, 8), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(map(&Transpose {}, 4), [0, 2, 1, 3]);
        assert_eq!(map(&Transpose {}, 16)[0b0111], 0b1101);
    }

    proptest! {
        #[test]
        fn bit_patterns_are_bijections_and_most_undo_themselves(bits in 1u32..12) {
            let n = 1 << bits;
            let mut patterns: Vec<(&dyn Pattern, u32)> =
                vec![(&BitReversal {}, 2), (&BitComplement {}, 2), (&Shuffle {}, bits)];
            if bits % 2 == 0 {
                patterns.push((&Transpose {}, 2));
            }
            for (pattern, order) in patterns {
                let map = map(pattern, n);
                prop_assert!(is_bijection(&map));
                for start in 0..n {
                    let end = (0..order).fold(start, |at, _| map[at as usize]);
                    prop_assert_eq!(end, start);
                }
            }
        }
    }

    #[test]
    fn other_sizes_are_refused_with_the_nearest() {
        let problem = |pattern: &dyn Pattern, n| prepare(pattern, n).err().unwrap();
        assert_eq!(
            problem(&BitReversal {}, 100),
            "pattern \"bit-reversal\" needs a power of two of sources, but the class has 100; use \
             64, for example sources = \"0-63\"; the next larger number is 128"
        );
        assert_eq!(
            problem(&Transpose {}, 8),
            "pattern \"transpose\" needs a power of four of sources, but the class has 8; use 4, \
             for example sources = \"0-3\"; the next larger number is 16"
        );
        assert_eq!(
            problem(&Shuffle {}, 1),
            "pattern \"shuffle\" needs a power of two of sources, but the class has 1; the next \
             larger number is 2"
        );
    }
}
