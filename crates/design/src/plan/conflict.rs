//! The fewest classes that cannot be met together.

use super::attempt::attempt;
use super::compose::Effort;
use super::request::Request;

/// Classes that exclude each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The classes, by their place in the request.
    pub classes: Vec<usize>,
    /// Whether every smaller set can be met.
    pub is_smallest: bool,
    /// Whether the others can be met without any one of them; otherwise the search ended before all were tried.
    pub is_minimal: bool,
    /// What cannot be met among them alone.
    pub reasons: Vec<String>,
}

/// Entries of tables looked at for one set, and for all.
const EFFORT: (u64, u64) = (400_000, 4_000_000);

/// Sets of one class and of two come first: most conflicts are among those.
const PAIR: usize = 2;

/// Tries sets of classes within a limited effort.
struct Trial<'a> {
    request: &'a Request,
    left: u64,
    /// Whether every set that was tried so far can be met.
    all_smaller_met: bool,
}

impl Trial<'_> {
    /// Why a set cannot be met; nothing if it can. `None` if the effort did not suffice to tell.
    fn reasons(&mut self, classes: &[usize]) -> Option<Option<Vec<String>>> {
        let slice = self.left.min(EFFORT.0);
        let effort = Effort::new(slice);
        let outcome = attempt(&self.request.with_only(classes), &effort);
        self.left -= slice - effort.left();
        // A set costs something even if no table is looked at.
        self.left = self.left.saturating_sub(20_000);
        match outcome {
            Ok(_) => Some(None),
            Err(failure) if effort.is_left() || failure.is_proved => Some(Some(failure.reasons)),
            Err(_) => None,
        }
    }

    /// The conflict that a set is, if it is known to be one.
    fn conflict(&mut self, classes: Vec<usize>) -> Option<Conflict> {
        match self.reasons(&classes) {
            Some(reasons) => Some(Conflict {
                classes,
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

/// The fewest classes of an unmet request that conflict, the first such set in the order of the request.
///
/// Sets of one and of two classes are tried first. Then classes are left out one by one as long as the rest conflicts: what
/// remains is minimal, and the smallest if every smaller set can be met. The search has a limit, since a person waits.
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
        is_smallest: false,
        is_minimal: true,
        reasons: reasons.to_vec(),
    };
    // The last go first, so that of several minimal sets the first in the request remains.
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
