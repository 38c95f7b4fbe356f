//! Finds the fewest classes that cannot be met together.

use super::attempt::attempt;
use super::compose::Effort;
use super::request::Request;

/// Classes that cannot be met together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Indices of the classes in the request.
    pub classes: Vec<usize>,
    /// Their names.
    pub names: Vec<String>,
    /// Whether every smaller set can be met.
    pub is_smallest: bool,
    /// Whether every class of the set is needed for the conflict; otherwise the search ended before
    /// all were tried.
    pub is_minimal: bool,
    /// The needs that these classes alone cannot meet.
    pub reasons: Vec<String>,
}

/// Limits of the search: table entries examined per set, and in total.
const EFFORT: (u64, u64) = (400_000, 4_000_000);

/// Sets of up to this size are tried first: most conflicts are among them.
const PAIR: usize = 2;

/// Tries sets of classes within a limited effort.
struct Trial<'a> {
    request: &'a Request,
    left: u64,
    /// Whether every set tried so far can be met.
    all_smaller_met: bool,
}

impl Trial<'_> {
    /// Returns why a set cannot be met, or `Some(None)` if it can. Returns `None` if the effort did
    /// not suffice to decide.
    fn reasons(&mut self, classes: &[usize]) -> Option<Option<Vec<String>>> {
        if self.left == 0 {
            return None;
        }
        let slice = self.left.min(EFFORT.0);
        let effort = Effort::new(slice);
        let outcome = attempt(&self.request.with_only(classes), &effort);
        self.left -= slice - effort.left();
        // Each set has a cost, even if no table is examined.
        self.left = self.left.saturating_sub(20_000);
        match outcome {
            Ok(_) => Some(None),
            Err(failure) if effort.is_left() || failure.is_proved => Some(Some(failure.reasons)),
            Err(_) => None,
        }
    }

    /// Returns the conflict of a set, if the set is known to be one.
    fn conflict(&mut self, classes: Vec<usize>) -> Option<Conflict> {
        match self.reasons(&classes) {
            Some(reasons) => Some(Conflict {
                classes,
                names: vec![],
                is_smallest: self.all_smaller_met,
                is_minimal: self.all_smaller_met,
                reasons: reasons?,
            }),
            None => {
                self.all_smaller_met = false;
                None
            }
        }
    }
}

/// Returns the fewest classes of an unmet request that conflict: the first such set in the order of
/// the request.
///
/// Sets of one and of two classes are tried first. Then classes are removed one by one as long as
/// the rest conflicts. The remainder is minimal, and the smallest if every smaller set can be met.
/// The search is limited to keep the command interactive.
pub(super) fn smallest(request: &Request, reasons: &[String]) -> Conflict {
    let n = request.classes.len();
    let mut trial = Trial {
        request,
        left: EFFORT.1,
        all_smaller_met: true,
    };
    let small = PAIR.min(n);
    for set in (1..=small).flat_map(|size| subsets(n, size)) {
        if let Some(conflict) = trial.conflict(set) {
            return conflict;
        }
    }
    let mut conflict = Conflict {
        classes: (0..n).collect(),
        names: vec![],
        is_smallest: false,
        is_minimal: true,
        reasons: reasons.to_vec(),
    };
    // The last classes are removed first, so of several minimal sets the first in the request
    // remains.
    for class in (0..n).rev() {
        let rest = conflict.classes.iter().copied();
        let without: Vec<usize> = rest.filter(|&c| c != class).collect();
        match trial.reasons(&without) {
            Some(Some(reasons)) => {
                conflict.classes = without;
                conflict.reasons = reasons;
            }
            Some(None) => {}
            None => conflict.is_minimal = false,
        }
    }
    for set in (small + 1..conflict.classes.len()).flat_map(|size| subsets(n, size)) {
        if trial.left == 0 {
            return conflict;
        }
        if let Some(smaller) = trial.conflict(set) {
            return smaller;
        }
    }
    conflict.is_smallest = trial.all_smaller_met;
    conflict
}

/// Returns all sets of `size` of the first `n` numbers, in order.
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
