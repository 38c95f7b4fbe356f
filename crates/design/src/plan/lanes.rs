//! Groups classes into fewer lanes.
//!
//! Classes in one lane share one queue: the table protects them from other lanes, not from each
//! other. A packet with a deadline may then be queued behind packets of other classes, and no bound
//! holds. So each class with a deadline or a slowdown keeps a lane of its own as long as there are
//! lanes. Among the others, the harm of a group is what its packets find queued before them: for
//! every pair, the share of the other class, weighted by the ratio of the packet sizes. The
//! grouping with the least harm is exact: it comes from the best split of every subset.

use super::request::Class;

/// An assignment of classes to lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grouping {
    /// The classes of each lane, ascending; lanes are ordered by their first class.
    pub groups: Vec<Vec<usize>>,
}

impl Grouping {
    /// Returns a grouping with each class in its own lane.
    pub fn apart(n: usize) -> Grouping {
        Grouping {
            groups: (0..n).map(|class| vec![class]).collect(),
        }
    }

    /// Returns the lane of a class.
    pub fn lane_of(&self, class: usize) -> usize {
        let has = |group: &Vec<usize>| group.contains(&class);
        self.groups.iter().position(has).unwrap_or(0)
    }

    /// Returns the other classes in its lane.
    pub fn mates_of(&self, class: usize) -> Vec<usize> {
        let mates = self.groups[self.lane_of(class)].iter().copied();
        mates.filter(|&mate| mate != class).collect()
    }
}

/// Deadlines and slowdowns lost, then the traffic found in the queue.
type Harm = (u32, f64);

fn sum(a: Harm, b: Harm) -> Harm {
    (a.0 + b.0, a.1 + b.1)
}

fn members(group: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS as usize).filter(move |class| group >> class & 1 == 1)
}

fn harm(group: usize, classes: &[Class]) -> Harm {
    if group.count_ones() < 2 {
        return (0, 0.0);
    }
    let urgent = members(group).filter(|&class| classes[class].is_urgent());
    let pair = |a: usize, b: usize| {
        let (own, mate) = (&classes[a], &classes[b]);
        let size = |class: &Class| class.sizes.largest().0 as f64;
        mate.share.as_f64() * size(mate) / size(own)
    };
    let pairs = members(group).flat_map(|a| members(group).map(move |b| (a, b)));
    let found = pairs.filter(|(a, b)| a != b).map(|(a, b)| pair(a, b));
    (urgent.count() as u32, found.sum())
}

/// Returns the grouping of classes into at most `n_lanes` lanes with the least harm.
pub fn group(classes: &[Class], n_lanes: usize) -> Grouping {
    let n = classes.len();
    if n <= n_lanes || n_lanes == 0 {
        return Grouping::apart(n);
    }
    let all = (1usize << n) - 1;
    let harms: Vec<Harm> = (0..=all).map(|group| harm(group, classes)).collect();
    // best[rest] for each number of lanes; the group with the lowest class of the rest is split
    // off.
    let mut best: Vec<Harm> = harms.clone();
    let mut choices = vec![(0..=all).collect::<Vec<usize>>()];
    for _ in 1..n_lanes {
        let mut next = best.clone();
        let mut choice: Vec<usize> = choices.last().cloned().unwrap_or_default();
        // Where one lane fewer is as good, the choice of the earlier table stands: its group is the
        // whole rest only if that is best.
        for rest in 1..=all {
            let lowest = rest & rest.wrapping_neg();
            let others = rest ^ lowest;
            let mut part = others;
            loop {
                let group = part | lowest;
                let total = sum(harms[group], best[rest ^ group]);
                if group != rest && total < next[rest] {
                    next[rest] = total;
                    choice[rest] = group;
                }
                if part == 0 {
                    break;
                }
                part = (part - 1) & others;
            }
        }
        best = next;
        choices.push(choice);
    }
    let mut groups = vec![];
    let mut rest = all;
    for choice in choices.iter().rev() {
        if rest == 0 {
            break;
        }
        let group = choice[rest];
        groups.push(members(group).collect());
        rest ^= group;
    }
    Grouping { groups }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::predict::SizeLaw;
    use netloom_units::{Bytes, Ratio, Sl, Time};

    fn class(share: u128, bytes: u64, has_deadline: bool) -> Class {
        Class {
            name: String::new(),
            sl: Sl(0),
            share: Ratio::new(share, 100),
            sizes: SizeLaw::fixed(Bytes(bytes)).unwrap(),
            has_only_these: false,
            deadline: has_deadline.then(|| Time::from_nanos(1000)),
            slowdown: None,
            distance: None,
            dscps: vec![],
            carries: vec![],
        }
    }

    #[test]
    fn deadlines_stay_alone_and_small_shares_are_put_together() {
        let classes = [
            class(50, 4096, false),
            class(5, 256, true),
            class(30, 4096, false),
            class(10, 4096, false),
            class(5, 4096, false),
        ];
        let grouping = group(&classes, 4);
        assert_eq!(grouping.groups, [vec![0], vec![1], vec![2], vec![3, 4]]);
        let grouping = group(&classes, 2);
        assert_eq!(grouping.groups, [vec![0, 2, 3, 4], vec![1]]);
        assert_eq!(grouping.mates_of(2), [0, 3, 4]);
        assert_eq!(grouping.lane_of(1), 1);
        assert_eq!(group(&classes, 1).groups, [vec![0, 1, 2, 3, 4]]);
        assert_eq!(group(&classes, 9), Grouping::apart(5));
    }

    /// Packet sizes matter: a small packet suffers more behind a large one than behind another
    /// small one.
    #[test]
    fn mice_go_with_mice() {
        let classes = [
            class(10, 64, false),
            class(10, 4096, false),
            class(10, 64, false),
            class(10, 4096, false),
        ];
        assert_eq!(group(&classes, 2).groups, [vec![0, 2], vec![1, 3]]);
    }

    fn slow(classes: &[Class], lanes: &mut Vec<usize>, n_lanes: usize) -> Harm {
        if lanes.len() == classes.len() {
            let bit = |class: usize, lane: usize| usize::from(lanes[class] == lane) << class;
            let bits = |lane| (0..classes.len()).fold(0, |bits, class| bits | bit(class, lane));
            let harms = (0..n_lanes).map(|lane| harm(bits(lane), classes));
            return harms.fold((0, 0.0), sum);
        }
        let mut best = (u32::MAX, 0.0);
        for lane in 0..n_lanes {
            lanes.push(lane);
            let there = slow(classes, lanes, n_lanes);
            if there < best {
                best = there;
            }
            lanes.pop();
        }
        best
    }

    proptest::proptest! {
        #[test]
        fn no_grouping_harms_less(
            drawn in proptest::collection::vec((1u128..30, 1u64..64, proptest::bool::ANY), 2..6),
            n_lanes in 1usize..4,
        ) {
            let classes: Vec<Class> =
                drawn.iter().map(|&(share, units, d)| class(share, units * 64, d)).collect();
            let grouping = group(&classes, n_lanes);
            proptest::prop_assert!(grouping.groups.len() <= n_lanes);
            let bits = |group: &Vec<usize>| group.iter().fold(0, |bits, class| bits | 1 << class);
            let found = grouping.groups.iter().map(|g| harm(bits(g), &classes)).fold((0, 0.0), sum);
            let least = slow(&classes, &mut vec![], n_lanes);
            proptest::prop_assert_eq!(found.0, least.0);
            proptest::prop_assert!(found.1 <= least.1 + 1e-9);
        }
    }
}
