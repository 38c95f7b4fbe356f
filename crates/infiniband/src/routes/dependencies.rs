//! Dependencies between lanes of links, and cycles of dependencies.
//!
//! A link into a switch can only wait for links out of it, so the dependencies of a lane are a row
//! of bits, one for each output and lane of that switch. Rows are allocated with their first bit.

use super::fabric::{Fabric, Peer};

/// A lane of a link between switches: the sending port (among those of all switches) and the lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct LaneOfLink {
    pub port: u32,
    pub vl: u8,
}

/// The dependencies between lanes.
pub(super) struct Dependencies {
    n_vls: usize,
    /// The start of the row of each lane of each link.
    rows: Vec<Option<u32>>,
    bits: Vec<u64>,
}

impl Dependencies {
    pub(super) fn of(fabric: &Fabric<'_>) -> Dependencies {
        let n_vls = fabric.lanes.n_vls;
        Dependencies {
            n_vls,
            rows: vec![None; fabric.n_switch_ports() * n_vls],
            bits: vec![],
        }
    }

    fn number(&self, node: LaneOfLink) -> usize {
        node.port as usize * self.n_vls + usize::from(node.vl)
    }

    fn node(&self, number: usize) -> LaneOfLink {
        LaneOfLink {
            port: (number / self.n_vls) as u32,
            vl: (number % self.n_vls) as u8,
        }
    }

    /// Returns the switch that a link leads to.
    fn leads_to(fabric: &Fabric<'_>, port: u32) -> Option<usize> {
        match fabric.peer_of(port as usize) {
            Peer::Switch(switch, _) => Some(switch as usize),
            _ => None,
        }
    }

    /// Adds a dependency of one lane on another.
    pub(super) fn insert(&mut self, fabric: &Fabric<'_>, from: LaneOfLink, to: LaneOfLink) {
        let Some(switch) = Self::leads_to(fabric, from.port) else {
            return;
        };
        let number = self.number(from);
        let row = match self.rows[number] {
            Some(row) => row,
            None => {
                let row = self.bits.len() as u32;
                let n_bits = fabric.n_ports(switch) * self.n_vls;
                self.bits.resize(self.bits.len() + n_bits.div_ceil(64), 0);
                self.rows[number] = Some(row);
                row
            }
        };
        let bit = self.number(to) - fabric.port(switch, 0) * self.n_vls;
        self.bits[row as usize + bit / 64] |= 1 << (bit % 64);
    }

    /// Returns the first lane that a lane waits for, starting at a bit, and the bit after it.
    fn next(&self, fabric: &Fabric<'_>, number: usize, bit: usize) -> Option<(usize, usize)> {
        let row = self.rows[number]? as usize;
        let switch = Self::leads_to(fabric, self.node(number).port)?;
        let n_bits = fabric.n_ports(switch) * self.n_vls;
        let mut bit = bit;
        while bit < n_bits {
            let word = self.bits[row + bit / 64] >> (bit % 64);
            if word != 0 {
                let bit = bit + word.trailing_zeros() as usize;
                return Some((fabric.port(switch, 0) * self.n_vls + bit, bit + 1));
            }
            bit = (bit / 64 + 1) * 64;
        }
        None
    }

    /// Returns the number of groups of lanes that wait for each other, and one short cycle of each.
    pub(super) fn cycles(&self, fabric: &Fabric<'_>) -> (usize, Vec<Vec<LaneOfLink>>) {
        let knots = self.knots(fabric);
        let mut first: Vec<Option<usize>> = vec![];
        for (number, knot) in knots.iter().enumerate() {
            if let Some(knot) = knot {
                let knot = *knot as usize;
                if knot >= first.len() {
                    first.resize(knot + 1, None);
                }
                first[knot].get_or_insert(number);
            }
        }
        let mut starts: Vec<usize> = first.into_iter().flatten().collect();
        starts.sort_unstable();
        let few = starts.iter().take(super::MOST_LOOPS);
        let cycles = few.filter_map(|start| self.shortest(fabric, *start, &knots));
        (starts.len(), cycles.collect())
    }

    /// Returns the group of each lane on a cycle (Tarjan's strongly connected components).
    fn knots(&self, fabric: &Fabric<'_>) -> Vec<Option<u32>> {
        const UNSEEN: u32 = u32::MAX;
        let n = self.rows.len();
        let (mut seen, mut low) = (vec![UNSEEN; n], vec![0u32; n]);
        let mut knots = vec![None; n];
        let mut is_open = vec![false; n];
        let (mut n_seen, mut n_knots) = (0, 0);
        let mut open: Vec<usize> = vec![];
        // Each with the next bit of its row.
        let mut path: Vec<(usize, usize)> = vec![];
        for start in 0..n {
            if self.rows[start].is_none() || seen[start] != UNSEEN {
                continue;
            }
            path.push((start, 0));
            while let Some((at, bit)) = path.last_mut() {
                let at = *at;
                if *bit == 0 && seen[at] == UNSEEN {
                    (seen[at], low[at]) = (n_seen, n_seen);
                    n_seen += 1;
                    open.push(at);
                    is_open[at] = true;
                }
                if let Some((next, next_bit)) = self.next(fabric, at, *bit) {
                    *bit = next_bit;
                    if seen[next] == UNSEEN {
                        path.push((next, 0));
                    } else if is_open[next] {
                        low[at] = low[at].min(seen[next]);
                    }
                    continue;
                }
                path.pop();
                if let Some((before, _)) = path.last() {
                    low[*before] = low[*before].min(low[at]);
                }
                if low[at] != seen[at] {
                    continue;
                }
                let size = open.iter().rev().take_while(|node| **node != at).count() + 1;
                for node in open.split_off(open.len() - size) {
                    is_open[node] = false;
                    if size > 1 {
                        knots[node] = Some(n_knots);
                    }
                }
                n_knots += u32::from(size > 1);
            }
        }
        knots
    }

    /// Returns the shortest cycle through a lane, within its group.
    fn shortest(
        &self,
        fabric: &Fabric<'_>,
        start: usize,
        knots: &[Option<u32>],
    ) -> Option<Vec<LaneOfLink>> {
        let mut before = std::collections::HashMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let mut bit = 0;
            while let Some((next, next_bit)) = self.next(fabric, at, bit) {
                bit = next_bit;
                if next == start {
                    let mut cycle = vec![self.node(at)];
                    let mut at = at;
                    while at != start {
                        at = before[&at];
                        cycle.push(self.node(at));
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if knots[next] == knots[start] && !before.contains_key(&next) {
                    before.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
