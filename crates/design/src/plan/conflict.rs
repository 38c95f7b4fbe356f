//! The fewest classes that cannot be met together.

use super::attempt::attempt;
use super::request::Request;

/// Classes that exclude each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The classes, by their place in the request. Without any one of them the others can be met.
    pub classes: Vec<usize>,
    /// Whether no smaller set conflicts; otherwise none was looked for, and only leaving one out was tried.
    pub is_smallest: bool,
    /// What cannot be met among them alone.
    pub reasons: Vec<String>,
}

/// Subsets tried, at most: a person waits.
const MOST_SUBSETS: usize = 150;

/// The fewest classes of an unmet request that conflict, the first such set in the order of the request.
///
/// Classes are left out one by one as long as the rest conflicts; what remains is minimal, and the smallest
/// if no set of fewer classes conflicts.
pub(super) fn smallest(request: &Request) -> Conflict {
    let n = request.classes.len();
    let reasons = |classes: &[usize]| match attempt(&request.with_only(classes)) {
        Ok(_) => None,
        Err(failure) => Some(failure.reasons),
    };
    let mut classes: Vec<usize> = (0..n).collect();
    // The last go first, so that of several minimal sets the first in the request remains.
    for class in (0..n).rev() {
        let without: Vec<usize> = classes.iter().copied().filter(|&c| c != class).collect();
        if !without.is_empty() && reasons(&without).is_some() {
            classes = without;
        }
    }
    let mut tried = 0;
    for size in 1..=classes.len() {
        for set in subsets(n, size) {
            if size == classes.len() && set >= classes {
                break;
            }
            tried += 1;
            if tried > MOST_SUBSETS {
                return told(classes, false, &reasons);
            }
            if reasons(&set).is_some() {
                return told(set, true, &reasons);
            }
        }
    }
    told(classes, true, &reasons)
}

fn told(
    classes: Vec<usize>,
    is_smallest: bool,
    reasons: &dyn Fn(&[usize]) -> Option<Vec<String>>,
) -> Conflict {
    Conflict {
        reasons: reasons(&classes).unwrap_or_default(),
        classes,
        is_smallest,
    }
}

/// All sets of `size` of the first `n` numbers, in order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut sets = vec![];
    let mut set: Vec<usize> = (0..size).collect();
    loop {
        sets.push(set.clone());
        let Some(at) = (0..size).rev().find(|&at| set[at] < n - size + at) else {
            return sets;
        };
        set[at] += 1;
        for later in at + 1..size {
            set[later] = set[later - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_come_in_order() {
        let expected = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        assert_eq!(subsets(4, 2), expected);
        assert_eq!(subsets(3, 3), [[0, 1, 2]]);
        assert_eq!(subsets(1, 1), [[0]]);
    }
}
