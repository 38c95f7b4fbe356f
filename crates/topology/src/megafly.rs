//! Megaflies (dragonfly+): groups of leaves with hosts and spines with cables to other groups.

use std::fmt;

use netloom_catalog::{Described, params};
use netloom_random::{Purpose, Stream};
use netloom_units::{Port, SwitchId};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::group_links::{Ends, connect_groups, group_problems};
use crate::{Arrangement, Blueprint, Builder, GroupLinks, Structure, Topology};

params! {
    /// A megafly: in a group, every leaf is cabled to every spine. NICs are on leaves, cables to
    /// other groups on spines.
    #[derive(Clone, Debug)]
    pub struct Megafly {
        /// NICs of each leaf.
        pub hosts: u16,
        /// Leaves of each group.
        pub leaves: u16,
        /// Spines of each group.
        pub spines: u16,
        /// Cables of each spine to other groups.
        pub globals: u16,
        /// Groups; by default the maximum, spines * globals + 1. With fewer groups, several cables
        /// join each pair as far as the ports suffice.
        pub groups: Option<u32> = None,
        /// The order in which the global ports of a group lead to the other groups.
        pub arrangement: Arrangement = Arrangement::PalmTree,
    }
    check |it, section| { note(it.problems(), section); }
}

/// The arithmetic of a megafly.
///
/// Numbering: group by group, in each the leaves first, then the spines. NIC = leaf * hosts + host,
/// with leaves counted through the fabric.
///
/// Ports: a leaf has its NICs, then the spines by number. A spine has the leaves by number, then
/// its cables to other groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MegaflyShape {
    pub hosts: u16,
    pub leaves: u16,
    pub spines: u16,
    pub globals: u16,
    pub groups: u32,
    pub links: GroupLinks,
}

impl MegaflyShape {
    /// Returns the number of switches of a group.
    pub fn switches(&self) -> u16 {
        self.leaves + self.spines
    }

    /// Returns the group of a switch.
    pub fn group(&self, switch: SwitchId) -> u32 {
        switch.0 / u32::from(self.switches())
    }

    /// Returns the index of a switch in its group, leaves first.
    pub fn index(&self, switch: SwitchId) -> u16 {
        (switch.0 % u32::from(self.switches())) as u16
    }

    /// Returns the switch at an index of a group.
    pub fn switch(&self, group: u32, index: u16) -> SwitchId {
        SwitchId(group * u32::from(self.switches()) + u32::from(index))
    }

    /// Returns the port of a switch that leads to another switch of its group; `None` between two
    /// leaves or two spines.
    pub fn local_port(&self, switch: SwitchId, other: u16) -> Option<Port> {
        match (self.index(switch) < self.leaves, other < self.leaves) {
            (true, false) => Some(Port(self.hosts + other - self.leaves)),
            (false, true) => Some(Port(other)),
            _ => None,
        }
    }

    fn build(self) -> Topology {
        let classes = ["host", "local", "global"].map(str::to_owned).to_vec();
        let mut builder = Builder::new(classes);
        for _ in 0..self.groups {
            builder.switches(u32::from(self.leaves), self.hosts + self.spines);
            builder.switches(u32::from(self.spines), self.leaves + self.globals);
        }
        for group in 0..self.groups {
            for leaf in 0..self.leaves {
                let leaf = self.switch(group, leaf);
                for host in 0..self.hosts {
                    builder.nic((leaf, Port(host)), 0);
                }
            }
            for leaf in 0..self.leaves {
                for spine in 0..self.spines {
                    let here = (self.switch(group, leaf), Port(self.hosts + spine));
                    let there = (self.switch(group, self.leaves + spine), Port(leaf));
                    builder.connect(here, there, 1);
                }
            }
        }
        connect_groups(&mut builder, &self.links, |group, index| {
            self.switch(group, index)
        });
        builder.finish(Structure::Megafly(self))
    }
}

impl fmt::Display for MegaflyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "megafly of {} groups of {} leaves and {} spines",
            self.groups, self.leaves, self.spines
        )
    }
}

impl Megafly {
    fn n_groups(&self) -> u64 {
        let most = u64::from(self.spines) * u64::from(self.globals) + 1;
        self.groups.map_or(most, u64::from)
    }

    fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        for (key, number, message) in [
            ("hosts", self.hosts, "expected at least one NIC per leaf"),
            (
                "leaves",
                self.leaves,
                "expected at least one leaf per group",
            ),
            (
                "spines",
                self.spines,
                "expected at least one spine per group",
            ),
        ] {
            if number == 0 {
                problems.push((key, message.into()));
            }
        }
        let ports_of_group = u64::from(self.spines) * u64::from(self.globals);
        problems.extend(group_problems(
            self.groups,
            ports_of_group,
            "spines * globals",
        ));
        if problems.is_empty() {
            let (hosts, leaves) = (u64::from(self.hosts), u64::from(self.leaves));
            let (spines, globals) = (u64::from(self.spines), u64::from(self.globals));
            let n_ports = (hosts + spines).max(leaves + globals).max(leaves + spines);
            let n_switches = self.n_groups().checked_mul(leaves + spines);
            problems = too_large("leaves", n_switches, n_ports);
        }
        problems
    }
}

impl Blueprint for Megafly {
    fn build(&self, seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        let stream = Stream::new(seed, Purpose::Topology);
        let groups = self.n_groups() as u32;
        let ends = Ends {
            groups,
            first: self.leaves,
            switches: self.spines,
            globals: self.globals,
        };
        let port = |_, _, nth| Port(self.leaves + nth);
        let links = GroupLinks::new(ends, self.arrangement, (&stream, 0), port);
        let shape = MegaflyShape {
            hosts: self.hosts,
            leaves: self.leaves,
            spines: self.spines,
            globals: self.globals,
            groups,
            links,
        };
        Ok(shape.build())
    }

    fn n_nics(&self) -> Option<u64> {
        let n_leaves = self.n_groups().checked_mul(u64::from(self.leaves))?;
        n_leaves.checked_mul(u64::from(self.hosts))
    }

    fn n_ports(&self) -> Option<u64> {
        let (leaves, spines) = (u64::from(self.leaves), u64::from(self.spines));
        let at_leaves = leaves * (u64::from(self.hosts) + spines);
        let at_spines = spines * (leaves + u64::from(self.globals));
        self.n_groups().checked_mul(at_leaves + at_spines)
    }

    fn is_random(&self) -> bool {
        self.arrangement == Arrangement::Random
    }
}

impl Described for Megafly {
    const NAME: &'static str = "megafly";
    const SUMMARY: &'static str = "Groups of leaves and spines, with cables between the spines of \
         every two groups (dragonfly+).";
    const PAPER: Option<&'static str> = Some(
        "M. Flajslik, E. Borch, M. Parker, \"Megafly: a topology for exascale systems\", ISC 2018; \
         A. Shpiner et \
         al., \"Dragonfly+: low cost topology for scaling datacenters\", HiPINEB 2017",
    );
    const EXAMPLE: &'static str = "hosts = 2\nleaves = 2\nspines = 2\nglobals = 2";
}
