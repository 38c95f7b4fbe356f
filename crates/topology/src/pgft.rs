//! Parallel-ports generalised fat trees: their arithmetic and numbering.

use std::fmt;

use netloom_units::{NicId, Port, SwitchId};

use crate::{Builder, Structure, Topology};

/// PGFT(h; m; w; p), a parallel-ports generalised fat tree (Zahavi, "D-Mod-K routing providing
/// non-blocking traffic for shift permutations on real life fat trees", 2010).
///
/// Level 0 are the NICs, level 1 the leaf switches, level h the roots. A switch of level l has `m[l-1]`
/// children and `w[l]` parents, with `p[l]` parallel cables to each parent.
///
/// Numbering. A switch of level l has one digit per level i: below `w[i-1]` for i <= l, below `m[i-1]` for
/// i > l. Its index within the level reads these digits with the lowest level fastest; levels follow each
/// other from the leaves up. Parent and child agree in all digits but that of the parent's level. So the
/// NICs below a switch are a contiguous range, and a k-ary n-tree is numbered as spec 2.2.1 says.
///
/// Ports. Down port `c + q * m` leads to child c by parallel cable q; they are followed by the up ports:
/// the u-th leads to parent `u mod w` by parallel cable `u div w`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pgft {
    /// Children of a switch of each level, leaves first.
    pub m: Vec<u32>,
    /// Parents of a node of the level below; the first is that of NICs and is 1.
    pub w: Vec<u32>,
    /// Parallel cables to each parent; the first is that of NICs and is 1.
    pub p: Vec<u32>,
}

impl Pgft {
    /// Number of levels of switches.
    pub fn levels(&self) -> usize {
        self.m.len()
    }

    /// Whether this is the k-ary n-tree of its arity and levels.
    pub fn is_k_ary_n_tree(&self) -> bool {
        self.m.iter().all(|&m| m == self.m[0])
            && self.w[1..].iter().all(|&w| w == self.m[0])
            && self.p.iter().all(|&p| p == 1)
    }

    /// Number of NICs below a switch of a level (level 0: the NIC itself).
    pub fn nics_below(&self, level: usize) -> u64 {
        self.m[..level].iter().map(|&m| u64::from(m)).product()
    }

    /// Number of switches of a level that share their NICs below.
    pub fn siblings(&self, level: usize) -> u64 {
        self.w[..level].iter().map(|&w| u64::from(w)).product()
    }

    /// Number of NICs.
    pub fn n_nics(&self) -> u64 {
        self.nics_below(self.levels())
    }

    /// Number of switches of a level, counted from 1.
    pub fn n_switches(&self, level: usize) -> u64 {
        let subtrees: u64 = self.m[level..].iter().map(|&m| u64::from(m)).product();
        subtrees * self.siblings(level)
    }

    /// Number of down ports of a switch of a level.
    pub fn n_down(&self, level: usize) -> u32 {
        self.m[level - 1] * self.p[level - 1]
    }

    /// Number of up ports of a switch of a level.
    pub fn n_up(&self, level: usize) -> u32 {
        match level < self.levels() {
            true => self.w[level] * self.p[level],
            false => 0,
        }
    }

    /// First switch of each level, and one past the last, leaves first.
    pub fn first_switches(&self) -> Vec<u32> {
        let mut first = vec![0];
        for level in 1..=self.levels() {
            first.push(first[level - 1] + self.n_switches(level) as u32);
        }
        first
    }

    /// The level of a switch, and the first of the contiguous NICs below it.
    pub fn level_and_first_nic(&self, switch: SwitchId) -> (usize, NicId) {
        let first = self.first_switches();
        let level = first.partition_point(|&f| f <= switch.0);
        let index = u64::from(switch.0 - first[level - 1]);
        let nic = index / self.siblings(level) * self.nics_below(level);
        (level, NicId(nic as u32))
    }

    /// Builds the fabric; the numbers are known to be sound.
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
