//! A subnet as arrays, with switches, their ports and the hosts numbered from zero.

use netloom_units::Vl;

use super::dependencies::LaneOfLink;
use super::found::Channel;
use super::lanes::Lanes;
use crate::{ForwardingTable, Lid, Node, NodeId, PortName, Programmed, Subnet, SubnetIndex};

/// The data of a subnet that a route check needs.
pub(super) struct Fabric<'a> {
    pub subnet: &'a Subnet,
    switches: Vec<NodeId>,
    /// The first port of each switch among those of all switches, and the total number of ports.
    first_port: Vec<usize>,
    /// The peer of each port of a switch.
    peers: Vec<Peer>,
    /// The forwarding table of each switch.
    pub tables: Vec<Option<&'a ForwardingTable>>,
    /// The ends of routes: all or some of the ports of channel adapters and routers with an
    /// address.
    pub hosts: Vec<Host<'a>>,
    /// The first host of each switch in `hosts_by_switch`.
    first_host: Vec<usize>,
    hosts_by_switch: Vec<u32>,
    /// Every address of every host, ordered by the switch of the host.
    pub destinations: Vec<Destination>,
    pub lanes: Lanes,
    /// Whether the service level of any path is known.
    pub has_levels: bool,
    /// Bit mask of the service levels of every path, if no level is known.
    pub usual_levels: u16,
}

/// The other end of the cable at a switch port.
#[derive(Clone, Copy)]
pub(super) enum Peer {
    Nothing,
    /// A switch and its port.
    Switch(u32, u8),
    Host(u32),
    /// A port of another node that has no address, or is not an end of routes.
    Nobody(NodeId, u8),
}

/// A port that sends and receives.
pub(super) struct Host<'a> {
    pub node: NodeId,
    pub port: u8,
    pub attached: Attached,
    /// Service levels of its paths, by address; SL 0 if absent.
    pub levels: Option<&'a [Option<crate::port_tables::Level>]>,
}

/// The peer of a host.
#[derive(Clone, Copy)]
pub(super) enum Attached {
    Nothing,
    /// A switch, and its port.
    Switch(usize, u8),
    /// Another host, without a switch between.
    Host(usize),
}

/// An address and its host.
pub(super) struct Destination {
    pub lid: Lid,
    pub host: usize,
}

impl<'a> Fabric<'a> {
    /// Builds the fabric with routes between the nodes for which `is_end` is true.
    pub(super) fn of(
        subnet: &'a Subnet,
        programmed: &'a Programmed,
        usual_levels: u16,
        is_end: impl Fn(&Node) -> bool,
    ) -> Self {
        let index = SubnetIndex::of(subnet);
        let mut switches = vec![];
        let mut switch_of = vec![None; subnet.nodes.len()];
        let mut first_port = vec![0];
        let mut hosts: Vec<Host<'a>> = vec![];
        let mut host_of = std::collections::HashMap::new();
        for (at, node) in subnet.nodes.iter().enumerate() {
            let id = NodeId(at as u32);
            if node.kind.is_switch() {
                switch_of[at] = Some(switches.len() as u32);
                switches.push(id);
                first_port.push(first_port[first_port.len() - 1] + node.ports.len());
                continue;
            }
            if !is_end(node) {
                continue;
            }
            for (number, port) in node.ports.iter().enumerate() {
                if port.lid.is_some() {
                    host_of.insert((id, number as u8), hosts.len() as u32);
                    hosts.push(Host {
                        node: id,
                        port: number as u8,
                        attached: Attached::Nothing,
                        levels: programmed.path_levels.of_source(node.guid),
                    });
                }
            }
        }
        let peer = |node: NodeId, port: u8| match switch_of[node.index()] {
            Some(switch) => Peer::Switch(switch, port),
            None => match host_of.get(&(node, port)) {
                Some(host) => Peer::Host(*host),
                None => Peer::Nobody(node, port),
            },
        };
        let ports = switches
            .iter()
            .flat_map(|switch| &subnet.nodes[switch.index()].ports);
        let cables = ports.map(|port| port.cable);
        let peers = cables.map(|cable| match cable {
            Some(cable) => peer(cable.node, cable.port),
            None => Peer::Nothing,
        });
        let peers = peers.collect();
        for host in &mut hosts {
            let port = &subnet.nodes[host.node.index()].ports[usize::from(host.port)];
            let cable = port.cable.map(|cable| peer(cable.node, cable.port));
            host.attached = match cable {
                Some(Peer::Switch(switch, port)) => Attached::Switch(switch as usize, port),
                Some(Peer::Host(host)) => Attached::Host(host as usize),
                Some(Peer::Nothing | Peer::Nobody(..)) | None => Attached::Nothing,
            };
        }
        let tables = switches.iter().map(|switch| {
            let guid = subnet.nodes[switch.index()].guid;
            programmed.forwarding.get(&guid)
        });
        let lanes = Lanes::of(subnet, programmed, &index, &switches, &hosts);
        let mut fabric = Fabric {
            subnet,
            tables: tables.collect(),
            first_port,
            peers,
            first_host: vec![],
            hosts_by_switch: vec![],
            destinations: vec![],
            hosts,
            switches,
            lanes,
            has_levels: !programmed.path_levels.is_empty(),
            usual_levels,
        };
        fabric.sort_hosts();
        fabric
    }

    fn sort_hosts(&mut self) {
        let switch_of = |host: &Host<'_>| match host.attached {
            Attached::Switch(switch, _) => switch,
            _ => usize::MAX,
        };
        let mut order: Vec<u32> = (0..self.hosts.len() as u32).collect();
        order.sort_by_key(|host| switch_of(&self.hosts[*host as usize]));
        self.destinations = order
            .iter()
            .flat_map(|host| {
                let of = &self.hosts[*host as usize];
                let port = &self.subnet.nodes[of.node.index()].ports[usize::from(of.port)];
                let host = *host as usize;
                port.lids().map(move |lid| Destination { lid, host })
            })
            .collect();
        let begins = |switch: usize| {
            order.partition_point(|host| switch_of(&self.hosts[*host as usize]) < switch)
        };
        self.first_host = (0..=self.switches.len()).map(begins).collect();
        self.hosts_by_switch = order;
    }

    pub(super) fn n_switches(&self) -> usize {
        self.switches.len()
    }

    pub(super) fn node(&self, switch: usize) -> NodeId {
        self.switches[switch]
    }

    /// Returns the number of ports of all switches, including port 0.
    pub(super) fn n_switch_ports(&self) -> usize {
        self.peers.len()
    }

    /// Returns the number of ports of a switch, including port 0.
    pub(super) fn n_ports(&self, switch: usize) -> usize {
        self.first_port[switch + 1] - self.first_port[switch]
    }

    /// Returns the index of a port among those of all switches.
    pub(super) fn port(&self, switch: usize, port: u8) -> usize {
        self.first_port[switch] + usize::from(port)
    }

    /// Returns the switch and the port number of an index.
    pub(super) fn switch_of(&self, port: usize) -> (usize, u8) {
        let switch = self.first_port.partition_point(|first| *first <= port) - 1;
        (switch, (port - self.first_port[switch]) as u8)
    }

    /// Returns the other end of the cable at a port, or `Nothing` if the switch has no such port.
    pub(super) fn peer(&self, switch: usize, port: u8) -> Peer {
        match usize::from(port) < self.n_ports(switch) {
            true => self.peers[self.port(switch, port)],
            false => Peer::Nothing,
        }
    }

    /// Returns the other end of the cable at a port, by index.
    pub(super) fn peer_of(&self, port: usize) -> Peer {
        self.peers[port]
    }

    /// Returns the neighbouring switches of a switch, and their ports.
    pub(super) fn switches_around(&self, switch: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let ports = self.first_port[switch]..self.first_port[switch + 1];
        self.peers[ports].iter().filter_map(|peer| match peer {
            Peer::Switch(switch, port) => Some((*switch as usize, *port)),
            _ => None,
        })
    }

    /// Returns the hosts at a switch.
    pub(super) fn hosts_at(&self, switch: usize) -> &[u32] {
        &self.hosts_by_switch[self.first_host[switch]..self.first_host[switch + 1]]
    }

    /// Returns the hosts that are not attached to a switch.
    pub(super) fn hosts_without_switch(&self) -> &[u32] {
        &self.hosts_by_switch[self.first_host[self.switches.len()]..]
    }

    pub(super) fn host_name(&self, host: usize) -> PortName {
        let host = &self.hosts[host];
        self.subnet.port_name(host.node, host.port)
    }

    /// Returns the name of a port, by index.
    pub(super) fn port_name(&self, port: usize) -> PortName {
        let (switch, number) = self.switch_of(port);
        self.subnet.port_name(self.switches[switch], number)
    }

    pub(super) fn channel(&self, of: LaneOfLink) -> Channel {
        Channel {
            port: self.port_name(of.port as usize),
            vl: Vl(of.vl),
        }
    }
}
