//! The lane of each hop: tables by input and output. Each distinct table is stored once.

use std::collections::HashMap;

use super::fabric::Host;
use crate::{DROPPED, NodeId, Programmed, SlToVl, Subnet, SubnetIndex};

/// The lane of every service level for every pair of ports.
pub(super) struct Lanes {
    /// Distinct tables. The first is the default for unknown lanes: VL 0 for all.
    tables: Vec<[u8; 16]>,
    /// The table of each pair of ports of each switch, by input and output; `None` if no row is
    /// known.
    switches: Vec<Option<Matrix>>,
    /// The table of each host.
    hosts: Vec<u16>,
    /// The largest lane of any table, plus one.
    pub n_vls: usize,
    /// Number of pairs of connected ports without a table, if some have one.
    pub n_unknown: usize,
}

struct Matrix {
    n_ports: usize,
    tables: Vec<u16>,
}

/// The table for unknown lanes.
const UNKNOWN: u16 = 0;

impl Lanes {
    pub(super) fn of(
        subnet: &Subnet,
        programmed: &Programmed,
        index: &SubnetIndex,
        switches: &[NodeId],
        hosts: &[Host<'_>],
    ) -> Lanes {
        let mut lanes = Lanes {
            tables: vec![[0; 16]],
            switches: vec![],
            hosts: vec![UNKNOWN; hosts.len()],
            n_vls: 1,
            n_unknown: 0,
        };
        let mut switch_of = vec![None; subnet.nodes.len()];
        for (at, node) in switches.iter().enumerate() {
            switch_of[node.index()] = Some(at);
            lanes.switches.push(None);
        }
        let numbered = hosts.iter().enumerate();
        let host_of: HashMap<(NodeId, u8), usize> = numbered
            .map(|(at, host)| ((host.node, host.port), at))
            .collect();
        let mut known: HashMap<SlToVl, u16> = HashMap::new();
        for ((output, input), table) in &programmed.sl_to_vl {
            let Some(node) = index.node(output.node) else {
                continue;
            };
            let number = *known.entry(*table).or_insert_with(|| lanes.add(table));
            let n_ports = subnet.nodes[node.index()].ports.len();
            match switch_of[node.index()] {
                Some(switch) => {
                    let matrix = lanes.switches[switch].get_or_insert_with(|| Matrix {
                        n_ports,
                        tables: vec![UNKNOWN; n_ports * n_ports],
                    });
                    let at = matrix.at(*input, output.port);
                    if let Some(cell) = matrix.tables.get_mut(at) {
                        *cell = number;
                    }
                }
                None => {
                    if let Some(host) = host_of.get(&(node, output.port)) {
                        lanes.hosts[*host] = number;
                    }
                }
            }
        }
        lanes.count_unknown(subnet, switches);
        lanes
    }

    fn add(&mut self, table: &SlToVl) -> u16 {
        let lanes = table.0.map(|vl| vl.0.min(DROPPED.0));
        let data = lanes.iter().filter(|lane| **lane != DROPPED.0);
        let most = data.max().map_or(0, |lane| usize::from(*lane) + 1);
        self.n_vls = self.n_vls.max(most);
        // Tables beyond 65,535 different ones count as unknown.
        let Ok(number) = u16::try_from(self.tables.len()) else {
            return UNKNOWN;
        };
        self.tables.push(lanes);
        number
    }

    fn count_unknown(&mut self, subnet: &Subnet, switches: &[NodeId]) {
        if self.switches.iter().all(|matrix| matrix.is_none()) {
            return;
        }
        for (at, node) in switches.iter().enumerate() {
            let ports = &subnet.nodes[node.index()].ports;
            let numbered = (0..).zip(ports).filter(|(_, port)| port.cable.is_some());
            let wired: Vec<u8> = numbered.map(|(number, _)| number).collect();
            for input in &wired {
                let outputs = wired.iter().filter(|output| *output != input);
                let unknown = outputs.filter(|output| self.number(at, *input, **output) == UNKNOWN);
                self.n_unknown += unknown.count();
            }
        }
    }

    #[inline]
    fn number(&self, switch: usize, input: u8, output: u8) -> u16 {
        match &self.switches[switch] {
            Some(matrix) => matrix.tables[matrix.at(input, output)],
            None => UNKNOWN,
        }
    }

    /// Returns the lane of a packet from an input to an output of a switch; `None` if it is
    /// dropped.
    #[inline]
    pub(super) fn at_switch(&self, switch: usize, input: u8, output: u8, level: u8) -> Option<u8> {
        self.lane(self.number(switch, input, output), level)
    }

    /// Returns the lane on which a host sends; `None` if it cannot send.
    #[inline]
    pub(super) fn at_host(&self, host: usize, level: u8) -> Option<u8> {
        self.lane(self.hosts[host], level)
    }

    #[inline]
    fn lane(&self, table: u16, level: u8) -> Option<u8> {
        let lane = self.tables[usize::from(table)][usize::from(level & 15)];
        (lane != DROPPED.0).then_some(lane)
    }
}

impl Matrix {
    #[inline]
    fn at(&self, input: u8, output: u8) -> usize {
        usize::from(input) * self.n_ports + usize::from(output)
    }
}
