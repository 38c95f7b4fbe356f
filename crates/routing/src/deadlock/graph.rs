//! The channel dependency graph, and its cycles.

use netloom_topology::Peer;
use netloom_units::{NicId, Port, SwitchId};

use super::{CentralQueue, Channel, Network, Verdict};
use crate::table::{SharedEntry, TablePlan};
use crate::{Hop, Lookup};

/// What has been visited, so that nothing is visited twice.
pub(super) struct Seen {
    /// By row of the tables: the last destination for which the channels reached from it were
    /// visited.
    rows: Vec<u32>,
    /// By channel, then by source: the last entry whose dependencies were noted.
    entries: Vec<Option<SharedEntry>>,
}

impl Seen {
    pub(super) fn new(graph: &Graph<'_>, plan: &TablePlan) -> Seen {
        Seen {
            rows: vec![0; plan.n_rows()],
            entries: vec![None; graph.n_channels() + graph.sources.len()],
        }
    }
}

/// The dependency graph under construction. Links are directed and numbered by sender.
pub(super) struct Graph<'a> {
    network: Network<'a>,
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
    pub(super) sources: Vec<(SwitchId, Port)>,
    /// First central queue of each switch, numbered after all channels.
    first_central: Vec<usize>,
    /// What channels and central queues wait for through a centre, in order; empty without a
    /// centre.
    by_centre: Vec<Vec<u32>>,
    /// Scratch space.
    pub(super) stack: Vec<usize>,
    hops: Vec<Hop>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(network: Network<'a>) -> Self {
        let Network {
            topology,
            forwarding,
            centre,
        } = network;
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
            network,
            lanes,
            first,
            link_of_port,
            opposite,
            bits: vec![0; n_bits.div_ceil(64)],
            base,
            used: vec![false; n_nodes],
            visited: vec![0; n_channels],
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
        if !self.network.forwarding.bubble() {
            return;
        }
        for switch in self.network.topology.switches() {
            let mut seen = [false; 256];
            for (port, other, there) in self.network.topology.neighbours(switch) {
                let ring = self.network.forwarding.ring_of_output(switch, port);
                let arrives = self.network.forwarding.ring_of_input(other, there);
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
        let link = self.link_of_port[self.network.topology.port_index(at, hop.port)]?;
        Some(link as usize * self.lanes + usize::from(hop.lane))
    }

    /// Returns the switch and port that a channel leads to.
    pub(super) fn receiver(&self, channel: usize) -> (SwitchId, Port) {
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
    pub(super) fn follow(&mut self, target: NicId, stamp: u32) {
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
        self.network
            .forwarding
            .choices(&Lookup::any(at, from, lane, target), &mut hops);
        self.depend(held, at, from, &hops, stamp);
        self.hops = hops;
    }

    /// Notes that a packet waits for the channels of these hops, and visits them.
    pub(super) fn depend(
        &mut self,
        held: Option<usize>,
        at: SwitchId,
        from: Port,
        hops: &[Hop],
        stamp: u32,
    ) {
        for &hop in hops {
            let Some(next) = self.channel(at, hop) else {
                // A NIC accepts every packet, but on the way to it a packet may share a queue with
                // others that wait.
                if let (Some(held), Some(central)) = (held, self.central(at, from, hop)) {
                    self.waits_by_centre(held, central);
                }
                continue;
            };
            let ring = self.network.forwarding.ring_of_output(at, hop.port);
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
                let goes_on = ring != 0 && ring == self.network.forwarding.ring_of_input(at, from);
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
    pub(super) fn follow_switch(
        &mut self,
        plan: &TablePlan,
        target: NicId,
        stamp: u32,
        seen: &mut Seen,
    ) {
        let switch = self.network.topology.attachment(target).0;
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
                    let is_host =
                        |p: &Port| matches!(self.network.topology.peer(at, *p), Peer::Nic(_));
                    let hosts = self.network.topology.ports(at).filter(is_host);
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
        let link = self.network.centre?.link(from, hop.port)?;
        let nth = usize::from(link) * self.lanes + usize::from(hop.lane);
        Some(self.first_central[at.index()] + nth)
    }

    /// Returns the central queue of a node.
    fn central_queue(&self, node: usize) -> Option<CentralQueue> {
        let centre = self.network.centre.filter(|_| node >= self.n_channels())?;
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

    pub(super) fn verdict(&self, n_targets: usize, targets: &str) -> Verdict {
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
        let queues = match self.network.centre {
            Some(_) => format!(" and {centrals} central queues"),
            None => String::new(),
        };
        let rings = match self.network.forwarding.bubble() {
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
