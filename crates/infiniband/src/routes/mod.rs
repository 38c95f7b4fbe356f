//! Checks the programmed routes of a subnet.
//!
//! ```text
//! for each address of a channel adapter:
//!   Tree          the output of every switch, and where the routes end
//!   Flow          the packets of all senders along the tree, for each service level in use
//!                   ─► failures, loads of links, dependencies between lanes of links
//! Dependencies    cycles among them are credit loops
//! ```
//!
//! A forwarding table depends only on the destination, so the routes to one address form a tree (or
//! loops), and all senders are followed together. The cost is a few steps per switch and sender of
//! each address, whatever the number of hops. Each service level in use is followed separately.
//!
//! Exact: every pair of ports of channel adapters (and routers), every address of the receiver, the
//! table of every switch, and the lane of every hop by input, output and service level. A route
//! that ends early counts up to its end, because its packets occupy buffers up to there. A
//! forwarding loop is reported as a failure and not counted. Assumed: paths without a service level
//! have SL 0, and unknown rows of lanes map to VL 0 ([`RouteCheck::unknown_lanes`] counts them).
//! Not covered: multicast, VL 15, packets from port 0 of a switch, and lanes that a port does not
//! use.

mod balance;
mod dependencies;
mod fabric;
mod flow;
mod found;
mod lanes;
mod names;
mod tree;

pub use self::found::{
    Balance, Channel, CreditLoop, CreditLoops, Dependency, Failure, Failures, LinkLoad, Longer,
    MOST_FAILURES, MOST_LOOPS, RouteCheck, Spread, Why, Worst,
};

pub use self::names::Names;

use self::dependencies::Dependencies;
use self::fabric::{Attached, Fabric};
use self::flow::{Flow, Seen};
use self::tree::{End, Tree};
use crate::{Node, NodeId, PortName, Programmed, Subnet};

/// Returns the routes between the given ports that do not arrive. Lanes are ignored.
pub fn unreached(
    subnet: &Subnet,
    programmed: &Programmed,
    is_asked: impl Fn(PortName) -> bool,
) -> Failures {
    let fabric = Fabric::of(subnet, programmed, 1, |_| true);
    let is_asked: Vec<bool> = (0..fabric.hosts.len())
        .map(|host| is_asked(fabric.host_name(host)))
        .collect();
    let mut tree = Tree::of(&fabric);
    let mut failures = Failures::default();
    for destination in fabric.destinations.iter().filter(|to| is_asked[to.host]) {
        tree.grow(&fabric, destination);
        for switch in 0..fabric.n_switches() {
            let (last, why) = match tree.end(switch) {
                End::Arrives => continue,
                End::Ends(last) => (last, tree.why(&fabric, last)),
                End::Circles(member) => (member, Why::Circles),
            };
            let hosts = fabric.hosts_at(switch).iter().map(|host| *host as usize);
            for host in hosts.filter(|host| *host != destination.host && is_asked[*host]) {
                failures.add(1, || Failure {
                    from: fabric.host_name(host),
                    to: destination.lid,
                    at: fabric.subnet.nodes[fabric.node(last).index()].guid,
                    why,
                });
            }
        }
    }
    failures
}

/// Checks every route between all ports with an address: of hosts, routers, and aggregation nodes
/// (SHARP).
pub fn check_routes(subnet: &Subnet, programmed: &Programmed) -> RouteCheck {
    check(&Fabric::of(subnet, programmed, 1, |_| true))
}

/// Checks every route between hosts. If no path has a known level, every path is checked on all
/// levels of the bit mask `levels`. A route that fails on one of them counts as failed.
pub fn check_host_routes(subnet: &Subnet, programmed: &Programmed, levels: u16) -> RouteCheck {
    check(&Fabric::of(subnet, programmed, levels, Node::is_host))
}

fn check(fabric: &Fabric<'_>) -> RouteCheck {
    let mut check = RouteCheck {
        n_ports: fabric.hosts.len(),
        n_addresses: fabric.destinations.len(),
        unknown_lanes: fabric.lanes.n_unknown,
        ..RouteCheck::default()
    };
    let mut dependencies = Dependencies::of(fabric);
    let mut loads = balance::Loads::of(fabric);
    let mut tree = Tree::of(fabric);
    let mut flow = Flow::of(fabric);
    let mut distances = Distances::default();
    for (number, destination) in fabric.destinations.iter().enumerate() {
        tree.grow(fabric, destination);
        distances.to(fabric, destination.host);
        count_routes(fabric, &tree, &distances, number, &mut check);
        flow.follow(fabric, &tree, number, &mut |seen| match seen {
            Seen::Dependency { from, to, .. } => dependencies.insert(fabric, from, to),
            Seen::Load { port, routes } => loads.add(port, routes, number),
            Seen::Level { level, vls } => {
                check.levels |= 1 << level;
                check.lanes |= vls;
            }
            Seen::Dropped { routes, failure } => {
                check.arriving = check.arriving.saturating_sub(u64::from(routes));
                check
                    .failures
                    .add(u64::from(routes), || failure.named(fabric));
            }
        });
    }
    check.loops = credit_loops(fabric, &dependencies, &mut tree, &mut flow);
    loads.finish(fabric, &mut check);
    check
}

/// Counts routes by their hops, and reports those that do not arrive. Lanes are ignored here.
fn count_routes(
    fabric: &Fabric<'_>,
    tree: &Tree,
    distances: &Distances,
    number: usize,
    check: &mut RouteCheck,
) {
    let destination = &fabric.destinations[number];
    check.routes += fabric.hosts.len() as u64 - 1;
    let fail = |check: &mut RouteCheck, host: u32, node: NodeId, why: Why| {
        check.failures.add(1, || Failure {
            from: fabric.host_name(host as usize),
            to: destination.lid,
            at: fabric.subnet.nodes[node.index()].guid,
            why,
        });
    };
    for switch in 0..fabric.n_switches() {
        let hosts = fabric.hosts_at(switch).iter();
        let mut others = hosts.filter(|host| **host as usize != destination.host);
        let (node, why) = match tree.end(switch) {
            End::Arrives => {
                let Some(first) = others.next() else { continue };
                let n = 1 + others.count() as u64;
                let name = || (fabric.host_name(*first as usize), destination.lid);
                check.count_arriving(n, tree.hops(switch), distances.hops(switch), name);
                continue;
            }
            End::Ends(last) => (fabric.node(last), tree.why(fabric, last)),
            End::Circles(member) => (fabric.node(member), Why::Circles),
        };
        others.for_each(|host| fail(check, *host, node, why));
    }
    for host in fabric.hosts_without_switch() {
        let of = &fabric.hosts[*host as usize];
        if *host as usize == destination.host {
            continue;
        }
        match of.attached {
            Attached::Host(peer) if peer == destination.host => {
                let name = || (fabric.host_name(*host as usize), destination.lid);
                check.count_arriving(1, 0, None, name);
            }
            Attached::Host(peer) => {
                let why = Why::WrongPort(fabric.host_name(peer));
                fail(check, *host, of.node, why);
            }
            _ => fail(check, *host, of.node, Why::NoCable),
        }
    }
}

/// Finds cycles, and for each of their dependencies a route that causes it.
fn credit_loops(
    fabric: &Fabric<'_>,
    dependencies: &Dependencies,
    tree: &mut Tree,
    flow: &mut Flow,
) -> CreditLoops {
    let (n_knots, mut cycles) = dependencies.cycles(fabric);
    cycles.truncate(MOST_LOOPS);
    let mut examples = std::collections::HashMap::new();
    for cycle in &cycles {
        for (at, from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()];
            examples.insert((*from, to), None);
        }
    }
    if examples.is_empty() {
        return CreditLoops::default();
    }
    for (number, destination) in fabric.destinations.iter().enumerate() {
        tree.grow(fabric, destination);
        flow.follow(fabric, tree, number, &mut |seen| {
            if let Seen::Dependency { from, to, source } = seen
                && let Some(example) = examples.get_mut(&(from, to))
            {
                example.get_or_insert((source, destination.lid));
            }
        });
    }
    let found = cycles.iter().map(|cycle| {
        let steps = cycle.iter().enumerate().map(|(at, from)| {
            let to = cycle[(at + 1) % cycle.len()];
            let (source, destination) =
                examples[&(*from, to)].expect("a dependency comes from a route");
            Dependency {
                from: fabric.channel(*from),
                to: fabric.channel(to),
                source: fabric.host_name(source),
                destination,
            }
        });
        CreditLoop {
            dependencies: steps.collect(),
        }
    });
    CreditLoops {
        n_knots,
        found: found.collect(),
    }
}

/// Number of switches on the shortest route from each switch to one host.
#[derive(Default)]
struct Distances {
    to: Option<usize>,
    hops: Vec<Option<u16>>,
    queue: Vec<usize>,
}

impl Distances {
    /// Computes the distances to a host, unless they are the same as last time.
    fn to(&mut self, fabric: &Fabric<'_>, host: usize) {
        let switch = match fabric.hosts[host].attached {
            Attached::Switch(switch, _) => Some(switch),
            _ => None,
        };
        if switch.is_some() && switch == self.to {
            return;
        }
        self.to = switch;
        self.hops.clear();
        self.hops.resize(fabric.n_switches(), None);
        self.queue.clear();
        self.queue.extend(switch);
        if let Some(switch) = switch {
            self.hops[switch] = Some(1);
        }
        let mut next = 0;
        while let Some(switch) = self.queue.get(next).copied() {
            next += 1;
            let hops = self.hops[switch].map(|hops| hops + 1);
            for (neighbour, _) in fabric.switches_around(switch) {
                if self.hops[neighbour].is_none() {
                    self.hops[neighbour] = hops;
                    self.queue.push(neighbour);
                }
            }
        }
    }

    fn hops(&self, switch: usize) -> Option<u16> {
        self.hops[switch]
    }
}
