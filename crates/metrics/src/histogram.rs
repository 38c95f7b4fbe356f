//! Latency percentiles from a histogram with exact merging.
//!
//! Adaptive sketches (t-digest and similar) depend on the order of values and merges, so
//! percentiles would change with the number of threads. Here the buckets are fixed:
//!
//! ```text
//! value    0 .. 127    one bucket each
//!        128 .. 255    64 buckets of 2 values
//!        256 .. 511    64 buckets of 4 values      ... 64 buckets for every further power of two
//! ```
//!
//! A bucket is never wider than 1/64 of its lowest value. The whole of `u64` takes 3,776 buckets
//! (30 KB). The array ends at the largest value seen, so a millisecond in nanoseconds takes 8 KB.

use std::ops::Range;

use netloom_encoding::Encoded;

/// A power of two is divided into `1 << SUB_BITS` buckets.
const SUB_BITS: u32 = 6;
const SUB_BUCKETS: usize = 1 << SUB_BITS;

/// Maximum width of a bucket relative to its values. Percentiles that differ by less are considered
/// equal.
pub const RESOLUTION: f64 = 1.0 / SUB_BUCKETS as f64;

/// Maximum number of values that is read back. No run has more, and sums of such counts do not
/// overflow.
const MOST: u64 = 1 << 52;

/// A log-linear histogram of `u64` values, usually ticks.
///
/// Count, sum, minimum and maximum are exact. A [`quantile`](Self::quantile) is within 1/128 of the
/// exact one, because it is the middle of a bucket that is at most 1/64 wide.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Values per bucket, up to the largest bucket seen (rounded up to whole powers of two).
    counts: Vec<u64>,
    count: u64,
    /// Cannot overflow: at most 2^64 values below 2^64.
    sum: u128,
    /// An empty histogram has `u64::MAX` and zero here, the neutral elements of minimum and
    /// maximum. So recording and merging need no special case for the first value.
    min: u64,
    max: u64,
}

/// Decodes only if the sums are consistent with the buckets.
impl Encoded for Histogram {
    fn put(&self, out: &mut Vec<u8>) {
        let Histogram {
            counts,
            count,
            sum,
            min,
            max,
        } = self;
        counts.put(out);
        count.put(out);
        sum.put(out);
        min.put(out);
        max.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let read = Histogram {
            counts: Encoded::take(from)?,
            count: Encoded::take(from)?,
            sum: Encoded::take(from)?,
            min: Encoded::take(from)?,
            max: Encoded::take(from)?,
        };
        read.is_sound().then_some(read)
    }
}

impl Histogram {
    /// Creates an empty histogram, which allocates with the first value.
    pub const fn new() -> Self {
        Histogram {
            counts: Vec::new(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Whether some values give these buckets and sums.
    fn is_sound(&self) -> bool {
        let Histogram {
            counts,
            count,
            sum,
            min,
            max,
        } = self;
        if counts.len() > bucket_of(u64::MAX) + 1 || *count > MOST {
            return false;
        }
        let held = match self.held() {
            Some(held) if min <= max && held.end <= counts.len() => held,
            None if (*sum, *min, *max) == (0, u64::MAX, 0) => 0..0,
            _ => return false,
        };
        let is_empty = |counts: &[u64]| counts.iter().all(|&count| count == 0);
        let (inside, ends) = (&counts[held.clone()], [held.start, held.end]);
        let all = inside.iter().map(|&count| u128::from(count)).sum::<u128>();
        let least = u128::from(*min) * u128::from(*count);
        is_empty(&counts[..ends[0]])
            && is_empty(&counts[ends[1]..])
            && inside.first().is_none_or(|&count| count > 0)
            && inside.last().is_none_or(|&count| count > 0)
            && all == u128::from(*count)
            && (*count == 0 || (least..=u128::from(*max) * u128::from(*count)).contains(sum))
    }

    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let index = bucket_of(value);
        match self.counts.get_mut(index) {
            Some(count) => *count += 1,
            None => self.record_beyond_the_end(index),
        }
    }

    #[cold]
    fn record_beyond_the_end(&mut self, index: usize) {
        // Whole powers of two, so that slowly growing latencies do not allocate one by one.
        self.counts
            .resize((index + 1).next_multiple_of(SUB_BUCKETS), 0);
        self.counts[index] += 1;
    }

    /// Adds everything that the other has counted. Equivalent to recording all values here.
    pub fn merge(&mut self, other: &Histogram) {
        let Some(held) = other.held() else {
            return;
        };
        if self.counts.len() < held.end {
            self.counts
                .resize(held.end.next_multiple_of(SUB_BUCKETS), 0);
        }
        let mine = &mut self.counts[held.clone()];
        for (mine, theirs) in mine.iter_mut().zip(&other.counts[held]) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the buckets from the least value to the largest; all others are empty.
    fn held(&self) -> Option<Range<usize>> {
        (self.count > 0).then(|| bucket_of(self.min)..bucket_of(self.max) + 1)
    }

    /// Removes all values and keeps the memory, for the next epoch.
    pub fn clear(&mut self) {
        let held = self.held();
        let mut counts = std::mem::take(&mut self.counts);
        if let Some(held) = held {
            counts[held].fill(0);
        }
        *self = Histogram {
            counts,
            ..Histogram::new()
        };
    }

    /// Returns the number of values recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the mean of the exact values (not of the buckets).
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the value below or at which a fraction `q` of all values lies: `quantile(0.99)` is
    /// the p99.
    ///
    /// Of `n` sorted values it represents the one of rank `ceil(q * n)`, counted from one (nearest
    /// rank, without interpolation). The first and the last rank give the exact minimum and
    /// maximum. Any other rank gives the middle of its bucket, rounded up and limited to the range
    /// from minimum to maximum. It then differs from the exact value by at most 1/128, and is exact
    /// below 128.
    ///
    /// # Panics
    /// If `q` is not between 0 and 1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        assert!(
            (0.0..=1.0).contains(&q),
            "a quantile is a share between 0 and 1, not {q}"
        );
        if self.count == 0 {
            return None;
        }
        let rank = nearest_rank(q, self.count);
        if rank == 1 {
            return Some(self.min);
        }
        if rank == self.count {
            return Some(self.max);
        }
        let mut seen = 0;
        for (low, high, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                let middle = low + (high - low).div_ceil(2);
                return Some(middle.clamp(self.min, self.max));
            }
        }
        unreachable!("the buckets hold all {} values", self.count)
    }

    /// Returns the nonempty buckets in ascending order: lowest value, highest value (inclusive) and
    /// number of values.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(index, &count)| {
                let (low, high) = bounds(index);
                (low, high, count)
            })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Two histograms are equal if the same buckets have the same counts and if count, sum, minimum and
/// maximum agree. Memory kept for larger values is ignored.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum == other.sum
            && self.min == other.min
            && self.max == other.max
            && self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

/// Returns the bucket of a value: the shift that leaves at most seven bits, and those bits.
#[inline]
fn bucket_of(value: u64) -> usize {
    // Setting bit 6 gives all values below 128 the shift zero, without a branch.
    let shift = u64::BITS - 1 - SUB_BITS - (value | SUB_BUCKETS as u64).leading_zeros();
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// Returns the lowest and the highest value of a bucket. Inverse of [`bucket_of`].
fn bounds(index: usize) -> (u64, u64) {
    let shift = (index >> SUB_BITS).saturating_sub(1);
    let low = ((index - (shift << SUB_BITS)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

/// Returns `ceil(q * n)`, at least 1 and at most `n`.
fn nearest_rank(q: f64, n: u64) -> u64 {
    // In binary, 0.07 * 100 is slightly above 7; the rank must not move up for that. The decimal
    // fraction and the product are each off by at most half an epsilon.
    let exact = q * n as f64 * (1.0 - 2.0 * f64::EPSILON);
    (exact.ceil() as u64).clamp(1, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn the_buckets_are_those_of_the_drawing() {
        for value in 0..128 {
            assert_eq!(bounds(bucket_of(value)), (value, value));
        }
        assert_eq!(bounds(bucket_of(129)), (128, 129));
        assert_eq!(bounds(bucket_of(255)), (254, 255));
        assert_eq!(bounds(bucket_of(256)), (256, 259));
        assert_eq!(bucket_of(u64::MAX), 3775);
        assert_eq!(bounds(3775), (127 << 57, u64::MAX));
    }

    #[test]
    fn neighbouring_buckets_leave_no_gap_and_stay_within_one_part_in_64() {
        let mut next = 0;
        for index in 0..3776 {
            let (low, high) = bounds(index);
            assert_eq!(low, next);
            assert_eq!((bucket_of(low), bucket_of(high)), (index, index));
            assert!(
                u128::from(high - low) * 64 <= u128::from(low),
                "bucket {index}"
            );
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the last value");
    }

    #[test]
    fn a_hundred_values_by_hand() {
        let values: Vec<u64> = (1..=100).collect();
        let h = histogram(&values);
        assert_eq!((h.count(), h.sum()), (100, 5050));
        assert_eq!(
            (h.min(), h.max(), h.mean()),
            (Some(1), Some(100), Some(50.5))
        );
        assert_eq!(h.quantile(0.0), Some(1));
        assert_eq!(h.quantile(0.07), Some(7), "0.07 * 100 is above 7 in binary");
        assert_eq!(h.quantile(0.5), Some(50));
        assert_eq!(h.quantile(0.99), Some(99));
        assert_eq!(h.quantile(0.991), Some(100));
        assert_eq!(h.quantile(1.0), Some(100));
    }

    #[test]
    fn a_quantile_between_is_the_middle_of_its_bucket() {
        // 1000 lies in 1000..=1007, whose middle, rounded up, is 1004.
        let h = histogram(&[1, 1000, 5000]);
        assert_eq!(h.quantile(0.5), Some(1004));
        assert_eq!((h.quantile(0.0), h.quantile(1.0)), (Some(1), Some(5000)));
        // The middle is never outside the range of the values.
        assert_eq!(histogram(&[1001; 3]).quantile(0.5), Some(1001));
    }

    #[test]
    fn empty_has_no_statistics() {
        let h = Histogram::new();
        assert_eq!((h.count(), h.sum(), h.buckets().count()), (0, 0, 0));
        assert_eq!(
            (h.min(), h.max(), h.mean(), h.quantile(0.5)),
            (None, None, None, None)
        );
    }

    #[test]
    fn the_largest_values_are_counted_and_summed() {
        let h = histogram(&[u64::MAX, u64::MAX]);
        assert_eq!(h.sum(), 2 * u128::from(u64::MAX));
        assert_eq!(h.quantile(0.5), Some(u64::MAX));
    }

    #[test]
    fn clearing_keeps_memory_and_forgets_values() {
        let mut h = histogram(&[5, 1_000_000]);
        let capacity = h.counts.capacity();
        h.clear();
        assert_eq!(h, Histogram::new());
        assert_eq!(h.counts.capacity(), capacity);
        h.record(7);
        assert_eq!(h, histogram(&[7]));
    }

    #[test]
    fn memory_ends_at_the_largest_value() {
        assert_eq!(histogram(&[1_000_000]).counts.len(), 15 * 64);
    }

    /// Values of all magnitudes, not only the huge ones of a uniform `u64`.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((any::<u64>(), 0u32..64).prop_map(|(v, s)| v >> s), 1..200)
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(value: u64, shift in 0u32..64) {
            let value = value >> shift;
            let (low, high) = bounds(bucket_of(value));
            prop_assert!(low <= value && value <= high);
        }

        #[test]
        fn merging_is_recording_all(a in values(), b in values()) {
            let mut merged = histogram(&a);
            merged.merge(&histogram(&b));
            let mut reversed = histogram(&b);
            reversed.merge(&histogram(&a));
            prop_assert_eq!(&merged, &reversed);
            prop_assert_eq!(&merged, &histogram(&[a, b].concat()));
        }

        #[test]
        fn order_does_not_matter(values in values()) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            prop_assert_eq!(histogram(&values), histogram(&sorted));
        }

        #[test]
        fn quantiles_follow_the_sorted_values(mut values in values(), q in 0.0f64..=1.0) {
            let h = histogram(&values);
            values.sort_unstable();
            let rank = (q * values.len() as f64).ceil().max(1.0) as usize;
            let (exact, estimated) = (values[rank - 1], h.quantile(q).unwrap());
            prop_assert!(u128::from(exact.abs_diff(estimated)) * 128 <= u128::from(exact));
            prop_assert_eq!(h.quantile(0.0), values.first().copied());
            prop_assert_eq!(h.quantile(1.0), values.last().copied());
        }
    }
}
