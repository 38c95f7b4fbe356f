//! Dragonflies: groups of fully connected switches, with cables between all groups.

use std::fmt;

use netloom_catalog::{Described, choice, params};
use netloom_random::{Purpose, Stream, permutation};
use netloom_units::{Port, SwitchId};

use crate::blueprint::{Problems, note, refuse, too_large};
use crate::group_links::{Ends, connect_groups, group_problems};
use crate::{Arrangement, Blueprint, Builder, GroupLinks, Structure, Topology};

choice! {
    /// The order of the roles of a switch's ports.
    pub enum Placement {
        /// NICs first, then the switches of the group, then other groups.
        InOrder = "in-order",
        /// In an order drawn for each switch, as in paper 002.
        Random = "random",
    }
}

params! {
    /// A dragonfly: every two switches of a group have a cable, and so do every two groups.
    #[derive(Clone, Debug)]
    pub struct Dragonfly {
        /// NICs of each switch (p in the literature).
        pub hosts: u16,
        /// Switches of each group (a).
        pub switches: u16,
        /// Cables of each switch to other groups (h).
        pub globals: u16,
        /// Groups; by default the maximum, switches * globals + 1. With fewer groups, several
        /// cables join each pair as far as the ports suffice.
        pub groups: Option<u32> = None,
        /// The order in which the global ports of a group lead to the other groups.
        pub arrangement: Arrangement = Arrangement::PalmTree,
        /// Ports of each switch; by default those in use, hosts + switches - 1 + globals. Further
        /// ports are unused.
        pub ports: Option<u16> = None,
        /// The order of the roles of a switch's ports.
        pub placement: Placement = Placement::InOrder,
    }
    check |it, section| { note(it.problems(), section); }
}

/// The arithmetic of a dragonfly.
///
/// Numbering: switch s of group G is G * switches + s; NIC k of switch x is x * hosts + k.
///
/// Ports: in order, the NICs, the other switches of the group by number, and the cables to other
/// groups. With random placement, this order is shuffled for each switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DragonflyShape {
    pub hosts: u16,
    pub switches: u16,
    pub globals: u16,
    pub groups: u32,
    pub ports: u16,
    pub links: GroupLinks,
    placed: Placed,
}

/// The port of each role of each switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    ports: u16,
    /// Port of each role, switch by switch; empty if the roles are in order.
    by_role: Vec<u16>,
}

impl Placed {
    pub(crate) fn new(placement: Placement, stream: &Stream, n_switches: u32, ports: u16) -> Self {
        let by_role = match placement {
            Placement::InOrder => vec![],
            Placement::Random => (0..n_switches)
                .flat_map(|switch| permutation(stream, switch, u32::from(ports)))
                .map(|port| port as u16)
                .collect(),
        };
        Placed { ports, by_role }
    }

    /// Returns the port of a role.
    pub(crate) fn port(&self, switch: SwitchId, role: u16) -> Port {
        match self.by_role.is_empty() {
            true => Port(role),
            false => {
                Port(self.by_role[switch.index() * usize::from(self.ports) + usize::from(role)])
            }
        }
    }
}

impl DragonflyShape {
    /// Returns the group of a switch.
    pub fn group(&self, switch: SwitchId) -> u32 {
        switch.0 / u32::from(self.switches)
    }

    /// Returns the index of a switch in its group.
    pub fn index(&self, switch: SwitchId) -> u16 {
        (switch.0 % u32::from(self.switches)) as u16
    }

    /// Returns the switch at an index of a group.
    pub fn switch(&self, group: u32, index: u16) -> SwitchId {
        SwitchId(group * u32::from(self.switches) + u32::from(index))
    }

    /// Returns the port of a switch that leads to one of its NICs.
    pub fn host_port(&self, switch: SwitchId, host: u16) -> Port {
        self.placed.port(switch, host)
    }

    /// Returns the port of a switch that leads to another switch of its group.
    pub fn local_port(&self, switch: SwitchId, other: u16) -> Port {
        let here = self.index(switch);
        debug_assert!(here != other, "{switch} has no cable to itself");
        let nth = other - u16::from(other > here);
        self.placed.port(switch, self.hosts + nth)
    }

    fn build(self) -> Topology {
        let classes = ["host", "local", "global"].map(str::to_owned).to_vec();
        let mut builder = Builder::new(classes);
        let n_switches = self.groups * u32::from(self.switches);
        builder.switches(n_switches, self.ports);
        for switch in (0..n_switches).map(SwitchId) {
            for host in 0..self.hosts {
                builder.nic((switch, self.host_port(switch, host)), 0);
            }
        }
        for switch in (0..n_switches).map(SwitchId) {
            let here = self.index(switch);
            for there in here + 1..self.switches {
                let other = self.switch(self.group(switch), there);
                let ends = (self.local_port(switch, there), self.local_port(other, here));
                builder.connect((switch, ends.0), (other, ends.1), 1);
            }
        }
        connect_groups(&mut builder, &self.links, |group, index| {
            self.switch(group, index)
        });
        builder.finish(Structure::Dragonfly(self))
    }
}

impl fmt::Display for DragonflyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dragonfly of {} groups of {} switches",
            self.groups, self.switches
        )
    }
}

impl Dragonfly {
    fn n_groups(&self) -> u64 {
        let most = u64::from(self.switches) * u64::from(self.globals) + 1;
        self.groups.map_or(most, u64::from)
    }

    fn used_ports(&self) -> u64 {
        u64::from(self.hosts) + u64::from(self.switches) - 1 + u64::from(self.globals)
    }

    fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        if self.hosts == 0 {
            problems.push(("hosts", "expected at least one NIC per switch".into()));
        }
        if self.switches == 0 {
            problems.push(("switches", "expected at least one switch per group".into()));
            return problems;
        }
        let ports_of_group = u64::from(self.switches) * u64::from(self.globals);
        problems.extend(group_problems(
            self.groups,
            ports_of_group,
            "switches * globals",
        ));
        let used = self.used_ports();
        if let Some(ports) = self.ports
            && u64::from(ports) < used
        {
            let message = format!(
                "expected at least {used} ports (hosts + switches - 1 + globals), found {ports}"
            );
            problems.push(("ports", message));
        }
        if problems.is_empty() {
            let n_ports = self.ports.map_or(used, u64::from);
            let n_switches = self.n_groups() * u64::from(self.switches);
            problems = too_large("switches", Some(n_switches), n_ports);
        }
        problems
    }
}

impl Blueprint for Dragonfly {
    fn build(&self, seed: u64) -> Result<Topology, String> {
        refuse(self.problems())?;
        let stream = Stream::new(seed, Purpose::Topology);
        let groups = self.n_groups() as u32;
        let ports = self.ports.unwrap_or(self.used_ports() as u16);
        let n_switches = groups * u32::from(self.switches);
        let placed = Placed::new(self.placement, &stream, n_switches, ports);
        let ends = Ends {
            groups,
            first: 0,
            switches: self.switches,
            globals: self.globals,
        };
        let first_global = self.hosts + self.switches - 1;
        let port = |group: u32, index: u16, nth: u16| {
            let switch = SwitchId(group * u32::from(self.switches) + u32::from(index));
            placed.port(switch, first_global + nth)
        };
        let links = GroupLinks::new(ends, self.arrangement, (&stream, n_switches), port);
        let shape = DragonflyShape {
            hosts: self.hosts,
            switches: self.switches,
            globals: self.globals,
            groups,
            ports,
            links,
            placed,
        };
        Ok(shape.build())
    }

    fn n_nics(&self) -> Option<u64> {
        let n_switches = self.n_groups().checked_mul(u64::from(self.switches))?;
        n_switches.checked_mul(u64::from(self.hosts))
    }

    fn n_ports(&self) -> Option<u64> {
        let used = u64::from(self.hosts) + u64::from(self.switches) + u64::from(self.globals);
        let radix = self.ports.map_or(used.saturating_sub(1), u64::from);
        let n_switches = self.n_groups().checked_mul(u64::from(self.switches))?;
        n_switches.checked_mul(radix)
    }

    fn is_random(&self) -> bool {
        self.arrangement == Arrangement::Random || self.placement == Placement::Random
    }
}

impl Described for Dragonfly {
    const NAME: &'static str = "dragonfly";
    const SUMMARY: &'static str =
        "Groups of fully connected switches, with cables between every two groups.";
    const PAPER: Option<&'static str> = Some(
        "J. Kim, W. Dally, S. Scott, D. Abts, \"Technology-driven, highly-scalable dragonfly \
         topology\", \
         ISCA 2008",
    );
    const EXAMPLE: &'static str = "hosts = 2\nswitches = 4\nglobals = 2";
}
