//! Cables between groups of switches, and how they are arranged.
//!
//! Every group has the same number of global ports, counted through its switches. An arrangement says in
//! which order they lead to the other groups. With one port for every other group these are the
//! arrangements of the literature (C. Camarero, E. Vallejo, R. Beivide, "Topological characterization of
//! Hamming and dragonfly networks and its implications on routing", ACM TACO 11, 2014; E. Hastings et al.,
//! "Comparing global link arrangements for dragonfly networks", CLUSTER 2015). With more ports the order is
//! gone through again; the last round, too short to reach every group, serves those nearest by number on
//! both sides, so that both ends agree. An odd port may stay without a cable.

use netloom_catalog::choice;
use netloom_random::{Stream, permutation};
use netloom_units::{Port, SwitchId};

use crate::Builder;
use crate::blueprint::Problems;

choice! {
    /// In which order the global ports of a group lead to the other groups.
    pub enum Arrangement {
        /// Downwards from the own number: group G is joined to G-1, G-2, and so on, round the circle.
        PalmTree = "palm-tree",
        /// Upwards from group 0, leaving out the own one ("absolute").
        Consecutive = "consecutive",
        /// Both ways in turn: G+1, G-1, G+2, G-2, and so on.
        Circulant = "circulant",
        /// In an order drawn for each group.
        Random = "random",
    }
}

/// A cable between two groups as one of them sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupLink {
    /// The switch here that has it, counted in its group.
    pub switch: u16,
    /// Its port.
    pub port: Port,
    /// The switch at the other end, counted in the other group.
    pub to: u16,
}

/// All cables between groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupLinks {
    groups: u32,
    links: Vec<GroupLink>,
    /// First link of each pair of groups, and one past the last.
    first: Vec<u32>,
}

/// How many groups, and what each has to join them with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) groups: u32,
    /// The first switch of a group with global ports, counted in the group.
    pub(crate) first: u16,
    /// Switches of a group with global ports.
    pub(crate) switches: u16,
    /// Global ports of each.
    pub(crate) globals: u16,
}

impl GroupLinks {
    /// Arranges the cables. `occasion` keys the draws of the first group, the next one that of the second;
    /// `port` is where global port k of a switch of a group really is.
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
        // The nth cable from here to there is the nth from there to here.
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

    /// Number of groups.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// The cables from one group to another, in order of the switches that have them; cable n from here to
    /// there is cable n from there to here.
    #[inline]
    pub fn between(&self, from: u32, to: u32) -> &[GroupLink] {
        let index = from as usize * self.groups as usize + to as usize;
        &self.links[self.first[index] as usize..self.first[index + 1] as usize]
    }
}

/// The groups that the global ports of a group lead to, port by port.
fn order(ends: Ends, arrangement: Arrangement, group: u32) -> Vec<u32> {
    let groups = ends.groups;
    let n_ports = u32::from(ends.switches) * u32::from(ends.globals);
    if groups < 2 {
        return vec![];
    }
    let others = groups - 1;
    let full: Vec<u32> = (1..groups).collect();
    // A distance and its opposite come together; half the circle is its own opposite.
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

/// Lays the cables between groups.
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

/// What is wrong with a number of groups that are joined by so many ports each.
pub(crate) fn group_problems(groups: Option<u32>, ports_of_group: u64, ports: &str) -> Problems {
    match groups.map(u64::from) {
        Some(0) => vec![("groups", "at least one".into())],
        Some(n) if n > ports_of_group + 1 => {
            let message = format!(
                "{n}, but a group has {ports_of_group} global ports ({ports}), so at most {} can be joined",
                ports_of_group + 1
            );
            vec![("groups", message)]
        }
        _ => vec![],
    }
}
