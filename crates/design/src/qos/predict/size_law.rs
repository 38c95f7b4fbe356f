//! The sizes of packets and their frequencies.

use std::fmt;

use netloom_units::Bytes;

/// The sizes of a class's packets on the wire and their frequencies. There is at least one size.
/// Sizes are ascending, from 1 byte to 4 GiB. Their probabilities are positive and sum to 1.
#[derive(Clone, PartialEq, Debug)]
pub struct SizeLaw(Vec<(u32, f64)>);

/// Why a list of sizes is not a law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LawError {
    /// No size has a weight above 0.
    Empty,
    /// A packet has no bytes, or more than a length field holds: its index in the list and its
    /// size.
    Size(usize, Bytes),
    /// A weight is negative or not a number: its index in the list and its value.
    Weight(usize, f64),
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LawError::Empty => f.write_str("no size has a weight above 0; add one"),
            LawError::Size(at, bytes) => {
                write!(
                    f,
                    "size {at}: expected a packet of 1 byte to {} bytes, found {}",
                    u32::MAX,
                    bytes.0
                )
            }
            LawError::Weight(at, weight) => {
                write!(
                    f,
                    "size {at}: expected a weight of 0 or more, found {weight}"
                )
            }
        }
    }
}

impl std::error::Error for LawError {}

impl SizeLaw {
    /// Returns the law with these sizes, or every error. The weights are relative. Duplicate sizes
    /// are added up, and those of weight 0 are dropped.
    pub fn new(sizes: Vec<(Bytes, f64)>) -> Result<SizeLaw, Vec<LawError>> {
        let mut mistakes = vec![];
        let mut law: Vec<(u32, f64)> = vec![];
        for (at, &(bytes, weight)) in sizes.iter().enumerate() {
            if !(weight.is_finite() && weight >= 0.0) {
                mistakes.push(LawError::Weight(at, weight));
            }
            match u32::try_from(bytes.0) {
                Ok(size) if size > 0 => law.push((size, weight)),
                _ => mistakes.push(LawError::Size(at, bytes)),
            }
        }
        if mistakes.is_empty() && !law.iter().any(|&(_, weight)| weight > 0.0) {
            mistakes.push(LawError::Empty);
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        // The order is fixed before any sum, so the order of the list does not matter.
        law.retain(|&(_, weight)| weight > 0.0);
        law.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        law.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 += next.1;
            }
            is_same
        });
        let whole: f64 = law.iter().map(|&(_, weight)| weight).sum();
        law.iter_mut().for_each(|(_, weight)| *weight /= whole);
        Ok(SizeLaw(law))
    }

    /// Returns the law of packets of one size.
    pub fn fixed(size: Bytes) -> Result<SizeLaw, Vec<LawError>> {
        SizeLaw::new(vec![(size, 1.0)])
    }

    /// Returns the law of all sizes from the smallest to the largest in steps, equally often. A
    /// step of 0 counts as 1.
    pub fn uniform(smallest: Bytes, largest: Bytes, step: Bytes) -> Result<SizeLaw, Vec<LawError>> {
        let sizes = (smallest.0..=largest.0).step_by(step.0.max(1) as usize);
        SizeLaw::new(sizes.map(|bytes| (Bytes(bytes), 1.0)).collect())
    }

    /// Returns the sizes in bytes, ascending, with their probabilities.
    pub fn sizes(&self) -> &[(u32, f64)] {
        &self.0
    }

    /// Returns the mean size in bytes.
    pub fn mean(&self) -> f64 {
        self.mean_of(|bytes| bytes)
    }

    /// Returns the mean of a function of the size.
    pub(super) fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|&(s, p)| p * value(f64::from(s))).sum()
    }

    /// Returns the mean size in units of `unit` bytes, each packet rounded up.
    pub fn mean_units(&self, unit: Bytes) -> f64 {
        let units = |&(s, p): &(u32, f64)| p * Bytes(s.into()).in_flits(unit) as f64;
        self.0.iter().map(units).sum()
    }

    pub fn largest(&self) -> Bytes {
        Bytes(self.0.last().map_or(0, |&(s, _)| s).into())
    }

    pub fn smallest(&self) -> Bytes {
        Bytes(self.0.first().map_or(0, |&(s, _)| s).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_relative_and_sizes_that_are_named_twice_add_up() {
        let law = SizeLaw::new(vec![
            (Bytes(4096), 1.0),
            (Bytes(65), 2.0),
            (Bytes(9), 0.0),
            (Bytes(4096), 1.0),
        ])
        .unwrap();
        assert_eq!(law.sizes(), [(65, 0.5), (4096, 0.5)]);
        assert_eq!((law.smallest(), law.largest()), (Bytes(65), Bytes(4096)));
        assert_eq!(law.mean(), 2080.5);
        assert_eq!(law.mean_units(Bytes(64)), 33.0);
        let uniform = SizeLaw::uniform(Bytes(64), Bytes(320), Bytes(128)).unwrap();
        assert_eq!(uniform.sizes().len(), 3);
        assert!((uniform.mean() - 192.0).abs() < 1e-9);
    }

    #[test]
    fn all_mistakes_come_at_once() {
        let error = |sizes: &[(u64, f64)]| {
            let sizes = sizes.iter().map(|&(s, w)| (Bytes(s), w)).collect();
            let mistakes = SizeLaw::new(sizes).unwrap_err();
            mistakes.iter().map(LawError::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            error(&[(0, 1.0), (64, -1.0), (1 << 32, 1.0)]),
            [
                "size 0: expected a packet of 1 byte to 4294967295 bytes, found 0",
                "size 1: expected a weight of 0 or more, found -1",
                "size 2: expected a packet of 1 byte to 4294967295 bytes, found 4294967296",
            ]
        );
        let empty = "no size has a weight above 0; add one";
        assert_eq!(error(&[]), [empty]);
        assert_eq!(error(&[(64, 0.0)]), [empty]);
        assert!(SizeLaw::uniform(Bytes(2), Bytes(1), Bytes(1)).is_err());
        assert!(SizeLaw::fixed(Bytes(0)).is_err());
    }
}
