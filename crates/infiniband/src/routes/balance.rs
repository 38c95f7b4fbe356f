//! Counts the routes and addresses of each link, and compares links.

use std::collections::BTreeMap;

use super::fabric::{Fabric, Peer};
use super::found::{Balance, LinkLoad, RouteCheck, Spread};

/// Loads of all ports of all switches.
pub(super) struct Loads {
    routes: Vec<u64>,
    addresses: Vec<u32>,
    /// The last destination of each port, plus one.
    carried: Vec<usize>,
}

impl Loads {
    pub(super) fn of(fabric: &Fabric<'_>) -> Loads {
        let n = fabric.n_switch_ports();
        Loads {
            routes: vec![0; n],
            addresses: vec![0; n],
            carried: vec![0; n],
        }
    }

    /// Adds routes to a destination that leave by a port. All calls for a destination are
    /// consecutive.
    pub(super) fn add(&mut self, port: usize, routes: u32, destination: usize) {
        self.routes[port] += u64::from(routes);
        if self.carried[port] != destination + 1 {
            self.carried[port] = destination + 1;
            self.addresses[port] += 1;
        }
    }

    /// Names the links and compares links between the same levels.
    pub(super) fn finish(self, fabric: &Fabric<'_>, check: &mut RouteCheck) {
        let levels = levels(fabric);
        let mut groups: BTreeMap<(u16, u16), Vec<LinkLoad>> = BTreeMap::new();
        for switch in 0..fabric.n_switches() {
            for number in 0..fabric.n_ports(switch) {
                let port = fabric.port(switch, number as u8);
                let Peer::Switch(peer, input) = fabric.peer_of(port) else {
                    continue;
                };
                let link = LinkLoad {
                    from: fabric.port_name(port),
                    to: fabric.subnet.port_name(fabric.node(peer as usize), input),
                    addresses: self.addresses[port],
                    routes: self.routes[port],
                };
                let group = (levels[switch], levels[peer as usize]);
                groups.entry(group).or_default().push(link);
                check.links.push(link);
            }
        }
        let balance = groups
            .into_iter()
            .map(|((from_level, to_level), links)| Balance {
                from_level,
                to_level,
                n_links: links.len(),
                addresses: spread(links.iter().map(|link| u64::from(link.addresses))),
                routes: spread(links.iter().map(|link| link.routes)),
            });
        check.balance = balance.collect();
    }
}

fn spread(numbers: impl Iterator<Item = u64> + Clone) -> Spread {
    let n = numbers.clone().count().max(1);
    Spread {
        min: numbers.clone().min().unwrap_or(0),
        mean: numbers.clone().sum::<u64>() as f64 / n as f64,
        max: numbers.max().unwrap_or(0),
    }
}

/// Returns the distance of each switch to the nearest switch with hosts, in cables. It is 65535 if
/// there is none.
fn levels(fabric: &Fabric<'_>) -> Vec<u16> {
    let mut levels = vec![u16::MAX; fabric.n_switches()];
    let with_hosts = (0..fabric.n_switches()).filter(|switch| !fabric.hosts_at(*switch).is_empty());
    let mut queue: Vec<usize> = with_hosts.collect();
    queue.iter().for_each(|switch| levels[*switch] = 0);
    let mut at = 0;
    while let Some(switch) = queue.get(at).copied() {
        at += 1;
        for (neighbour, _) in fabric.switches_around(switch) {
            if levels[neighbour] == u16::MAX {
                levels[neighbour] = levels[switch].saturating_add(1);
                queue.push(neighbour);
            }
        }
    }
    levels
}
