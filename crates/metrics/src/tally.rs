//! Mean and variance from integer sums.
//!
//! Welford's running variance rounds at every step, so its last bits depend on the order of values
//! and merges. Integer sums do not; only the final division rounds.

use netloom_encoding::Encoded;

/// Count, sum, sum of squares, minimum and maximum of `u64` values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally {
    count: u64,
    sum: u128,
    /// Saturates at `u128::MAX`, independent of the order of values. Values of 2^40 ticks reach it
    /// after 2^48 of them.
    sum_of_squares: u128,
    /// `u64::MAX` and zero while empty: the neutral elements of minimum and maximum.
    min: u64,
    max: u64,
}

/// Decodes only if some values have these sums.
impl Encoded for Tally {
    fn put(&self, out: &mut Vec<u8>) {
        let Tally {
            count,
            sum,
            sum_of_squares,
            min,
            max,
        } = self;
        count.put(out);
        sum.put(out);
        sum_of_squares.put(out);
        min.put(out);
        max.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let read = Tally {
            count: Encoded::take(from)?,
            sum: Encoded::take(from)?,
            sum_of_squares: Encoded::take(from)?,
            min: Encoded::take(from)?,
            max: Encoded::take(from)?,
        };
        let (count, max) = (u128::from(read.count), u128::from(read.max));
        let is_sound = match read.count {
            0 => read == Tally::new(),
            _ if read.count > 1 << 52 || read.min > read.max || read.sum > count * max => false,
            _ => {
                // The least sum of squares of `count` values with this sum; where it is too large,
                // sums saturate.
                let (mean, rest) = (read.sum / count, read.sum % count);
                let least = (count * mean).checked_mul(mean);
                let least = least.and_then(|least| least.checked_add(2 * mean * rest));
                read.sum_of_squares >= least.unwrap_or(u128::MAX)
                    && read.sum >= count * u128::from(read.min)
            }
        };
        is_sound.then_some(read)
    }
}

impl Tally {
    pub const fn new() -> Self {
        Tally {
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, value: u64) {
        let wide = u128::from(value);
        self.count += 1;
        self.sum += wide;
        self.sum_of_squares = self.sum_of_squares.saturating_add(wide * wide);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds everything that the other has counted. Equivalent to recording all values here.
    pub fn merge(&mut self, other: &Tally) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub fn clear(&mut self) {
        *self = Tally::new();
    }

    /// Returns the number of values recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the exact sum of all squared values, or `None` if it does not fit in 128 bits.
    pub(crate) fn sum_of_squares(&self) -> Option<u128> {
        (self.sum_of_squares < u128::MAX).then_some(self.sum_of_squares)
    }

    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the unbiased variance (divided by `count - 1`), or `None` for fewer than two values
    /// or if the squares do not fit in 128 bits.
    pub fn variance(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        // With sum = n*m + r (m the mean rounded down, r < n), the squared deviations from the true
        // mean add up to squares - n*m^2 - 2*m*r - r^2/n. Everything before the last division is an
        // integer below `squares`, so nothing cancels in floating point, however large the mean.
        let n = u128::from(self.count);
        let (m, r) = (self.sum / n, self.sum % n);
        let around_m = self.sum_of_squares()? - n * m * m - 2 * m * r;
        let whole = around_m - (r * r).div_ceil(n);
        let part = (r * r).div_ceil(n) * n - r * r;
        Some((whole as f64 + part as f64 / n as f64) / (self.count - 1) as f64)
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(values: &[u64]) -> Tally {
        let mut tally = Tally::new();
        values.iter().for_each(|&value| tally.record(value));
        tally
    }

    #[test]
    fn eight_values_by_hand() {
        // Mean 5; squared deviations 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 7.
        let t = tally(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((t.count(), t.sum(), t.sum_of_squares()), (8, 40, Some(232)));
        assert_eq!((t.min(), t.max(), t.mean()), (Some(2), Some(9), Some(5.0)));
        assert_eq!(t.variance(), Some(32.0 / 7.0));
    }

    #[test]
    fn a_mean_between_two_integers() {
        // Mean 1.5; squared deviations 0.25 + 0.25.
        assert_eq!(tally(&[1, 2]).variance(), Some(0.5));
        // Mean 4/3; squared deviations 1/9 + 1/9 + 4/9 = 2/3, over 2.
        assert_eq!(tally(&[1, 1, 2]).variance(), Some((2.0 / 3.0) / 2.0));
    }

    #[test]
    fn a_large_mean_does_not_hide_a_small_variance() {
        let far = 1 << 60;
        assert_eq!(tally(&[far, far + 1, far + 2]).variance(), Some(1.0));
    }

    #[test]
    fn too_few_values_have_no_variance() {
        assert_eq!(
            (tally(&[]).mean(), tally(&[]).min(), tally(&[]).max()),
            (None, None, None)
        );
        assert_eq!(
            (tally(&[7]).mean(), tally(&[7]).variance()),
            (Some(7.0), None)
        );
    }

    #[test]
    fn squares_that_do_not_fit_are_said_not_to_fit() {
        let t = tally(&[u64::MAX, u64::MAX]);
        assert_eq!((t.sum_of_squares(), t.variance()), (None, None));
        assert_eq!(t.mean(), Some(u64::MAX as f64));
    }

    #[test]
    fn clearing_forgets() {
        let mut t = tally(&[1, 2]);
        t.clear();
        assert_eq!(t, Tally::default());
    }

    proptest! {
        #[test]
        fn merging_is_recording_all(a: Vec<u64>, b: Vec<u64>) {
            let mut merged = tally(&a);
            merged.merge(&tally(&b));
            let mut reversed = tally(&b);
            reversed.merge(&tally(&a));
            prop_assert_eq!(merged, reversed);
            prop_assert_eq!(merged, tally(&[a, b].concat()));
        }

        #[test]
        fn the_variance_is_that_of_two_passes(values in proptest::collection::vec(0u64..1 << 20, 2..100)) {
            let n = values.len() as f64;
            let mean = values.iter().sum::<u64>() as f64 / n;
            let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
            let (exact, estimated) = (squares / (n - 1.0), tally(&values).variance().unwrap());
            let error = (exact - estimated).abs();
            prop_assert!(error <= 1e-9 * exact.max(1e-3), "{} {}", exact, estimated);
        }
    }
}
