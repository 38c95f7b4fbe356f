//! Deadlock check: the channel dependency graph of a forwarding, and a proof or a cycle.
//!
//! A channel is a lane of a link between switches. If a packet holds one channel and requests
//! another, the second is a dependency of the first. Without a cycle of dependencies there is no
//! deadlock (Dally and Seitz, 1987). Dependencies are collected for every destination, from every
//! place that a packet can reach, with all outcomes of random choices.
//!
//! Rings under the bubble rule may close. A packet that continues in its ring adds no dependency,
//! because every entry into the ring leaves space for one more packet. Entries are recognised by
//! their ring ids, and this module checks that a ring has exactly one output at every switch. The
//! switch has to enforce the rule.
//!
//! Some switches have a centre: groups of ports (MPorts), whose inputs share queues in front of a
//! central crossbar. An input waits for a central queue and that queue for an output, so the queue
//! is a node between them: a packet of one input may block those of another. Outputs of guarded
//! rings are the exception, since a packet for one has reserved its slot before it enters the
//! centre.
//!
//! Destinations of large fabrics are not followed. A theorem about the routing replaces the proof
//! if the fabric meets its premises (`theorem.rs`). Otherwise as many destinations are followed as
//! the allowed steps reach: they may show a cycle, but prove nothing.

mod graph;
mod theorem;

use std::fmt;

use netloom_topology::Topology;
use netloom_units::{NicId, Port, SwitchId};

use crate::Forwarding;
use crate::forwarding::one_per_switch;
use crate::table::TablePlan;
use graph::{Graph, Seen};
pub(crate) use theorem::{of_large_groups, of_large_tree};

/// A fabric with its routing.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    pub topology: &'a Topology,
    pub forwarding: &'a Forwarding,
    /// The queues that inputs share inside a switch, if they share any.
    pub centre: Option<Centre>,
}

/// A lane of a link between switches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel {
    /// The sending switch.
    pub switch: SwitchId,
    /// The sending port.
    pub port: Port,
    pub lane: u8,
    /// The receiving switch.
    pub to: SwitchId,
    /// In a cycle: the central queue of the receiving switch through which it waits for the next
    /// channel.
    pub through: Option<CentralQueue>,
}

/// A queue of one lane in front of a central crossbar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CentralQueue {
    /// The group of ports that share it.
    pub mport: u16,
    /// The link of the group to the centre.
    pub link: u16,
    /// The lane on the link after the switch.
    pub lane: u8,
    /// Whether it is a row buffer of a tiled switch; `mport` is then its input and `link` its
    /// column.
    pub is_row_buffer: bool,
}

/// Which ports share queues in front of a central crossbar, and the number of these queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Centre {
    /// Ports of a group (MPort); port k is in group k / this. Traffic within a group does not pass
    /// the centre.
    pub ports_per_mport: u16,
    /// Links of a group to the centre; traffic for output p takes link p modulo this.
    pub links_per_mport: u16,
    /// In a tiled switch every input is its own group, a link leads to the tile of a column, and
    /// output p is in column p divided by this.
    pub outputs_of_column: Option<u16>,
}

impl Centre {
    /// Groups of ports around a central crossbar.
    pub fn of_mports(ports_per_mport: u16, links_per_mport: u16) -> Self {
        Centre {
            ports_per_mport,
            links_per_mport,
            outputs_of_column: None,
        }
    }

    /// A tiled switch: traffic from an input to the outputs of one column shares a row buffer.
    pub fn of_tiles(columns: u16, outputs_of_column: u16) -> Self {
        Centre {
            ports_per_mport: 1,
            links_per_mport: columns,
            outputs_of_column: Some(outputs_of_column),
        }
    }

    /// Returns the group of a port.
    #[inline]
    pub fn mport(&self, port: Port) -> u16 {
        port.0 / self.ports_per_mport
    }

    /// Returns the number of groups of a switch with this many ports.
    pub fn mports(&self, n_ports: u16) -> u16 {
        n_ports.div_ceil(self.ports_per_mport)
    }

    /// Returns the number of central links of a switch with this many ports. They are numbered
    /// group by group.
    pub fn n_links(&self, n_ports: u16) -> u16 {
        self.mports(n_ports) * self.links_per_mport
    }

    /// Returns the central link from an input to an output; `None` within a group.
    #[inline]
    pub fn link(&self, input: Port, output: Port) -> Option<u16> {
        let mport = self.mport(input);
        let own = match self.outputs_of_column {
            None => output.0 % self.links_per_mport,
            Some(outputs) => output.0 / outputs,
        };
        let link = mport * self.links_per_mport + own;
        (mport != self.mport(output)).then_some(link)
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Channel {
            switch,
            port,
            lane,
            to,
            through,
        } = self;
        write!(f, "{switch} {port} lane {lane} -> {to}")?;
        match through {
            Some(CentralQueue {
                mport,
                link,
                is_row_buffer: true,
                ..
            }) => write!(f, " (row buffer of input {mport}, column {link})"),
            Some(CentralQueue { mport, link, .. }) => {
                write!(f, " (MPort {mport}, central link {link})")
            }
            None => Ok(()),
        }
    }
}

/// Whether a cycle of packets can wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// There is no deadlock.
    Free {
        /// The argument of the proof.
        how: String,
        /// Channels in use.
        channels: u64,
        /// Dependencies between them; 0 if they were not enumerated.
        dependencies: u64,
    },
    /// A possible deadlock: each channel may wait for the next, and the last for the first.
    Cycle(Vec<Channel>),
    /// Neither is known: no theorem applies, and a proof takes more steps than allowed.
    Unknown {
        /// Steps of a proof, about.
        steps: u64,
        /// Destinations that were followed without finding a cycle.
        followed: usize,
        /// All destinations to follow.
        destinations: usize,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Free { how, .. } => write!(f, "free of deadlock: {how}"),
            Verdict::Unknown {
                followed,
                destinations,
                ..
            } => write!(
                f,
                "not proved: no cycle over {followed} of {destinations} destinations"
            ),
            Verdict::Cycle(channels) => {
                let lines: Vec<String> = channels.iter().map(Channel::to_string).collect();
                write!(
                    f,
                    "a cycle of {} channels: {}",
                    lines.len(),
                    lines.join(", ")
                )
            }
        }
    }
}

/// Above this many steps, trees are proved by their structure.
const MAX_STEPS: u64 = 2_000_000_000;

/// Above this many turns at switches, over all destinations, groups are proved by their ladder of
/// lanes.
const MAX_TURNS: u64 = 50_000_000;

/// Steps of a proof that is not asked for: a few seconds of one core. A step is one choice at one
/// lane of one port for one destination.
pub const PROOF_STEPS: u64 = 250_000_000;

/// Possible dependencies of such a proof, of one bit each.
const MAX_DEPENDENCIES: u64 = 1 << 33;

/// Proves that a forwarding is free of deadlock, or returns a short cycle. Switches share no
/// buffers between inputs.
pub fn check(topology: &Topology, forwarding: &Forwarding) -> Verdict {
    check_with(topology, forwarding, None)
}

/// Proves that a forwarding is free of deadlock, or returns a short cycle, however long it takes.
/// Switches may have a centre.
pub fn check_with(topology: &Topology, forwarding: &Forwarding, centre: Option<Centre>) -> Verdict {
    let network = Network::new(topology, forwarding, centre);
    let targets = forwarding.representatives(topology);
    let by_structure = network.by_structure(targets.len(), u64::MAX);
    by_structure.unwrap_or_else(|| network.follow(&targets))
}

/// Does the same in at most about [`PROOF_STEPS`]. Above that it looks for a theorem, and then for
/// a cycle in a part of the proof.
pub fn check_bounded(
    topology: &Topology,
    forwarding: &Forwarding,
    centre: Option<Centre>,
) -> Verdict {
    Network::new(topology, forwarding, centre).check_within(PROOF_STEPS)
}

impl<'a> Network<'a> {
    pub fn new(topology: &'a Topology, forwarding: &'a Forwarding, centre: Option<Centre>) -> Self {
        Network {
            topology,
            forwarding,
            centre,
        }
    }

    /// States that there is no deadlock, by a theorem about the routing.
    pub fn by_theorem(&self, why: &str) -> Verdict {
        let n_links = |at| self.topology.neighbours(at).count() as u64;
        let links: u64 = self.topology.switches().map(n_links).sum();
        Verdict::Free {
            how: format!("by theorem, without following destinations: {why}"),
            channels: links * u64::from(self.forwarding.lanes()),
            dependencies: 0,
        }
    }

    /// Returns the verdict over some destinations.
    fn follow(self, targets: &[NicId]) -> Verdict {
        let mut graph = Graph::new(self);
        for (stamp, target) in (1..).zip(targets) {
            graph.follow(*target, stamp);
        }
        graph.verdict(targets.len(), "destinations")
    }

    fn by_structure(self, n_targets: usize, most_steps: u64) -> Option<Verdict> {
        let route = self.forwarding.as_route();
        route.by_structure(self, n_targets as u64, most_steps)
    }

    /// Inputs that share queues wait for each other's packets, so theorems about routings do not
    /// apply to switches with a centre.
    fn theorem(self) -> Option<Verdict> {
        match self.centre {
            Some(_) => None,
            None => self.forwarding.as_route().theorem(self),
        }
    }

    fn check_within(self, most_steps: u64) -> Verdict {
        let targets = self.forwarding.representatives(self.topology);
        if let Some(verdict) = self.by_structure(targets.len(), most_steps) {
            return verdict;
        }
        let steps_each = self.steps_of_a_destination();
        let steps = steps_each.saturating_mul(targets.len() as u64);
        let is_small = self.n_possible_dependencies() <= MAX_DEPENDENCIES;
        if steps <= most_steps && is_small {
            return self.follow(&targets);
        }
        if let Some(verdict) = self.theorem() {
            return verdict;
        }
        let n_targets = targets.len() as u64;
        let most = match is_small {
            true => (most_steps / steps_each.max(1)).min(n_targets),
            false => 0,
        };
        let (mut graph, mut next_look) = (None, 1);
        for i in 0..most {
            // Spread over all destinations; the number is a prime, so none comes twice.
            let target = targets[(i * 2_654_435_761 % n_targets) as usize];
            let graph = graph.get_or_insert_with(|| Graph::new(self));
            graph.follow(target, i as u32 + 1);
            if i + 1 == next_look || i + 1 == most {
                next_look *= 4;
                if let cycle @ Verdict::Cycle(_) = graph.verdict(0, "destinations") {
                    return cycle;
                }
            }
        }
        Verdict::Unknown {
            steps,
            followed: most as usize,
            destinations: targets.len(),
        }
    }

    /// Returns the most steps of following one destination.
    fn steps_of_a_destination(self) -> u64 {
        let route = self.forwarding.as_route();
        let n_choices = match route.has_choices(self.forwarding.facts()) {
            true => self.topology.radix(),
            false => 1,
        };
        let lanes = u64::from(self.forwarding.lanes());
        self.topology.n_ports_in_all() as u64 * lanes * u64::from(n_choices)
    }

    /// Returns the number of pairs of channels in and out of the same switch, over all switches.
    fn n_possible_dependencies(self) -> u64 {
        let lanes = u64::from(self.forwarding.lanes());
        let of_switch = |at| (self.topology.neighbours(at).count() as u64 * lanes).pow(2);
        self.topology.switches().map(of_switch).sum()
    }
}

/// Returns the verdict on large tables with sets of ports.
///
/// It follows all NICs of a switch at once, with every mixture of their paths. If these have no
/// cycle, neither have the actual paths.
pub(crate) fn of_large_tables(
    network: Network<'_>,
    plan: &TablePlan,
    n_targets: u64,
    most_steps: u64,
) -> Option<Verdict> {
    let n_ports = network.topology.n_ports_in_all() as u64;
    let steps = n_targets * n_ports;
    if !plan.has_sets() || steps <= MAX_TURNS {
        return None;
    }
    let targets = one_per_switch(network.topology);
    if targets.len() as u64 * n_ports > most_steps {
        return None;
    }
    let verdict = by_switch(network, plan, &targets);
    (matches!(verdict, Verdict::Free { .. }) || steps > MAX_STEPS).then_some(verdict)
}

/// Returns the verdict for tables in which each packet may take every port of a set.
fn by_switch(network: Network<'_>, plan: &TablePlan, targets: &[NicId]) -> Verdict {
    let mut graph = Graph::new(network);
    let mut seen = Seen::new(&graph, plan);
    for (i, &target) in targets.iter().enumerate() {
        graph.follow_switch(plan, target, i as u32 + 1, &mut seen);
    }
    graph.verdict(targets.len(), "destination switches")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::forwarding::Plan;
    use crate::{Lookup, Paths, Routing, Shortest, UpDown};
    use netloom_topology::{Blueprint, Graph as Listed, RandomRegular, Torus, graph};
    use proptest::prelude::*;

    /// Returns the verdict if every packet may take every port of a set, set by set.
    fn mixtures(network: Network<'_>, plan: &TablePlan) -> Verdict {
        let Network {
            topology,
            forwarding,
            ..
        } = network;
        let mut graph = Graph::new(network);
        for (stamp, target) in (1..).zip(topology.nics()) {
            let switch = topology.attachment(target).0;
            let mut stack: Vec<_> = graph.sources.iter().map(|&input| (None, input)).collect();
            while let Some((held, (at, from))) = stack.pop() {
                let mut hops = vec![];
                match at == switch {
                    true => forwarding.choices(&Lookup::any(at, from, 0, target), &mut hops),
                    false => {
                        let entry = plan.shared_entry(at, from, target);
                        plan.choices_of_switch(entry, target, &mut hops);
                    }
                }
                graph.depend(held, at, from, &hops, stamp);
                let new = std::mem::take(&mut graph.stack);
                stack.extend(
                    new.into_iter()
                        .map(|next| (Some(next), graph.receiver(next))),
                );
            }
        }
        graph.verdict(one_per_switch(topology).len(), "destination switches")
    }

    proptest! {
        /// All NICs of a switch at once give the same graph as one after the other, and a proof for
        /// them holds for the paths actually taken.
        #[test]
        fn a_switch_at_once_is_its_nics_one_by_one(
            switches in 4u32..12, degree in 2u32..4, hosts in 1u16..4, seed: u64, is_grid: bool,
            mport in proptest::option::of(1u16..4),
        ) {
            prop_assume!(degree < switches && switches * degree % 2 == 0);
            let topology = match is_grid {
                true => Torus { sides: vec![3, switches as u16], hosts, trunk: 1 }.build(1),
                false => RandomRegular { switches, degree, hosts }.build(seed),
            };
            let topology = Arc::new(topology.unwrap());
            let centre = mport.map(|ports| Centre::of_mports(ports, 2));
            let up_down = UpDown { root: 0, paths: Paths::All };
            for routing in [&up_down as &dyn Routing, &Shortest { paths: Paths::All }] {
                let forwarding = routing.compile(&topology, 1).unwrap();
                let Plan::Table(plan) = &forwarding.plan else { panic!("tables") };
                let targets = one_per_switch(&topology);
                let network = Network::new(&topology, &forwarding, centre);
                let found = by_switch(network, plan, &targets);
                prop_assert_eq!(&found, &mixtures(network, plan));
                let taken = check_with(&topology, &forwarding, centre);
                if matches!(found, Verdict::Free { .. }) {
                    prop_assert!(matches!(taken, Verdict::Free { .. }), "{taken}");
                }
            }
        }
    }

    /// The tables of a large graph are checked switch by switch.
    #[test]
    fn tables_of_a_large_graph_are_followed_by_switches() {
        let tree = netloom_topology::FatTree {
            arity: 16,
            levels: 3,
        }
        .build(1)
        .unwrap();
        let listed = Listed {
            file: None,
            text: Some(graph::write(&tree)),
        };
        let topology = Arc::new(listed.build(1).unwrap());
        let routing = UpDown {
            root: 0,
            paths: Paths::All,
        };
        let forwarding = routing.compile(&topology, 1).unwrap();
        let Verdict::Free { how, channels, .. } = check(&topology, &forwarding) else {
            panic!("free");
        };
        assert!(how.contains("over all 256 destination switches"), "{how}");
        assert_eq!(channels, 2 * 2 * 4096);
    }
}
