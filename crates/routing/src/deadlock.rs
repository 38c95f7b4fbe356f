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
//! Large trees are not enumerated. Their channels are ranked, up by level and then down by level,
//! and every switch is checked never to send a packet up again after it came down. Channels of
//! large dragonflies and megaflies are ranked by the number of links that a packet has taken, which
//! its lane determines (`ladder.rs`).

use std::fmt;

use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::forwarding::{Plan, one_per_switch};
use crate::table::{SharedEntry, TablePlan};
use crate::tree::TreePlan;
use crate::{Forwarding, Hop};

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
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Free { how, .. } => write!(f, "free of deadlock: {how}"),
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

/// Above this many (switch, destination) pairs or steps, trees are proved by their structure.
const MAX_PAIRS: u64 = 20_000_000;
const MAX_STEPS: u64 = 2_000_000_000;

/// Above this many turns at switches, over all destinations, groups are proved by their ladder of
/// lanes.
const MAX_TURNS: u64 = 50_000_000;

/// Proves that a forwarding is free of deadlock, or returns a short cycle. Switches share no
/// buffers between inputs.
pub fn check(topology: &Topology, forwarding: &Forwarding) -> Verdict {
    check_with(topology, forwarding, None)
}

/// Proves that a forwarding is free of deadlock, or returns a short cycle. Switches may have a
/// centre.
pub fn check_with(topology: &Topology, forwarding: &Forwarding, centre: Option<Centre>) -> Verdict {
    let targets = forwarding.representatives(topology);
    if let Some(tree) = forwarding.plan.tree() {
        let pairs = u64::from(topology.n_switches()) * targets.len() as u64;
        let fan = match forwarding.needs_occasion() {
            true => u64::from(topology.radix()),
            false => 1,
        };
        let steps = pairs * u64::from(topology.radix()) * fan;
        let is_apart = centre.is_none_or(|centre| keeps_directions_apart(topology, tree, centre));
        if (pairs > MAX_PAIRS || steps > MAX_STEPS)
            && is_apart
            && let Some(verdict) = by_structure(topology, forwarding, tree)
        {
            return verdict;
        }
    }
    if let Plan::Groups(plan) = &forwarding.plan {
        let turns = u64::from(topology.radix()).pow(2) * u64::from(topology.n_switches());
        // If lanes rise from link to link, sharing a buffer within a lane adds no cycle.
        let stays_apart = || {
            plan.climb(forwarding.lanes())
                .is_some_and(|climb| climb.lanes_rise)
        };
        if turns * targets.len() as u64 > MAX_TURNS
            && (centre.is_none() || stays_apart())
            && let Some(channels) = plan.by_ladder(topology, forwarding.lanes())
        {
            return Verdict::Free {
                how: format!(
                    "{} switches in groups, proved by structure without enumerating destinations: \
                     the lane of every link counts the links before it, and every link is where \
                     the routing expects it",
                    topology.n_switches()
                ),
                channels: channels * u64::from(forwarding.lanes()),
                dependencies: 0,
            };
        }
    }
    let steps = targets.len() as u64 * topology.n_ports_in_all() as u64;
    if let Plan::Table(plan) = &forwarding.plan
        && plan.has_sets()
        && steps > MAX_TURNS
    {
        // All NICs of a switch at once, with every mixture of their paths. If these have no cycle,
        // neither have the actual paths.
        let verdict = by_switch(topology, forwarding, centre, plan);
        if matches!(verdict, Verdict::Free { .. }) || steps > MAX_STEPS {
            return verdict;
        }
    }
    let mut graph = Graph::new(topology, forwarding, centre);
    for (i, &target) in targets.iter().enumerate() {
        graph.follow(target, i as u32 + 1);
    }
    graph.verdict(targets.len(), "destinations")
}

/// Returns the verdict for tables in which each packet may take every port of a set.
fn by_switch(
    topology: &Topology,
    forwarding: &Forwarding,
    centre: Option<Centre>,
    plan: &TablePlan,
) -> Verdict {
    let targets = one_per_switch(topology);
    let mut graph = Graph::new(topology, forwarding, centre);
    let mut seen = Seen {
        rows: vec![0; plan.n_rows()],
        entries: vec![None; graph.n_channels() + graph.sources.len()],
    };
    for (i, &target) in targets.iter().enumerate() {
        graph.follow_switch(plan, target, i as u32 + 1, &mut seen);
    }
    graph.verdict(targets.len(), "destination switches")
}

/// What has been visited, so that nothing is visited twice.
struct Seen {
    /// By row of the tables: the last destination for which the channels reached from it were
    /// visited.
    rows: Vec<u32>,
    /// By channel, then by source: the last entry whose dependencies were noted.
    entries: Vec<Option<SharedEntry>>,
}

/// Whether no group of ports mixes ports to a higher level with others. Descending packets then
/// never share a central queue with ascending ones, and the ranks of a tree hold through the
/// centre.
fn keeps_directions_apart(topology: &Topology, tree: &TreePlan, centre: Centre) -> bool {
    topology.switches().all(|at| {
        let first_up = tree.first_up(at);
        let n_ports = topology.n_ports(at);
        first_up.0 == 0
            || first_up.0 >= n_ports
            || centre.mport(first_up) != centre.mport(Port(first_up.0 - 1))
    })
}

/// Proves by ranks; `None` if the fabric is not wired as the arithmetic assumes.
fn by_structure(topology: &Topology, forwarding: &Forwarding, tree: &TreePlan) -> Option<Verdict> {
    if let Plan::Damaged(plan) = &forwarding.plan
        && !plan.exceptions_follow_the_tree(topology)
    {
        return None;
    }
    let n_nics = topology.n_nics();
    let mut channels = 0;
    let mut hops = vec![];
    let mut all_choices = |at, from, nic, holds: &dyn Fn(Hop) -> bool| {
        hops.clear();
        forwarding.choices(at, from, 0, nic, &mut hops);
        hops.iter().all(|&hop| holds(hop))
    };
    for at in topology.switches() {
        let (level, nics) = tree.range(at);
        let first_up = tree.first_up(at);
        for (port, other, _) in topology.neighbours(at) {
            channels += 1;
            let (level_there, nics_there) = tree.range(other);
            let is_sound = match port < first_up {
                // Down: everything the arithmetic sends there has its destination below and thus
                // continues down.
                true => {
                    let ends = [nics_there.start, nics_there.end - 1].map(NicId);
                    let comes_from_above = first_up.max(Port(topology.n_ports(at) - 1));
                    level_there + 1 == level
                        && nics.start <= nics_there.start
                        && nics_there.end <= nics.end
                        && ends.into_iter().all(|nic| {
                            let leads_there = |hop: Hop| {
                                let leads_to = topology.peer(at, hop.port);
                                matches!(leads_to, Peer::Switch(s, _) if tree.range(s).1 == nics_there)
                            };
                            all_choices(at, comes_from_above, nic, &leads_there)
                        })
                }
                // Up: one level higher, over a range that contains ours.
                false => {
                    level_there == level + 1
                        && nics_there.start <= nics.start
                        && nics.end <= nics_there.end
                }
            };
            if !is_sound {
                return None;
            }
        }
        // A packet goes up only if its destination is not below, or if it came from below.
        let outside = [nics.start.wrapping_sub(1), nics.end];
        let outside = outside.into_iter().filter(|&nic| nic < n_nics).map(NicId);
        for nic in outside {
            if !all_choices(at, Port(0), nic, &|hop| hop.port >= first_up) {
                return None;
            }
        }
    }
    Some(Verdict::Free {
        how: format!(
            "tree of {} switches, proved by structure without enumerating destinations: channels \
             rank up by level, then down by level, and no switch sends a packet up again after it \
             came down",
            topology.n_switches()
        ),
        channels,
        dependencies: 0,
    })
}

/// The dependency graph under construction. Links are directed and numbered by sender.
struct Graph<'a> {
    topology: &'a Topology,
    forwarding: &'a Forwarding,
    lanes: usize,
    /// First link of each switch, and one past the last.
    first: Vec<usize>,
    /// Sending switch and port of each link.
    senders: Vec<(SwitchId, Port)>,
    /// Link of each port, by port index of the fabric.
    link_of_port: Vec<Option<u32>>,
    /// The link in the opposite direction, which has the receiver's switch and port.
    opposite: Vec<u32>,
    /// One bit per (channel in, channel out) of every switch, and the first bit of each switch.
    bits: Vec<u64>,
    base: Vec<usize>,
    used: Vec<bool>,
    /// The last destination for which each channel was visited.
    visited: Vec<u32>,
    sources: Vec<(SwitchId, Port)>,
    /// The queues that inputs share inside a switch.
    centre: Option<Centre>,
    /// First central queue of each switch, numbered after all channels.
    first_central: Vec<usize>,
    /// What channels and central queues wait for through a centre, in order; empty without a
    /// centre.
    by_centre: Vec<Vec<u32>>,
    /// Scratch space.
    stack: Vec<usize>,
    hops: Vec<Hop>,
}

impl<'a> Graph<'a> {
    fn new(topology: &'a Topology, forwarding: &'a Forwarding, centre: Option<Centre>) -> Self {
        let lanes = usize::from(forwarding.lanes());
        let (mut first, mut senders) = (vec![0], vec![]);
        let mut link_of_port = vec![None; topology.n_ports_in_all()];
        let (mut base, mut n_bits) = (vec![], 0);
        for switch in topology.switches() {
            for (port, _, _) in topology.neighbours(switch) {
                link_of_port[topology.port_index(switch, port)] = Some(senders.len() as u32);
                senders.push((switch, port));
            }
            let n_links = senders.len() - first[first.len() - 1];
            base.push(n_bits);
            n_bits += (n_links * lanes).pow(2);
            first.push(senders.len());
        }
        let opposite = senders.iter().map(|&(switch, port)| {
            let Peer::Switch(other, there) = topology.peer(switch, port) else {
                unreachable!("a link leads to a switch");
            };
            link_of_port[topology.port_index(other, there)].expect("cables are symmetric")
        });
        let opposite: Vec<u32> = opposite.collect();
        let mut sources = vec![];
        for switch in topology.switches() {
            let is_host = |&p: &Port| matches!(topology.peer(switch, p), Peer::Nic(_));
            let mut hosts: Vec<Port> = topology.ports(switch).filter(is_host).collect();
            // NICs of one switch send equally; with a centre they fill the queues of their own
            // group.
            match centre {
                Some(centre) => hosts.dedup_by_key(|port| centre.mport(*port)),
                None => hosts.truncate(1),
            }
            sources.extend(hosts.into_iter().map(|port| (switch, port)));
        }
        let n_channels = senders.len() * lanes;
        let mut n_nodes = n_channels;
        let mut first_central = vec![];
        if let Some(centre) = centre {
            for switch in topology.switches() {
                first_central.push(n_nodes);
                n_nodes += usize::from(centre.n_links(topology.n_ports(switch))) * lanes;
            }
        }
        let graph = Graph {
            topology,
            forwarding,
            lanes,
            first,
            link_of_port,
            opposite,
            bits: vec![0; n_bits.div_ceil(64)],
            base,
            used: vec![false; n_nodes],
            visited: vec![0; n_channels],
            centre,
            first_central,
            by_centre: vec![vec![]; if centre.is_some() { n_nodes } else { 0 }],
            senders,
            sources,
            stack: vec![],
            hops: vec![],
        };
        graph.check_rings();
        graph
    }

    /// Checks that both ends of a cable are in the same ring, and that a ring has one output per
    /// switch.
    fn check_rings(&self) {
        if !self.forwarding.bubble() {
            return;
        }
        for switch in self.topology.switches() {
            let mut seen = [false; 256];
            for (port, other, there) in self.topology.neighbours(switch) {
                let ring = self.forwarding.ring_of_output(switch, port);
                let arrives = self.forwarding.ring_of_input(other, there);
                assert!(
                    ring == arrives,
                    "ring ids agree on the cable at {switch} {port}"
                );
                let is_second = std::mem::replace(&mut seen[usize::from(ring)], true);
                assert!(
                    ring == 0 || !is_second,
                    "ring {ring} has one way on at {switch}"
                );
            }
        }
    }

    /// Returns the channel of a hop; `None` if it leads to a NIC.
    fn channel(&self, at: SwitchId, hop: Hop) -> Option<usize> {
        assert!(
            usize::from(hop.lane) < self.lanes,
            "lanes in range at {at} {}",
            hop.port
        );
        let link = self.link_of_port[self.topology.port_index(at, hop.port)]?;
        Some(link as usize * self.lanes + usize::from(hop.lane))
    }

    /// Returns the switch and port that a channel leads to.
    fn receiver(&self, channel: usize) -> (SwitchId, Port) {
        self.senders[self.opposite[channel / self.lanes] as usize]
    }

    /// Returns the first bit of a channel's row, the first channel of its columns, and the number
    /// of columns.
    fn row(&self, channel: usize) -> (usize, usize, usize) {
        let opposite = self.opposite[channel / self.lanes] as usize;
        let at = self.senders[opposite].0.index();
        let columns = (self.first[at + 1] - self.first[at]) * self.lanes;
        let nth = (opposite - self.first[at]) * self.lanes + channel % self.lanes;
        (
            self.base[at] + nth * columns,
            self.first[at] * self.lanes,
            columns,
        )
    }

    /// Visits every channel that packets for a destination can use, and notes its dependencies.
    fn follow(&mut self, target: NicId, stamp: u32) {
        for i in 0..self.sources.len() {
            let (at, port) = self.sources[i];
            self.turn(None, at, port, 0, target, stamp);
        }
        while let Some(channel) = self.stack.pop() {
            let (at, port) = self.receiver(channel);
            let lane = (channel % self.lanes) as u8;
            self.turn(Some(channel), at, port, lane, target, stamp);
        }
    }

    fn turn(
        &mut self,
        held: Option<usize>,
        at: SwitchId,
        from: Port,
        lane: u8,
        target: NicId,
        stamp: u32,
    ) {
        let mut hops = std::mem::take(&mut self.hops);
        hops.clear();
        self.forwarding.choices(at, from, lane, target, &mut hops);
        self.depend(held, at, from, &hops, stamp);
        self.hops = hops;
    }

    /// Notes that a packet waits for the channels of these hops, and visits them.
    fn depend(&mut self, held: Option<usize>, at: SwitchId, from: Port, hops: &[Hop], stamp: u32) {
        for &hop in hops {
            let Some(next) = self.channel(at, hop) else {
                // A NIC accepts every packet, but on the way to it a packet may share a queue with
                // others that wait.
                if let (Some(held), Some(central)) = (held, self.central(at, from, hop)) {
                    self.waits_by_centre(held, central);
                }
                continue;
            };
            let ring = self.forwarding.ring_of_output(at, hop.port);
            let central = match ring {
                0 => self.central(at, from, hop),
                _ => None,
            };
            if let Some(central) = central {
                self.used[central] = true;
                self.waits_by_centre(central, next);
                if let Some(held) = held {
                    self.waits_by_centre(held, central);
                }
            } else if let Some(held) = held {
                let goes_on = ring != 0 && ring == self.forwarding.ring_of_input(at, from);
                if !goes_on {
                    let (bit, first, _) = self.row(held);
                    let bit = bit + next - first;
                    self.bits[bit / 64] |= 1 << (bit % 64);
                }
            }
            if self.visited[next] != stamp {
                self.visited[next] = stamp;
                self.used[next] = true;
                self.stack.push(next);
            }
        }
    }

    /// Does the same as [`Graph::follow`] for all NICs of a switch at once, by tables of one lane.
    fn follow_switch(&mut self, plan: &TablePlan, target: NicId, stamp: u32, seen: &mut Seen) {
        let switch = self.topology.attachment(target).0;
        let n_channels = self.n_channels();
        let sources = n_channels..n_channels + self.sources.len();
        self.stack.extend(sources);
        while let Some(node) = self.stack.pop() {
            let (held, (at, from)) = match node < n_channels {
                true => (Some(node), self.receiver(node)),
                false => (None, self.sources[node - n_channels]),
            };
            let entry = plan.shared_entry(at, from, target);
            let is_visited = std::mem::replace(&mut seen.rows[entry.row], stamp) == stamp;
            let is_noted = seen.entries[node].replace(entry) == Some(entry);
            if is_visited && is_noted {
                continue;
            }
            let mut hops = std::mem::take(&mut self.hops);
            hops.clear();
            match at == switch {
                true => {
                    let is_host = |p: &Port| matches!(self.topology.peer(at, *p), Peer::Nic(_));
                    let hosts = self.topology.ports(at).filter(is_host);
                    hops.extend(hosts.map(|port| Hop { port, lane: 0 }));
                }
                false => plan.choices_of_switch(entry, target, &mut hops),
            }
            self.depend(held, at, from, &hops, stamp);
            self.hops = hops;
        }
    }

    /// Returns the number of channels, which are the first nodes.
    fn n_channels(&self) -> usize {
        self.senders.len() * self.lanes
    }

    /// Returns the central queue between an input and a hop; `None` if the packet does not pass a
    /// centre.
    fn central(&self, at: SwitchId, from: Port, hop: Hop) -> Option<usize> {
        let link = self.centre?.link(from, hop.port)?;
        let nth = usize::from(link) * self.lanes + usize::from(hop.lane);
        Some(self.first_central[at.index()] + nth)
    }

    /// Returns the central queue of a node.
    fn central_queue(&self, node: usize) -> Option<CentralQueue> {
        let centre = self.centre.filter(|_| node >= self.n_channels())?;
        let switch = self.first_central.partition_point(|&first| first <= node) - 1;
        let nth = node - self.first_central[switch];
        let links = usize::from(centre.links_per_mport);
        Some(CentralQueue {
            mport: (nth / self.lanes / links) as u16,
            link: (nth / self.lanes % links) as u16,
            lane: (nth % self.lanes) as u8,
            is_row_buffer: centre.outputs_of_column.is_some(),
        })
    }

    /// Notes that a channel waits for a central queue, or a central queue for a channel.
    fn waits_by_centre(&mut self, node: usize, next: usize) {
        let (known, next) = (&mut self.by_centre[node], next as u32);
        if let Err(at) = known.binary_search(&next) {
            known.insert(at, next);
        }
    }

    /// Returns what a channel or central queue may wait for, in order.
    fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let (bit, first, columns) = match node < self.n_channels() {
            true => self.row(node),
            false => (0, 0, 0),
        };
        let by_centre = self.by_centre.get(node).map_or(&[][..], |next| &next[..]);
        (0..columns)
            .filter(move |i| self.bits[(bit + i) / 64] >> ((bit + i) % 64) & 1 == 1)
            .map(move |i| first + i)
            .chain(by_centre.iter().map(|&next| next as usize))
    }

    fn verdict(&self, n_targets: usize, targets: &str) -> Verdict {
        let n = self.used.len();
        let mut waiting = vec![0u32; n];
        let mut dependencies = 0u64;
        for channel in (0..n).filter(|&c| self.used[c]) {
            for next in self.successors(channel) {
                waiting[next] += 1;
                dependencies += 1;
            }
        }
        // Remove nodes that no other node waits for, repeatedly. A cycle remains.
        let mut left = self.used.clone();
        let mut stack: Vec<usize> = (0..n).filter(|&c| left[c] && waiting[c] == 0).collect();
        while let Some(channel) = stack.pop() {
            left[channel] = false;
            for next in self.successors(channel) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    stack.push(next);
                }
            }
        }
        if let Some(start) = left.iter().position(|&l| l) {
            return Verdict::Cycle(self.short_cycle(&left, start));
        }
        let count = |nodes: &[bool]| nodes.iter().filter(|&&used| used).count() as u64;
        let (channels, centrals) = self.used.split_at(self.n_channels());
        let (channels, centrals) = (count(channels), count(centrals));
        let queues = match self.centre {
            Some(_) => format!(" and {centrals} central queues"),
            None => String::new(),
        };
        let rings = match self.forwarding.bubble() {
            true => "; rings may close under the bubble rule, which guards every entry into a ring",
            false => "",
        };
        Verdict::Free {
            how: format!(
                "no cycle among {dependencies} dependencies of {channels} channels{queues}, over \
                 all {n_targets} {targets}{rings}"
            ),
            channels,
            dependencies,
        }
    }

    /// Returns a short cycle among the remaining channels, each of which another remaining one
    /// waits for.
    fn short_cycle(&self, left: &[bool], start: usize) -> Vec<Channel> {
        let mut waits_for = vec![None; left.len()];
        for channel in (0..left.len()).rev().filter(|&c| left[c]) {
            for next in self.successors(channel).filter(|&c| left[c]) {
                waits_for[next] = Some(channel);
            }
        }
        // Walk backwards until a channel repeats: it lies on a cycle.
        let mut seen = vec![false; left.len()];
        let mut on_cycle = start;
        while !std::mem::replace(&mut seen[on_cycle], true) {
            on_cycle = waits_for[on_cycle].expect("every channel left is waited for");
        }
        let mut best = self
            .cycle_through(left, on_cycle, usize::MAX)
            .expect("it lies on a cycle");
        let others = (0..left.len()).filter(|&c| left[c]).take(64);
        for other in others {
            if let Some(cycle) = self.cycle_through(left, other, best.len()) {
                best = cycle;
            }
        }
        // Channels have the lowest numbers, so a cycle begins with a channel and no two central
        // queues are adjacent.
        let lowest = (0..best.len()).min_by_key(|&i| best[i]).unwrap_or(0);
        best.rotate_left(lowest);
        let next = best.iter().skip(1).chain(&best[..1]);
        let is_channel = |(c, _): &(&usize, &usize)| **c < self.n_channels();
        let channel = |(&c, &next): (&usize, &usize)| Channel {
            switch: self.senders[c / self.lanes].0,
            port: self.senders[c / self.lanes].1,
            lane: (c % self.lanes) as u8,
            to: self.receiver(c).0,
            through: self.central_queue(next),
        };
        best.iter()
            .zip(next)
            .filter(is_channel)
            .map(channel)
            .collect()
    }

    /// Returns the shortest cycle through a channel, if it is shorter than `shorter_than`.
    fn cycle_through(
        &self,
        left: &[bool],
        start: usize,
        shorter_than: usize,
    ) -> Option<Vec<usize>> {
        let mut came_from = vec![None; left.len()];
        let mut queue = vec![(start, 1)];
        let mut next = 0;
        while let Some(&(channel, length)) = queue.get(next) {
            next += 1;
            if length >= shorter_than {
                return None;
            }
            for successor in self.successors(channel).filter(|&c| left[c]) {
                if successor == start {
                    let mut cycle = vec![channel];
                    while let Some(before) = came_from[cycle[cycle.len() - 1]] {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if came_from[successor].is_none() {
                    came_from[successor] = Some(channel);
                    queue.push((successor, length + 1));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Paths, Routing, Shortest, UpDown};
    use netloom_topology::{Blueprint, Graph as Listed, RandomRegular, Torus, graph};
    use proptest::prelude::*;

    /// Returns the verdict if every packet may take every port of a set, set by set.
    fn mixtures(topology: &Topology, forwarding: &Forwarding, centre: Option<Centre>) -> Verdict {
        let Plan::Table(plan) = &forwarding.plan else {
            panic!("tables");
        };
        let mut graph = Graph::new(topology, forwarding, centre);
        for (stamp, target) in (1..).zip(topology.nics()) {
            let switch = topology.attachment(target).0;
            let mut stack: Vec<_> = graph.sources.iter().map(|&input| (None, input)).collect();
            while let Some((held, (at, from))) = stack.pop() {
                let mut hops = vec![];
                match at == switch {
                    true => forwarding.choices(at, from, 0, target, &mut hops),
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
                let found = by_switch(&topology, &forwarding, centre, plan);
                prop_assert_eq!(&found, &mixtures(&topology, &forwarding, centre));
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
