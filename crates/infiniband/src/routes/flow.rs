//! Follows the packets of all hosts to one address along its tree.

use super::dependencies::LaneOfLink;
use super::fabric::{Attached, Destination, Fabric, Peer};
use super::found::{Failure, Why};
use super::tree::{End, Step, Tree};
use crate::{DROPPED, Lid};

/// An event while packets are followed.
pub(super) enum Seen<'d> {
    /// Packets of this host occupy buffers of one lane while they wait for the next lane.
    Dependency {
        from: LaneOfLink,
        to: LaneOfLink,
        source: usize,
    },
    /// The number of routes that leave by a port towards another switch.
    Load { port: usize, routes: u32 },
    /// Routes have this service level, and use these lanes of links between switches.
    Level { level: u8, vls: u16 },
    /// The number of routes that end because their service level is dropped.
    Dropped { routes: u32, failure: &'d DroppedAt },
}

/// The place where a service level is dropped.
pub(super) struct DroppedAt {
    source: usize,
    lid: Lid,
    /// The switch; `None` if the host itself drops the level.
    switch: Option<usize>,
    input: u8,
    output: u8,
    level: u8,
}

impl DroppedAt {
    pub(super) fn named(&self, fabric: &Fabric<'_>) -> Failure {
        let node = match self.switch {
            Some(switch) => fabric.node(switch),
            None => fabric.hosts[self.source].node,
        };
        Failure {
            from: fabric.host_name(self.source),
            to: self.lid,
            at: fabric.subnet.nodes[node.index()].guid,
            why: Why::Dropped {
                input: self.input,
                output: self.output,
                level: self.level,
            },
        }
    }
}

/// Routes that enter a switch by one port on one lane.
#[derive(Clone, Copy)]
struct Inflow {
    /// The next inflow of the same switch.
    next: Option<u32>,
    input: u8,
    vl: u8,
    routes: u32,
    /// One of the sending hosts.
    source: u32,
}

/// Routes that leave a switch, by lane: their number, and one of the sending hosts.
type Outflow = [(u32, u32); DROPPED.0 as usize];

/// Memory for following packets, reused for every address.
pub(super) struct Flow {
    /// The last inflow of each switch.
    last: Vec<Option<u32>>,
    inflows: Vec<Inflow>,
    /// The service level of each host's path.
    levels: Vec<u8>,
}

impl Flow {
    pub(super) fn of(fabric: &Fabric<'_>) -> Flow {
        Flow {
            last: vec![None; fabric.n_switches()],
            inflows: vec![],
            levels: vec![0; fabric.hosts.len()],
        }
    }

    /// Follows the packets of all hosts to one address, once per service level.
    pub(super) fn follow(
        &mut self,
        fabric: &Fabric<'_>,
        tree: &Tree,
        destination: usize,
        see: &mut impl FnMut(Seen<'_>),
    ) {
        let destination = &fabric.destinations[destination];
        let levels = self.find_levels(fabric, destination);
        for level in (0..16).filter(|level| levels >> level & 1 == 1) {
            self.inflows.clear();
            self.last.fill(None);
            let mut vls = 0;
            for switch in &tree.order {
                let switch = *switch as usize;
                let to = (level, destination.lid, destination.host);
                vls |= self.pass(fabric, tree, switch, to, see);
            }
            see(Seen::Level { level, vls });
        }
    }

    /// Finds the service level of each path, and returns a bit mask of the levels.
    fn find_levels(&mut self, fabric: &Fabric<'_>, destination: &Destination) -> u16 {
        if !fabric.has_levels {
            return if fabric.hosts.len() > 1 {
                fabric.usual_levels
            } else {
                0
            };
        }
        let mut levels = 0;
        for (at, host) in fabric.hosts.iter().enumerate() {
            let known = host.levels.and_then(|levels| {
                let level = levels.get(usize::from(destination.lid.0));
                level.copied().flatten()
            });
            let level = known.map_or(0, |level| (level.get() - 1) & 15);
            self.levels[at] = level;
            if at != destination.host {
                levels |= 1 << level;
            }
        }
        levels
    }

    /// Forwards the routes that entered a switch. Returns a bit mask of the lanes used between
    /// switches.
    fn pass(
        &mut self,
        fabric: &Fabric<'_>,
        tree: &Tree,
        switch: usize,
        (level, lid, receiver): (u8, Lid, usize),
        see: &mut impl FnMut(Seen<'_>),
    ) -> u16 {
        let (output, next) = match (tree.end(switch), tree.next(switch)) {
            (End::Circles(_), _) | (_, Step::Ends) => return 0,
            (_, Step::Arrives(output)) => (output, None),
            (_, Step::To(_, output)) => (output, Some(fabric.port(switch, output))),
        };
        // A route that ends early is reported once, where it ends.
        let arrives = tree.end(switch) == End::Arrives;
        let mut outflow: Outflow = [(0, 0); DROPPED.0 as usize];
        for host in fabric.hosts_at(switch) {
            let source = *host as usize;
            let is_other = fabric.has_levels && self.levels[source] != level;
            if source == receiver || is_other {
                continue;
            }
            let Attached::Switch(_, input) = fabric.hosts[source].attached else {
                continue;
            };
            let mut dropped = DroppedAt {
                source,
                lid,
                switch: None,
                input: 0,
                output: fabric.hosts[source].port,
                level,
            };
            if fabric.lanes.at_host(source, level).is_none() {
                tell(arrives, 1, &dropped, see);
                continue;
            }
            match fabric.lanes.at_switch(switch, input, output, level) {
                Some(vl) => add(&mut outflow, vl, 1, *host),
                None => {
                    (dropped.switch, dropped.input, dropped.output) = (Some(switch), input, output);
                    tell(arrives, 1, &dropped, see);
                }
            }
        }
        let mut at = self.last[switch];
        while let Some(inflow) = at.map(|at| self.inflows[at as usize]) {
            at = inflow.next;
            let lane = fabric.lanes.at_switch(switch, inflow.input, output, level);
            let Some(vl) = lane else {
                let dropped = DroppedAt {
                    source: inflow.source as usize,
                    lid,
                    switch: Some(switch),
                    input: inflow.input,
                    output,
                    level,
                };
                tell(arrives, inflow.routes, &dropped, see);
                continue;
            };
            add(&mut outflow, vl, inflow.routes, inflow.source);
            let Peer::Switch(before, by) = fabric.peer(switch, inflow.input) else {
                continue;
            };
            if let Some(next) = next {
                see(Seen::Dependency {
                    from: LaneOfLink {
                        port: fabric.port(before as usize, by) as u32,
                        vl: inflow.vl,
                    },
                    to: LaneOfLink {
                        port: next as u32,
                        vl,
                    },
                    source: inflow.source as usize,
                });
            }
        }
        match next {
            Some(port) => self.send(fabric, port, &outflow, see),
            None => 0,
        }
    }

    /// Adds routes to the switch at the other end of a port.
    fn send(
        &mut self,
        fabric: &Fabric<'_>,
        port: usize,
        outflow: &Outflow,
        see: &mut impl FnMut(Seen<'_>),
    ) -> u16 {
        let Peer::Switch(next, input) = fabric.peer_of(port) else {
            return 0;
        };
        let mut vls = 0;
        let mut total = 0;
        for (vl, (routes, source)) in outflow.iter().enumerate() {
            if *routes == 0 {
                continue;
            }
            vls |= 1 << vl;
            total += routes;
            let number = self.inflows.len() as u32;
            self.inflows.push(Inflow {
                next: self.last[next as usize].replace(number),
                input,
                vl: vl as u8,
                routes: *routes,
                source: *source,
            });
        }
        if total > 0 {
            see(Seen::Load {
                port,
                routes: total,
            });
        }
        vls
    }
}

fn tell(arrives: bool, routes: u32, failure: &DroppedAt, see: &mut impl FnMut(Seen<'_>)) {
    if arrives {
        see(Seen::Dropped { routes, failure });
    }
}

fn add(outflow: &mut Outflow, vl: u8, routes: u32, source: u32) {
    let lane = &mut outflow[usize::from(vl)];
    if lane.0 == 0 {
        lane.1 = source;
    }
    lane.0 += routes;
}
