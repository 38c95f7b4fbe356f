//! Division by a precomputed divisor: one multiplication and one shift.

/// Divides numbers below 2^31 exactly.
///
/// With 2^(b-1) < d <= 2^b, the quotient is `n * (2^(31+b) / d + 1) >> (31 + b)`: the error of the
/// reciprocal is below d / 2^(31+b), so that of the product is below 2^31 * 2^b / 2^(31+b) / d =
/// 1/d.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    reciprocal: u64,
    shift: u32,
}

impl Divisor {
    pub(crate) fn new(d: u32) -> Self {
        assert!(
            (1..1 << 31).contains(&d),
            "a divisor from 1 to 2^31 - 1, not {d}"
        );
        let shift = 31 + d.next_power_of_two().trailing_zeros();
        Divisor {
            reciprocal: (1u64 << shift) / u64::from(d) + 1,
            shift,
        }
    }

    /// Returns `n` divided by the divisor; `n` must be below 2^31.
    #[inline]
    pub(crate) fn of(self, n: u32) -> u32 {
        (u64::from(n).wrapping_mul(self.reciprocal) >> self.shift) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn divides_like_division(n in 0u32..1 << 31, d in 1u32..1 << 31, small in 1u32..5000) {
            for d in [d, small] {
                prop_assert_eq!(Divisor::new(d).of(n), n / d);
                let multiple = n / d * d;
                prop_assert_eq!(Divisor::new(d).of(multiple), n / d);
                if multiple > 0 {
                    prop_assert_eq!(Divisor::new(d).of(multiple - 1), n / d - 1);
                }
            }
        }
    }
}
