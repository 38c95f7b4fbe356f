//! The routes to one address: the output of each switch, and where the routes end.

use super::fabric::{Destination, Fabric, Peer};
use super::found::Why;
use crate::Lid;

/// The action of a switch for packets to the address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Sends them to another switch, by this output port.
    To(u32, u8),
    /// Delivers them, by this output port.
    Arrives(u8),
    Ends,
}

/// The end of the route from a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Arrives,
    /// The route ends at this switch, which does not forward the packets.
    Ends(usize),
    /// The route leads into a forwarding loop through this switch.
    Circles(usize),
}

/// The routes to one address, recomputed for each address in the same memory.
pub(super) struct Tree {
    lid: Lid,
    host: usize,
    steps: Vec<Step>,
    ends: Vec<End>,
    hops: Vec<u16>,
    /// Number of unordered switches that send to each switch, while the order is computed.
    n_before: Vec<u32>,
    /// Switches, each before the one it sends to, without those in forwarding loops.
    pub order: Vec<u32>,
}

impl Tree {
    pub(super) fn of(fabric: &Fabric<'_>) -> Tree {
        let n = fabric.n_switches();
        Tree {
            lid: Lid(0),
            host: 0,
            steps: vec![Step::Ends; n],
            ends: vec![End::Arrives; n],
            hops: vec![0; n],
            n_before: vec![0; n],
            order: Vec::with_capacity(n),
        }
    }

    /// Follows the tables of all switches to one address.
    pub(super) fn grow(&mut self, fabric: &Fabric<'_>, destination: &Destination) {
        (self.lid, self.host) = (destination.lid, destination.host);
        self.n_before.fill(0);
        for switch in 0..self.steps.len() {
            let step = self.step(fabric, switch);
            self.steps[switch] = step;
            self.ends[switch] = End::Circles(switch);
            if let Step::To(next, _) = step {
                self.n_before[next as usize] += 1;
            }
        }
        self.sort();
        for at in (0..self.order.len()).rev() {
            let switch = self.order[at] as usize;
            (self.ends[switch], self.hops[switch]) = match self.steps[switch] {
                Step::Arrives(_) => (End::Arrives, 1),
                Step::Ends => (End::Ends(switch), 1),
                Step::To(next, _) => {
                    let next = next as usize;
                    (self.ends[next], self.hops[next].saturating_add(1))
                }
            };
        }
    }

    fn step(&self, fabric: &Fabric<'_>, switch: usize) -> Step {
        let output = fabric.tables[switch].and_then(|table| table.output(self.lid));
        match output.map(|output| (output, fabric.peer(switch, output))) {
            Some((output, Peer::Switch(next, _))) if output != 0 => Step::To(next, output),
            Some((output, Peer::Host(host))) if host as usize == self.host => Step::Arrives(output),
            _ => Step::Ends,
        }
    }

    /// Orders switches so that each precedes the one it sends to.
    fn sort(&mut self) {
        self.order.clear();
        let first = (0..self.steps.len()).filter(|switch| self.n_before[*switch] == 0);
        self.order.extend(first.map(|switch| switch as u32));
        let mut at = 0;
        while let Some(switch) = self.order.get(at).copied() {
            at += 1;
            if let Step::To(next, _) = self.steps[switch as usize] {
                self.n_before[next as usize] -= 1;
                if self.n_before[next as usize] == 0 {
                    self.order.push(next);
                }
            }
        }
    }

    pub(super) fn next(&self, switch: usize) -> Step {
        self.steps[switch]
    }

    pub(super) fn end(&self, switch: usize) -> End {
        self.ends[switch]
    }

    /// Returns the number of switches on the route from this switch, including itself.
    pub(super) fn hops(&self, switch: usize) -> u16 {
        self.hops[switch]
    }

    /// Returns why a switch does not forward the packets.
    pub(super) fn why(&self, fabric: &Fabric<'_>, switch: usize) -> Why {
        let Some(table) = fabric.tables[switch] else {
            return Why::NoTable;
        };
        let Some(output) = table.output(self.lid) else {
            return Why::NoOutput;
        };
        match (output, fabric.peer(switch, output)) {
            (0, _) => Why::OwnPort,
            (_, Peer::Host(host)) => Why::WrongPort(fabric.host_name(host as usize)),
            (_, Peer::Nobody(node, port)) => Why::WrongPort(fabric.subnet.port_name(node, port)),
            _ => Why::DeadPort(output),
        }
    }
}
