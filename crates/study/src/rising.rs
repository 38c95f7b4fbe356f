//! Walking up an axis: where the fabric saturates, and no further than asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How an axis of rising values is walked. Its values have the numbers 0, `fineness`, 2 `fineness`, …; the numbers
/// between are values that bisection adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rising {
    /// Values of the file.
    pub n_values: u64,
    /// Numbers from one value to the next; 1 if none are added.
    pub fineness: u64,
    /// Values that are run beyond the first saturated one; all without a number.
    pub stop_after: Option<u32>,
}

impl Rising {
    /// The number of the value that comes next, given which of those so far are saturated.
    ///
    /// The values of the file come upward, to the end or as many beyond the first saturated one as asked; then the
    /// stretch between the last unsaturated and the first saturated value is halved until they are neighbours. The
    /// answer depends on what was seen, not on when, so it is the same in every process and after every restart.
    pub fn next(&self, seen: &BTreeMap<u64, bool>) -> Option<u64> {
        let mut beyond = None;
        for value in 0..self.n_values {
            if let (Some(done), Some(most)) = (beyond, self.stop_after)
                && done >= most
            {
                break;
            }
            let number = value * self.fineness;
            let Some(is_saturated) = seen.get(&number) else {
                return Some(number);
            };
            beyond = match (beyond, is_saturated) {
                (Some(done), _) => Some(done + 1),
                (None, true) => Some(0),
                (None, false) => None,
            };
        }
        let (high, _) = seen.iter().find(|(_, is_saturated)| **is_saturated)?;
        let (low, _) = seen.range(..high).next_back()?;
        (high - low > 1).then(|| low + (high - low) / 2)
    }

    /// The most values that can come.
    pub fn at_most(&self) -> u64 {
        let halvings = u64::BITS - (self.fineness - 1).leading_zeros();
        self.n_values + u64::from(halvings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Walks with a judge of numbers; every value once.
    fn walk(rising: Rising, is_saturated: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut seen, mut order) = (BTreeMap::new(), vec![]);
        while let Some(number) = rising.next(&seen) {
            assert_eq!(seen.insert(number, is_saturated(number)), None, "once");
            order.push(number);
        }
        order
    }

    #[test]
    fn up_then_halved() {
        let rising = Rising {
            n_values: 10,
            fineness: 10,
            stop_after: Some(2),
        };
        // Saturated from 34: values 0, 10, …, 40 (saturated), two more, then between 30 and 40.
        let order = walk(rising, |n| n >= 34);
        assert_eq!(order, [0, 10, 20, 30, 40, 50, 60, 35, 32, 33, 34]);
        // Never saturated: all values, none between.
        assert_eq!(walk(rising, |_| false).len(), 10);
        // Saturated from the first: nothing below it to halve.
        assert_eq!(walk(rising, |_| true), [0, 10, 20]);
        let only_first = Rising {
            stop_after: Some(0),
            fineness: 1,
            ..rising
        };
        assert_eq!(walk(only_first, |n| n >= 3), [0, 1, 2, 3]);
        let all = Rising {
            stop_after: None,
            fineness: 1,
            ..rising
        };
        assert_eq!(walk(all, |n| n >= 3).len(), 10);
    }

    proptest! {
        #[test]
        fn it_ends_brackets_the_edge_and_runs_no_more_than_asked(
            n_values in 1u64..20,
            fineness in 1u64..100,
            stop_after in prop::option::of(0u32..4),
            edge in 0u64..2000,
        ) {
            let rising = Rising { n_values, fineness, stop_after };
            let order = walk(rising, |n| n >= edge);
            prop_assert!(order.len() as u64 <= rising.at_most(), "{order:?}");
            let seen: BTreeMap<u64, bool> = order.iter().map(|&n| (n, n >= edge)).collect();
            let grid = order.iter().filter(|n| n.is_multiple_of(fineness)).count() as u64;
            let first = seen.iter().find(|(_, saturated)| **saturated).map(|(n, _)| *n);
            let last_value = (n_values - 1) * fineness;
            match first {
                None => prop_assert_eq!(grid, n_values),
                Some(0) => prop_assert_eq!(edge, 0),
                // The bracket is as narrow as it can be.
                Some(first) => {
                    prop_assert_eq!(first, edge);
                    prop_assert!(seen.contains_key(&(edge - 1)));
                }
            }
            if let (Some(most), true) = (stop_after, edge <= last_value) {
                let beyond = seen.keys().filter(|n| n.is_multiple_of(fineness) && **n >= edge).count();
                prop_assert!(beyond <= most as usize + 1);
            }
        }

        #[test]
        fn any_answers_lead_to_an_end(
            n_values in 1u64..12,
            fineness in 1u64..40,
            stop_after in prop::option::of(0u32..4),
            answers in prop::collection::vec(any::<bool>(), 64),
        ) {
            // Saturation that is not monotone, as noise can make it.
            let rising = Rising { n_values, fineness, stop_after };
            let order = walk(rising, |n| answers[(n % 64) as usize]);
            prop_assert!(order.len() as u64 <= rising.at_most());
        }
    }
}
