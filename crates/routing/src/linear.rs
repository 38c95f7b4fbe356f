//! Routes as linear forwarding tables: one output per destination, whatever the input port.

use netloom_topology::{Peer, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::{Forwarding, Lookup};

/// Why routes do not fit a linear forwarding table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLinear {
    /// A switch sends packets to this destination by several outputs.
    SeveralWays(SwitchId),
    /// A switch sends packets for this destination on other lanes than they came on.
    ChangesLanes(SwitchId),
}

/// Returns the output of each switch for packets to a destination; `None` where the routing has no
/// path.
///
/// Only paths that packets of other NICs really take must agree; packets that cannot occur are
/// ignored. A switch that no such packet passes still has an output, for packets of its own NICs.
///
/// # Errors
/// If some switch has more than one output for the destination.
pub fn linear_table(
    forwarding: &Forwarding,
    topology: &Topology,
    destination: NicId,
) -> Result<Vec<Option<Port>>, NotLinear> {
    let mut outputs: Vec<Option<Port>> = vec![None; topology.n_switches() as usize];
    let mut seen = vec![false; topology.n_ports_in_all()];
    let sources = topology.nics().filter(|nic| *nic != destination);
    let mut arrivals: Vec<(SwitchId, Port)> = sources.map(|nic| topology.attachment(nic)).collect();
    let mut hops = vec![];
    while let Some((at, from)) = arrivals.pop() {
        let index = topology.port_index(at, from);
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        hops.clear();
        forwarding.choices(&Lookup::any(at, from, 0, destination), &mut hops);
        for hop in &hops {
            if hop.lane != 0 {
                return Err(NotLinear::ChangesLanes(at));
            }
            match outputs[at.index()] {
                Some(known) if known != hop.port => return Err(NotLinear::SeveralWays(at)),
                _ => outputs[at.index()] = Some(hop.port),
            }
            if let Peer::Switch(next, there) = topology.peer(at, hop.port) {
                arrivals.push((next, there));
            }
        }
    }
    for at in topology.switches() {
        if outputs[at.index()].is_none() {
            hops.clear();
            for from in topology
                .ports(at)
                .filter(|port| topology.peer(at, *port) != Peer::Unused)
            {
                forwarding.choices(&Lookup::any(at, from, 0, destination), &mut hops);
            }
            outputs[at.index()] = hops.first().map(|hop| hop.port);
        }
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{DModK, Paths, Routing, UpDown};
    use netloom_topology::{Blueprint, FatTree, RandomRegular};

    #[test]
    fn the_way_by_the_table_is_the_way_of_the_routing() {
        let tree = FatTree {
            arity: 2,
            levels: 3,
        };
        let random = RandomRegular {
            switches: 8,
            degree: 3,
            hosts: 1,
        };
        let (tree, random) = (tree.build(1).unwrap(), random.build(1).unwrap());
        let (tree, random) = (Arc::new(tree), Arc::new(random));
        let routings: [(&Arc<Topology>, &dyn Routing); 2] = [
            (&tree, &DModK {}),
            (
                &random,
                &UpDown {
                    root: 0,
                    paths: Paths::All,
                },
            ),
        ];
        let mut n_linear = 0;
        for (topology, routing) in routings {
            let forwarding = routing.compile(topology, 1).unwrap();
            for destination in topology.nics() {
                let Ok(outputs) = linear_table(&forwarding, topology, destination) else {
                    continue;
                };
                n_linear += 1;
                for source in topology.nics().filter(|nic| *nic != destination) {
                    let (mut at, mut from) = topology.attachment(source);
                    loop {
                        let hop = forwarding.route(&Lookup::any(at, from, 0, destination));
                        assert_eq!(outputs[at.index()], Some(hop.port));
                        match topology.peer(at, hop.port) {
                            Peer::Switch(next, there) => (at, from) = (next, there),
                            end => {
                                assert_eq!(end, Peer::Nic(destination));
                                break;
                            }
                        }
                    }
                }
            }
        }
        assert!(n_linear >= 8, "{n_linear} destinations with a table");
    }
}
