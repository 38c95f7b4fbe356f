//! Cables between groups of switches, and their arrangement.
//!
//! Every group has the same number of global ports, counted through its switches. An arrangement
//! defines the order in which they lead to the other groups. With one port per other group, these
//! are the arrangements of the literature (C. Camarero, E. Vallejo, R. Beivide, "Topological
//! characterization of Hamming and dragonfly networks and its implications on routing", ACM TACO
//! 11, 2014; E. Hastings et al., "Comparing global link arrangements for dragonfly networks",
//! CLUSTER 2015). With more ports, the order repeats. The last round may be too short to reach
//! every group; it then serves the groups nearest by number on both sides, so that both ends agree.
//! With an odd number of ports, one may remain without a cable.

use netloom_catalog::choice;
use netloom_random::{Stream, permutation};
use netloom_units::{Port, SwitchId};

use crate::Builder;
use crate::blueprint::Problems;

choice! {
    /// The order in which the global ports of a group lead to the other groups.
    pub enum Arrangement {
        /// Downwards from the group's own number: group G is joined to G-1, G-2 and so on,
        /// cyclically.
        PalmTree = "palm-tree",
        /// Upwards from group 0, skipping the group itself ("absolute").
        Consecutive = "consecutive",
        /// In both directions alternately: G+1, G-1, G+2, G-2 and so on.
        Circulant = "circulant",
        /// In an order drawn for each group.
        Random = "random",
    }
}

/// A cable between two groups, as seen from one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupLink {
    /// The switch at this end, counted in its group.
    pub switch: u16,
    pub port: Port,
    /// The switch at the other end, counted in the other group.
    pub to: u16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupLinks {
    groups: u32,
    links: Vec<GroupLink>,
    /// First link of each pair of groups, and one past the last.
    first: Vec<u32>,
}

/// The number of groups, and the switches and ports that join them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) groups: u32,
    /// The first switch of a group with global ports, counted in the group.
    pub(crate) first: u16,
    /// Switches of a group with global ports.
    pub(crate) switches: u16,
    /// Global ports of each such switch.
    pub(crate) globals: u16,
}

impl GroupLinks {
    /// Arranges the cables. `occasion` keys the draws of the first group, `occasion + 1` those of
    /// the second, and so on. `port` maps global port k of a switch of a group to its actual port.
    pub(crate) fn new(
        ends: Ends,
        arrangement: Arrangement,
        (stream, occasion): (&Stream, u32),
        port: impl Fn(u32, u16, u16) -> Port,
    ) -> Self {
        let groups = ends.groups;
        let (mut first, mut at) = (vec![0], vec![]);
        for group in 0..groups {
            let mut order = order(ends, arrangement, group);
            if arrangement == Arrangement::Random {
                let drawn = permutation(stream, occasion + group, order.len() as u32);
                order = drawn.iter().map(|&i| order[i as usize]).collect();
            }
            let mut by_target: Vec<(u32, u32)> = order.into_iter().zip(0..).collect();
            by_target.sort_unstable();
            let mut next = by_target.iter().peekable();
            for other in 0..groups {
                while let Some(&(_, nth)) = next.next_if(|(target, _)| *target == other) {
                    at.push(nth);
                }
                first.push(at.len() as u32);
            }
        }
        // The nth cable from one group to another is the nth in the other direction.
        let index = |a: u32, b: u32| (u64::from(a) * u64::from(groups) + u64::from(b)) as usize;
        let globals = u32::from(ends.globals);
        let mut links = Vec::with_capacity(at.len());
        for group in 0..groups {
            for other in 0..groups {
                let (here, there) = (index(group, other), index(other, group));
                let (here, there) = (first[here]..first[here + 1], first[there]..first[there + 1]);
                assert!(
                    here.len() == there.len(),
                    "as many cables from group {group} to {other} as back"
                );
                links.extend(here.zip(there).map(|(a, b)| {
                    let switch = |nth: u32| ends.first + (nth / globals) as u16;
                    let (here, there) = (at[a as usize], at[b as usize]);
                    GroupLink {
                        switch: switch(here),
                        port: port(group, switch(here), (here % globals) as u16),
                        to: switch(there),
                    }
                }));
            }
        }
        GroupLinks {
            groups,
            links,
            first,
        }
    }

    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Returns the cables from one group to another, in order of the switches at this end. Cable n
    /// from one group to another is cable n in the other direction.
    #[inline]
    pub fn between(&self, from: u32, to: u32) -> &[GroupLink] {
        let index = from as usize * self.groups as usize + to as usize;
        &self.links[self.first[index] as usize..self.first[index + 1] as usize]
    }
}

/// Returns the groups that the global ports of a group lead to, port by port.
fn order(ends: Ends, arrangement: Arrangement, group: u32) -> Vec<u32> {
    let groups = ends.groups;
    let n_ports = u32::from(ends.switches) * u32::from(ends.globals);
    if groups < 2 {
        return vec![];
    }
    let others = groups - 1;
    let full: Vec<u32> = (1..groups).collect();
    // A distance and its opposite come together; half the number of groups is its own opposite.
    let rest = n_ports % others;
    let mut last: Vec<u32> = (1..=rest / 2).flat_map(|d| [d, groups - d]).collect();
    if rest % 2 == 1 && groups.is_multiple_of(2) {
        last.push(groups / 2);
    }
    let round = |mut distances: Vec<u32>| -> Vec<u32> {
        let target = |distance: &u32| (group + distance) % groups;
        match arrangement {
            Arrangement::PalmTree | Arrangement::Random => {
                distances.sort_unstable_by_key(|d| groups - d);
            }
            Arrangement::Consecutive => distances.sort_unstable_by_key(target),
            Arrangement::Circulant => distances.sort_unstable_by_key(|&d| (d.min(groups - d), d)),
        }
        distances.iter().map(target).collect()
    };
    let (full, last) = (round(full), round(last));
    let rounds = std::iter::repeat_n(full, (n_ports / others) as usize);
    rounds.flatten().chain(last).collect()
}

/// Connects the cables between groups.
pub(crate) fn connect_groups(
    builder: &mut Builder,
    links: &GroupLinks,
    switch: impl Fn(u32, u16) -> SwitchId,
) {
    for group in 0..links.groups() {
        for other in group + 1..links.groups() {
            let (there, back) = (links.between(group, other), links.between(other, group));
            for (a, b) in there.iter().zip(back) {
                let ends = (switch(group, a.switch), switch(other, b.switch));
                builder.connect((ends.0, a.port), (ends.1, b.port), 2);
            }
        }
    }
}

/// Returns the mistake if there are no groups or more than the global ports of a group can join.
pub(crate) fn group_problems(groups: Option<u32>, ports_of_group: u64, ports: &str) -> Problems {
    match groups.map(u64::from) {
        Some(0) => vec![("groups", "expected at least one group".into())],
        Some(n) if n > ports_of_group + 1 => {
            let message = format!(
                "expected at most {} groups, found {n}: a group has {ports_of_group} global ports \
                 ({ports})",
                ports_of_group + 1
            );
            vec![("groups", message)]
        }
        _ => vec![],
    }
}
