//! Values over simulated time.

use netloom_units::Tick;

/// One value per epoch of fixed length, from the start of the run.
///
/// Rules about a whole run (warm-up, width of the interval) use epochs and not windows of the
/// kernel, so their results do not depend on the number of partitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series<T> {
    epoch: u64,
    values: Vec<T>,
}

impl<T> Series<T> {
    /// Creates an empty series with epochs of `epoch` ticks.
    ///
    /// # Panics
    /// If `epoch` is zero.
    pub fn new(epoch: u64) -> Self {
        assert!(epoch > 0, "a series with epochs of zero ticks");
        Series {
            epoch,
            values: Vec::new(),
        }
    }

    /// Returns the length of an epoch in ticks.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Appends the value of the next epoch.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// Returns the number of epochs with a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no epoch has ended yet.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of an epoch, counted from zero.
    pub fn get(&self, epoch: usize) -> Option<&T> {
        self.values.get(epoch)
    }

    /// Returns the first tick of an epoch, counted from zero.
    pub fn start_of(&self, epoch: usize) -> Tick {
        Tick(epoch as u64 * self.epoch)
    }

    /// Iterates over all values, oldest first.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// Returns all values, oldest first; slicing removes a warm-up.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }
}

impl<'a, T> IntoIterator for &'a Series<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[u32]) -> Series<u32> {
        let mut series = Series::new(100);
        values.iter().for_each(|&value| series.push(value));
        series
    }

    #[test]
    fn epochs_follow_each_other() {
        let s = series(&[7, 8, 9]);
        assert_eq!((s.epoch(), s.len(), s.is_empty()), (100, 3, false));
        assert_eq!((s.get(2), s.get(3)), (Some(&9), None));
        assert_eq!(s.start_of(2), Tick(200));
        assert_eq!(s.iter().sum::<u32>(), 24);
        assert_eq!(&s.as_slice()[1..], [8, 9]);
    }
}
