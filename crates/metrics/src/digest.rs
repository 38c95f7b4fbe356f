//! A number that tells whether two runs delivered the same packets at the same times.
//!
//! Partitions deliver in different orders, so the digest is a sum: of a hash of each delivery,
//! wrapping at 64 bits. Unlike an exclusive or, a sum also detects a packet that is delivered
//! twice. The digest guards against mistakes, not against deliberate collisions.

use std::fmt;

use netloom_encoding::Encoded;

/// A delivered packet, as the digest sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Delivery {
    pub source: u32,
    /// Sequence number among the packets of that NIC. With `source`, it identifies the packet for
    /// any partitioning.
    pub sequence: u32,
    pub destination: u32,
    /// Time of generation, in ticks.
    pub generation: u64,
    /// Arrival of the last flit, in ticks.
    pub tail: u64,
    pub flits: u16,
    pub sl: u8,
    /// The recorder's row that counts it: its class at its service level.
    pub row: u8,
}

impl Delivery {
    /// Returns a hash in which every field counts separately.
    ///
    /// Each field has its own bits in one of four words. Each step below can be undone if the other
    /// words are known (exclusive or, shift-and-exclusive-or, product with an odd number). So two
    /// deliveries that differ in one word only, in particular in one field, never have the same
    /// hash.
    #[inline]
    fn hash(&self) -> u64 {
        let identity = u64::from(self.source) << 32 | u64::from(self.sequence);
        let rest = u64::from(self.destination) << 32
            | u64::from(self.row) << 24
            | u64::from(self.flits) << 8
            | u64::from(self.sl);
        // Without an offset, a delivery of zeros would add nothing.
        let mut hash = fold(identity ^ 0x9e37_79b9_7f4a_7c15, 0xa076_1d64_78bd_642f);
        hash = fold(hash ^ self.generation, 0xe703_7ed1_a0b4_28db);
        hash = fold(hash ^ self.tail, 0x8ebc_6af0_9c88_c6e3);
        scatter(hash ^ rest)
    }
}

/// Moves the high half down, and the product spreads it up again.
#[inline]
fn fold(word: u64, odd: u64) -> u64 {
    (word ^ word >> 32).wrapping_mul(odd)
}

/// The finaliser of SplitMix64 (D. Stafford's variant 13). Each bit of the input flips each bit of
/// the output in about half of the cases, so the hashes may be added.
#[inline]
fn scatter(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// A digest of deliveries, independent of their order. The empty one is zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Encoded)]
pub struct Digest(u64);

impl Digest {
    #[inline]
    pub fn add(&mut self, delivery: &Delivery) {
        self.0 = self.0.wrapping_add(delivery.hash());
    }

    /// Adds all deliveries of the other digest, usually of another partition.
    #[inline]
    pub fn merge(&mut self, other: Digest) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// Returns the number, for storage.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Prints sixteen hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const EXAMPLE: Delivery = Delivery {
        source: 17,
        sequence: 4,
        destination: 61,
        generation: 1_000,
        tail: 1_420,
        flits: 32,
        sl: 3,
        row: 0,
    };

    fn digest(deliveries: &[Delivery]) -> Digest {
        let mut digest = Digest::default();
        deliveries.iter().for_each(|delivery| digest.add(delivery));
        digest
    }

    /// Returns every delivery that differs from this one in a single bit.
    fn neighbours(delivery: Delivery) -> Vec<Delivery> {
        let mut all = Vec::new();
        macro_rules! flip {
            ($field:ident: $bits:expr) => {
                for bit in 0..$bits {
                    let mut other = delivery;
                    other.$field ^= 1 << bit;
                    all.push(other);
                }
            };
        }
        flip!(source: 32);
        flip!(sequence: 32);
        flip!(destination: 32);
        flip!(generation: 64);
        flip!(tail: 64);
        flip!(flits: 16);
        flip!(sl: 8);
        flip!(row: 8);
        all
    }

    #[test]
    fn no_two_of_all_single_bit_changes_agree() {
        for delivery in [EXAMPLE, Delivery::default()] {
            let mut all = neighbours(delivery);
            all.push(delivery);
            let digests: HashSet<Digest> = all.iter().map(|d| digest(&[*d])).collect();
            assert_eq!(digests.len(), 32 * 3 + 64 * 2 + 16 + 8 * 2 + 1);
        }
    }

    #[test]
    fn one_changed_bit_changes_about_half_of_the_digest() {
        let own = digest(&[EXAMPLE]).value();
        for other in neighbours(EXAMPLE) {
            let changed = (own ^ digest(&[other]).value()).count_ones();
            assert!(
                (12..=52).contains(&changed),
                "{changed} of 64 bits for {other:?}"
            );
        }
    }

    #[test]
    fn swapped_fields_are_noticed() {
        let Delivery {
            source,
            sequence,
            destination,
            generation,
            tail,
            flits,
            sl,
            row: _,
        } = EXAMPLE;
        let swapped = [
            Delivery {
                source: sequence,
                sequence: source,
                ..EXAMPLE
            },
            Delivery {
                source: destination,
                destination: source,
                ..EXAMPLE
            },
            Delivery {
                sequence: destination,
                destination: sequence,
                ..EXAMPLE
            },
            Delivery {
                generation: tail,
                tail: generation,
                ..EXAMPLE
            },
            Delivery {
                flits: u16::from(sl),
                sl: flits as u8,
                ..EXAMPLE
            },
            Delivery {
                row: sl,
                sl: 0,
                ..EXAMPLE
            },
        ];
        for other in swapped {
            assert_ne!(digest(&[other]), digest(&[EXAMPLE]), "{other:?}");
        }
    }

    #[test]
    fn two_packets_that_swap_a_field_are_noticed() {
        let other = Delivery {
            sequence: 5,
            destination: 9,
            tail: 1_500,
            ..EXAMPLE
        };
        let own = digest(&[EXAMPLE, other]);
        let swap = |field: fn(&mut Delivery, &mut Delivery)| {
            let (mut a, mut b) = (EXAMPLE, other);
            field(&mut a, &mut b);
            digest(&[a, b])
        };
        assert_ne!(
            own,
            swap(|a, b| std::mem::swap(&mut a.sequence, &mut b.sequence))
        );
        assert_ne!(
            own,
            swap(|a, b| std::mem::swap(&mut a.destination, &mut b.destination))
        );
        assert_ne!(own, swap(|a, b| std::mem::swap(&mut a.tail, &mut b.tail)));
    }

    #[test]
    fn every_delivery_counts_even_twice_and_even_all_zeros() {
        let zeros = Delivery::default();
        assert_ne!(digest(&[zeros]), digest(&[]));
        assert_ne!(digest(&[EXAMPLE, EXAMPLE]), digest(&[]));
        assert_ne!(digest(&[EXAMPLE, EXAMPLE]), digest(&[EXAMPLE]));
    }

    #[test]
    fn a_dense_block_of_small_deliveries_has_no_collision() {
        // Typical runs have small ids and times, and successive values differ in a few low bits.
        let mut seen = HashSet::new();
        for i in 0..1u32 << 18 {
            let delivery = Delivery {
                source: i & 7,
                sequence: i >> 3 & 7,
                destination: i >> 6 & 7,
                generation: u64::from(i >> 9 & 7),
                tail: u64::from(i >> 12 & 7),
                flits: (i >> 15 & 3) as u16,
                sl: (i >> 17 & 1) as u8,
                row: 0,
            };
            assert!(seen.insert(digest(&[delivery])), "{delivery:?}");
        }
    }

    #[test]
    fn the_hash_stays_what_it_is() {
        // Stored runs are compared by their digests; a new hash makes all of them look changed.
        assert_eq!(digest(&[EXAMPLE]).to_string(), "25d7f795c9f6c48a");
    }

    #[test]
    fn it_is_written_as_sixteen_digits() {
        assert_eq!(Digest(0xbeef).to_string(), "000000000000beef");
        assert_eq!(digest(&[]).to_string(), "0000000000000000");
    }

    fn deliveries() -> impl Strategy<Value = Vec<Delivery>> {
        let one = any::<(u32, u32, u32, u64, u64, u16, u8, u8)>().prop_map(
            |(source, sequence, destination, generation, tail, flits, sl, row)| Delivery {
                source,
                sequence,
                destination,
                generation,
                tail,
                flits,
                sl,
                row,
            },
        );
        proptest::collection::vec(one, 0..50)
    }

    proptest! {
        #[test]
        fn order_does_not_matter(deliveries in deliveries(), turn in 0usize..50) {
            let mut other = deliveries.clone();
            other.reverse();
            other.rotate_left(turn.min(deliveries.len()));
            prop_assert_eq!(digest(&deliveries), digest(&other));
        }

        #[test]
        fn merging_is_adding_all(a in deliveries(), b in deliveries()) {
            let mut merged = digest(&a);
            merged.merge(digest(&b));
            prop_assert_eq!(merged, digest(&[a, b].concat()));
        }

        #[test]
        fn any_single_bit_matters(deliveries in deliveries()) {
            for delivery in deliveries.into_iter().take(3) {
                for other in neighbours(delivery) {
                    prop_assert_ne!(digest(&[delivery]), digest(&[other]));
                }
            }
        }
    }
}
