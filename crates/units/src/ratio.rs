//! Exact nonnegative fractions, for periods such as 1/1.3 ns and 8/30 ns.

use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms with a nonzero denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    num: u128,
    den: u128,
}

/// Returns the greatest common divisor; `gcd(0, n) = n`.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Ratio {
    pub const ZERO: Ratio = Ratio { num: 0, den: 1 };

    /// Returns `num / den` in lowest terms.
    ///
    /// # Panics
    /// If `den` is zero.
    pub fn new(num: u128, den: u128) -> Self {
        assert!(den != 0, "a fraction with denominator zero");
        let g = gcd(num, den).max(1);
        Ratio {
            num: num / g,
            den: den / g,
        }
    }

    pub fn whole(n: u64) -> Self {
        Ratio {
            num: u128::from(n),
            den: 1,
        }
    }

    pub fn num(self) -> u128 {
        self.num
    }

    pub fn den(self) -> u128 {
        self.den
    }

    /// Returns the difference, or `None` if `other` is larger.
    pub fn checked_sub(self, other: Ratio) -> Option<Ratio> {
        let left = (self.num * other.den).checked_sub(other.num * self.den)?;
        Some(Ratio::new(left, self.den * other.den))
    }

    pub fn is_zero(self) -> bool {
        self.num == 0
    }

    /// Returns the greatest common divisor of two fractions: the longest step that divides both
    /// exactly.
    pub fn gcd(self, other: Self) -> Self {
        Ratio::new(
            gcd(self.num * other.den, other.num * self.den),
            self.den * other.den,
        )
    }

    /// Rounds to the nearest whole number; halves round up.
    pub fn round(self) -> u64 {
        u64::try_from((self.num * 2 + self.den) / (self.den * 2)).expect("a count below 2^64")
    }

    /// Rounds up to a whole number.
    pub fn ceil(self) -> u64 {
        u64::try_from(self.num.div_ceil(self.den)).expect("a count below 2^64")
    }

    /// Rounds down to a whole number.
    pub fn floor(self) -> u64 {
        u64::try_from(self.num / self.den).expect("a count below 2^64")
    }

    /// Converts to a float, for printing and statistics only.
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl std::ops::Add for Ratio {
    type Output = Ratio;
    fn add(self, other: Self) -> Self {
        Ratio::new(
            self.num * other.den + other.num * self.den,
            self.den * other.den,
        )
    }
}

impl std::ops::Mul for Ratio {
    type Output = Ratio;
    fn mul(self, other: Self) -> Self {
        Ratio::new(self.num * other.num, self.den * other.den)
    }
}

impl std::ops::Div for Ratio {
    type Output = Ratio;
    fn div(self, other: Self) -> Self {
        Ratio::new(self.num * other.den, self.den * other.num)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        // Compares the whole parts, then the reciprocals of the remainders (Euclid), so 128 bits
        // never overflow.
        let (mut a, mut b) = ((self.num, self.den), (other.num, other.den));
        loop {
            let order = (a.0 / a.1).cmp(&(b.0 / b.1));
            let rests = (a.0 % a.1, b.0 % b.1);
            match (order, rests) {
                (Ordering::Equal, (0, 0)) => return Ordering::Equal,
                (Ordering::Equal, (0, _)) => return Ordering::Less,
                (Ordering::Equal, (_, 0)) => return Ordering::Greater,
                (Ordering::Equal, (rest_a, rest_b)) => {
                    (a, b) = ((b.1, rest_b), (a.1, rest_a));
                }
                (order, _) => return order,
            }
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 {
            write!(f, "{}", self.num)
        } else {
            write!(f, "{}/{}", self.num, self.den)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_is_that_of_the_cross_products(a in 0u128..1000, b in 1u128..1000, c in 0u128..1000, d in 1u128..1000) {
            let order = Ratio::new(a, b).cmp(&Ratio::new(c, d));
            prop_assert_eq!(order, (a * d).cmp(&(c * b)));
        }
    }

    #[test]
    fn large_fractions_are_compared_without_overflow() {
        let (large, larger) = (Ratio::new(u128::MAX - 1, 3), Ratio::new(u128::MAX, 3));
        assert!(large < larger && Ratio::new(1, u128::MAX) < Ratio::new(1, u128::MAX - 1));
    }
}
