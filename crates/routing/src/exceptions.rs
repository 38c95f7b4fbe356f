//! Exceptions to the arithmetic of a fat tree, where cables or switches are missing.
//!
//! A fat tree keeps its structure: packets climb until their destination is below, and then
//! descend. For a destination leaf, a port is live if it has a cable and a path leads on from
//! there. An exception lists the live ports of a (switch, leaf) pair, if some ports are dead.
//! Everywhere else the arithmetic holds.

use netloom_topology::{Peer, Pgft, Topology};
use netloom_units::{NicId, Port, SwitchId};

use crate::divisor::Divisor;
use crate::entries::{EntryRows, Found, Spread};

/// The live ports among those that the arithmetic allows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Live<'a> {
    All,
    One(Port),
    Some(&'a [Port]),
    /// No port is live, so no packet for that leaf comes here.
    None,
}

impl Live<'_> {
    /// Returns the ports in ascending order, unless all are live.
    pub(crate) fn ports(&self) -> Option<&[Port]> {
        match self {
            Live::All => None,
            Live::One(port) => Some(std::slice::from_ref(port)),
            Live::Some(ports) => Some(ports),
            Live::None => Some(&[]),
        }
    }
}

/// The switch has no row of exceptions.
const NO_ROW: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Exceptions {
    row_of: Vec<u32>,
    /// A column for each leaf, and one for the up ports regardless of the leaf.
    rows: EntryRows,
    /// Divides by the NICs of a leaf.
    leaf: Divisor,
}

/// The leaf where a packet starts, and the one that it cannot reach.
pub(crate) type Separated = (SwitchId, SwitchId);

impl Exceptions {
    fn new(tree: &Pgft, radix: u16) -> Self {
        let first = tree.first_switches();
        Exceptions {
            row_of: vec![NO_ROW; first[tree.levels()] as usize],
            rows: EntryRows::new(0, first[1] as usize + 1, radix),
            leaf: Divisor::new(tree.m[0]),
        }
    }

    /// Returns the exceptions of a tree in which some cables between switches may be missing, or
    /// two leaves without a path from one to the other.
    pub(crate) fn of(tree: &Pgft, topology: &Topology) -> Result<Self, Separated> {
        let first = tree.first_switches();
        let n_leaves = first[1];
        let mut exceptions = Exceptions::new(tree, topology.radix());
        let is_cabled = |at, port| matches!(topology.peer(at, port), Peer::Switch(..));
        for level in 1..tree.levels() {
            for at in (first[level - 1]..first[level]).map(SwitchId) {
                let live: Vec<Port> = ups(tree, level)
                    .filter(|port| is_cabled(at, *port))
                    .collect();
                if live.len() < tree.n_up(level) as usize {
                    exceptions.set(at, n_leaves as usize, &live);
                }
            }
        }
        // Whether packets for the leaf can reach it from a switch.
        let mut reaches = vec![false; row_count(&first)];
        let mut live = vec![];
        for leaf in 0..n_leaves {
            let nic = u64::from(leaf) * u64::from(tree.m[0]);
            let above = |level: usize| {
                let siblings = tree.siblings(level);
                let begin = u64::from(first[level - 1]) + nic / tree.nics_below(level) * siblings;
                begin as u32..(begin + siblings) as u32
            };
            let mut see =
                |at: SwitchId, ports: &mut dyn Iterator<Item = Port>, reaches: &mut [bool]| {
                    let mut n = 0;
                    live.clear();
                    live.extend(ports.inspect(|_| n += 1).filter(|port| {
                        match topology.peer(at, *port) {
                            Peer::Switch(other, _) => reaches[other.index()],
                            _ => false,
                        }
                    }));
                    reaches[at.index()] = !live.is_empty();
                    if live.len() < n {
                        exceptions.set(at, leaf as usize, &live);
                    }
                };
            reaches[leaf as usize] = true;
            for level in 2..=tree.levels() {
                let (m, p) = (tree.m[level - 1], tree.p[level - 1]);
                let child = nic / tree.nics_below(level - 1) % u64::from(m);
                for at in above(level).map(SwitchId) {
                    let mut downs = (0..p).map(|q| Port((child as u32 + q * m) as u16));
                    see(at, &mut downs, &mut reaches);
                }
            }
            for level in (1..tree.levels()).rev() {
                let above = above(level);
                for at in (first[level - 1]..first[level]).filter(|at| !above.contains(at)) {
                    see(SwitchId(at), &mut ups(tree, level), &mut reaches);
                }
            }
            let mut leaves = reaches[..n_leaves as usize].iter();
            if let Some(from) = leaves.position(|reaches| !reaches) {
                return Err((SwitchId(from as u32), SwitchId(leaf)));
            }
        }
        exceptions.rows.finish();
        Ok(exceptions)
    }

    fn set(&mut self, at: SwitchId, column: usize, live: &[Port]) {
        if self.row_of[at.index()] == NO_ROW {
            self.row_of[at.index()] = self.rows.add_row() as u32;
        }
        let row = self.row_of[at.index()] as usize;
        match live {
            [] => self.rows.set_deliver(row, column),
            // The choice among them is made elsewhere.
            ports => self.rows.set_ports(row, column, ports, Spread::Hash),
        }
    }

    /// Returns the live ports of a switch that lead to a NIC.
    #[inline]
    pub(crate) fn live(&self, at: SwitchId, destination: NicId) -> Live<'_> {
        self.read(at, self.leaf.of(destination.0) as usize)
    }

    /// Returns the live up ports of a switch, wherever they lead.
    #[inline]
    pub(crate) fn live_up(&self, at: SwitchId) -> Live<'_> {
        self.read(at, self.rows.n_columns() - 1)
    }

    #[inline]
    fn read(&self, at: SwitchId, column: usize) -> Live<'_> {
        let row = self.row_of[at.index()];
        if row == NO_ROW {
            return Live::All;
        }
        match self.rows.read(row as usize, column) {
            Found::Never => Live::All,
            Found::Port(port) => Live::One(port),
            Found::Set(set) => Live::Some(set.ports),
            Found::Deliver => Live::None,
        }
    }

    /// Returns the switches that have exceptions.
    pub(crate) fn switches(&self) -> impl Iterator<Item = SwitchId> + '_ {
        let has_row = |at: &SwitchId| self.row_of[at.index()] != NO_ROW;
        (0..self.row_of.len() as u32).map(SwitchId).filter(has_row)
    }

    /// Creates exceptions that equal the arithmetic, for every switch and leaf.
    #[cfg(test)]
    pub(crate) fn everywhere(tree: &Pgft, topology: &Topology) -> Self {
        let first = tree.first_switches();
        let mut exceptions = Exceptions::new(tree, topology.radix());
        for level in 1..=tree.levels() {
            for at in (first[level - 1]..first[level]).map(SwitchId) {
                let (_, from) = tree.level_and_first_nic(at);
                let below = from.0..from.0 + tree.nics_below(level) as u32;
                let up: Vec<Port> = ups(tree, level).collect();
                for leaf in 0..first[1] {
                    let nic = leaf * tree.m[0];
                    let (m, p) = (tree.m[level - 1], tree.p[level - 1]);
                    let child = nic / tree.nics_below(level - 1) as u32 % m;
                    let down: Vec<Port> = (0..p).map(|q| Port((child + q * m) as u16)).collect();
                    match below.contains(&nic) {
                        true if level == 1 => {}
                        true => exceptions.set(at, leaf as usize, &down),
                        false => exceptions.set(at, leaf as usize, &up),
                    }
                }
                if !up.is_empty() {
                    exceptions.set(at, first[1] as usize, &up);
                }
            }
        }
        exceptions
    }
}

/// Returns the up ports of the switches of a level.
fn ups(tree: &Pgft, level: usize) -> impl Iterator<Item = Port> + use<> {
    let n_down = tree.n_down(level);
    (n_down..n_down + tree.n_up(level)).map(|port| Port(port as u16))
}

fn row_count(first: &[u32]) -> usize {
    first[first.len() - 1] as usize
}
