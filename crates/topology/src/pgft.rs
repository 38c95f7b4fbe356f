//! Parallel-ports generalised fat trees: arithmetic and numbering.

use std::cmp::Ordering;
use std::fmt;

use netloom_units::{NicId, Port, SwitchId};

use crate::{Builder, ParallelFatTree, Peer, Structure, Topology};

/// PGFT(h; m; w; p), a parallel-ports generalised fat tree (Zahavi, "D-Mod-K routing providing
/// non-blocking traffic for shift permutations on real life fat trees", 2010).
///
/// Level 0 consists of the NICs, level 1 of the leaf switches, level h of the roots. A switch of
/// level l has `m[l-1]` children and `w[l]` parents, with `p[l]` parallel cables to each parent.
///
/// Numbering: a switch of level l has one digit per level i, below `w[i-1]` for i <= l and below
/// `m[i-1]` for i > l. The index within the level reads these digits with that of the lowest level
/// fastest; levels follow each other from the leaves up. Parent and child agree in all digits
/// except that of the parent's level. So the NICs below a switch are a contiguous range.
///
/// Ports: down port `c + q * m` leads to child c by parallel cable q. The up ports follow: the u-th
/// leads to parent `u mod w` by parallel cable `u div w`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pgft {
    /// Children of a switch of each level, leaves first.
    pub m: Vec<u32>,
    /// Parents of a node of the level below. The first entry is that of NICs and is 1.
    pub w: Vec<u32>,
    /// Parallel cables to each parent. The first entry is that of NICs and is 1.
    pub p: Vec<u32>,
}

impl Pgft {
    /// Returns the number of levels of switches.
    pub fn levels(&self) -> usize {
        self.m.len()
    }

    /// Whether this is the k-ary n-tree of its arity and levels.
    pub fn is_k_ary_n_tree(&self) -> bool {
        self.m.iter().all(|&m| m == self.m[0])
            && self.w[1..].iter().all(|&w| w == self.m[0])
            && self.p.iter().all(|&p| p == 1)
    }

    /// Returns the number of NICs below a switch of a level (level 0: the NIC itself).
    pub fn nics_below(&self, level: usize) -> u64 {
        self.m[..level].iter().map(|&m| u64::from(m)).product()
    }

    /// Returns the number of switches of a level with the same NICs below.
    pub fn siblings(&self, level: usize) -> u64 {
        self.w[..level].iter().map(|&w| u64::from(w)).product()
    }

    pub fn n_nics(&self) -> u64 {
        self.nics_below(self.levels())
    }

    /// Returns the number of switches of a level, counted from 1.
    pub fn n_switches(&self, level: usize) -> u64 {
        let subtrees: u64 = self.m[level..].iter().map(|&m| u64::from(m)).product();
        subtrees * self.siblings(level)
    }

    /// Returns the number of down ports of a switch of a level.
    pub fn n_down(&self, level: usize) -> u32 {
        self.m[level - 1] * self.p[level - 1]
    }

    /// Returns the number of up ports of a switch of a level.
    pub fn n_up(&self, level: usize) -> u32 {
        match level < self.levels() {
            true => self.w[level] * self.p[level],
            false => 0,
        }
    }

    /// Returns the first switch of each level, leaves first, and one past the last.
    pub fn first_switches(&self) -> Vec<u32> {
        let mut first = vec![0];
        for level in 1..=self.levels() {
            first.push(first[level - 1] + self.n_switches(level) as u32);
        }
        first
    }

    /// Returns the level of a switch and the first of the contiguous NICs below it.
    pub fn level_and_first_nic(&self, switch: SwitchId) -> (usize, NicId) {
        let first = self.first_switches();
        let level = first.partition_point(|&f| f <= switch.0);
        let index = u64::from(switch.0 - first[level - 1]);
        let nic = index / self.siblings(level) * self.nics_below(level);
        (level, NicId(nic as u32))
    }

    /// Finds the fat tree whose numbering of switches, ports and NICs a fabric follows. Cables
    /// between switches may be missing.
    ///
    /// # Errors
    /// If the fabric is not such a tree. The error says where they differ.
    pub fn recognise(topology: &Topology) -> Result<Pgft, String> {
        let shape = Pgft::fitting(topology)?;
        let blueprint = ParallelFatTree {
            children: shape.m.clone(),
            parents: shape.w.clone(),
            links: shape.p.clone(),
        };
        if !blueprint.problems().is_empty() {
            return Err(format!("its switches form {shape}, which is too large"));
        }
        let (n_nics, n_switches) = (topology.n_nics(), topology.n_switches());
        let expected: u64 = (1..=shape.levels())
            .map(|level| shape.n_switches(level))
            .sum();
        if shape.n_nics() != u64::from(n_nics) || expected != u64::from(n_switches) {
            return Err(format!(
                "its switches match {shape}, which has {} hosts and {expected} \
                 switches, found {n_nics} and {n_switches}",
                shape.n_nics()
            ));
        }
        let whole = shape.clone().build();
        for at in topology.switches() {
            let name = topology.switch_name(at);
            let (n_ports, found) = (whole.n_ports(at), topology.n_ports(at));
            if found < n_ports {
                return Err(format!(
                    "{name} has {found} ports, expected {n_ports} as in {shape}; use `switch \
                     {name} ports {n_ports}`"
                ));
            }
            let words = |peer| match peer {
                Peer::Switch(other, port) => format!("{}:{}", topology.switch_name(other), port.0),
                Peer::Nic(nic) => topology.nic_name(nic),
                Peer::Unused => "nothing".to_owned(),
            };
            for port in topology.ports(at) {
                let found = topology.peer(at, port);
                let expected = match port.0 < n_ports {
                    true => whole.peer(at, port),
                    false => Peer::Unused,
                };
                let is_missing = found == Peer::Unused && matches!(expected, Peer::Switch(..));
                if found != expected && !is_missing {
                    return Err(format!(
                        "{name}:{} leads to {}, expected {} as in {shape}",
                        port.0,
                        words(found),
                        words(expected)
                    ));
                }
            }
        }
        Ok(shape)
    }

    /// Returns the smallest shape with the levels, children, parents and parallel cables found.
    fn fitting(topology: &Topology) -> Result<Pgft, String> {
        let mut tier = vec![None; topology.n_switches() as usize];
        let mut n_hosts = vec![0; tier.len()];
        let mut queue = vec![];
        for nic in topology.nics() {
            let leaf = topology.attachment(nic).0;
            n_hosts[leaf.index()] += 1;
            if tier[leaf.index()].replace(0).is_none() {
                queue.push(leaf);
            }
        }
        let mut next = 0;
        let mut shape = Pgft {
            m: vec![n_hosts.into_iter().max().unwrap_or(0)],
            w: vec![1],
            p: vec![1],
        };
        let raise = |list: &mut Vec<u32>, level: usize, n: usize| {
            if list.len() <= level {
                list.resize(level + 1, 1);
            }
            list[level] = list[level].max(n as u32);
        };
        while let Some(&at) = queue.get(next) {
            next += 1;
            let own: usize = tier[at.index()].expect("a switch in the queue has its tier");
            let (mut up, mut down) = (vec![], vec![]);
            for (_, other, _) in topology.neighbours(at) {
                let there = *tier[other.index()].get_or_insert_with(|| {
                    queue.push(other);
                    own + 1
                });
                match there.cmp(&own) {
                    Ordering::Greater => up.push(other),
                    Ordering::Less => down.push(other),
                    Ordering::Equal => {
                        let [a, b] = [at, other].map(|switch| topology.switch_name(switch));
                        return Err(format!("a cable joins {a} and {b} of the same level"));
                    }
                }
            }
            let distinct = |list: &mut Vec<SwitchId>| {
                list.sort_unstable();
                let most = list.chunk_by(|a, b| a == b).map(<[_]>::len).max();
                list.dedup();
                (list.len(), most.unwrap_or(0))
            };
            let ((parents, cables), (children, _)) = (distinct(&mut up), distinct(&mut down));
            if parents > 0 {
                raise(&mut shape.w, own + 1, parents);
                raise(&mut shape.p, own + 1, cables);
            }
            if children > 0 {
                raise(&mut shape.m, own, children);
            }
        }
        match shape.m.len() == shape.w.len() {
            true => Ok(shape),
            false => Err("a level has no children".to_owned()),
        }
    }

    /// Builds the fabric from numbers known to be sound.
    pub(crate) fn build(self) -> Topology {
        let classes = (0..self.levels()).map(|l| match l {
            0 => "host".to_owned(),
            l => format!("level-{l}"),
        });
        let mut builder = Builder::new(classes.collect());
        for level in 1..=self.levels() {
            let n_ports = self.n_down(level) + self.n_up(level);
            builder.switches(self.n_switches(level) as u32, n_ports as u16);
        }
        for nic in 0..self.n_nics() as u32 {
            let (leaf, port) = (nic / self.m[0], nic % self.m[0]);
            builder.nic((SwitchId(leaf), Port(port as u16)), 0);
        }
        let first = self.first_switches();
        for level in 1..self.levels() {
            let siblings = self.siblings(level) as u32;
            let (m, w, p) = (self.m[level], self.w[level], self.p[level]);
            let base = self.n_down(level);
            for index in 0..self.n_switches(level) as u32 {
                // The digits below, the digit of the parent's level, and those above it.
                let low = index % siblings;
                let child = index / siblings % m;
                let high = index / siblings / m;
                for parent in 0..w {
                    let above = first[level] + low + siblings * (parent + w * high);
                    for q in 0..p {
                        let up = Port((base + parent + q * w) as u16);
                        let down = Port((child + q * m) as u16);
                        builder.connect(
                            (SwitchId(first[level - 1] + index), up),
                            (SwitchId(above), down),
                            level as u8,
                        );
                    }
                }
            }
        }
        builder.finish(Structure::Tree(self))
    }
}

impl fmt::Display for Pgft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_k_ary_n_tree() && self.levels() > 1 {
            return write!(f, "{}-ary {}-tree", self.m[0], self.levels());
        }
        let list = |numbers: &[u32]| {
            let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
            texts.join(",")
        };
        let (h, m, w, p) = (self.levels(), list(&self.m), list(&self.w), list(&self.p));
        write!(f, "PGFT({h}; {m}; {w}; {p})")
    }
}
