//! Searches an ascending axis for the point of saturation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The rule for an axis of ascending values. Its values have the numbers 0, `fineness`, 2
/// `fineness`, …; bisection adds values with numbers between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rising {
    /// Number of values in the file.
    pub n_values: u64,
    /// Steps from one value to the next; 1 if none are added.
    pub fineness: u64,
    /// Number of values to run beyond the first saturated one; `None` for all.
    pub stop_after: Option<u32>,
}

impl Rising {
    /// Returns the number of the next value to run, given which of the previous ones are saturated.
    ///
    /// First come the values of the file in ascending order, up to the end or `stop_after` values
    /// beyond the first saturated one. Then the interval between the last unsaturated and the first
    /// saturated value is bisected until they are neighbours. The result does not depend on the
    /// order of the outcomes, so it is the same in every process and after every restart.
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

    /// Returns the maximum number of values.
    pub fn at_most(&self) -> u64 {
        let halvings = u64::BITS - (self.fineness - 1).leading_zeros();
        self.n_values + u64::from(halvings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a search with a given predicate, and checks that every value comes once.
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
        // Never saturated: all values, none added.
        assert_eq!(walk(rising, |_| false).len(), 10);
        // Saturated from the first: nothing to bisect.
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
                // The interval cannot be bisected further.
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
            // Saturation that is not monotone, as with noise.
            let rising = Rising { n_values, fineness, stop_after };
            let order = walk(rising, |n| answers[(n % 64) as usize]);
            prop_assert!(order.len() as u64 <= rising.at_most());
        }
    }
}
